# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "torchao>=0.18"]
# ///
"""A Llama model reads tokens on a CPU: its layers as they are and compiled, in fp32, in bf16, and with int8 weights.

The model has the width of Llama 3.2 1B, one of its 16 layers, and a sixteenth of its vocabulary. The int8 weights are
those of torchao's `Int8WeightOnlyConfig`; the arm names the type in which they are multiplied. A step gives the model
`tokens` tokens of one sequence, without a KV cache, and takes the logits of the last one: with one token it reads each
weight for one token, as decoding does. The layers are compiled, not the whole model. The first step compiles, and its
time does not count. The step returns the loss of the next token.
"""

from collections.abc import Callable

import torch
from torch.nn.functional import cross_entropy
from torchao.quantization import Int8WeightOnlyConfig, quantize_
from transformers import LlamaConfig, LlamaForCausalLM

ARMS = (
    "fp32", "fp32, compiled", "bf16", "int8 weights, bf16", "int8 weights, bf16, compiled",
    "int8 weights, fp32, compiled",
)  # fmt: skip
COMPILER = "inductor"
SHAPE = {
    "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 1, "vocab_size": 8016,
}  # fmt: skip
SMALL = {
    "COMPILER": "eager",
    "SHAPE": {
        "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 1,
        "num_hidden_layers": 2, "vocab_size": 512,
    },
}  # fmt: skip


def prepare(arm: str, *, tokens: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that reads the tokens and returns the loss of the one after them."""
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, tie_word_embeddings=True, attn_implementation="sdpa")
    model = LlamaForCausalLM(config).to(device, torch.bfloat16 if "bf16" in arm else torch.float32).eval()
    if arm.startswith("int8"):
        quantize_(model.model, Int8WeightOnlyConfig())
    if arm.endswith("compiled"):
        for layer in model.model.layers:
            layer.compile(backend=COMPILER)
    ids = torch.randint(SHAPE["vocab_size"], (1, tokens + 1)).to(device)

    @torch.inference_mode()
    def step() -> float:
        logits = model(input_ids=ids[:, :-1], use_cache=False, logits_to_keep=1).logits
        return cross_entropy(logits[:, -1].float(), ids[:, -1]).item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    for count in (1, 16, 128):
        print(f"{count} tokens:")
        for name in ARMS:
            take = prepare(name, tokens=count)
            loss = take()
            times = []
            for _ in range(5):
                start = perf_counter()
                take()
                times.append(perf_counter() - start)
            print(f"  {name}: {min(times) * 1e3:.1f} ms, loss {loss:.4f}")
