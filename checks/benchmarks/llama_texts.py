# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A Llama model scores texts of different lengths: one by one, in padded batches as they come, and sorted by length.

The model has the width of Llama 3.2 1B, one of its 16 layers, and a sixteenth of its vocabulary, in bf16. There are 16
texts. Their lengths are drawn evenly between an eighth of `longest` and `longest` tokens. Batches have four texts,
padded on the right to the longest of the four. The step returns the mean loss over all real tokens, which no padding
changes.
"""

from collections.abc import Callable

import torch
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM

ARMS = ("one by one", "batches", "batches, sorted by length")
SHAPE = {
    "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 1, "vocab_size": 8016,
}  # fmt: skip
TEXTS, BATCH, IGNORED = 16, 4, -100


def tokens(arm: str, *, longest: int) -> int:
    """The mean number of real tokens of a step, the same in every arm."""
    del arm
    return TEXTS * (longest // 8 + longest) // 2


def padded(texts: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The inputs of a batch, its attention mask, and its labels, padded on the right."""
    inputs = torch.nn.utils.rnn.pad_sequence([text[:-1] for text in texts], batch_first=True)
    labels = torch.nn.utils.rnn.pad_sequence([text[1:] for text in texts], batch_first=True, padding_value=IGNORED)
    return inputs, (labels != IGNORED).long(), labels


def prepare(arm: str, *, longest: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that scores all texts and returns the mean loss over their tokens."""
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, max_position_embeddings=131072, tie_word_embeddings=True)
    model = LlamaForCausalLM(config).to(device, torch.bfloat16).eval()
    drawn = torch.Generator().manual_seed(seed)
    lengths = torch.randint(longest // 8, longest + 1, (TEXTS,), generator=drawn).tolist()
    texts = [torch.randint(SHAPE["vocab_size"], (length + 1,), generator=drawn) for length in lengths]
    if "sorted" in arm:
        texts.sort(key=len)
    size = 1 if arm == "one by one" else BATCH
    batches = [tuple(each.to(device) for each in padded(texts[at : at + size])) for at in range(0, TEXTS, size)]

    @torch.inference_mode()
    def step() -> float:
        total, count = 0.0, 0
        for inputs, mask, labels in batches:
            logits = model(input_ids=inputs, attention_mask=mask, use_cache=False).logits
            total += cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), reduction="sum").item()
            count += int(mask.sum())
        return total / count

    return step


if __name__ == "__main__":
    from time import perf_counter

    where = "cuda" if torch.cuda.is_available() else "cpu"
    for most in (16, 256):
        print(f"texts of at most {most} tokens:")
        for name in ARMS:
            take = prepare(name, longest=most, device=where)
            take()
            start = perf_counter()
            loss = take()
            print(f"  {name}: {(perf_counter() - start) * 1e3:.0f} ms, loss {loss:.4f}")
