# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "    compiled = training_step.lower(weights, x).compile()" = "    compiled = training_step.__wrapped__" }
# ///
"""A step that is compiled ahead of time gives the same weights and runs no Python. The script prints after how many steps the compilation is paid back."""

from math import ceil
from time import perf_counter
from types import SimpleNamespace
from unittest.mock import Mock, patch

import jax
import jax.numpy as jnp
import numpy as np

calls = []
weights = [jax.random.normal(jax.random.key(n), (128, 128)) / 12 for n in range(6)]
x = jax.random.normal(jax.random.key(9), (64, 128))


@jax.jit
def training_step(weights, x):
    calls.append(1)

    def loss(weights):
        hidden = x
        for weight in weights:
            hidden = jax.nn.gelu(hidden @ weight)
        return jnp.mean((hidden - x) ** 2)

    gradients = jax.grad(loss)(weights)
    return [w - 0.1 * g for w, g in zip(weights, gradients, strict=True)]


def seconds(function, repeats=5):
    times = []
    for _ in range(repeats):
        start = perf_counter()
        jax.block_until_ready(function(weights, x))
        times.append(perf_counter() - start)
    return sorted(times)[repeats // 2]


def measure():
    # --8<-- [start:enable]
    start = perf_counter()
    compiled = training_step.lower(weights, x).compile()
    compilation = perf_counter() - start
    eager, program = seconds(training_step.__wrapped__), seconds(compiled)
    steps = ceil(compilation / (eager - program)) if eager > program else None
    # --8<-- [end:enable]
    print(
        f"compiled in {compilation:.3f} s; a step {program:.4f} s, without {eager:.4f} s"
    )
    print(f"paid back after {steps} steps" if steps else "never paid back here")
    if steps:
        saved = eager - program
        assert steps - 1 < compilation / saved <= steps, "not paid back"
    else:
        assert eager <= program, "it pays back"
    return compiled


compiled = measure()
# One trace to compile, and five runs of the plain function: the other five ran the program.
assert len(calls) == 1 + 5, f"the function's Python ran {len(calls)} times"
expected = training_step.__wrapped__(weights, x)
calls.clear()
for got, want in zip(compiled(weights, x), expected, strict=True):
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
assert not calls, "the step runs Python"

# The same code with times that are known: 2 s to compile, and 0.5 s or 0.2 s per step.
for plain, program, shown in (
    (0.5, 0.2, "paid back after 7 steps"),
    (0.2, 0.5, "never paid back here"),
):
    known = {
        "perf_counter": Mock(side_effect=[1.0, 3.0]),
        "training_step": SimpleNamespace(lower=Mock(), __wrapped__="plain"),
        "seconds": lambda function, times=(plain, program): times[
            function != "plain"
        ],
    }
    with patch("builtins.print") as printed, patch.dict(globals(), known):
        measure()
    first = f"compiled in 2.000 s; a step {program:.4f} s, without {plain:.4f} s"
    lines = [call.args[0] for call in printed.call_args_list]
    assert lines == [first, shown], f"printed was {lines}"
