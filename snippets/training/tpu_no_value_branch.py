# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "jnp.where(finite, new, old)" = "new if finite else old" }
# ///
"""A step that skips non-finite gradients has one program: jnp.where selects on the device, and a Python if cannot be traced."""

import jax
import jax.numpy as jnp
import numpy as np

traces = []

# --8<-- [start:enable]


@jax.jit
def step(weights, x):
    traces.append(x.shape)
    value, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(weights)
    finite = jnp.isfinite(gradient).all()  # a value: known when the program runs
    old, new = weights, weights - 0.1 * gradient
    return jnp.where(finite, new, old), value


# --8<-- [end:enable]
weights = jnp.ones((4, 2))
good = jnp.ones((3, 4))
bad = good.at[0, 0].set(jnp.inf)
error = None
try:
    after_good, loss = step(weights, good)
    after_bad, _ = step(weights, bad)
except jax.errors.TracerBoolConversionError as caught:
    error = type(caught).__name__
assert error is None, f"the step cannot be traced: {error}"
if error is None:  # weights of which only the second column overflows
    large = weights.at[:, 1].set(1e38)
    after_half, _ = step(large, good)
print(f"good and bad batch: {len(traces)} program")
assert len(traces) == 1
# By hand: outputs of 4, so a loss of 16 and a gradient of 2 * 4 / 2 in each weight.
assert loss == 16.0, loss
assert np.allclose(after_good, 1 - 0.1 * 4), "the good batch is not a step of SGD"
assert np.array_equal(after_bad, weights), "the bad batch was not skipped"
assert np.array_equal(after_half, large), "half of a step was taken"
