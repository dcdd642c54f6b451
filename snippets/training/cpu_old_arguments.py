# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# ablation = { "new = {\"use_cpu\": True, \"bf16\": True}" = "new = {\"bf16\": True}" }
# ///
"""The arguments of old guides for CPUs are gone from TrainingArguments. `use_cpu=True, bf16=True` replaces them."""

import contextlib
import io
import tempfile

from transformers import TrainingArguments


def outcome(**arguments):
    """Return the device and the precision that the Trainer takes, or the error."""
    try:
        taken = TrainingArguments(output_dir=tempfile.mkdtemp(), **arguments)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return f"{taken.device.type}, bf16={taken.bf16}"


printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    # --8<-- [start:enable]
    new = {"use_cpu": True, "bf16": True}
    print(outcome(**new))
    for old in ("no_cuda", "use_ipex", "jit_mode_eval"):
        print(old, "->", outcome(**{old: True})[:60])
    # --8<-- [end:enable]
print(printed.getvalue(), end="")

# The proof: the old names are refused by name, and the new ones choose a CPU and bf16. Without use_cpu, a machine without a GPU refuses bf16.
for old in ("no_cuda", "use_ipex", "jit_mode_eval"):
    found = outcome(**{old: True})
    assert found.startswith("TypeError"), found
    assert old in found, found
assert outcome(**new) == "cpu, bf16=True", outcome(**new)
first, *others = printed.getvalue().splitlines()
assert first == "cpu, bf16=True", first
assert others == [
    f"{old} -> {outcome(**{old: True})[:60]}"
    for old in ("no_cuda", "use_ipex", "jit_mode_eval")
], others
