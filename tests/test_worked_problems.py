"""The answers of the guides' worked problems, computed."""

import re
from pathlib import Path

import numpy as np

from headroom.records import load

ROOT = Path(__file__).parent.parent
GIB = 2**30


def problem(page: str, title: str) -> str:
    """The text of one worked problem, from its title to the end of its indented block."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    match = re.search(
        rf'^\?\?\? question "Worked problem: {re.escape(title)}.*"\n\n(?P<body>(?:    .*\n|\n)+)', text, re.MULTILINE
    )
    assert match, f"{page} has no worked problem that starts with {title!r}"
    return match["body"]


def answers(text: str) -> list[str]:
    """What a problem prints in bold: its answers, in order."""
    return re.findall(r"\*\*(.+?)\*\*", text)


def gib(size: float, digits: int = 1) -> str:
    """Bytes as the guides print them."""
    return f"{size / GIB:.{digits}f} GiB"


def bf16(value: float) -> float:
    """A number rounded to bf16, to nearest and ties to even: the upper half of its fp32 form."""
    bits = int(np.float32(value).view(np.uint32))
    bits += 0x7FFF + (bits >> 16 & 1)
    return float(np.uint32(bits & 0xFFFF0000).view(np.float32))


class TestSingleGpu:
    def test_does_a_billion_parameters_fit(self) -> None:
        """20 bytes a parameter do not fit 24 GB, 16 do, and what is left bounds what may be kept for backward."""
        parameters, card = 1_235_814_400, 24e9
        layers, width, tokens, vocabulary = 16, 2048, 2048, 128_256
        assert answers(problem("training/single-gpu.md", "1.24 billion parameters")) == [
            gib(20 * parameters),
            gib(card),
            gib(16 * parameters),
            gib(card - 16 * parameters),
            gib(card - 12 * parameters),
            gib(layers * tokens * width * 4, 2),
            gib(tokens * vocabulary * 4, 2),
        ]

    def test_parameters_of_llama_3_2_1b(self) -> None:
        """The number of parameters that the problem starts from follows from the published shape."""
        width, inner, layers, heads, kv_heads, vocabulary = 2048, 8192, 16, 32, 8, 128_256
        head = width // heads
        attention = 2 * width * width + 2 * width * kv_heads * head
        block = attention + 3 * width * inner + 2 * width
        assert vocabulary * width + layers * block + width == 1_235_814_400

    def test_first_lines_of_the_answer(self) -> None:
        """What the measuring script prints for GPT-2 follows from its shape."""
        width, layers, vocabulary, positions = 768, 12, 50_257, 1024
        block = 12 * width * width + 13 * width
        parameters = (vocabulary + positions) * width + layers * block + 2 * width
        text = (ROOT / "docs/training/single-gpu.md").read_text(encoding="utf-8")
        assert f"{parameters:,} parameters" in text
        for name, size in (("weights", 4), ("gradients", 4), ("optimizer states", 8)):
            assert f"{name:>18}: {size * parameters / 2**20:8.1f} MiB\n" in text

    def test_size_of_the_logits(self) -> None:
        """A batch of 8 x 2,048 tokens over 128,256 words has the logits that the text says."""
        text = (ROOT / "docs/training/single-gpu.md").read_text(encoding="utf-8")
        assert f"has {gib(8 * 2048 * 128_256 * 4)} of them in fp32" in text

    def test_which_update_is_lost_in_bf16(self) -> None:
        """Next to 1, bf16 cannot hold a change of a thousandth, and fp32 can."""
        step = 2.0**-7
        assert bf16(1 + step) == 1 + step
        assert bf16(1 + 0.49 * step) == 1.0
        lost, kept = bf16(1 + 0.001), float(np.float32(1 + 0.001))
        assert lost == 1.0
        found = answers(problem("training/single-gpu.md", "which update is lost"))
        assert found == [str(1 + step), "nothing", str(step / 2), f"{kept:.3f}"]


class TestFacts:
    def test_largest_half(self) -> None:
        """The largest fp16 number of the fact sheet is the one that the format has."""
        sheet = load(ROOT).facts["number-formats"]
        assert sheet.figures["fp16_max"].value == float(np.finfo(np.float16).max)
