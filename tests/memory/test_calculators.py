"""The calculators return what their own code returns or prints, and None for a job that they do not model."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headroom.memory.calculators import CALCULATORS, CalculatorJob

GIB = 2**30
LLAMA = CalculatorJob(
    parameters=6_738_415_616,
    hidden=4096,
    layers=32,
    heads=32,
    key_value_heads=32,
    intermediate=11_008,
    vocabulary=32_000,
    length=4096,
)
# The script's default vocabulary and MLP, as in the examples of its README.
NEOX = replace(LLAMA, vocabulary=51_200, intermediate=16_384, mlp_linears=2, length=2048, batch=8, checkpointing=True)
ACCELERATE = """
import json, sys
from accelerate.commands.estimate import estimate_training_usage
parameters = json.loads(sys.argv[1])
usages = [estimate_training_usage(4 * n, p) for n in parameters for p in ("float32", "bfloat16")]
print(json.dumps([max(usage.values()) for usage in usages]))
"""


def result(name: str, job: CalculatorJob = LLAMA, **changes: object) -> int | None:
    """Return a calculator's bytes for a changed job."""
    return CALCULATORS[name].bytes(replace(job, **changes))  # type: ignore[arg-type]


def test_accelerate_returns_what_its_function_returns() -> None:
    """Its own function runs in a child, because it imports torch."""
    parameters = [LLAMA.parameters, 124_439_808]
    child = subprocess.run(
        [sys.executable, "-c", ACCELERATE, json.dumps(parameters)], capture_output=True, text=True, check=True
    )
    expected = json.loads(child.stdout)
    jobs = [{"parameters": n, "precision": p} for n in parameters for p in ("fp32", "bf16")]
    assert [result("accelerate", **job) for job in jobs] == expected
    assert result("accelerate", parameters=parameters[0] + 1) not in expected


@pytest.mark.parametrize(
    ("changes", "printed"),
    [
        ({"zero_stage": 1, "tensor_ranks": 2, "ranks": 128}, 101.53),
        ({"hidden": 5120, "intermediate": 20_480, "layers": 36, "heads": 40, "key_value_heads": 40, "zero_stage": 1,
          "tensor_ranks": 4, "ranks": 256}, 146.78),
        ({"hidden": 6144, "intermediate": 24_576, "layers": 44, "heads": 64, "key_value_heads": 64, "batch": 1},
         362.45),
        ({"intermediate": 14_336, "length": 4096, "batch": 1, "checkpointing": False}, 203.33),
    ],
)  # fmt: skip
def test_cookbook_prints_the_same_for_the_examples_of_its_readme(changes: dict[str, object], printed: float) -> None:
    """The figures are the script's output for lines 99 to 102 of its README, without --partition-activations."""
    found = result("cookbook", NEOX, **changes)
    assert found is not None
    assert found / GIB == pytest.approx(printed, abs=0.006)


@pytest.mark.parametrize(
    ("changes", "printed"),
    [
        ({"zero_stage": 3, "ranks": 8, "batch": 2}, 210.95),
        ({"zero_stage": 2, "ranks": 4, "batch": 2, "length": 1024, "precision": "fp32"}, 70.60),
        ({"zero_stage": 2, "ranks": 4, "batch": 2, "length": 1024, "precision": "fp32", "optimizer": "muon"}, 64.32),
        ({"kind": "decode", "batch": 2, "key_value_heads": 8}, 14.15),
    ],
)
def test_cookbook_prints_the_same_for_llama(changes: dict[str, object], printed: float) -> None:
    """The figures are the script's output with 3 linears per MLP: ZeRO, fp32, Muon and inference."""
    found = result("cookbook", **changes)
    assert found is not None
    assert found / GIB == pytest.approx(printed, abs=0.006)


def test_deepspeed_zero_3_returns_what_its_documentation_prints() -> None:
    """docs/code-docs/source/memory.rst: 2,851 million parameters on 8 GPUs, the largest layer with 32 million."""
    found = result("deepspeed-zero-3", parameters=2_851_000_000, vocabulary=32_000, hidden=1000, ranks=8, zero_stage=3)
    assert found is not None
    assert round(found / GIB, 2) == 6.09


def test_deepspeed_zero_2_returns_what_its_code_says_and_not_its_older_documentation() -> None:
    """The code has 2 + 18 / ranks bytes per parameter; the documentation still prints 15.93 GB of 4 + 16 / ranks."""
    found = result("deepspeed-zero-2", parameters=2_851_000_000, ranks=8, zero_stage=2)
    assert found is not None
    assert found / 2_851_000_000 == pytest.approx(4.25)
    assert round(found / GIB, 2) != 15.93


@pytest.mark.parametrize(("name", "factor"), [("16-bytes", 16), ("18-bytes", 18), ("20-bytes", 20)])
def test_bytes_per_parameter_are_divided_by_the_ranks_that_shard(name: str, factor: int) -> None:
    """All ranks share with ZeRO 3; replicas of plain data parallelism do not."""
    assert result(name) == factor * LLAMA.parameters
    assert result(name, ranks=8, zero_stage=3) == factor * LLAMA.parameters // 8
    assert result(name, ranks=8) == factor * LLAMA.parameters
    assert result(name, ranks=8, zero_stage=1) is None


def test_inference_is_the_weights_in_their_format() -> None:
    """With and without 20 % on top."""
    assert result("model-memory-usage", kind="decode", weights="nf4") == LLAMA.parameters // 2
    assert result("weights-times-1.2", kind="decode") == pytest.approx(2.4 * LLAMA.parameters, abs=1)


@pytest.mark.parametrize(
    ("changes", "models"),
    [
        ({"kind": "lora"}, set()),
        ({"optimizer": "adafactor"}, set()),
        ({"kind": "decode"}, {"model-memory-usage", "cookbook", "weights-times-1.2"}),
        ({"ranks": 8, "zero_stage": 2}, {"cookbook", "deepspeed-zero-2"}),
    ],
)
def test_calculator_returns_none_for_a_job_that_it_does_not_model(changes: dict[str, object], models: set[str]) -> None:
    """A table then says "does not model", and no error."""
    assert {name for name in CALCULATORS if result(name, **changes) is not None} == models


@given(st.integers(1, 512), st.sampled_from(["16-bytes", "deepspeed-zero-3"]))
def test_sharding_over_more_ranks_never_needs_more(ranks: int, name: str) -> None:
    """Per device."""
    more, fewer = (result(name, ranks=count, zero_stage=3) for count in (2 * ranks, ranks))
    assert more is not None
    assert fewer is not None
    assert more < fewer


@pytest.mark.parametrize(
    ("changes", "message"), [({"heads": 0}, "`heads` is 0"), ({"ranks": 6, "tensor_ranks": 4}, "`ranks` is 6")]
)
def test_impossible_job_is_refused_with_the_name_of_its_field(changes: dict[str, object], message: str) -> None:
    """And what is allowed."""
    with pytest.raises(ValueError, match=message):
        replace(LLAMA, **changes)  # type: ignore[arg-type]


def test_calculators_import_neither_torch_nor_transformers() -> None:
    """The closed form runs without them."""
    code = "import sys, headroom.memory.validation; print({'torch', 'transformers', 'json'} & {*sys.modules})"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "{'json'}"
