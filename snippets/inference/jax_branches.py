# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "lax.cond(flag, jnp.sin, jnp.cos, x)" = "jnp.sin(x) if flag else jnp.cos(x)" }
# ///
"""jax.jit refuses a Python if on a traced value: lax.cond and jnp.where keep both branches in the program."""

import jax
import jax.numpy as jnp
from jax import lax


# --8<-- [start:enable]
@jax.jit
def step(x):
    flag = x.sum() > 0
    return lax.cond(flag, jnp.sin, jnp.cos, x)


# --8<-- [end:enable]
@jax.jit
def with_if(x):
    return jnp.sin(x) if x.sum() > 0 else jnp.cos(x)


refused = []
for function in (step, with_if):
    try:
        results = [function(sign * jnp.ones(4)) for sign in (1, -1)]
    except jax.errors.TracerBoolConversionError:
        refused.append(function.__name__)
    else:
        assert jnp.allclose(results[0], jnp.sin(jnp.ones(4)))
        assert jnp.allclose(results[1], jnp.cos(-jnp.ones(4)))
print(f"refused: {', '.join(refused)}")
assert refused == ["with_if"], refused
