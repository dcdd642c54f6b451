"""The least time of a step: reads and FLOPs of several architectures, refusals, and what the command prints."""

import json
from pathlib import Path

import pytest

from headroom.cli import OK, main
from headroom.memory.architecture import read_architecture
from headroom.memory.errors import EstimateError
from headroom.memory.job import Job
from headroom.memory.layouts import Layout
from headroom.memory.least_time import LeastTime, least_time, speed_of, speeds_of

ROOT = Path(__file__).parents[2]
H100 = 3350e9
RATELESS = {"rtx-4060", "rtx-3060-12gb", "rtx-4080", "rtx-5080"}
PAGE = ROOT / "docs/inference/single-gpu/prefill-and-decode.md"


def of(model: str, card: str = "h100", **job: object) -> LeastTime:
    """Return the least time of a job."""
    return least_time(read_architecture(model, ROOT), Job(**job), card, ROOT)  # type: ignore[arg-type]


def split(count: int) -> Layout:
    """Return a layout that divides tensors, the LM head included."""
    return Layout(tensor=count, loss_parallel=count > 1)


class TestReads:
    """A decode step reads the weights, without the embedding, and the cache."""

    def test_a_dense_model_reads_all_weights_but_the_embedding(self) -> None:
        """Llama 3.1 8B has 8,030,261,248 parameters, of which the embedding has 128,256 × 4,096."""
        found = of("llama-3.1-8b", job="decode", length=8192)
        # The norms' weights are read as well.
        assert found.weights == 2 * (8_030_261_248 - 128_256 * 4096 - 4096)
        assert found.cache == 8192 * 32 * 2 * 8 * 128 * 2
        assert found.seconds == found.reading == (found.weights + found.cache) / H100

    def test_tied_embeddings_are_read_as_the_head(self) -> None:
        """Llama 3.2 1B reads all its parameters, but for the last norm."""
        assert of("llama-3.2-1b", job="decode").weights == 2 * (1_235_814_400 - 2048)

    def test_experts_are_read_as_the_tokens_use_them(self) -> None:
        """Eight of 128 for one token; two tokens share some."""
        one, two, many = (of("qwen3-30b-a3b", job="decode", batch=batch) for batch in (1, 2, 10_000))
        assert one.experts == pytest.approx(8 / 128)
        assert two.experts == pytest.approx(1 - (120 / 128) ** 2)
        assert many.experts == pytest.approx(1)
        assert one.experts
        assert two.experts
        expert = 48 * 128 * 3 * 2048 * 768 * 2
        assert two.weights - one.weights == pytest.approx((two.experts - one.experts) * expert)

    def test_a_window_bounds_the_cache(self) -> None:
        """Gemma 3 reads 512 tokens in most layers."""
        short, long = (of("gemma-3-1b", job="decode", length=length) for length in (512, 32_768))
        assert long.cache / short.cache < 32_768 / 512 / 4

    def test_tensor_parallelism_divides_both(self) -> None:
        """A device of eight reads about an eighth of the weights and of the cache."""
        one, eight = (of("llama-3.1-70b", job="decode", layout=split(tensor)) for tensor in (1, 8))
        assert eight.weights == pytest.approx(one.weights / 8, rel=0.001)
        assert eight.cache == one.cache / 8


class TestFlops:
    """A prefill computes 2 FLOPs per weight and token, and causal attention."""

    def test_a_dense_model_computes_twice_its_weights_and_attention(self) -> None:
        """The head computes one token."""
        found = of("llama-3.1-8b", job="prefill", length=2048)
        layers = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14_336)
        attention = 32 * 2 * (2048 * 2049 // 2) * 2 * 4096
        assert found.flops == 2 * 2048 * layers + 2 * 128_256 * 4096 + attention
        assert found.seconds == found.computing > found.reading

    def test_experts_compute_as_many_as_a_token_takes(self) -> None:
        """Qwen3 30B-A3B takes 8 of 128, and its router sees every token."""
        found = of("qwen3-30b-a3b", job="decode", length=1)
        layer = 2 * 2048 * 4096 + 2 * 2048 * 512 + 8 * 3 * 2048 * 768 + 2048 * 128
        assert found.flops == 2 * (48 * layer + 151_936 * 2048) + 48 * 2 * 2 * 4096

    def test_a_window_bounds_the_attention(self) -> None:
        """A long prompt of Gemma 3 costs far less attention than with all layers full."""
        found = of("gemma-3-1b", job="prefill", length=32_768)
        full = 26 * 2 * (32_768 * 32_769 // 2) * 2 * 4 * 256
        matmuls = of("gemma-3-1b", job="prefill", length=1).flops * 32_768
        assert found.flops < matmuls + full / 3

    def test_latent_attention_decodes_with_latent_vectors(self) -> None:
        """DeepSeek-V3: 128 heads over a latent vector of 512 and a rotary key of 64."""
        one, two = (of("deepseek-v3", job="decode", length=length) for length in (1, 2))
        assert two.flops - one.flops == 61 * 2 * 128 * (2 * 512 + 64)

    def test_fp32_computes_with_the_faster_of_tf32_and_vectors(self) -> None:
        """A T4 has no TF32, and a card without a rate has only a bandwidth."""
        assert speed_of("h100", ROOT).rates[4] == 494.5e12
        assert speed_of("Tesla T4", ROOT).rates[4] == 8.1e12


class TestRefusals:
    """What has no least time is refused with the remedy."""

    @pytest.mark.parametrize(
        ("job", "card", "words"),
        [
            ({"job": "full"}, "h100", "has no least time; use prefill or decode"),
            ({"job": "decode", "layout": Layout(strategy="ddp", data=2)}, "h100", "use --tensor alone"),
            ({"job": "decode"}, "24GB", "which has no recorded bandwidth; use "),
        ],
    )
    def test_the_message_names_it(self, job: dict[str, object], card: str, words: str) -> None:
        """The job, the layout and the card."""
        with pytest.raises(EstimateError, match=words):
            of("llama-3.1-8b", card, **job)

    def test_every_speed_has_a_16_bit_rate(self) -> None:
        """All that have a bandwidth, but for those whose documents print no such rate."""
        found = speeds_of(ROOT)
        assert len(found) > 30
        assert {name for name, each in found.items() if 2 not in each.rates} <= RATELESS


def run(*arguments: str) -> int:
    """Run ``headroom estimate`` in this repository."""
    return main(["estimate", "--root", str(ROOT), *arguments])


def test_the_page_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """The console block of the page about prefill and decode."""
    command, _, block = PAGE.read_text("utf-8").partition("```console\n")[2].partition("```")[0].partition("\n")
    words = command.removeprefix("$ headroom estimate ").replace('"', "").split()
    assert run(*words) == OK
    printed = capsys.readouterr().out
    assert block.removeprefix("…\n").strip() in printed


def test_json_has_the_least_time_of_inference_only(capsys: pytest.CaptureFixture[str]) -> None:
    """A card that is only a size has no bandwidth, and training has no least time."""
    for job, card in (("decode", "h100"), ("decode", "80GB"), ("full", "h100")):
        assert run("llama-3.1-8b", "--job", job, "--card", card, "--json") == OK
        found = json.loads(capsys.readouterr().out)
        assert ("least_time" in found) == ((job, card) == ("decode", "h100"))
