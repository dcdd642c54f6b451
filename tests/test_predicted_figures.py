"""Predicted figures: addresses, parts, tables, `--fix`, and the example on the page for authors."""

import re
from pathlib import Path

import pytest

from headroom.memory.estimate import estimate
from headroom.pages.calculated_text import rewrite
from headroom.pages.calculations import Calculation, Calculations
from headroom.pages.estimate_targets import EstimateTarget, parse_estimate, parse_table
from headroom.pages.figure_sources import source_of
from headroom.pages.predictions import Predictions
from headroom.pages.source import links_of
from headroom.records.tree import Tree, load
from headroom.verdicts import judge_all

ROOT = Path(__file__).parents[1]
CLEAN = ROOT / "tests/rule_cases/clean"
JOB = "estimate:llama-3.1-8b/full?checkpointing"


@pytest.fixture(scope="module")
def predictions() -> Predictions:
    """Return the predictions from the coefficients of this repository."""
    return Predictions(ROOT)


@pytest.fixture(scope="module")
def tree() -> Tree:
    """Return the records of the clean tree."""
    return load(CLEAN)


def calculations(text: str, root: Path, tree: Tree) -> Calculations:
    """Return the figures of a text, with estimates from a folder."""
    return Calculations(text, links_of(text), source_of(tree, judge_all(tree), Predictions(root)))


def wrong(found: Calculations) -> list[Calculation]:
    """Return the figures whose text differs from their result."""
    return [each for each in found.found if rewrite(each).differs]


class TestTargets:
    """An address names a model, a job, options and a part."""

    def test_options_have_the_types_of_their_fields(self) -> None:
        """Numbers, words and switches."""
        found = parse_estimate("estimate:a/b-8B/lora?batch=4&optimizer=sgd&checkpointing&loss-parallel#weights")
        options = (("batch", 4), ("optimizer", "sgd"), ("checkpointing", True), ("loss_parallel", True))
        assert found == EstimateTarget("a/b-8B", "lora", options, "weights")

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("llama", "no model and job"),
            ("llama/full?heads=3", "`heads` is no option"),
            ("llama/full?batch", "`batch` has no value"),
            ("llama/full?batch=two", "whole number"),
            ("llama/full?batch=1&batch=2", "two values"),
            ("llama/full?checkpointing=1", "is a switch"),
        ],
    )
    def test_faults_name_the_option(self, address: str, words: str) -> None:
        """And say what is allowed."""
        with pytest.raises(ValueError, match=words):
            parse_estimate(f"estimate:{address}")

    def test_a_table_has_an_address_per_cell(self) -> None:
        """Items of the list of jobs may have options of their own."""
        found = parse_table("estimate-table:a,b/full+precision=fp32,lora?batch=2&checkpointing", "Model; fp32; LoRA")
        assert found.titles == ("Model", "fp32", "LoRA")
        rest = "batch=2&checkpointing"
        assert [cell for _, cells in found.rows for cell in cells] == [
            f"estimate:a/full?{rest}&precision=fp32",
            f"estimate:a/lora?{rest}",
            f"estimate:b/full?{rest}&precision=fp32",
            f"estimate:b/lora?{rest}",
        ]

    def test_a_table_of_one_list_has_one_column(self) -> None:
        """Without titles, the items and the word peak stand for them."""
        found = parse_table("estimate-table:a/full?batch=1,2#weights")
        assert (found.titles, found.rows[1]) == (("batch", "peak"), ("2", ("estimate:a/full?batch=2#weights",)))


