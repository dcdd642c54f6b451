"""The answers of the single-GPU guide's worked problems on batches, padding and data loading, computed."""

import math

import pytest

from headroom.records import load
from headroom.verdicts import judge_all
from worked_problems import GIB, ROOT, answers, guide, problem

PAGE = "training/single-gpu.md"


def fact(sheet: str, name: str) -> float:
    """A figure of a fact sheet."""
    return load(ROOT).facts[sheet].figures[name].value


class TestAlignment:
    def test_what_a_column_costs(self) -> None:
        """Tiles of the output, in waves of as many as there are multiprocessors."""
        multiprocessors = fact("gpu-shapes", "a100_multiprocessors")

        def tiles(sequences: int, width: int) -> int:
            return math.ceil(sequences * 2048 / 128) * math.ceil(width / 256)

        def waves(count: int) -> int:
            return math.ceil(count / multiprocessors)

        eight, wider, seven = tiles(8, 2048), tiles(8, 2049), tiles(7, 2048)
        assert answers(problem(PAGE, "an A100, 8 sequences")) == [
            f"{eight:,}",
            f"{waves(eight)}",
            f"{wider:,}",
            f"{waves(wider)}",
            f"{seven}",
            f"{waves(seven)}",
            f"{7 / waves(seven):.2f}",
            f"{8 / waves(eight):.2f}",
            f"{100 * (waves(seven) / 7 / (waves(eight) / 8) - 1):.1f} %",
        ]
        assert 0.4 < eight / multiprocessors % 1 < 0.6, "the last wave is half empty"
        assert waves(wider) == 1.1 * waves(eight)

    def test_what_new_rows_do_to_the_loss(self) -> None:
        """Rows at the mean add at most a word's share each; rows of zeros have no bound."""
        words, rows = 50_257, 50_304
        blocks = rows * 2 / 128
        assert blocks.is_integer()
        mean = math.log(rows / words)
        zeros = math.log(1 + (rows - words) * math.exp(30) / words)
        found = answers(problem(PAGE, "what do 47 new rows do"))
        assert found == [f"{blocks:g}", f"{mean:.5f}", f"{zeros:.1f}"]

    def test_sizes_in_the_text(self) -> None:
        """Which sizes are multiples of 64, and what rounding up costs."""
        text = " ".join(guide(PAGE).split())
        assert f"are {7 * 2048:,} rows, which is {7 * 2048 // 64} × 64" in text
        assert f"vocabulary of 128,256 is {128_256 // 64:,} × 64" in text
        assert 7 * 2048 % 64 == 128_256 % 64 == 0
        assert 50_257 % 64 != 0
        more = 192 / 129 - 1
        assert f"padded to 192, holds {100 * more:.0f} % more tokens" in text


class TestPaddingFree:
    def test_what_is_saved_and_what_the_mask_takes(self) -> None:
        """Padding is the rectangle less the texts; the mask and its scores are the square of all tokens."""
        texts = (2048, 512, 512, 1024)
        held, real, within = len(texts) * max(texts), sum(texts), sum(text**2 for text in texts)
        assert answers(problem(PAGE, "texts of 2,048, 512, 512 and 1,024 tokens")) == [
            f"{held:,}",
            f"{100 * (1 - real / held):.0f} %",
            f"{real:,}",
            f"{real**2 / 2**20:.0f} MiB",
            f"{2 * real**2 / 2**20:.0f} MiB",
            f"{16 * 2 * real**2 / 2**20:.0f} MiB",
            f"{(8 * real) ** 2 / GIB:.1f} GiB",
            f"{2 * (8 * real) ** 2 / GIB:.1f} GiB",
            f"{within:,}",
            f"{real**2 / within:.1f}",
            f"{(8 * real) ** 2 / (8 * within):.1f}",
        ]

    def test_the_mask_is_what_is_kept_more(self) -> None:
        """Without padding, the arms differ by one mask a block; with it, the padded batch has small ones."""
        standing = judge_all(load(ROOT)).standings["training.padding-free.saved-memory"]["cpu-avx512-bf16"]
        none, half = standing.at({"share": 0}), standing.at({"share": 0.5})
        assert none
        assert half
        blocks, sequences, tokens = 2, 8, 128
        mask = blocks * (sequences * tokens) ** 2 * 4
        assert mask == 8 * 2**20
        assert none.subject[0] - none.baseline[0] == pytest.approx(mask, rel=0.001)
        assert half.baseline[0] - none.baseline[0] == pytest.approx(blocks * sequences * tokens**2 * 4, rel=0.01)


class TestDataLoading:
    def test_how_long_the_copy_takes(self) -> None:
        """Bytes over the link's rate, against operations over a rate that is generous."""
        tokens, parameters, rate = 8 * 2048, 1_235_814_400, 1e15
        link = fact("gpu-shapes", "pcie5_in_a_second") * 1e9
        batch, image = 3 * 8 * tokens, 8 * 3 * 1024 * 1024 * 4
        operations = 6 * parameters * tokens
        step = operations / rate
        assert answers(problem(PAGE, "8 sequences of 2,048 tokens, a model of 1.24 billion")) == [
            f"{batch / 1024:.0f} KiB",
            f"{batch / link * 1e6:.1f}",
            f"{operations / 1e14:.2f}",
            f"{step * 1e3:.0f}",
            f"{100 * batch / link / step:.3f} %",
            f"{image / 2**20:.0f} MiB",
            f"{image / link * 1e3:.1f}",
        ]
        assert rate > load(ROOT).classes["h200"].peak_flops / 2
