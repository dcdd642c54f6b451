# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21", "safetensors>=0.5"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "merged = loaded.merge_and_unload()" = "merged = loaded" }
# ///
"""Saved adapters are loaded onto the model and merged into its weights: the merged model runs no adapter matmul."""

import warnings
from unittest.mock import patch

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForCausalLM, AutoTokenizer

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["One matrix again."], return_tensors="pt").to(device)


def base():
    """The model, without adapters."""
    return AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).to(
        device
    )


adapter = LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM")
model = get_peft_model(base(), adapter).train()
trained = [weight for weight in model.parameters() if weight.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-2)
for _ in range(2):
    model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()
    optimizer.zero_grad()

# --8<-- [start:enable]
model.save_pretrained("adapter")  # the adapters alone

loaded = PeftModel.from_pretrained(base(), "adapter")
merged = loaded.merge_and_unload()
# --8<-- [end:enable]


def logits_and_flops(of) -> tuple[torch.Tensor, int]:
    """What a model computes, and how many operations its products take."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        logits = of.eval()(**batch).logits
    return logits, counter.get_total_flops()


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
(before, _), (with_adapters, _) = logits_and_flops(base()), logits_and_flops(model)
after, flops = logits_and_flops(merged)
print("merging changed the logits by", (after - with_adapters).abs().max().item())
print("training changed them by", (after - before).abs().max().item())
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

assert (after - before).abs().max() > 0.1, "the adapters change nothing"
assert torch.allclose(after, with_adapters, rtol=1e-4, atol=1e-4), (
    "merging changed the logits"
)
assert shown == [
    f"merging changed the logits by {torch.dist(after, with_adapters, float('inf'))}",
    f"training changed them by {torch.dist(after, before, float('inf'))}",
], f"printed was {shown}"
plain = logits_and_flops(base())[1]
assert flops == plain, f"{flops:,} operations, {plain:,} without adapters"
again, more = logits_and_flops(model)
assert again.equal(with_adapters), "not the logits of the trained model"
assert more > plain, "the trained model has no adapters of its own any more"

# Only the adapters were saved, and every linear layer of the blocks has new weights.
saved = load_file("adapter/adapter_model.safetensors")
assert saved, "nothing was saved"
assert all("lora_" in name for name in saved), f"saved: {list(saved)}"
pairs = zip(merged.named_parameters(), base().named_parameters(), strict=True)
moved = [name for (name, new), (_, old) in pairs if not new.equal(old)]
assert len(moved) == len(saved) / 2, f"merged into {moved}"
assert all("_proj" in name for name in moved), f"merged into {moved}"