class TestParts:
    """Parts are components, phases, cards and the largest batch."""

    def test_the_peak_and_a_phase_equal_the_estimate(self, predictions: Predictions) -> None:
        """For the same job."""
        found = estimate("llama-3.1-8b", root=ROOT, checkpointing=True)
        assert predictions.of(JOB).quantity.value == found.peak
        assert predictions.of(f"{JOB}#phase:optimizer-step").quantity.value == found.phases[-1].bytes

    def test_components_of_a_phase_add_up(self, predictions: Predictions) -> None:
        """A component that does not exist in the phase is 0."""
        names = ("weights", "optimizer-states", "gradients", "batch")
        phase = f"{JOB}#phase:optimizer-step"
        parts = [predictions.of(f"{phase}:{name}").quantity.value for name in names]
        assert sum(parts) == predictions.of(phase).quantity.value
        assert predictions.of(f"{phase}:saved-activations").quantity.value == 0

    def test_a_component_without_phase_is_the_largest(self, predictions: Predictions) -> None:
        """All gradients exist at the optimizer step, which is not the peak."""
        assert predictions.of(f"{JOB}#gradients").quantity.value == 2 * 8_030_261_248
        assert predictions.of(f"{JOB}#activations") == predictions.of(f"{JOB}#saved-activations")

    def test_the_smallest_card_is_the_first_that_certainly_fits(self, predictions: Predictions) -> None:
        """A 48 GB card is too small for the bf16 recipe, and an 80 GB card is not."""
        assert (predictions.of(f"{JOB}#card").card, predictions.of(JOB).card) == ("80 GB", "80 GB")
        with pytest.raises(LookupError, match="no usual card"):
            predictions.of("estimate:llama-3.1-70b/full#card")

    def test_the_largest_batch_fits_and_the_next_does_not(self, predictions: Predictions) -> None:
        """On a card of the address's size."""
        job = "estimate:llama-3.2-1b/full?checkpointing"
        count = int(predictions.of(f"{job}&card=80GB#largest-batch").quantity.value)
        cards = [predictions.of(f"{job}&batch={batch}").card for batch in (count, count + 1)]
        assert cards == ["80 GB", "141 GB"]

    def test_the_least_time_is_of_a_card_of_the_list(self, predictions: Predictions) -> None:
        """Its text has the bytes and FLOPs, and no known error of a peak."""
        found = predictions.of("estimate:llama-3.1-8b/decode?card=h100&length=1#least-time")
        assert (found.is_time, found.card, 0.004 < found.quantity.value < 0.005) == (True, "", True)
        assert found.explained.endswith("Printed rates: a lower bound, no prediction")
        for rest in ("decode?length=1", "full?card=h100"):
            with pytest.raises(ValueError, match=r"card=h100|use prefill or decode"):
                predictions.of(f"estimate:llama-3.1-8b/{rest}#least-time")

    def test_a_model_is_no_path(self, predictions: Predictions) -> None:
        """A page cannot have a file read."""
        with pytest.raises(ValueError, match="no shape is recorded"):
            predictions.of("estimate:./checks/full")


class TestText:
    """The check holds the text to the estimate."""

    def test_the_example_for_authors_is_right(self, tree: Tree) -> None:
        """Each Markdown fence with an estimate, by this repository's coefficients; another figure is found."""
        guide = (ROOT / "docs/contribute/guide.md").read_text("utf-8")
        examples = [body for body in re.findall(r"```markdown\n(.*?)```", guide, re.DOTALL) if "estimate" in body]
        assert len(examples) == 2
        text = "\n".join(examples)
        found = calculations(text, ROOT, tree)
        assert (found.faults, wrong(found), len(found.found)) == ([], [], 3)
        assert len(wrong(calculations(text.replace("10.2 GiB", "10.3 GiB"), ROOT, tree))) == 1

    def test_a_table_is_checked_cell_by_cell(self, tree: Tree) -> None:
        """A job without coefficients is a fault of the link."""
        text = "\n\n[](estimate-table:plain-0.1b/full,lora)"
        (fault,) = calculations(text, CLEAN, tree).faults
        assert (fault.line, "has no coefficients" in fault.message) == (3, True)

    def test_an_empty_link_is_filled_in_the_usual_form(self, tree: Tree) -> None:
        """GiB with one decimal."""
        (found,) = calculations("[](estimate:plain-0.1b/full?length=1024)", CLEAN, tree).found
        assert rewrite(found).right == "1.4 GiB"
