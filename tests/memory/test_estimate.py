"""Estimates of Llama against traced training steps, their invariants, and bad input."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, estimate
from headroom.memory.job import Job
from headroom.memory.layouts import Layout
from headroom.records.model_shapes import read_shape
from llama_coefficients import LLAMA_1B, LLAMA_8B

PROJECT = Path(__file__).parents[2]

GIB = 2**30
GPUS = st.sampled_from([1, 2, 4, 8])
JOBS = st.builds(
    Job,
    job=st.sampled_from(["full", "lora", "qlora", "dora", "evaluate", "prefill", "decode"]),
    batch=st.integers(1, 8),
    length=st.sampled_from([256, 1024, 4096]),
    optimizer=st.sampled_from(["adamw_torch", "adamw_torch_fused", "adamw_bnb_8bit", "muon", "adafactor"]),
    loss=st.sampled_from(["whole", "chunked", "fused"]),
)
LAYOUTS = st.builds(Layout, strategy=st.sampled_from(["ddp", "zero1", "zero2", "zero3", "fsdp"]), data=GPUS)


def gib(found: Estimate) -> float:
    return found.peak / GIB


@pytest.mark.parametrize(
    ("config", "options", "traced"),
    [
        (LLAMA_8B, {"optimizer": "adamw_torch"}, 74.79),
        (LLAMA_8B, {"batch": 4, "length": 4096}, 166.93),
        (LLAMA_8B, {"batch": 4, "length": 4096, "checkpointing": True}, 72.86),
        (LLAMA_8B, {"batch": 4, "precision": "autocast"}, 174.81),
        (LLAMA_8B, {"batch": 4, "length": 4096, "checkpointing": True, "loss": "chunked"}, 62.75),
        (
            LLAMA_8B,
            {"batch": 2, "length": 4096, "precision": "autocast", "optimizer": "adamw_torch", "accumulation": 2},
            204.73,
        ),
        (LLAMA_1B, {"batch": 8, "precision": "autocast", "optimizer": "adamw_torch"}, 71.44),
    ],
)
def test_peak_is_that_of_a_traced_step(
    root: Path, config: dict[str, Any], options: dict[str, Any], traced: float
) -> None:
    """Steps of the second iteration, traced with torch 2.13 and transformers 5.23, in GiB."""
    assert gib(estimate(config, root=root, **options)) == pytest.approx(traced, rel=0.01)


def test_half_the_activations_miss_the_traced_peak(root: Path) -> None:
    """The tolerance of the comparison with traced steps is small enough to see an error."""
    assert gib(estimate(LLAMA_8B, root=root, batch=2, length=4096)) != pytest.approx(166.93, rel=0.01)


def test_parameters_are_exact(root: Path) -> None:
    assert estimate(LLAMA_8B, root=root).parameters == 8_030_261_248
    assert estimate(LLAMA_1B, root=root).parameters == 1_235_814_400


def test_pretraining_takes_what_full_training_takes(root: Path) -> None:
    """Both train every weight. LoRA is the control."""
    peaks = [estimate(LLAMA_1B, job=job, root=root).peak for job in ("pretrain", "full", "lora")]
    assert peaks[0] == peaks[1] > peaks[2]


@given(job=JOBS, layout=LAYOUTS)
def test_components_add_up_and_the_peak_is_the_largest_phase(root: Path, job: Job, layout: Layout) -> None:
    found = estimate(LLAMA_1B, root=root, job=replace(job, layout=layout))
    assert all(each.bytes == sum(part.bytes for part in each.components) for each in found.phases)
    assert found.peak == max(each.bytes for each in found.phases)
    assert all(part.bytes > 0 and part.formula for each in found.phases for part in each.components)
    assert found.runner_up is None or found.runner_up.bytes <= found.peak
    assert json.loads(json.dumps(found.to_dict()))["peak"]["bytes"] == found.peak


@given(job=JOBS, field=st.sampled_from(["batch", "length"]))
def test_peak_grows_with_batch_and_length(root: Path, job: Job, field: str) -> None:
    larger = replace(job, **{field: 2 * getattr(job, field)})
    assert estimate(LLAMA_1B, root=root, job=job).peak <= estimate(LLAMA_1B, root=root, job=larger).peak


@given(job=JOBS, layers=st.integers(1, 40))
def test_peak_grows_with_layers(root: Path, job: Job, layers: int) -> None:
    few, more = ({**LLAMA_1B, "num_hidden_layers": count} for count in (layers, layers + 1))
    assert estimate(few, root=root, job=job).peak < estimate(more, root=root, job=job).peak


def largest(found: Estimate, component: str) -> int:
    """Return the largest size of a component in any phase."""
    parts = [part for each in found.phases for part in each.components if part.name == component]
    return max((part.bytes for part in parts), default=0)


@pytest.mark.parametrize("component", ["weights", "adapters", "optimizer states", "gradients"])
@given(job=JOBS, strategy=st.sampled_from(["zero1", "zero2", "zero3", "fsdp"]), data=GPUS)
def test_sharding_never_increases(root: Path, component: str, job: Job, strategy: str, data: int) -> None:
    """Weights, gradients and states of twice the GPUs are at most as large."""
    fewer, more = (estimate(LLAMA_1B, root=root, job=job, strategy=strategy, data=count) for count in (data, 2 * data))
    assert largest(more, component) <= largest(fewer, component)


def test_zero_divides_what_its_stage_says(root: Path) -> None:
    """Stage 1 divides states, stage 2 also gradients, stage 3 also weights."""
    one, *stages = (estimate(LLAMA_8B, root=root, strategy=name, data=8) for name in ("ddp", "zero1", "zero2", "zero3"))
    for component, since in {"optimizer states": 0, "gradients": 1, "weights": 2}.items():
        for number, stage in enumerate(stages):
            parts = 8 if number >= since else 1
            assert largest(stage, component) == pytest.approx(largest(one, component) / parts, rel=1e-4)


def test_tensor_parallelism_divides_layers_and_keeps_norms(root: Path) -> None:
    whole, divided = (estimate(LLAMA_8B, root=root, tensor=count) for count in (1, 4))
    embeddings = 2 * 2 * 128256 * 4096
    norms = 2 * 65 * 4096
    layers = largest(whole, "weights") - embeddings - norms
    assert largest(divided, "weights") == embeddings + norms + layers // 4


def test_pipeline_stages_divide_the_layers(root: Path) -> None:
    whole, divided = (estimate(LLAMA_8B, root=root, pipeline=count, accumulation=8) for count in (1, 4))
    assert largest(divided, "weights") < 0.4 * largest(whole, "weights")
    assert divided.peak < whole.peak


BAD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"num_attention_heads": 0}, {}, "num_attention_heads is 0; give a whole number from 1"),
    ({"num_attention_heads": -32}, {}, "num_attention_heads is -32"),
    ({"hidden_size": float("nan")}, {}, "hidden_size is nan"),
    ({"hidden_size": "4096"}, {}, "hidden_size is '4096'"),
    ({"hidden_size": True}, {}, "hidden_size is True"),
    ({"hidden_size": 1 << 60}, {}, "hidden_size is 1152921504606846976"),
    ({"hidden_size": None}, {}, "hidden_size: is missing|hidden_size is missing"),
    ({"num_attention_heads": 48}, {}, r"`h/a` is 85.3333, not a whole number \(a = 48, h = 4096\)"),
    ({"num_key_value_heads": 7}, {}, "num_key_value_heads is 7 with 32 heads; give a divisor of the number of heads"),
    ({"hidden_size": float("inf")}, {}, "hidden_size is inf"),
    ({"num_hidden_layers": 20_000}, {}, "num_hidden_layers is 20000"),
    (
        {"model_type": "unheard-of"},
        {},
        "`unheard-of` has no memory coefficients; trace the job instead: `headroom trace MODEL .*llama",
    ),
    ({"model_type": "../llama"}, {}, "has no memory coefficients"),
    ({"attention_bias": True}, {}, "attention_bias is True, and only False was traced"),
    ({"model_type": None}, {}, "model_type is None"),
    ({"quantization_config": {"quant_method": "awq"}}, {}, "quantization_config has the method 'awq', which is not"),
    ({}, {"batch": 0}, "batch is 0; give a whole number"),
    ({}, {"batch": 1.5}, "batch is 1.5"),
    ({}, {"length": -1}, "length is -1"),
    ({}, {"job": "distill"}, "job is 'distill'; use one of full, lora"),
    ({}, {"optimizer": "adamw"}, "optimizer is 'adamw'; use one of adamw_torch_fused"),
    ({}, {"precision": "fp8"}, "precision is 'fp8'; use one of bf16"),
    ({}, {"job": "decode", "accumulation": 2}, "accumulation is set for the job decode"),
    ({}, {"job": "dora", "targets": "qv"}, "targets is qv with dora; use all"),
    ({}, {"attention": "eager"}, "no coefficients for `bf16 eager full`.*nearest: bf16 sdpa full"),
    ({}, {"tensor": 3}, "tensor: 3 does not divide num_attention_heads, 32"),
    ({}, {"context": 3}, "context: 3 does not divide length, 2048"),
    ({}, {"data": 2}, "strategy is none with 2 data-parallel GPUs"),
    ({}, {"strategy": "hsdp", "data": 8, "shard": 3}, "shard is 3; use a divisor of data × context, 8"),
    ({}, {"strategy": "hsdp", "data": 8}, "shard is 1 with hsdp; give the GPUs that divide one copy of the weights"),
    ({}, {"strategy": "fsdp", "data": 8, "expert": 2}, "expert is 2 for a model without experts; use 1"),
    ({}, {"strategy": "ddp", "data": 8, "expert": 3}, "expert is 3; use a divisor of data, 8"),
    ({}, {"offload": "all"}, "offload is all with the strategy none; use zero3"),
    ({}, {"sequence_parallel": True}, "tensor is 1; use at least 2"),
    ({}, {"pipeline": 33}, "pipeline is 33 with 32 layers"),
    ({}, {"batchsize": 4}, "batchsize is no option; use one of accumulation"),
]


@pytest.mark.parametrize(("changed", "options", "message"), BAD, ids=lambda value: str(value)[:40])
def test_bad_input_names_the_field(root: Path, changed: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        estimate({**LLAMA_8B, **changed}, root=root, **options)


def components(root: Path, model: str, **options: Any) -> dict[str, int]:
    """Return the bytes of each component at its largest."""
    found: dict[str, int] = {}
    for phase in estimate(model, root=root, **options).phases:
        for part in phase.components:
            found[part.name] = max(part.bytes, found.get(part.name, 0))
    return found


def test_expert_parallelism_never_holds_less_than_a_share_of_all_experts() -> None:
    """With FSDP over 8 GPUs, each holds an eighth of all weights, however many of the 8 divide the experts."""
    whole = components(PROJECT, "mixtral-8x7b")
    for expert in (1, 2, 4, 8):
        found = components(PROJECT, "mixtral-8x7b", strategy="fsdp", data=8, expert=expert)
        for name in ("weights", "optimizer states"):
            assert found[name] == pytest.approx(whole[name] / 8, rel=1e-4), (expert, name)


def test_sequence_parallelism_divides_norms_and_residuals_by_the_gpus() -> None:
    """The saved inputs of checkpointed layers have 2·B·S·h bytes each."""
    saved = [
        components(PROJECT, "llama-3.1-70b", tensor=tensor, sequence_parallel=True, checkpointing=True)[
            "saved activations"
        ]
        for tensor in (2, 4, 8)
    ]
    assert saved[0] > 80 * 2 * 2048 * 8192 / 2
    assert saved[1] == pytest.approx(saved[0] / 2, rel=0.01)
    assert saved[2] == pytest.approx(saved[0] / 4, rel=0.01)


def test_fsdp_divides_over_data_and_context_parallel_gpus() -> None:
    data = components(PROJECT, "llama-3.1-8b", strategy="fsdp", data=8)
    both = components(PROJECT, "llama-3.1-8b", strategy="fsdp", data=2, context=4)
    assert (data["weights"], data["optimizer states"]) == (both["weights"], both["optimizer states"])


def test_a_prefill_holds_the_whole_prompt_in_sliding_layers_and_a_decode_step_the_window() -> None:
    """Transformers cuts the prompt to a view. Of 32 layers, 31 are done when the last one is in progress."""
    held = {
        job: components(PROJECT, "mistral-7b-v0.1", job=job, length=32_768)["KV cache"] for job in ("prefill", "decode")
    }
    assert held == {"prefill": 31 * 32_768 * 4096, "decode": 31 * 4095 * 4096}


def said(model: str, **options: Any) -> str:
    """Return the assumptions of an estimate of a recorded shape with other fields in its configuration."""
    fields = {name: options.pop(name) for name in list(options) if name.endswith(("pdrop", "dropout"))}
    config = dict(read_shape(model, PROJECT).config) | fields
    return "\n".join(estimate(config, root=PROJECT, **options).assumptions)


def test_a_dropout_that_was_traced_otherwise_is_named() -> None:
    """Masks of fused attention are not stored, so its dropout does not count."""
    assert "too low: the dropout masks of resid_pdrop are not counted" in said("phi-3-mini", resid_pdrop=0.1)
    assert "too high: the dropout masks of resid_pdrop are counted, though it is 0" in said("gpt2", resid_pdrop=0.0)
    assert "dropout masks" not in said("phi-3-mini", resid_pdrop=0.0)
    assert "dropout masks" not in said("phi-3-mini", attention_dropout=0.1)
    assert "too low: the dropout masks of attention_dropout" in said(
        "phi-3-mini", attention_dropout=0.1, attention="eager"
    )
    assert "dropout masks" not in said("phi-3-mini", resid_pdrop=0.1, job="prefill")


@pytest.mark.parametrize(
    ("model", "changed", "message"),
    [
        ("qwen3-0.6b", {"head_dim": None}, "head_dim is missing"),
        ("gemma-2-2b", {"head_dim": None}, "head_dim is missing"),
        ("mistral-7b-v0.3", {"num_key_value_heads": None}, "num_key_value_heads is missing"),
        ("mixtral-8x7b", {"num_experts_per_tok": 9}, "num_experts_per_tok is 9 with 8 experts; give at most"),
    ],
)
def test_a_field_with_a_number_of_its_own_in_the_class_must_be_given(
    model: str, changed: dict[str, Any], message: str
) -> None:
    """`Qwen3Config` takes 128 for a missing head size, not the hidden size over the heads."""
    with pytest.raises(EstimateError, match=message):
        estimate(dict(read_shape(model, PROJECT).config) | changed, root=PROJECT)


def test_a_model_of_several_parts_is_refused_with_the_way_to_its_language_model() -> None:
    text = dict(read_shape("gemma-3-1b", PROJECT).config)
    with pytest.raises(EstimateError, match=r"`gemma3` has parts beside .*; give its text_config"):
        estimate({"model_type": "gemma3", "text_config": text}, root=PROJECT)
    assert estimate(text, root=PROJECT).parameters == 999_885_952


def test_a_length_beyond_the_table_of_positions_is_named() -> None:
    assert "cannot run this length: it has 1,024 positions" in said("gpt2", length=1025)
    assert "cannot run" not in said("gpt2", length=1024)
    assert "cannot run" not in said("llama-3.1-8b", length=1_000_000)


class Config:
    """A configuration object, as transformers has them."""

    def to_dict(self) -> dict[str, Any]:
        return dict(LLAMA_8B)


def test_a_model_is_a_dictionary_an_object_a_file_or_a_folder(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA_8B), "utf-8")
    link = tmp_path / "linked" / "config.json"
    link.parent.mkdir()
    link.symlink_to(file)
    found = {estimate(model, root=root).peak for model in (LLAMA_8B, Config(), file, str(tmp_path), link.parent)}
    assert len(found) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"model_type": "llama", "hidden_size": NaN}', "hidden_size is nan; give a whole number from 1"),
        (b'{"model_type": "llama", "hidden_size": 1e999}', "hidden_size is inf; give a whole number from 1"),
        (b'{"model_type": "mamba2", "time_step_limit": [0.0, Infinity]}', "`mamba2` has no memory coefficients; trace"),
        (b'["llama"]', "is no JSON object"),
        (b'{"model_type"', "not valid JSON"),
        (b" " * (1 << 21), "bytes|larger|MiB"),
    ],
)
def test_a_damaged_configuration_file_is_refused(root: Path, tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(content)
    with pytest.raises(EstimateError, match=message):
        estimate(file, root=root)


@pytest.mark.parametrize("limit", ["[0.0, Infinity]", "[-Infinity, 1.0]", '[0.0, {"__float__": "Infinity"}]'])
def test_an_infinite_field_that_memory_does_not_depend_on_is_read(root: Path, tmp_path: Path, limit: str) -> None:
    """As published configurations of Mamba have them: plain, or as transformers 5 writes them."""
    file = tmp_path / "config.json"
    file.write_text(f'{json.dumps(LLAMA_1B)[:-1]}, "time_step_limit": {limit}}}', "utf-8")
    assert estimate(file, root=root).peak == estimate(LLAMA_1B, root=root).peak


def test_a_chunk_of_the_loss_has_tokens_of_each_sequence(root: Path) -> None:
    """Eight sequences with 64 tokens each have the chunk of one sequence with 512 tokens."""
    job: dict[str, Any] = {"length": 2048, "loss": "chunked"}
    note = "a chunk of the loss has 64 tokens of each sequence, together 512"
    assert note in estimate(LLAMA_1B, root=root, batch=8, chunk=64, **job).assumptions
    for batch, chunk in ((8, 64), (1, 512)):
        found = estimate(LLAMA_1B, root=root, batch=batch, chunk=chunk, **job)
        formulas = [each.formula for phase in found.phases for each in phase.components]
        assert any("logits of 512 tokens" in each for each in formulas)


def test_a_huge_configuration_file_is_refused_unread(root: Path, tmp_path: Path) -> None:
    """A sparse file of 10 GB takes no disk, and would take 10 GB of memory if it were read."""
    file = tmp_path / "config.json"
    with file.open("wb") as handle:
        handle.truncate(10_000_000_000)
    with pytest.raises(EstimateError, match=r"config\.json"):
        estimate(file, root=root)


@pytest.mark.parametrize("model", ["", None, 7, "missing.json"])
def test_what_is_no_model_is_refused(root: Path, model: object) -> None:
    with pytest.raises(EstimateError, match=r"^model"):
        estimate(model, root=root)


@pytest.mark.parametrize(
    ("damage", "message"),
    [('{"family": "llama"}', "llama.json: versions: Field required"), ("{", "llama.json: not valid JSON")],
)
def test_a_damaged_coefficient_file_is_reported(tmp_path: Path, damage: str, message: str) -> None:
    folder = tmp_path / "checks" / "coefficients"
    folder.mkdir(parents=True)
    (folder / "llama.json").write_text(damage, "utf-8")
    with pytest.raises(EstimateError, match=message):
        estimate(LLAMA_8B, root=tmp_path)


PROBE = """
import sys, time
from pathlib import Path
import headroom
config = eval(sys.argv[2])
found = headroom.estimate(config, root=Path(sys.argv[1]), strategy="fsdp", data=512, checkpointing=True)
heavy = [name for name in ("torch", "transformers", "numpy") if name in sys.modules]
print(found.parameters, time.process_time(), *heavy)
"""


def test_closed_form_of_700_billion_parameters_is_fast_and_needs_no_torch(root: Path) -> None:
    """With all imports; torch alone takes longer than the limit."""
    sizes = {"hidden_size": 16384, "num_attention_heads": 128, "intermediate_size": 106496, "num_hidden_layers": 126}
    command = [sys.executable, "-c", PROBE, str(root), repr({**LLAMA_8B, **sizes})]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    parameters, seconds, *heavy = done.stdout.split()
    assert int(parameters) > 700e9
    assert float(seconds) < 0.8  # half of it is the start of Python and pydantic
    assert heavy == []
