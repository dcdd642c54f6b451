# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "\"JAX_COMPILATION_CACHE_DIR\": folder," = "" }
# ///
"""With a cache folder, a second process loads the compiled program and compiles nothing."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import jax, jax.numpy as jnp
seen = []
jax.monitoring.register_event_listener(lambda name, **_: seen.append(name))
step = jax.jit(lambda w, x: w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w))
print(float(step(jnp.ones((8, 8)), jnp.ones((4, 8))).sum()))
hits = seen.count("/jax/compilation_cache/cache_hits")
print(hits, seen.count("/jax/compilation_cache/cache_misses"))
"""


def run(folder):
    # --8<-- [start:enable]
    settings = {
        "JAX_COMPILATION_CACHE_DIR": folder,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",  # 1 by default: keep all
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    # --8<-- [end:enable]
    done = subprocess.run(  # noqa: S603 - this file's own program
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    value, counts = done.stdout.splitlines()[-2:]
    return float(value), [int(count) for count in counts.split()]


with tempfile.TemporaryDirectory() as folder:
    (first, cold), (again, warm) = run(folder), run(folder)
    files = len([*Path(folder).iterdir()])
print(
    f"first process: {cold[0]} hits, {cold[1]} misses; second: {warm[0]} and {warm[1]}"
)
assert first == again
assert cold[0] == 0
assert files >= 1, "the folder is empty"
assert warm[0] >= 1, "the second process found nothing"
assert warm[1] == 0, "the second process compiled"
