# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "LENGTH = 16" = "LENGTH = None" }
# ///
"""A training step that gets batches of one shape is compiled once, and the mask makes loss and gradients those of the batch without padding."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np

shapes = []
weights = jax.random.normal(jax.random.key(0), (64, 64)) / 8
generator = np.random.default_rng(0)
texts = [
    generator.integers(0, 64, length) for length in (9, 12, 11, 16, 10, 13, 15, 14)
]

# --8<-- [start:enable]
LENGTH = 16  # the longest text; one program for all batches


def batch(texts):
    length = LENGTH or max(map(len, texts))
    tokens = np.zeros(
        (2, length), np.int32
    )  # always two rows: drop an incomplete batch
    mask = np.zeros((2, length), np.float32)
    for row, text in enumerate(texts):
        tokens[row, : len(text)], mask[row, : len(text)] = text, 1
    return tokens, mask


@jax.jit
def step(weights, tokens, mask):
    shapes.append(tokens.shape)  # runs only while jax.jit traces

    def loss(weights):
        predictions = jax.nn.log_softmax(weights[tokens[:, :-1]])
        taken = jnp.take_along_axis(predictions, tokens[:, 1:, None], -1)[..., 0]
        return -(taken * mask[:, 1:]).sum() / mask[:, 1:].sum()  # no mean()

    value, gradient = jax.value_and_grad(loss)(weights)
    return weights - gradient, value


# --8<-- [end:enable]
def plain(weights, texts):
    """Return the new weights without padding, in numpy."""
    gradient, count = np.zeros_like(weights), sum(len(text) - 1 for text in texts)
    for text in texts:
        for before, after in pairwise(text):
            shifted = np.exp(weights[before] - weights[before].max())
            gradient[before] += shifted / shifted.sum() / count
            gradient[before, after] -= 1 / count
    return weights - gradient


expected, trained = np.array(weights), weights
for first in range(0, len(texts), 2):
    expected = plain(expected, texts[first : first + 2])
    trained, _ = step(trained, *batch(texts[first : first + 2]))
print(f"4 batches: {len(shapes)} programs, for {sorted(set(shapes))}")
np.testing.assert_allclose(trained, expected, rtol=1e-4, atol=1e-5)
assert np.abs(expected - np.array(weights)).max() > 1e-3, "nothing was trained"
assert len(shapes) == 1, shapes
# The last text alone, too: an incomplete batch has a row that the mask leaves out.
expected = plain(np.array(trained), texts[-1:])
trained, _ = step(trained, *batch(texts[-1:]))
np.testing.assert_allclose(trained, expected, rtol=1e-4, atol=1e-5)
assert len(shapes) == 1, f"the incomplete batch was compiled anew: {shapes}"
