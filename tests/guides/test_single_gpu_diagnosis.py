"""The answers of the single-GPU guide's worked problems on finding what is wrong, computed."""

from headroom.records import load
from worked_problems import ROOT, answers, gib, guide, problem

PAGE = "training/single-gpu.md"
LLAMA = 1_235_814_400  # the parameters of Llama 3.2 1B
VOCABULARY = 128_256


def mib(size: float) -> str:
    """Bytes as the guides print smaller sizes."""
    return f"{size / 2**20:.1f} MiB"


class TestWhenItHappens:
    def test_fits_before_and_not_after_a_restart(self) -> None:
        """The weights of a checkpoint that is kept are 4 bytes a parameter more."""
        before, after = 16 * LLAMA, 20 * LLAMA
        assert before < 22 * 2**30 < after
        found = answers(problem(PAGE, "a run fits in 22 GiB, and after a restart"))
        assert found == [gib(before), gib(after), gib(before)]

    def test_batch_sizes_that_are_tried(self) -> None:
        """Nine tenths rounded down, until it is no more than what fits."""
        tried = [64]
        while tried[-1] > 24:
            tried.append(int(tried[-1] * 0.9))
        text = problem(PAGE, "it starts at 64")
        assert ", ".join(map(str, tried)) + "." in " ".join(text.split())
        assert answers(text) == [str(len(tried) - 1), str(tried[-1])]
        page = " ".join(guide(PAGE).split())
        assert tried.index(32) == 6
        assert "From 64 to half of that takes it six errors." in page


class TestEvaluation:
    def test_what_evaluation_holds(self) -> None:
        """All logits, twice of them, a word a token, and one batch with its softmax."""
        texts, tokens, batch = 500, 512, 8
        logits = 4 * texts * tokens * VOCABULARY
        one = 4 * batch * tokens * VOCABULARY
        assert answers(problem(PAGE, "500 texts of 512 tokens")) == [
            gib(logits),
            gib(2 * logits),
            gib(logits),
            mib(8 * texts * tokens),
            gib(one),
            gib(2 * one),
        ]

    def test_a_list_holds_half_of_what_is_joined(self) -> None:
        """With many batches, the joined logits are there twice, as the text says."""
        kept = [2 * batches for batches in (10, 100)]
        listed = [batches + 1 for batches in (10, 100)]
        assert kept[0] / listed[0] < kept[1] / listed[1] < 2


class TestAllocator:
    def test_segments_of_growing_texts(self) -> None:
        """Sixteen sizes take a segment each, and the longest has room for all others."""
        sizes = [4 * tokens * 50_257 for tokens in range(64, 1025, 64)]
        times = sum(sizes) // sizes[0]
        assert answers(problem(PAGE, "texts of 64, 128, 192")) == [
            mib(sizes[-1]),
            str(times),
            gib(sum(sizes), 2),
            mib(max(sizes)),
        ]


class TestRegime:
    def test_share_of_the_peak(self) -> None:
        """Products with weights and attention, against what the sheet prints for an H200."""
        tokens, seconds = 8 * 2048, 0.25
        peak = load(ROOT).facts["gpus"].figures["h200_bf16_tflops"].value * 1e12
        products = 6 * LLAMA * tokens
        attention = 12 * 16 * 2048 * 2048 * tokens
        assert answers(problem(PAGE, "a step of 8 × 2,048 tokens")) == [
            f"{tokens:,}",
            f"{products / 1e12:.1f}",
            f"{attention / 1e12:.1f}",
            f"{(products + attention) / 1e12:.1f}",
            f"{(products + attention) / (peak * seconds):.1%}".replace("%", " %"),
        ]

    def test_operations_a_byte(self) -> None:
        """The quotients that the text prints follow from the sheet."""
        figures = load(ROOT).facts["gpus"].figures
        text = " ".join(guide(PAGE).split())
        for gpu, words in (("h200", "about {} operations a byte"), ("h100_sxm", "so {}.)")):
            rate, moved = (figures[f"{gpu}_{unit}"].value for unit in ("bf16_tflops", "terabytes_per_second"))
            assert words.format(round(rate / moved)) in text
