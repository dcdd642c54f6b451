"""Words for factors, certainty, free benefits and hardware."""

import pytest

from headroom.pages import quantifiers

INFINITY = float("inf")


class TestDegrees:
    """Words for how much."""

    @pytest.mark.parametrize(
        ("text", "low", "high"),
        [
            ("It halves the peak.", 1.8, 2.25),
            ("It needs half the memory.", 1.8, 2.25),
            ("It needs half as much.", 1.8, 2.25),
            ("It cuts traffic in half.", 1.8, 2.25),
            ("It runs twice as fast.", 1.8, 2.25),
            ("It doubles throughput.", 1.8, 2.25),
            ("It takes a third of the time.", 2.7, 3.375),
            ("It takes two thirds of the time.", 1.35, 1.6875),
            ("It takes three quarters of the memory.", 1.2, 1.5),
            ("It is five times faster.", 4.5, 5.625),
            ("It is an order of magnitude cheaper.", 8, 12.5),
            ("It is orders of magnitude cheaper.", 80, INFINITY),
            ("It is slightly faster.", 1, 1.1),
            ("It is a bit slower.", 1, 1.1),
            ("It saves considerably.", 1.25, INFINITY),
            ("It is much faster.", 1.25, INFINITY),
            ("It is dramatically faster.", 2, INFINITY),
            ("It more than halves the peak.", 2, INFINITY),
            ("It almost doubles the speed.", 1.62, 2.25),
        ],
    )
    def test_words_describe_a_range_of_ratios(self, text: str, low: float, high: float) -> None:
        """`more than` removes the upper bound, `almost` lowers the lower one."""
        (degree,) = quantifiers.degrees(text)
        assert (degree.low, degree.high) == pytest.approx((low, high))

    @pytest.mark.parametrize(
        "text",
        [
            "It is lower with half of the blocks.",
            "Four times the batch, at the same peak.",
            "It runs twice.",
            "It is not twice as fast.",
            "There is no significant difference.",
            "The head is never much faster.",
            "A third script prints it.",
            "The far end is reached.",
        ],
    )
    def test_other_shares_counts_and_negations_are_ignored(self, text: str) -> None:
        """They describe no ratio."""
        assert list(quantifiers.degrees(text)) == []

    def test_fit_either_direction(self) -> None:
        """Half the speed and twice the speed are both a factor of two."""
        (degree,) = quantifiers.degrees("It doubles the speed.")
        assert degree.fits(2.0)
        assert degree.fits(0.5)
        assert not degree.fits(1.79)
        assert not degree.fits(2.26)
        assert not degree.fits(0)
        assert not degree.fits(float("nan"))

    def test_ranges_are_printed_for_messages(self) -> None:
        """Messages show the ratios that a word may describe."""
        assert [str(degree) for degree in quantifiers.degrees("It halves, dramatically.")] == [
            "1.8 to 2.25",
            "2 or more",
        ]


class TestDirections:
    """Words for the direction of a change."""

    @pytest.mark.parametrize(
        ("text", "rate", "found"),
        [
            ("keeps less", False, {"less"}),
            ("faster", False, {"less"}),
            ("faster", True, {"more"}),
            ("slower", True, {"less"}),
            ("a higher throughput", True, {"more"}),
            ("raises the peak", False, {"more"}),
            ("not slower", False, set()),
            ("no faster, and keeps more", False, {"more"}),
            ("less of one, more of another", False, {"less", "more"}),
            ("the same", False, set()),
        ],
    )
    def test_directions_follow_the_amount(self, text: str, rate: bool, found: set[str]) -> None:  # noqa: FBT001 - a table
        """Faster is less of a time and more of a rate; negated words are ignored."""
        assert quantifiers.directions(text, rate=rate) == found


class TestPatterns:
    """Words for certainty, for no cost and for hardware."""

    @pytest.mark.parametrize(
        "text",
        ["for free", "at no extra cost", "costs nothing", "without any slow-down", "without overhead", "no overhead"],
    )
    def test_words_that_promise_no_cost(self, text: str) -> None:
        """The rule `words` checks them."""
        assert quantifiers.FREE.search(f"It comes {text}, they say.")

    @pytest.mark.parametrize("text", ["free memory", "the cost", "without checkpointing", "freely chosen"])
    def test_words_that_do_not_promise_no_cost(self, text: str) -> None:
        """Free memory is not a free benefit."""
        assert not quantifiers.FREE.search(f"It has {text}, they say.")

    @pytest.mark.parametrize(
        "text",
        ["always", "in all cases", "regardless of the model", "on any GPU", "for every batch size", "guarantees"],
    )
    def test_words_that_allow_no_exception(self, text: str) -> None:
        """The rule `words` checks them."""
        assert quantifiers.ALWAYS.search(f"It is {text} faster.")

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("on an H200", "H200"),
            ("on one NVIDIA A100", "A100"),
            ("on a modern GPU", "GPU"),
            ("on GPUs", "GPU"),
            ("On the RTX 4090", "RTX 4090"),
            ("on Apple silicon", "Apple silicon"),
            ("on most CPUs", "CPU"),
            ("on TPUs", "TPUs"),
        ],
    )
    def test_on_names_the_hardware_of_a_sentence(self, text: str, name: str) -> None:
        """Products and kinds of hardware are recognised."""
        match = quantifiers.PLACE.search(f"It is faster {text}, they say.")
        assert match
        assert name in (match["product"], match["kind"], match["kinds"])

    @pytest.mark.parametrize("text", ["kept on the GPU", "a copy on the CPU", "on the H2000", "based on GPU memory"])
    def test_a_place_in_memory_is_no_hardware_class(self, text: str) -> None:
        """A tensor on the GPU says nothing about GPUs in general."""
        assert not quantifiers.PLACE.search(f"It is {text}.")

    @pytest.mark.parametrize("text", ["1.9×", "3x", "20 %", "2.5 times", "15 percent", "1,000×"])
    def test_typed(self, text: str) -> None:
        """A typed figure of a comparison is found in every notation."""
        assert quantifiers.TYPED.search(f"It is {text} less.")

    @pytest.mark.parametrize("text", ["4 x 128", "fp16", "8 GiB", "2 timestamps", "step 3"])
    def test_other_numbers(self, text: str) -> None:
        """Sizes, names and counts are not figures of a comparison."""
        assert not quantifiers.TYPED.search(f"It has {text} here.")
