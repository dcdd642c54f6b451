# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "(BUCKET - len(tokens) % BUCKET) % BUCKET" = "0" }
# ///
"""jax.jit compiles once per shape: eight lengths make eight programs, or one if they are padded to a multiple of 16 with a mask."""

from time import perf_counter

import jax
import jax.numpy as jnp
import numpy as np

traces = []
table = jax.random.normal(jax.random.key(0), (64, 8))


# --8<-- [start:enable]
BUCKET = 16


@jax.jit
def mean_embedding(tokens, mask):
    traces.append(tokens.shape)  # runs only while jax.jit traces
    return (table[tokens] * mask[:, None]).sum(0) / mask.sum()


def padded(tokens):
    missing = (BUCKET - len(tokens) % BUCKET) % BUCKET
    return jnp.pad(tokens, (0, missing)), jnp.arange(len(tokens) + missing) < len(
        tokens
    )


results = [mean_embedding(*padded(jnp.arange(length))) for length in range(5, 13)]
# --8<-- [end:enable]

for length, result in zip(range(5, 13), results, strict=True):
    np.testing.assert_allclose(result, table[:length].mean(0), rtol=1e-5, atol=1e-6)
print(f"8 lengths: {len(traces)} traces, of {sorted(set(traces))}")
again = len(traces)
mean_embedding(*padded(jnp.arange(7)))
assert len(traces) == again, "a known shape was traced again"
values = []
scaled = jax.jit(lambda x, scale: values.append(x.dtype) or x * scale)
for scale in (0.1, 0.2, 0.3):
    scaled(jnp.ones(4), scale)
assert len(values) == 1, "another Python number was traced"
scaled(jnp.ones(4, jnp.int32), 0.1)
assert len(values) == 2, "another data type was not traced"
plain = []
unpadded = jax.jit(
    lambda tokens: plain.append(tokens.shape) or table[tokens].mean(0)
)
for length in range(5, 13):
    unpadded(jnp.arange(length))
assert len(plain) == 8, plain
assert traces == [(16,)], traces
lengths = [len(padded(jnp.arange(length))[0]) for length in (1, 16, 17)]
assert lengths == [16, 16, 32], f"1, 16 and 17 tokens padded to {lengths}"


def seconds(length: int) -> float:
    """The time of a call with an array of a length."""
    start = perf_counter()
    unpadded(jnp.arange(length)).block_until_ready()
    return perf_counter() - start


calls = {"first call": seconds(40), "again": seconds(40), "new length": seconds(41)}
print("; ".join(f"{name}: {time:.3g} s" for name, time in calls.items()))
assert len(plain) == 10, plain
