# /// script
# requires-python = ">=3.11"
# dependencies = ["jax>=0.10", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "jax"
# ablation = { "put(x, \"data\")" = "put(x)" }
# ///
"""The sharding of the arguments decides which collectives XLA puts into a step: none, one all-reduce for data parallelism, another for tensor parallelism."""

import os
import re
from unittest.mock import Mock, patch

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

keys = jax.random.split(jax.random.key(0), 3)
w1, w2, x = (
    jax.random.normal(key, shape) / 8
    for key, shape in zip(keys, ((64, 256), (256, 64), (32, 64)), strict=True)
)

# --8<-- [start:enable]
mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def put(array, *axes):
    return jax.device_put(array, NamedSharding(mesh, P(*axes)))


@jax.jit
def step(weights, x):
    def loss(weights):
        return jnp.mean((jax.nn.relu(x @ weights[0]) @ weights[1]) ** 2)

    value, gradients = jax.value_and_grad(loss)(weights)
    return value, [w - 0.1 * g for w, g in zip(weights, gradients, strict=True)]


data = put(x, "data")  # a quarter of the sequences on each pair of devices
by_data = [put(w1), put(w2)], data
by_data_and_model = [put(w1, None, "model"), put(w2, "model")], data
# --8<-- [end:enable]
fully_sharded = [put(w1, "data"), put(w2, "data")], data


# --8<-- [start:count]
def collectives(arguments):
    program = step.lower(*arguments).compile().as_text()
    kinds = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
    found = {
        kind: len(re.findall(rf" {kind}(?:-start)?\(", program)) for kind in kinds
    }
    return {kind: count for kind, count in found.items() if count}


# --8<-- [end:count]
expected, (new_1, _) = step([w1, w2], x)
names = ("one device", "data", "data and model", "weights over data")
counts = {}
for name, arguments in zip(
    names, (([w1, w2], x), by_data, by_data_and_model, fully_sharded), strict=True
):
    counts[name] = collectives(arguments)
    value, (weights, _) = step(*arguments)
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    np.testing.assert_allclose(weights, new_1, rtol=1e-5, atol=1e-6)
    print(f"{name}: {counts[name] or 'no collective'}")
assert len(jax.devices()) == 8
assert by_data_and_model[0][0].addressable_shards[0].data.shape == (64, 128)
assert counts["one device"] == {}
assert counts["data"] == {"all-reduce": 1}, counts
assert counts["data and model"] == {"all-reduce": 2}, counts
assert counts["weights over data"]["all-gather"] >= 2, counts
assert data.addressable_shards[0].data.shape == (8, 64)

# Each kind of collective is counted once, also if it has a start and an end.
names = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
lines = [f"%x = f32[8] {name}(%y)" for name in names]
lines += [f"%{name} = f32[8] all-gather-{name}(%y)" for name in ("start", "done")]
known = Mock()
known.lower.return_value.compile.return_value.as_text.return_value = "\n".join(
    lines
)
with patch.dict(globals(), step=known):
    found = collectives(())
    assert found == dict.fromkeys(names, 1) | {"all-gather": 2}, found
