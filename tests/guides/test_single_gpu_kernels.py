"""The answers of the single-GPU guide's worked problems on attention, compiling and fused kernels, computed."""

import math

from headroom.records import load
from headroom.verdicts import judge_all
from worked_problems import GIB, ROOT, answers, gib, problem

PAGE = "training/single-gpu.md"


class TestAttention:
    def test_what_eager_attention_keeps(self) -> None:
        """A softmax in fp32 and its bf16 copy for each pair of tokens and head; or one number a query and head."""
        blocks, heads, tokens = 16, 32, 8192

        def eager(length: int) -> int:
            return heads * length * length * (4 + 2)

        flash = heads * tokens * 4
        assert answers(problem(PAGE, "Llama 3.2 1B, one sequence of 8,192 tokens")) == [
            gib(eager(tokens)),
            gib(blocks * eager(tokens)),
            f"{flash / 2**20:.1f} MiB",
            f"{blocks * flash / 2**20:.1f} MiB",
            gib(blocks * eager(512), 2),
        ]

    def test_difference_is_the_softmax(self) -> None:
        """What eager attention kept beyond SDPA, where measured, is its softmax less the sums, but for 16 bytes."""
        standing = judge_all(load(ROOT)).standings["training.attention.saved-memory"]["cpu-avx512-bf16"]
        blocks, heads = 2, 12
        for tokens in (256, 512, 1024):
            point = standing.at({"tokens": tokens})
            assert point
            more = 4 * blocks * heads * tokens * (tokens - 1)
            assert 0 <= point.baseline[0] - point.subject[0] - more <= 16


class TestCompile:
    def test_when_compiling_has_paid(self) -> None:
        """Seconds of compiling, divided by the seconds that a step saves."""
        compiling, before, after = 90, 0.50, 0.44
        saved = round(before - after, 9)
        assert answers(problem(PAGE, "compiling takes 90 seconds")) == [
            f"{compiling / saved:,.0f}",
            f"{compiling - 500 * saved:.0f}",
            f"{4 * compiling / saved:,.0f}",
            f"{(20_000 * saved - compiling) / 60:.1f}",
        ]


class TestFusedKernels:
    def test_size_of_a_chunk(self) -> None:
        """Tokens over the ratio of vocabulary and width, both rounded up, the second to a power of two."""
        width, vocabulary, tokens = 2048, 128_256, 16_384
        ratio = math.ceil(vocabulary / width)
        chunk = 2 ** math.ceil(math.log2(math.ceil(tokens / ratio)))
        assert answers(problem(PAGE, "how large are Liger's chunks")) == [
            f"{ratio}",
            f"{chunk}",
            gib(4 * chunk * vocabulary, 2),
            gib(4 * tokens * vocabulary, 2),
        ]
        assert 4 * tokens * vocabulary > GIB
