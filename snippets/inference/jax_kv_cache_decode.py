# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "jax.jit(decode, donate_argnums=0)" = "jax.jit(decode, static_argnums=1)" }
# ///
"""A key/value cache of fixed length, written with dynamic_update_slice at a traced position, decodes every token with one compiled program that updates the cache in place."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

HEADS, SIZE, LONGEST = 2, 4, 16
keys = jax.random.split(jax.random.key(0), 4)
w_q, w_k, w_v = (jax.random.normal(key, (8, HEADS, SIZE)) for key in keys[:3])
states = jax.random.normal(keys[3], (LONGEST, 8))
traces = []


# --8<-- [start:enable]
def decode(cache, position, state):
    traces.append(position)  # runs only while jax.jit traces
    q, k, v = (jnp.einsum("d,dhs->hs", state, w) for w in (w_q, w_k, w_v))
    start = (0, position, 0)
    cached_k = lax.dynamic_update_slice(cache[0], k[:, None], start)
    cached_v = lax.dynamic_update_slice(cache[1], v[:, None], start)
    scores = jnp.einsum("hs,hls->hl", q, cached_k) / SIZE**0.5
    scores = jnp.where(jnp.arange(LONGEST) <= position, scores, -jnp.inf)
    return (cached_k, cached_v), jnp.einsum(
        "hl,hls->hs", jax.nn.softmax(scores), cached_v
    )


step = jax.jit(decode, donate_argnums=0)  # the cache's memory holds the new cache
cache = (jnp.zeros((HEADS, LONGEST, SIZE)), jnp.zeros((HEADS, LONGEST, SIZE)))
outputs = []
for position, state in enumerate(states):
    cache, output = step(cache, position, state)
    outputs.append(output)
# --8<-- [end:enable]

programs = len(traces)
q, k, v = (jnp.einsum("ld,dhs->hls", states, w) for w in (w_q, w_k, w_v))
scores = jnp.einsum("hqs,hks->hqk", q, k) / SIZE**0.5
scores = jnp.where(jnp.tril(jnp.ones((LONGEST, LONGEST), bool)), scores, -jnp.inf)
whole = jnp.einsum("hqk,hks->qhs", jax.nn.softmax(scores), v)
difference = float(abs(jnp.stack(outputs) - whole).max())
print(
    f"{LONGEST} tokens: {programs} traces; largest difference from attention over all tokens: {difference:.0e}"
)
assert difference < 1e-5, difference
np.testing.assert_allclose(cache[0], k, rtol=1e-5, atol=1e-6)
assert programs == 1, programs
compiled = step.lower(cache, 0, states[0]).compile().as_text()
assert compiled.splitlines()[0].count("may-alias") == 2, (
    "both halves of the cache are updated in place"
)
