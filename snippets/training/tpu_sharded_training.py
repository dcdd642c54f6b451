# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "P(\"data\") if sharded else P()" = "P()" }
# ///
"""Sharding weights and optimizer states over eight devices leaves each an eighth of their bytes, adds all-gathers of the weights to the program, and keeps the loss."""

import os
import re

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

keys = jax.random.split(jax.random.key(0), 3)
shapes = ((64, 256), (256, 64), (32, 64))
w1, w2, x = (
    jax.random.normal(key, shape) / 8
    for key, shape in zip(keys, shapes, strict=True)
)

# --8<-- [start:enable]
mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))


def place(weights, *, sharded):
    """Return weights and both Adam moments, whole on each device or sharded."""
    sharding = NamedSharding(mesh, P("data") if sharded else P())
    moments = [jnp.zeros_like(weight) for weight in weights]
    return jax.device_put((weights, moments, moments), sharding)


def training_step(state, x):
    weights, means, squares = state

    def loss(weights):
        return jnp.mean((jax.nn.relu(x @ weights[0]) @ weights[1] - x) ** 2)

    value, gradients = jax.value_and_grad(loss)(weights)
    means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients, strict=True)]
    squares = [
        0.99 * s + 0.01 * g * g for s, g in zip(squares, gradients, strict=True)
    ]
    new = [
        w - 0.01 * m / (jnp.sqrt(s) + 1e-8)
        for w, m, s in zip(weights, means, squares, strict=True)
    ]
    return (new, means, squares), value


batch = jax.device_put(x, NamedSharding(mesh, P("data")))
state = place([w1, w2], sharded=True)
kept = jax.tree.map(lambda array: array.sharding, state)
step = jax.jit(training_step, donate_argnums=0, out_shardings=(kept, None))
# --8<-- [end:enable]


def bytes_on_one(state):
    return sum(
        array.addressable_shards[0].data.nbytes for array in jax.tree.leaves(state)
    )


def losses(state):
    kept = jax.tree.map(lambda array: array.sharding, state)
    step = jax.jit(training_step, out_shardings=(kept, None))
    text = step.lower(state, batch).compile().as_text()
    values = []
    for _ in range(3):
        state, value = step(state, batch)
        values.append(float(value))
    return values, text


whole = place([w1, w2], sharded=False)
total = 3 * (w1.nbytes + w2.nbytes)
expected, replicated = losses(whole)
values, program = losses(state)
count = {
    name: len(re.findall(rf" {name}(?:-start)?\(", program))
    for name in ("all-gather", "reduce-scatter", "all-reduce")
}
plain = len(re.findall(r" all-reduce(?:-start)?\(", replicated))
# --8<-- [start:trap]
trap = len(re.findall(r"= \S+ all-reduce\(", replicated))  # misses merged results
# --8<-- [end:trap]
print(f"whole: {bytes_on_one(whole):,} bytes per device, {plain} all-reduce")
print(f"sharded: {bytes_on_one(state):,} bytes per device, {count}")
print(f"the expression that expects one result: {trap} all-reduce")
# Adam on one device, written out with numpy.
weights, rows = [np.array(w1), np.array(w2)], np.array(x)
means, squares, losses_of_adam = [0, 0], [0, 0], []
for _ in range(3):
    inner = np.maximum(rows @ weights[0], 0)
    error = inner @ weights[1] - rows
    losses_of_adam.append(np.mean(error**2))
    error *= 2 / error.size
    slopes = [rows.T @ (error @ weights[1].T * (inner > 0)), inner.T @ error]
    for number, slope in enumerate(slopes):
        means[number] = 0.9 * means[number] + 0.1 * slope
        squares[number] = 0.99 * squares[number] + 0.01 * slope**2
        step_of = means[number] / (np.sqrt(squares[number]) + 1e-8)
        weights[number] = weights[number] - 0.01 * step_of
np.testing.assert_allclose(expected, losses_of_adam, rtol=1e-4)
assert bytes_on_one(whole) == total
assert plain == 1, "gradients and loss are not merged"
assert trap == 0, "the merged all-reduce has one result"
np.testing.assert_allclose(values, expected, rtol=1e-4)
assert values[2] < values[0]
assert batch.addressable_shards[0].data.shape == (4, 64), "each device has all rows"
assert bytes_on_one(state) == total / 8, f"{bytes_on_one(state)} of {total}"
assert count["all-gather"] >= 2, count
old = jax.tree.leaves(state)
state, _ = step(state, batch)
assert all(array.is_deleted() for array in old), "the step copied the state"
assert bytes_on_one(state) == total / 8, "the step gathered the state"
