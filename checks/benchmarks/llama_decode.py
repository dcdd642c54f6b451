# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "bitsandbytes>=0.50"]
# ///
"""A Llama of 8 billion parameters decodes on one GPU: Python launches each kernel, or a CUDA graph replays them all.

The shape is that of Llama 3.1 8B, all 32 layers, in bf16 or with the linear modules of the layers in NF4. Each sequence
has `context` tokens in its KV cache. A step gives the model `tokens` further tokens of each sequence, one after the
other, and takes them out of the cache again. The tokens are drawn beforehand, so that all arms see the same. The step
returns the mean loss of the last position. Weights are random: a product of zeros draws less power than a real one.

The arm with a dynamic cache is what `generate()` does by default. A CUDA graph needs a static cache, because a graph
replays kernels on fixed addresses; its room is `context` and `tokens`, and nothing more. While a tool looks at each
operation of a step, the graph is not replayed: the step runs its operations one by one.
"""

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from torch.utils._python_dispatch import _get_current_dispatch_mode
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, StaticCache

ARMS = ("dynamic cache", "CUDA graph", "NF4, dynamic cache", "NF4, CUDA graph")
SHAPE = {
    "hidden_size": 4096, "intermediate_size": 14_336, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 32, "vocab_size": 128_256,
}  # fmt: skip
WARM_UP = 3  # what CUDA's documentation asks for before a capture


def tokens(arm: str, *, sequences: int, context: int, tokens: int) -> int:
    """The new tokens of one step, the same in every arm."""
    del arm, context
    return tokens * sequences


def use_nf4(model: Any, device: str) -> None:
    """Replace the linear modules of the layers by 4-bit ones, as transformers' BitsAndBytesConfig does."""
    from bitsandbytes.nn import Linear4bit, Params4bit  # noqa: PLC0415 - two arms need it

    for layer in model.model.layers:
        for parent in (layer.self_attn, layer.mlp):
            for name, linear in list(parent.named_children()):
                if isinstance(linear, torch.nn.Linear):
                    with torch.device("meta"):
                        small = Linear4bit(
                            linear.in_features, linear.out_features, bias=False, compute_dtype=torch.bfloat16
                        )
                    small.weight = Params4bit(linear.weight.data, requires_grad=False, quant_type="nf4")
                    setattr(parent, name, small.to(device))


@contextmanager
def default_dtype(dtype: torch.dtype) -> Any:
    """New tensors have this type."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class Decoder:
    """Gives a model one token of each sequence after the other, from Python or with a captured graph."""

    def __init__(self, model: Any, cache: Any, sequences: int, device: str) -> None:
        """Keep the buffers that a graph reads and writes."""
        self.model, self.cache = model, cache
        self.token = torch.zeros((sequences, 1), dtype=torch.long, device=device)
        self.position = torch.zeros((1, 1), dtype=torch.long, device=device)
        self.graph: Any = None
        self.logits = torch.empty(0)

    def forward(self) -> torch.Tensor:
        """One pass over the token in the buffer; the logits of its position."""
        found: torch.Tensor = self.model(
            input_ids=self.token, position_ids=self.position, past_key_values=self.cache, logits_to_keep=1
        ).logits
        return found

    def take_out(self, count: int) -> None:
        """Take the last tokens out of the cache."""
        if isinstance(self.cache, StaticCache):
            for layer in self.cache.layers:
                layer.cumulative_length.sub_(count)
        else:
            self.cache.crop(-count)

    def capture(self) -> None:
        """Record one pass as a CUDA graph."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self.forward()
                self.take_out(1)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.logits = self.forward()

    def __call__(self, token: torch.Tensor, position: int) -> torch.Tensor:
        """The logits after this token of each sequence."""
        self.token.copy_(token)
        self.position.fill_(position)
        if self.graph is None or _get_current_dispatch_mode() is not None:
            return self.forward()
        self.graph.replay()
        return self.logits


def prepare(
    arm: str, *, sequences: int, context: int, tokens: int, device: str = "cuda", seed: int = 0
) -> Callable[[], float]:
    """A function that gives the model the new tokens and returns the loss of the last position."""
    if arm not in ARMS:
        raise ValueError(f"no arm is called {arm!r}")
    torch.manual_seed(seed)
    end = context + tokens
    with torch.device(device), default_dtype(torch.bfloat16):
        config = LlamaConfig(**SHAPE, max_position_embeddings=131_072, tie_word_embeddings=False)
        model = LlamaForCausalLM(config).requires_grad_(requires_grad=False)
        batch = torch.randint(config.vocab_size, (sequences, end + 1))
    if "NF4" in arm:
        use_nf4(model, device)
    model.eval()  # after that, because a new module is in training mode
    captured = "CUDA graph" in arm
    cache = StaticCache(config, max_cache_len=end) if captured else DynamicCache(config=config)
    with torch.inference_mode():
        for part in batch[:, :context].split(64, dim=1):
            model(input_ids=part, past_key_values=cache, logits_to_keep=1)
        decode = Decoder(model, cache, sequences, device)
        if captured and device == "cuda":
            decode.position.fill_(context)
            decode.capture()

    @torch.inference_mode()
    def step() -> float:
        for at in range(context, end):
            logits = decode(batch[:, at : at + 1], at)
        decode.take_out(tokens)
        return cross_entropy(logits[:, -1].float(), batch[:, end]).item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    for count in (1, 32):
        for name in ARMS:
            take = prepare(name, sequences=count, context=512, tokens=8)
            take()
            start = perf_counter()
            loss = take()
            print(f"{name}, {count} sequences: {(perf_counter() - start) / 8 * 1e3:.1f} ms a token, loss {loss:.4f}")
            del take
            torch.cuda.empty_cache()
