# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.headroom]
# timeout = 180
# ablation = { "torchrun = [\"torch.distributed.run\", \"--nproc-per-node\", \"2\"]" = "torchrun = [\"accelerate.commands.launch\", \"--cpu\", \"--num_processes\", \"2\"]" }
# ///
"""`accelerate launch --cpu --num_processes 2` starts one process, and torchrun starts two. So count the processes before a long run."""

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
Path("count.py").write_text(
    """
from accelerate import Accelerator

state = Accelerator(cpu=True).state
line = f"{state.process_index} of {state.num_processes} {state.distributed_type.value}"
print(line + "\\n", end="")  # one write, which no other process can divide
""",
    encoding="utf-8",
)
torchrun = ["torch.distributed.run", "--nproc-per-node", "2"]
accelerate = ["accelerate.commands.launch", "--cpu", "--num_processes", "2"]


def processes_of(launcher):
    """Return what each process of a launch prints."""
    command = [sys.executable, "-m", *launcher, "count.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return sorted(done.stdout.split("\n"))


print("torchrun:", *processes_of(torchrun))
print("accelerate launch:", *processes_of(accelerate))
# --8<-- [end:is-it-on]
shown = [" ".join(call.args).replace("  ", " ") for call in printed.call_args_list]

# The proof: two processes that know each other, and one that is alone.
assert accelerate[1:] == ["--cpu", "--num_processes", "2"], accelerate
found = [line for line in processes_of(torchrun) if line]
assert found == ["0 of 2 MULTI_CPU", "1 of 2 MULTI_CPU"], f"torchrun: {found}"
found = [line for line in processes_of(accelerate) if line]
assert found == ["0 of 1 NO"], f"accelerate launch: {found}"
assert shown == [
    "torchrun: 0 of 2 MULTI_CPU 1 of 2 MULTI_CPU",
    "accelerate launch: 0 of 1 NO",
], f"printed was {shown}"
