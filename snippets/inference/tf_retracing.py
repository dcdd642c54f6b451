# /// script
# requires-python = ">=3.11"
# dependencies = ["tensorflow>=2.21"]
#
# [tool.headroom]
# environment = "tensorflow"
# timeout = 120
# ablation = { "tf.constant(scale)" = "scale" }
# ///
"""A tf.function is traced again for another Python value, another shape and another data type, and not for another value of a tensor."""

from unittest.mock import patch

import tensorflow as tf

constant = patch.object(tf, "constant", wraps=tf.constant).start()


# --8<-- [start:enable]
@tf.function(jit_compile=True)
def scaled(x, scale):
    return x * scale


x = tf.ones((2, 8))
for scale in (0.1, 0.2, 0.3):
    scaled(x, tf.constant(scale))
traces = scaled.experimental_get_tracing_count()  # on: 1, off: 3
# --8<-- [end:enable]

passed = {call.args[0] for call in constant.call_args_list}
before = scaled.experimental_get_tracing_count()
for scale in (0.4, 0.5, 0.6):
    scaled(x, scale)
by_value = scaled.experimental_get_tracing_count() - before


@tf.function(jit_compile=True)
def doubled(x):
    return x * 2


counts = {}
for reason, tensor in {
    "first call": x,
    "same shape": x + 1,
    "another length": tf.ones((2, 9)),
    "another batch": tf.ones((3, 8)),
    "another dtype": tf.cast(x, tf.int32),
}.items():
    doubled(tensor)
    counts[reason] = doubled.experimental_get_tracing_count()
print(f"three values of a tensor: {traces} traces; three Python values: {by_value}")
print(", ".join(f"{reason}: {count}" for reason, count in counts.items()))
assert counts == {
    "first call": 1,
    "same shape": 1,
    "another length": 2,
    "another batch": 3,
    "another dtype": 4,
}
assert scaled.experimental_get_compiler_ir(x, scale)(stage="hlo"), "not XLA"
assert by_value == 3, by_value
assert traces == 1, traces
assert passed == {0.1, 0.2, 0.3}, f"the tensors had the values {passed}"
