# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "out_ref[...] = x * scale * weight_ref[...]" = "out_ref[...] = x * weight_ref[...]" }
# ///
"""A Pallas kernel normalizes a block of rows in one program per block, and interpret=True tests it on a CPU."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


# --8<-- [start:enable]
def kernel(x_ref, weight_ref, out_ref):
    x = x_ref[...]
    scale = jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    out_ref[...] = x * scale * weight_ref[...]


def rms_norm(x, weight, rows=8):
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // rows,),
        in_specs=[
            pl.BlockSpec((rows, x.shape[1]), lambda block: (block, 0)),
            pl.BlockSpec((x.shape[1],), lambda block: (0,)),
        ],
        out_specs=pl.BlockSpec((rows, x.shape[1]), lambda block: (block, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,  # without it, Pallas compiles for a TPU or a GPU
    )(x, weight)


# --8<-- [end:enable]

x = jax.random.normal(jax.random.key(0), (32, 128)) * 3
weight = jax.random.normal(jax.random.key(1), (128,))
expected = x / jnp.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight
result = rms_norm(x, weight)
program = str(jax.make_jaxpr(rms_norm)(x, weight))
difference = float(abs(result - expected).max())
print(
    f"kernels: {program.count('pallas_call')}; largest difference: {difference:.0e}"
)
assert program.count("pallas_call[") == 1
assert "grid=(4,)" in program, "not 8 rows per program"
assert result.shape == x.shape
assert difference < 1e-4, difference
