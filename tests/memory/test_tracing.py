"""The tracer: what it reads from a probe, from a real configuration, and from a step on this CPU."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headroom.cli.trace import _lines
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, estimate
from headroom.memory.sizes import gib
from vision_models import QWEN_VL_7B

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GIB = 2**30
LLAMA_8B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
INFINITE = {"__float__": "Infinity"}
SMALL = LLAMA_8B | {"hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 8, "num_key_value_heads": 2}
SMALL |= {"intermediate_size": 896, "vocab_size": 4096}


WINDOWED = SMALL | {"model_type": "mistral", "sliding_window": 256}
MODERN = {"model_type": "modernbert", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
MODERN |= {"intermediate_size": 64, "vocab_size": 1000, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
MODERN |= {"cls_token_id": 1, "sep_token_id": 2}
LLAMA4 = {"model_type": "llama4", "text_config": {"num_hidden_layers": 1, "hidden_size": 256, "vocab_size": 1000}}
VISION = {
    "model_type": "qwen2_5_vl",
    "text_config": SMALL | {"model_type": "qwen2_5_vl_text", "num_attention_heads": 2, "num_key_value_heads": 1},
    "vision_config": {"hidden_size": 64, "out_hidden_size": 256, "depth": 2, "intermediate_size": 96, "num_heads": 4},
}
CPU = [
    {"precision": "fp32"},
    {"precision": "bf16", "checkpointed": True},
    {"precision": "autocast", "accumulation": 2},
    {"precision": "fp32", "attention": "eager", "job": "evaluate"},
]


def probe(family: str, **settings: Any) -> Any:
    return {"kind": "job", "family": family, "settings": settings}


def peaks(config: dict[str, Any], **settings: Any) -> Any:
    return {"kind": "peaks", "config": config, "settings": settings}


def estimated(config: dict[str, Any], **options: Any) -> Estimate:
    """Return the estimate of a configuration."""
    return estimate(config, root=ROOT, **options)


def on_cpu(settings: dict[str, Any]) -> dict[str, Any]:
    return {"device": "cpu", "batch": 2, "length": 128, **settings}


FOUR_BIT_LENGTHS = (64, 4096)
ASKED = {
    "llama": probe("llama"),
    "checkpointed": probe("llama", checkpointed=True),
    "autocast": probe("llama", precision="autocast"),
    "eager": probe("llama", attention="eager"),
    "fp32": probe("llama", precision="fp32"),
    "qv": probe("llama", job="lora-qv"),
    "decode": probe("llama", job="decode"),
    "mixtral in fp32": probe("mixtral", precision="fp32"),
    "gpt2 in 4 bits": probe("gpt2", job="qlora-all"),
    "gpt2": probe("gpt2"),
    "t5": probe("t5"),
    "8b": peaks(LLAMA_8B),
    **{f"8b in 4 bits {n}": peaks(LLAMA_8B, job="prefill", four_bit=True, length=n) for n in FOUR_BIT_LENGTHS},
    "windowed": peaks(WINDOWED),
    "not windowed": peaks(WINDOWED | {"sliding_window": None}),
    "longformer": peaks(MODERN | {"model_type": "longformer"}, length=64, attention="auto"),
    "modernbert": peaks(MODERN, **on_cpu({"precision": "fp32"})),
    "padding outside of the vocabulary": peaks({"model_type": "glm4", "vocab_size": 64, "hidden_size": 64}, length=64),
    "quantized": peaks({**SMALL, "quantization_config": {"quant_method": "fp8"}}, length=64),
    "kernels of lfm2": {"kind": "kernels", "config": {"model_type": "lfm2"}},
    "kernels of llama": {"kind": "kernels", "config": {"model_type": "llama"}},
    "infinite": {"kind": "kernels", "config": {"model_type": "mamba2", "time_step_limit": [0.0, INFINITE]}},
    "modernbert measured": {"kind": "measured", "config": MODERN, "settings": on_cpu({"precision": "fp32"})},
    "qwen2.5-vl": peaks(QWEN_VL_7B, job="prefill", length=64),
    **{
        f"llama4 of depth {n}": peaks(LLAMA4 | {"vision_config": {"num_hidden_layers": n}}, job="prefill", length=64)
        for n in (1, 2)
    },
    "vision": peaks(VISION, **on_cpu({"job": "evaluate"})),
    "vision measured": {"kind": "measured", "config": VISION, "settings": on_cpu({"job": "evaluate"})},
    "impossible": peaks(SMALL | {"num_attention_heads": 3}),
    "foreach": peaks(SMALL),
    "fused": peaks(SMALL, optimizer="adamw_torch_fused"),
    "8-bit": peaks(SMALL, optimizer="adamw_bnb_8bit"),
    **{f"traced {case}": peaks(SMALL, **on_cpu(case)) for case in CPU},
    **{f"longer {case}": peaks(SMALL, **on_cpu(case) | {"length": 512}) for case in CPU},
    **{f"measured {case}": {"kind": "measured", "config": SMALL, "settings": on_cpu(case)} for case in CPU},
}


@cache
def _asked() -> Any:
    """Return what one child process answers to all requests: importing torch takes longer than most of them."""
    command = [sys.executable, HERE / "trace_in_a_child.py", json.dumps(list(ASKED.values()))]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    return dict(zip(ASKED, found["answers"], strict=True)) | {"rss_kib": found["rss_kib"]}


def found(name: str) -> Any:
    """Return the answer to a request."""
    return _asked()[name]


def total(parts: dict[str, int]) -> int:
    return sum(parts.values())


def saved(name: str) -> dict[str, int]:
    """Return what a decoder layer of a probe saves for the backward pass."""
    polynomial: dict[str, int] = found(name)["layers"]["layer"]["saved"]
    return polynomial


class TestProbes:
    """Polynomials that are known from the code of the models."""

    def test_saved_activations_of_llama_in_bf16_are_those_counted_by_hand(self) -> None:
        by_size = {term: size for term, size in saved("llama").items() if term}
        # Two norms with their outputs, q, k, v, attention's output and log-sum-exp, and four tensors of the MLP.
        assert by_size == {"B*S*h": 16, "B*S*q": 4, "B*S*k": 4, "B*S*f": 8, "B*S*a": 4, "B*S": 8}

    def test_checkpointing_saves_the_input_of_a_layer_alone(self) -> None:
        assert saved("checkpointed") == {"B*S*h": 2}

    def test_autocast_keeps_a_bf16_copy_of_each_linear_weight(self) -> None:
        terms = ("f*h", "h*k", "h*q")
        assert [saved("llama").get(term, 0) for term in terms] == [0, 0, 0]
        assert [saved("autocast")[term] for term in terms] == [6, 4, 4]

    def test_eager_attention_saves_scores_and_sdpa_does_not(self) -> None:
        assert "B*S*S*a" not in saved("llama")
        assert saved("eager")["B*S*S*a"] >= 4

    def test_grouped_heads_in_fp32_take_the_math_path_that_saves_scores(self) -> None:
        assert saved("fp32")["B*S*S*a"] == 4

    def test_dropout_saves_one_byte_per_element_as_on_a_gpu(self) -> None:
        assert found("gpt2")["before"]["B*S*h"] % 2 == 1
        assert found("llama")["before"].get("B*S*h", 0) % 2 == 0

    def test_the_loss_holds_twelve_bytes_per_logit_in_the_backward_pass(self) -> None:
        assert max(candidate.get("B*S*V", 0) for candidate in found("llama")["head"]["backward"]) == 12

    def test_adapters_train_rank_times_rows_and_columns(self) -> None:
        assert found("qv")["trainable"] == {"layer": {"h*r": 2, "k*r": 1, "q*r": 1}}

    def test_a_decode_step_reads_the_keys_and_values_of_the_context(self) -> None:
        assert found("decode")["layers"]["layer"]["cache"] == {"B*C*k": 4}

    def test_an_encoder_and_a_decoder_are_two_kinds_of_layer(self) -> None:
        assert set(found("t5")["layers"]) == {"encoder", "decoder"}

    def test_experts_in_fp32_save_twice_the_bytes_of_bf16(self) -> None:
        assert saved("mixtral in fp32")["B*S*e*f"] == 16

    def test_a_job_that_a_library_refuses_is_an_error(self) -> None:
        assert "Conv1D" in found("gpt2 in 4 bits")["error"]


class TestPeaks:
    """The memory of a configuration of real size."""

    def test_an_8b_step_is_traced_in_less_than_two_gib(self) -> None:
        step = found("8b")["optimizer"]
        assert found("rss_kib") < 2 * 2**20
        assert step["weights"] == pytest.approx(2 * 8030261248, abs=512 * 300)
        assert step["optimizer states"] == pytest.approx(4 * 8030261248, abs=2 * 512 * 300)
        assert total(step) / GIB == pytest.approx(74.79, abs=0.01)

    @pytest.mark.parametrize("length", FOUR_BIT_LENGTHS)
    def test_an_estimate_with_4_bit_weights_is_at_most_two_percent_above_the_trace(self, length: int) -> None:
        """The layer that copies its weight to 16 bits is not the one with most activations, which the estimate adds."""
        traced = max(total(parts) for phase, parts in found(f"8b in 4 bits {length}").items() if phase != "setup")
        quantized = estimated(LLAMA_8B, job="prefill", quantization="nf4-double", length=length).peak
        assert traced <= quantized * 1.0001 <= traced * 1.02
        assert estimated(LLAMA_8B, job="prefill", length=length).peak > 2 * traced

    def test_a_fused_optimizer_makes_no_temporaries(self) -> None:
        assert found("foreach")["optimizer"]["temporaries"] > 0
        assert "temporaries" not in found("fused")["optimizer"]

    def test_a_model_whose_initialization_reads_values_keeps_its_tied_weights(self) -> None:
        """ModernBERT's LM head is its embedding, which a trace without initial values has to keep."""
        traced = max(total(parts) for phase, parts in found("modernbert").items() if phase != "setup")
        assert traced == pytest.approx(found("modernbert measured"), rel=0.02)

    def test_an_optimizer_that_reads_values_is_refused_with_the_reason(self) -> None:
        assert "cannot be traced" in found("8-bit")["error"]

    def test_a_vision_language_model_is_traced_with_all_its_weights(self) -> None:
        weights = found("qwen2.5-vl")["forward 0"]["weights"]
        assert weights == pytest.approx(2 * 8_292_166_656, abs=512 * 730)

    def test_the_auto_class_for_text_does_not_hide_an_image_encoder(self) -> None:
        one, two = (found(f"llama4 of depth {n}")["forward 0"]["weights"] for n in (1, 2))
        assert two > one

    def test_an_evaluation_of_a_vision_language_model_on_text_is_what_this_cpu_allocates(self) -> None:
        traced = max(total(parts) for phase, parts in found("vision").items() if phase != "setup")
        assert traced == pytest.approx(found("vision measured"), rel=0.02)

    def test_a_sliding_window_shorter_than_the_sequence_saves_a_mask_per_layer(self) -> None:
        """As an estimate says of itself, which leaves the masks out."""
        with_mask, without = (total(found(name)["forward 0"]) for name in ("windowed", "not windowed"))
        masks = WINDOWED["num_hidden_layers"] * 2 * 2048**2
        assert with_mask - without > masks
        sentence = next(each for each in estimated(WINDOWED).assumptions if "too low by" in each)
        assert sentence.startswith(f"too low by {gib(masks)} or more: the mask of sdpa in 3 layers")
        assert not any("too low" in each for each in estimated(WINDOWED, length=255).assumptions)
        assert not any("too low" in each for each in estimated(WINDOWED, attention="eager").assumptions)

    def test_a_model_that_cannot_be_traced_is_refused_with_what_to_do_instead(self) -> None:
        assert "add --device cpu --measure, or run a step on a GPU and read" in found("longformer")["error"]

    def test_a_model_whose_code_fails_is_refused_with_its_reason(self) -> None:
        error = found("padding outside of the vocabulary")["error"]
        assert error.startswith("ValueError: glm4: the model's code fails: AssertionError: Padding_idx must be within")
        assert "correct the configuration or the sizes" in error

    def test_a_quantized_checkpoint_is_refused(self) -> None:
        assert "quantization_config has the method 'fp8', which is not modelled" in found("quantized")["error"]

    def test_replaced_kernels_are_named(self) -> None:
        assert found("kernels of lfm2") == ["causal_conv1d"]
        assert found("kernels of llama") == []

    def test_an_infinite_field_as_transformers_writes_it_is_read(self) -> None:
        assert "mamba_ssm" in found("infinite")

    def test_a_configuration_that_transformers_refuses_is_an_error_with_its_reason(self) -> None:
        assert found("impossible")["error"].startswith("ValueError: config.json: transformers refuses this llama")


