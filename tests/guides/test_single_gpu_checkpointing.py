"""The answers of the single-GPU guide's worked problems on checkpointing variants, counted labels and kept outputs."""

from worked_problems import answers, gib, problem

PAGE = "training/single-gpu.md"


class TestSelectiveAndOffloaded:
    def test_what_each_choice_keeps(self) -> None:
        """The input of every block; what its products and its attention return; the same without the last product."""
        blocks, tokens, width, key_values, inner = 16, 8 * 2048, 2048, 512, 8192
        products = width + 2 * key_values + width + width + 2 * inner + width

        def kept(numbers: int) -> int:
            return 2 * blocks * tokens * numbers

        assert answers(problem(PAGE, "16 blocks of Llama 3.2 1B")) == [
            gib(kept(width)),
            f"{products:,}",
            gib(kept(width + products)),
            gib(kept(products)),
            gib(kept(width) / blocks, 4),
        ]


class TestLabelsOfTheTrainer:
    def test_ratio_of_the_loss(self) -> None:
        """A sequence has one label less than tokens, and is counted with all of them."""
        ratios = [f"{(tokens - 1) / tokens:.1%}".replace("%", " %") for tokens in (11, 1024)]
        text = problem(PAGE, "GPT-2, sequences of 11 tokens")
        assert answers(text) == ratios
        assert "A sequence of 11 tokens has 10 labels, and the Trainer counts 11:" in text


class TestKeptOutputs:
    def test_when_the_card_is_full(self) -> None:
        """The first batch whose logits, with those before, are more than the card."""
        logits, card = 4 * 8 * 2048 * 128_256, 79 * 2**30
        fit = int(card // logits)
        assert answers(problem(PAGE, "8 × 2,048 tokens, a vocabulary of 128,256")) == [
            gib(logits),
            gib(fit * logits),
            f"{fit + 1}th",
        ]
        assert fit == 10
