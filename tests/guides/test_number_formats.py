"""The table of the page on number formats, and the answers of its worked problems, computed from the formats' bits."""

import re

import numpy as np

from headroom.records import load
from worked_problems import ROOT, answers, gib, guide, problem

PAGE = "concepts/number-formats.md"
FORMATS = {  # bytes, exponent, fraction
    "fp32": (4, 8, 23),
    "TF32": (4, 8, 10),
    "bf16": (2, 8, 7),
    "fp16": (2, 5, 10),
    "fp8 e4m3": (1, 4, 3),
    "fp8 e5m2": (1, 5, 2),
}


def limits(name: str) -> tuple[float, float, float, float]:
    """Largest, least normal, least above zero, and the gap above 1."""
    _, exponent, fraction = FORMATS[name]
    bias = 2 ** (exponent - 1) - 1
    gap = 2.0**-fraction
    largest = (2 - 2 * gap) * 2.0 ** (bias + 1) if name == "fp8 e4m3" else (2 - gap) * 2.0**bias
    return largest, 2.0 ** (1 - bias), 2.0 ** (1 - bias - fraction), gap


def short(value: float) -> str:
    """A figure as the table prints it."""
    return f"{value:,.0f}" if 100 < value < 1e6 else f"{value:.3g}"


class TestTable:
    def test_every_row(self) -> None:
        """What stands in the table follows from the bits that stand in it."""
        text = guide(PAGE)
        for name, (size, exponent, fraction) in FORMATS.items():
            row = re.search(rf"^\| {name} \| (.*) \|$", text, re.MULTILINE)
            assert row, name
            cells = row[1].split(" | ")
            largest, normal, least, gap = map(short, limits(name))
            if name == "TF32":
                assert cells == ["4, stored as fp32", "8, 10", largest, normal, "not stored", gap]
            else:
                assert cells == [str(size), f"{exponent}, {fraction}", largest, normal, least, gap]

    def test_limits_are_numpys(self) -> None:
        """The formula gives what NumPy knows of the two formats that it has."""
        for name, dtype in (("fp32", np.float32), ("fp16", np.float16)):
            of = np.finfo(dtype)
            known = (of.max, of.smallest_normal, of.smallest_subnormal, of.eps)
            assert limits(name) == tuple(map(float, known))

    def test_blocks(self) -> None:
        """Bytes a number of the formats that share a scale, from the block sizes of the fact sheet."""
        figures = load(ROOT).facts["number-formats"].figures
        text = guide(PAGE)
        for name, bits, block in (("MXFP8", 8, "mx_block"), ("MXFP4", 4, "mx_block"), ("NVFP4", 4, "nvfp4_block")):
            size = (bits + 8 / figures[block].value) / 8
            assert re.search(rf"^\| {name} .* \| {size:g} \|$", text, re.MULTILINE), name


class TestProblems:
    def test_sum_of_squares(self) -> None:
        """1,024 squares of 8 are one more than fp16 can round down."""
        with np.errstate(over="ignore"):
            total = np.float16(1024 * 8**2)
        assert answers(problem(PAGE, "the sum of squares")) == [str(8**2), str(1024 * 8**2), str(total)]

    def test_lost_gradients(self) -> None:
        """Half of the least number above zero, which goes to the even zero."""
        halves = [limits(name)[2] / 2 for name in ("fp16", "fp8 e5m2", "bf16")]
        assert np.float16(halves[0]) == 0
        assert answers(problem(PAGE, "below which size")) == [
            *(f"{half:.2g}" for half in halves),
            f"{halves[0] / 65_536:.2g}",
        ]

    def test_where_counting_stops(self) -> None:
        """One more than the digits of a format."""
        stops = [2 ** (FORMATS[name][2] + 1) for name in ("bf16", "fp16", "fp32")]
        assert np.float16(2048) + np.float16(1) == 2048
        assert np.float32(2**24) + np.float32(1) == 2**24
        assert answers(problem(PAGE, "1 is added to a bf16 number")) == [str(stop) for stop in stops]

    def test_second_mean(self) -> None:
        """A step of a thousandth against half of the gap above 1."""
        half = limits("bf16")[3] / 2
        assert answers(problem(PAGE, "AdamW's second mean")) == ["0.001", f"{half:.4f}", f"{1 + half / 0.001:.1f}"]

    def test_nvfp4(self) -> None:
        """16 numbers and their scale."""
        bits = 16 * 4 + 8
        assert answers(problem(PAGE, "7 billion weights in NVFP4")) == [
            str(bits),
            f"{bits / 16:g}",
            gib(7e9 * bits / 16 / 8),
            gib(7e9 * 2),
        ]
