# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "tokenizers>=0.22"]
# ///
"""Batches from a DataLoader on two cores of a CPU: built by the training process, or by two workers.

A row is a text of ``characters`` characters, which the data set tokenizes when the row is read, and cuts or pads to 128
tokens. With 0 characters the row is 128 token ids that lie ready. A step reads one epoch of 16 batches of 32 rows and
averages each by a small matmul. So it takes the time that a training step would have to hide.

The workers persist between the epochs. The first epoch, which starts them, is not timed.
"""

import os
from collections.abc import Callable

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.utils.data import DataLoader, Dataset

ARMS = ("0 workers", "2 workers")
CORES = 2
BATCHES = 16
ROWS = 32
TOKENS = 128
WORDS = 5_000
VOCABULARY = 8_000
SMALL = {"BATCHES": 2, "WORDS": 500, "VOCABULARY": 600}


class Rows(Dataset[torch.Tensor]):
    """Rows of token ids: tokenized from a text, or as they are."""

    def __init__(self, characters: int) -> None:
        letters = torch.randint(97, 123, (WORDS, 12), dtype=torch.uint8)
        lengths = torch.randint(2, 12, (WORDS,)).tolist()
        words = [bytes(row[:length].tolist()).decode() for row, length in zip(letters, lengths, strict=True)]
        self.ids = torch.randint(VOCABULARY, (BATCHES * ROWS, TOKENS))
        drawn = torch.randint(WORDS, (len(self.ids), 1 + characters // 3))  # a word and its space have 3 or more
        self.texts = [" ".join(words[i] for i in row)[:characters] for row in drawn.tolist()]
        self.tokenizer = Tokenizer(models.BPE())
        self.tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
        trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, show_progress=False)
        self.tokenizer.train_from_iterator([" ".join(words)], trainer)
        self.tokenizer.enable_truncation(TOKENS)
        self.tokenizer.enable_padding(length=TOKENS)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ids)

    def __getitem__(self, index: int) -> torch.Tensor:
        """Return the token ids of one row, shape (128,)."""
        if not self.texts[index]:
            return self.ids[index]
        return torch.tensor(self.tokenizer.encode(self.texts[index]).ids)


def tokens(arm: str, *, characters: int) -> int:
    """Return the tokens of one epoch, the same in every arm."""
    del arm, characters
    return BATCHES * ROWS * TOKENS


def prepare(arm: str, *, characters: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that reads one epoch and returns the mean token id, as a share of the vocabulary.

    Raises:
        RuntimeError: the process may use only one core, so the arms would not differ.
    """
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    if len(cores) < CORES:
        raise RuntimeError(f"this process may use {len(cores)} core; the arms need {CORES}")
    os.sched_setaffinity(0, cores)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one thread per process, in both arms
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    workers = int(arm.split(maxsplit=1)[0])
    loader = DataLoader(Rows(characters), batch_size=ROWS, num_workers=workers, persistent_workers=workers > 0)

    average = torch.full((TOKENS, 1), 1 / TOKENS, device=device)

    @torch.inference_mode()
    def step() -> float:
        total = sum((batch.to(device).float() @ average).mean().item() for batch in loader)
        return total / BATCHES / VOCABULARY

    return step


if __name__ == "__main__":
    from time import perf_counter

    for length in (0, 200, 2_000):
        for name in ARMS:
            take = prepare(name, characters=length)
            take()
            start = perf_counter()
            share = take()
            print(f"{length} characters, {name}: {perf_counter() - start:.3f} s an epoch, mean share {share:.4f}")