def test_an_estimate_of_such_a_model_does_not_send_to_the_tracer() -> None:
    with pytest.raises(EstimateError, match=r"cannot be traced: .*; run a step on a GPU and read torch\.cuda"):
        estimate({"model_type": "longformer"}, root=ROOT)


def test_an_estimate_of_whisper_sends_to_the_tracer() -> None:
    with pytest.raises(EstimateError, match="trace the job instead"):
        estimate({"model_type": "whisper"}, root=ROOT)


def test_padding_and_compilation_are_no_options_and_are_named_as_assumptions() -> None:
    assert "no layer is compiled" in estimated(SMALL).assumptions
    assert any(each.startswith("no sequence is padded") for each in estimated(SMALL).assumptions)
    for option in ("compile", "padding"):
        with pytest.raises(EstimateError, match=f"{option} is no option"):
            estimated(SMALL, **{option: True})
    line = [*_lines({"forward": SimpleNamespace(total=1, region="head", parts={})})][-1]
    assert line == "assumed: no sequence is padded, and no layer is compiled"


@pytest.mark.parametrize("case", CPU, ids=str)
def test_a_traced_step_is_what_this_cpu_allocates(case: dict[str, Any]) -> None:
    highest = [
        max(total(parts) for phase, parts in found(f"{which} {case}").items() if phase != "setup")
        for which in ("traced", "longer")
    ]
    assert highest[0] == pytest.approx(found(f"measured {case}"), rel=0.02)
    assert highest[1] > highest[0] * 1.02
