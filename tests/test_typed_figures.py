"""Typed figures: which numbers of a reader's page are one, and which are not."""

import time

import pytest

from headroom.pages.sentences import sentences
from headroom.pages.source import parse
from headroom.rules.typed_figures import typed_figures


def figures(text: str) -> list[str]:
    """Return the typed figures of a Markdown text."""
    page = parse("docs/a.md", text)
    return [figure for _, _, figure in typed_figures(page, sentences(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A step takes 0.2 s.", ["0.2 s"]),
        ("It runs for 90 seconds, 5 min or 2 hours.", ["90 seconds", "5 min", "2 hours"]),
        ("A call costs 6.2 µs, a 30-second run 200ms.", ["6.2 µs", "30-second", "200ms"]),
        ("It reaches 11,041 tokens/s.", ["11,041 tokens/s"]),
        ("It does 30,000 tokens a second and 25 GB per second.", ["30,000 tokens a second", "25 GB per second"]),
        ("The link has 900 GB/s, the peak is 989 TFLOPS.", ["900 GB/s", "989 TFLOPS"]),
        ("Of 989 × 10¹² operations a second, half.", ["989 × 10¹² operations a second"]),
        ("It takes 20 % more, or 30 percent.", ["20 %", "30 percent"]),
        ("Between 10–20 % of it.", ["20 %"]),
        ("It is 1.7× as fast, 5x the speed, 3-fold.", ["1.7×", "5x", "3-fold"]),
        ("It takes 1.49 times as long, 4 times less.", ["1.49 times", "4 times"]),
        ("They are 23.0 GiB, 512 MiB and **1.9** GiB.", ["23.0 GiB", "512 MiB", "1.9 GiB"]),
        ("| fp32 | 1.0 s |\n|---|---|\n| bf16 | 0.2 s |", ["1.0 s", "0.2 s"]),
        ("## It takes 20 minutes", ["20 minutes"]),
        ('??? tip "Saves 3 GiB"\n\n    Text.', ["3 GiB"]),
        ("It takes [20 %](https://example.org) and [3 s](other.md).", ["20 %", "3 s"]),
    ],
)
def test_measurable_figure_is_found(text: str, expected: list[str]) -> None:
    """In any kind of text, with any spelling of the unit, also in a link to something that keeps nothing true."""
    assert figures(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "On an 80 GB card, an H100 80GB, a batch of 4 × 2,048 tokens.",
        "16 bytes per parameter, 8-bit states, 1.24 billion parameters, 16 blocks, rank 128.",
        "Since transformers 5.23 and torch 2.13, of 2026-11-22, in the 1990s.",
        "Run it 3 times on 8x H100, with 4 × hidden size.",
        "All four add up to 100 %, and the rest is 0 %.",
        "Every 10 steps, from 6 sequences up.",
        "Set `timeout=30 s` and read `1.7×`.",
        "```text\n20 % in 3 s\n```",
        "<!-- 20 % in 3 s -->",
    ],
)
def test_other_number_is_not_found(text: str) -> None:
    """A card's name, a size of the work, a version, a date, a count, code."""
    assert figures(text) == []


@pytest.mark.parametrize("address", ["claim:a.b", "claim:a.b#ratio@cpu", "fact:a.b", "calc:20*P", "estimate:a/b?c=1"])
def test_linked_figure_is_not_found(address: str) -> None:
    """Also where its unit stands behind the link, and where the link ends a cell."""
    assert figures(f"It takes **[20 %]({address})** or [3]({address}) GiB.\n\n- [5 s]({address})") == []


@pytest.mark.parametrize("piece", ["1,000", "1 x ", "9 a b ", "[1 s](calc:1)", "10¹²"])
def test_four_times_the_text_takes_about_four_times_as_long(piece: str) -> None:
    """No endless number or sentence takes the square of its length."""

    def cost(size: int) -> float:
        page = parse("docs/a.md", "A " + piece * size)
        found = sentences(page.markdown)
        before = time.process_time()
        list(typed_figures(page, found))
        return time.process_time() - before

    assert min(cost(20_000) for _ in range(3)) < 10 * min(cost(5_000) for _ in range(3)) + 0.05
