# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21", "bitsandbytes>=0.50"]
# ///
"""A training step of a Llama with all weights trained, with LoRA, and with QLoRA, in fp32 and in pure bf16.

The shape is that of Llama 3.2 1B at 768 instead of 2,048 wide: four queries a key, an MLP four times as wide, a tied
embedding. It has an eighth of the blocks, and an eighth of the vocabulary with them, so that the embedding keeps its
share of the parameters and the logits theirs of the activations. A larger batch repeats the same sequences. Dropout is
0, in the adapters too.

The adapters have rank 16, and their second matrix begins as zeros. So LoRA has the first loss of full fine-tuning.
QLoRA holds the weights of the blocks in 4 bits, which changes the loss a little. Its arm quantizes the weights of the
other arms, keeps the rest in fp32 and computes in fp32, so that it differs from LoRA in nothing else. bf16 means that
every weight was loaded in it; then peft makes the adapters fp32, unless it is told not to.
"""

from collections.abc import Callable

import torch
from bitsandbytes.nn import Linear4bit, Params4bit
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

ARMS = (
    "full",
    "LoRA, attention",
    "LoRA, all linear",
    "QLoRA, all linear",
    "bf16, full",
    "bf16, LoRA, all linear",
    "bf16, LoRA, all linear, bf16 adapters",
)
TOKENS = 256
SHAPE = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 2,
    "num_attention_heads": 12,
    "num_key_value_heads": 3,
    "vocab_size": 128_256 // 8,
    "tie_word_embeddings": True,
}
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]


def tokens(arm: str, *, batch_size: int) -> int:
    """The tokens of one step, the same in every arm."""
    del arm
    return TOKENS * batch_size


def quantize(model: LlamaForCausalLM, device: str) -> None:
    """Hold the linear layers of the blocks in 4 bits, as loading with a BitsAndBytesConfig does."""
    for block in model.model.layers:
        for parent in (block.self_attn, block.mlp):
            for name, layer in list(parent.named_children()):
                if isinstance(layer, torch.nn.Linear):
                    packed = Linear4bit(
                        layer.in_features, layer.out_features, bias=False, compute_dtype=torch.float32,
                        compress_statistics=True, quant_type="nf4", device="meta",
                    )  # fmt: skip
                    packed.weight = Params4bit(
                        layer.weight.data, requires_grad=False, compress_statistics=True, quant_type="nf4"
                    )
                    setattr(parent, name, packed.to(device))  # this is where it is quantized
    model.is_loaded_in_4bit = True  # what loading says, and peft asks


def prepare(arm: str, *, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, use_cache=False, loss_type="ForCausalLM")
    model = LlamaForCausalLM(config)
    one = torch.randint(config.vocab_size, (1, TOKENS))
    if arm.startswith("bf16"):
        model = model.to(torch.bfloat16)
    if arm.startswith("QLoRA"):
        quantize(model, device)
    if not arm.endswith("full"):
        modules = ATTENTION if arm.endswith("attention") else "all-linear"
        adapter = LoraConfig(r=16, lora_alpha=32, lora_dropout=0.0, target_modules=modules, task_type="CAUSAL_LM")
        model = get_peft_model(model, adapter, autocast_adapter_dtype=not arm.endswith("bf16 adapters"))
    model = model.to(device).train()
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3, fused=True)
    batch = one.expand(batch_size, TOKENS).contiguous().to(device)

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        take = prepare(name, batch_size=1, device=where)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {tokens(name, batch_size=1) / (perf_counter() - start):,.0f} tokens/s, loss {loss:.4f}")
