# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "    return jnp.where(keep, losses, 0).sum() / keep.sum()" = "    return losses[keep].mean()" }
# ///
"""Selecting tokens by a mask gives a shape that depends on values, which XLA cannot compile; weighting all tokens by the mask gives the same loss."""

import jax
import jax.numpy as jnp
import numpy as np


# --8<-- [start:enable]
@jax.jit
def masked_loss(logits, labels):
    keep = labels != -100  # as in PyTorch, labels of -100 do not count
    taken = jnp.take_along_axis(
        jax.nn.log_softmax(logits), jnp.where(keep, labels, 0)[:, None], -1
    )
    losses = -taken[:, 0]
    return jnp.where(keep, losses, 0).sum() / keep.sum()


# --8<-- [end:enable]
logits = jax.random.normal(jax.random.key(0), (6, 8))
labels = jnp.array([3, -100, 5, -100, 1, 0])
error = None
try:
    value, gradient = jax.value_and_grad(masked_loss)(logits, labels)
except jax.errors.NonConcreteBooleanIndexError as caught:
    error = type(caught).__name__
assert error is None, f"the loss cannot be traced: {error}"
rows = np.array(logits)[np.array(labels) != -100]
shifted = rows - np.log(np.exp(rows).sum(-1, keepdims=True))
expected = -shifted[np.arange(4), [3, 5, 1, 0]].mean()
print(f"loss {float(value):.4f}, in numpy without the masked tokens {expected:.4f}")
assert abs(float(value) - expected) < 1e-5
assert not np.array(gradient)[[1, 3]].any(), "masked tokens have a gradient"
assert np.array(gradient)[[0, 2, 4, 5]].any(), "no token has a gradient"
