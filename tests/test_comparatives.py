"""Comparative sentences: which are found, at which positions, and how well, on labelled sentences."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparisons.train import PRECISION as CROSSED
from comparisons.train import PRUNED, made
from headroom.comparatives import NO_CLAIM, comparisons
from headroom.comparatives.linear_model import WEIGHTS

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs/contribute/comparisons.md"
PRECISION = 0.95
RECALL = {"seen": 0.96, "unseen": 0.76, "unseen-2": 0.85}
WORDS = [
    "faster",
    "memory",
    "less",
    "if",
    "it",
    "is",
    "2x",
    "30 %",
    "`faster`",
    "not",
    "use",
    "to",
    "reduces",
    "when",
    "the",
]
A_TEXT = st.lists(st.sampled_from([*WORDS, ".", ",", ":", "\n\n", "- ", "| ", "# ", "```\n", "(", "["]), max_size=60)


def found(text: str) -> list[str]:
    """Return the comparative sentences of a text."""
    return [each.text for each in comparisons(text)]


class TestWhatCounts:
    """The guideline for comparisons, case by case."""

    @pytest.mark.parametrize(
        "text",
        [
            "A fused kernel is faster.",
            "It needs less memory than AdamW.",
            "This halves the memory.",
            "Checkpointing can reduce memory.",
            "It usually slows down training.",
            "The 8-bit state gives up no accuracy.",
            "It is as fast as eager mode.",
            "It has the same throughput.",
            "Offloading is slow.",
            "It took 101 s with NVLink and 131 s without.",
            "A larger batch raises the throughput.",
            "Use X, it is twice as fast.",
            "Enable X for up to 2x faster training.",
            "If the batch is small, it is slower.",
            "Note that the loop is slower.",
            "Reduce memory usage by 40 % with it.",
            "It is snappier on a laptop than the other.",
            "A gain of 4 percent in throughput is what it brings.",
            "Lower latency through disaggregation",
            "## Reducing memory by 30 %",
            "## The kernel is faster",
            "This allows larger batches.",
            "It trades compute for memory.",
            "It went from 310 to 190 ms.",
            "## Reducing memory 2x",
            "Checkpointing reduces memory.",
        ],
    )
    def test_assertions_count(self, text: str) -> None:
        """Effects, possibilities, absences, equalities, trades and merits."""
        assert found(text) == [text.removeprefix("## ")]

    @pytest.mark.parametrize(
        "text",
        [
            "Use X to reduce memory.",
            "To save memory, set `bf16=True`.",
            "If memory is tight, try a smaller batch.",
            "For faster downloads, install Y.",
            "Throughput is the number of tokens a second.",
            "See this page for faster inference.",
            "[Faster inference](inference.md)",
            "This guide shows how to make training faster.",
            "Is it faster?",
            "Whether it is faster depends on the model.",
            "It runs if the loader is slower than the GPU.",
            "The new API is simpler and more flexible.",
            "It calls memory-efficient attention.",
            "The card has 80 GB.",
            "Longer sequences need more memory.",
            "A 13B model takes twice as much memory as a 7B one.",
            "It requires Ampere or newer.",
            "Call `is_faster` with `less_memory=2x`.",
            "## Reducing memory",
            "| Faster | Less memory |\n|---|---|\n| yes | no |",
            "It allocates the first 30 % of them.",
            '"Is it faster?"',
            "(Is it faster?)",
            "**Is it faster?**",
            "## Training is slow",
            "## Your model is slow",
            "## My model is slow",
            "## It is very slow",
            "| What | Try |\n|---|---|\n| The steps are slow | this |",
        ],
    )
    def test_other_sentences_do_not_count(self, text: str) -> None:
        """Instructions, conditions, questions, definitions, references, names, sizes and code."""
        assert found(text) == []


def test_a_comparison_has_its_line_span_claims_and_note() -> None:
    text = "No.\n\n- It is [faster](claim:a.b).\n- It is slower. <!-- no-claim: advice -->\n"
    first, second = comparisons(text)
    assert (first.line, first.text, first.linked, first.grounds, first.note) == (
        3,
        "It is faster.",
        True,
        ("claim:a.b",),
        None,
    )
    assert (second.line, second.linked, second.grounds, second.note) == (4, False, (), "advice")
    assert text[second.start : second.end] == "It is slower."


@pytest.mark.parametrize("address", ["claim:a.b", "calc:2*(A+B)", "estimate:llama-3.2-1b/full?batch=1"])
def test_links_to_claims_and_to_computed_or_predicted_figures_are_grounds(address: str) -> None:
    """Also if the link is the whole cell."""
    in_a_sentence, in_a_cell = comparisons(
        f"It is [23 % slower]({address}).\n\n| A |\n|---|\n| [23 % slower]({address}) |\n"
    )
    assert in_a_sentence.grounds == in_a_cell.grounds == (address,)


def test_other_links_are_no_grounds() -> None:
    """Facts and web pages are not evidence for a comparison."""
    assert [
        each.grounds for each in comparisons("It is [23 % slower](fact:a.b).\n\nIt is [slower](https://a.org).")
    ] == [(), ()]


@given(A_TEXT)
def test_comparisons_of_any_text_are_inside_it_and_repeatable(parts: list[str]) -> None:
    text = " ".join(parts)
    judged = comparisons(text)
    assert judged == comparisons(text)
    assert all(0 <= each.start < each.end <= len(text) for each in judged)


@given(A_TEXT)
def test_code_compares_nothing(parts: list[str]) -> None:
    """No sentence in a fence is a comparison."""
    code = "\n".join(line for line in " ".join(parts).replace("```", "").split("\n"))
    assert found(f"````python\n{code}\nFENCED is faster\n````\n") == []


def cost(text: str) -> float:
    """Return the CPU seconds of finding comparisons in a text."""
    before = time.process_time()
    comparisons(text)
    return time.process_time() - before


@pytest.mark.parametrize(
    "piece", ["x ", "[", "`", "faster than ", "|", "| a |\n", "if ", "(use it ", "memory takes 2 GB, not 4 "]
)
def test_four_times_the_text_costs_about_four_times_as_much(piece: str, deep: bool) -> None:  # noqa: FBT001
    """One endless sentence takes linear time."""
    size = (1_000_000 if deep else 80_000) // len(piece)
    few = min(cost(piece * (size // 4)) for _ in range(3))
    much = min(cost(piece * size) for _ in range(3))  # the minimum of three, without garbage collection
    assert much < 10 * few + 0.05


@pytest.mark.parametrize("path", [HERE / "comparisons" / f"{half}.tsv" for half in RECALL], ids=lambda path: path.stem)
class TestLabelled:
    """Labelled sentences: 1 for a comparative sentence, 0 for any other."""

    def test_recall_and_precision_are_as_printed(self, path: Path) -> None:
        """Recall and precision reach their bounds and equal the figures of the page."""
        rows = [row.split("\t", 1) for row in path.read_text("utf-8").splitlines()]
        right = sum(label == "1" and bool(found(text)) for label, text in rows)
        labelled = sum(label == "1" for label, _ in rows)
        judged = sum(bool(found(text)) for _, text in rows)
        recall, precision = right / labelled, right / judged
        assert recall >= RECALL[path.stem]
        assert precision >= PRECISION
        assert f"| {path.stem} | {len(rows)} | {recall:.1%} | {precision:.1%} |".replace("%", " %") in PAGE.read_text(
            "utf-8"
        )


def weights(text: str) -> dict[str, float]:
    """Return the weight of each feature."""
    return {name: float(weight) for name, weight in (line.rsplit(" ", 1) for line in text.splitlines())}


@pytest.mark.deep
def test_training_gives_the_committed_weights() -> None:
    """Up to the last digit, and with the page's recall."""
    text, recall = made()
    again, kept = weights(text), weights(WEIGHTS.read_text("utf-8"))
    assert {name: again[name] for name in again.keys() & kept.keys()} == pytest.approx(
        {name: kept[name] for name in again.keys() & kept.keys()}, abs=0.011
    )
    assert all(abs({**again, **kept}[name]) < PRUNED + 0.02 for name in again.keys() ^ kept.keys())
    assert f"{recall:.1%} at a precision of {CROSSED:.0%}".replace("%", " %") in PAGE.read_text("utf-8")


def test_the_page_prints_the_kinds_of_notes() -> None:
    """The page's table of kinds equals the code's."""
    text = PAGE.read_text("utf-8")
    assert [f"| `{kind}` | {meaning} |" in text for kind, meaning in NO_CLAIM.items()] == [True] * len(NO_CLAIM)
