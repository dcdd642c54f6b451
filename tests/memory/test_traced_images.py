"""Traces of vision-language models with images, against steps on this CPU."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from headroom.cli import USAGE, _parser, main
from headroom.io.git_history import last_commit
from vision_models import MODELS, QWEN_VL_7B, TEXT, TOKENS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs/models/vision-language.md"
JOBS: dict[str, dict[str, Any]] = {
    "trained": {},
    "frozen": {"freeze_tower": True},
    "LoRA": {"job": "lora-all", "rank": 4},
    "LoRA, frozen": {"job": "lora-all", "rank": 4, "freeze_tower": True},
    "frozen, checkpointed": {"checkpointed": True, "freeze_tower": True},
    "frozen, checkpointed, without input gradients": {
        "checkpointed": True,
        "freeze_tower": True,
        "input_gradients": False,
    },
}
ALL_JOBS = "qwen2_5_vl"
CASES = [
    *((ALL_JOBS, job) for job in JOBS),
    *((kind, "trained") for kind in MODELS if kind != ALL_JOBS),
    *((kind, "LoRA, frozen") for kind in ("llava", "gemma3")),
]


def settings(kind: str, **more: Any) -> dict[str, Any]:
    """Return the settings of a step with two images in each of two sequences."""
    size = {"image_size": [300, 220]} if kind.startswith("qwen") else {}
    given = {"device": "cpu", "batch": 2, "length": 600, "precision": "fp32", "optimizer": "sgd", "images": 2}
    return given | size | more


def request(what: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": what, "config": MODELS[kind], "settings": settings(kind, **more)}


ASKED = {
    **{f"traced {kind} {job}": request("peaks", kind, **JOBS[job]) for kind, job in CASES},
    **{f"measured {kind} {job}": request("measured", kind, **JOBS[job]) for kind, job in CASES},
    "text": request("peaks", ALL_JOBS, images=0),
    "prefill of text": request("peaks", ALL_JOBS, job="prefill", images=0),
    "prefill": request("peaks", ALL_JOBS, job="prefill"),
    "chunked": request("peaks", ALL_JOBS, loss_chunk=64),
    "more images": request("peaks", ALL_JOBS, images=4),
    **{f"too short {kind}": request("peaks", kind, length=64) for kind in MODELS},
    "no size": request("peaks", ALL_JOBS, image_size=None),
    "other size": request("peaks", "llava", image_size=[300, 220]),
    "decode": request("peaks", ALL_JOBS, job="decode"),
    "flash": request("peaks", ALL_JOBS, attention="flash", precision="bf16"),
    "unknown": request("peaks", ALL_JOBS) | {"config": {"model_type": "idefics3"}},
    "text model": request("peaks", ALL_JOBS, image_size=None) | {"config": TEXT | {"model_type": "llama"}},
    "no tower": {"kind": "peaks", "config": TEXT | {"model_type": "llama"}, "settings": {"freeze_tower": True}},
}


LORA, FULL = {"job": "lora-all"}, {"job": "full", "optimizer": "adamw_torch_fused"}
FROZEN, LATE = {"freeze_tower": True}, {"freeze_tower": True, "input_gradients": False}
FIGURES: dict[str, dict[str, Any]] = {
    "lora": LORA,
    "lora_frozen": LORA | FROZEN,
    "lora_low": LORA | {"checkpointed": True},
    "lora_low_hooked": LORA | FROZEN | {"checkpointed": True},
    "lora_low_frozen": LORA | LATE | {"checkpointed": True},
    "full": FULL,
    "full_frozen": FULL | FROZEN,
    "full_low": FULL | {"checkpointed": True},
    "full_low_frozen": FULL | LATE | {"checkpointed": True},
}
"""The figures of the page on Qwen2.5-VL 7B, by their names there, with their jobs."""


def answers(requests: Sequence[Any]) -> list[Any]:
    """Return what a child process answers to requests."""
    command = [sys.executable, HERE / "trace_in_a_child.py", "-"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, input=json.dumps(requests))
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])["answers"]
    return found


@cache
def _asked() -> Any:
    return dict(zip(ASKED, answers([*ASKED.values()]), strict=True))


def highest(answer: Any) -> int:
    """Return the traced peak of an answer in bytes."""
    assert "error" not in answer, answer
    return max(sum(parts.values()) for phase, parts in answer.items() if phase != "setup")


def peak(name: str) -> int:
    """Return the traced or measured peak of a request in bytes."""
    answer = _asked()[name]
    return answer if isinstance(answer, int) else highest(answer)


def refused(name: str) -> str:
    error: str = _asked()[name]["error"]
    return error


@pytest.mark.parametrize(("kind", "job"), CASES, ids=str)
def test_a_traced_step_with_images_is_what_this_cpu_allocates(kind: str, job: str) -> None:
    assert peak(f"traced {kind} {job}") == pytest.approx(peak(f"measured {kind} {job}"), rel=0.02)


class TestImages:
    """What images, a frozen tower and checkpointing change."""

    def test_images_and_a_trained_tower_raise_the_peak(self) -> None:
        assert peak("more images") > 1.2 * peak("traced qwen2_5_vl trained") > 1.2 * 1.2 * peak("text")

    def test_a_frozen_tower_saves_no_activations(self) -> None:
        for kind, job in ((ALL_JOBS, "LoRA"), ("llava", "trained"), ("gemma3", "trained")):
            assert peak(f"traced {kind} {job}") > 1.2 * peak(f"traced {kind} LoRA, frozen")

    def test_checkpointing_makes_a_frozen_tower_save_activations_until_the_hooks_are_removed(self) -> None:
        hooked, late = (peak(f"traced {ALL_JOBS} {job}") for job in [*JOBS][-2:])
        assert hooked > 1.05 * late

    def test_a_chunked_loss_reads_the_images(self) -> None:
        assert peak("text") < peak("chunked") < peak("traced qwen2_5_vl trained")

    def test_a_prefill_reads_the_images(self) -> None:
        assert peak("prefill") > 1.05 * peak("prefill of text")

    def test_zero_images_give_what_a_trace_of_text_gave_before_images_were_an_option(self) -> None:
        assert peak("text") == pytest.approx(37_949_440, rel=1e-3)


class TestRefusals:
    """A trace that cannot have images says why, and what to do."""

    @pytest.mark.parametrize("kind", MODELS)
    def test_a_sequence_shorter_than_its_images_names_their_tokens(self, kind: str) -> None:
        tokens = 2 * TOKENS[kind]
        assert f"the images of a sequence have {tokens} tokens" in refused(f"too short {kind}")
        assert f"take --length {tokens + 2} or more" in refused(f"too short {kind}")

    def test_a_model_of_any_size_asks_for_the_size(self) -> None:
        assert "qwen2_5_vl: takes images of any size; add --image-size WxH" in refused("no size")

    def test_a_model_of_one_size_refuses_another(self) -> None:
        assert "llava: the processor resizes each image to 224x224 pixels" in refused("other size")

    @pytest.mark.parametrize(("name", "kind"), [("unknown", "idefics3"), ("text model", "llama")])
    def test_another_architecture_is_refused_with_the_known_ones(self, name: str, kind: str) -> None:
        assert f"{kind}: images are not traced for this architecture, only for qwen2_vl" in refused(name)
        assert "leave --images out, or run a step on a GPU" in refused(name)

    def test_decoding_and_flash_attn_are_refused(self) -> None:
        assert "count their tokens in --context" in refused("decode")
        assert "take --attention sdpa" in refused("flash")

    def test_a_model_without_a_tower_cannot_freeze_it(self) -> None:
        assert "LlamaForCausalLM has no module of the name visual or vision_tower" in refused("no tower")


def test_the_command_reads_width_and_height() -> None:
    parse = _parser().parse_args
    options = parse(["trace", "model", "--images", "2", "--image-size", "1024x768", "--no-input-gradients"])
    assert (options.images, options.image_size, options.input_gradients) == (2, (1024, 768), False)
    for wrong in ("1024", "0x5", "axb"):
        with pytest.raises(SystemExit):
            parse(["trace", "model", "--image-size", wrong])


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ("--image-size=64x64", "add --images 1"),
        ("--no-input-gradients", "without --checkpointed"),
        ("--four-bit", "use --job qlora-all"),
    ],
)
def test_an_option_without_effect_is_refused_before_libraries_load(
    option: str, remedy: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "headroom.memory.tracing.models", None)  # the import would fail
    assert main(["trace", "llama-3.2-1b", option, "--root", str(ROOT)]) == USAGE
    assert option.partition("=")[0] in (said := capsys.readouterr().err)
    assert remedy in said


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Trace all figures of the page, or one that changes with the commit."""
    if "figure" in metafunc.fixturenames:
        chosen = random.Random(str(last_commit(ROOT))).choice([*FIGURES])  # noqa: S311 - a sample, not a secret
        metafunc.parametrize("figure", FIGURES if metafunc.config.getoption("deep") else [chosen])


@pytest.mark.slow
def test_a_figure_of_the_page_is_that_of_the_installed_libraries(figure: str) -> None:
    """If this fails after an upgrade, write the new bytes into the page's ``let``."""
    printed = {name: int(size) for name, size in re.findall(r"(\w+) = ([\d_]+) B\b", PAGE.read_text("utf-8"))}
    assert printed.keys() == FIGURES.keys()
    sizes = {"images": 1, "image_size": [1024, 1024], "length": 2048}
    job = {"kind": "peaks", "config": QWEN_VL_7B, "settings": FIGURES[figure] | sizes}
    assert highest(answers([job])[0]) == printed[figure]
