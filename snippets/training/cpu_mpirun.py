# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "openmpi>=5.0"]
#
# [tool.headroom]
# environment = "cpu-tools"
# timeout = 180
# ablation = { "export RANK=$OMPI_COMM_WORLD_RANK" = "export NOTHING=$OMPI_COMM_WORLD_RANK" }
# ///
"""mpirun starts and binds the processes, and a line of shell turns its variables into those of torch.distributed: gloo needs no MPI."""

import os
import subprocess
import sys
from pathlib import Path

# --8<-- [start:enable]
Path("train.py").write_text(
    """
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
print(dist.get_rank(), dist.get_world_size(), total.item(), cores)
dist.destroy_process_group()
""",
    encoding="utf-8",
)
Path("rank.sh").write_text(
    """
export RANK=$OMPI_COMM_WORLD_RANK
export LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK
export WORLD_SIZE=$OMPI_COMM_WORLD_SIZE
exec "$@"
""",
    encoding="utf-8",
)
command = (
    "mpirun -np 2 --map-by slot:PE=1 --bind-to core -x MASTER_ADDR -x MASTER_PORT"
)
train = ["bash", "rank.sh", sys.executable, "train.py"]
# --8<-- [end:enable]

import socket  # noqa: E402

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
settings = {
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": str(port),
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
}
done = subprocess.run(  # noqa: S603
    [*command.split(), *train],
    env={**os.environ, **settings},
    capture_output=True,
    text=True,
    check=False,
)

# The proof: two ranks that added 1 and 2, on different cores.
assert done.returncode == 0, f"mpirun ended with {done.returncode}"
rows = sorted(line.split() for line in done.stdout.splitlines() if line.strip())
assert [row[:3] for row in rows] == [["0", "2", "3.0"], ["1", "2", "3.0"]], rows
first, second = (set(row[3].split(",")) for row in rows)
assert not first & second, rows
# On a second machine, rank and local rank differ, and the address must arrive there.
of_mpi = {"RANK": "5", "LOCAL_RANK": "1", "SIZE": "8"}
show = "import os; print(*(os.environ[n] for n in ('RANK', 'LOCAL_RANK', 'WORLD_SIZE')))"
turned = subprocess.run(  # noqa: S603
    [*train[:-1], "-c", show],
    env={**os.environ, **{f"OMPI_COMM_WORLD_{k}": v for k, v in of_mpi.items()}},
    capture_output=True,
    text=True,
    check=True,
)
assert turned.stdout.split() == ["5", "1", "8"], turned.stdout
for name in ("MASTER_ADDR", "MASTER_PORT"):
    assert f"-x {name}" in command, f"mpirun sends no {name} to other machines"
print("2 ranks, sum 3, no shared core")
