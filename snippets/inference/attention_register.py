# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'AttentionMaskInterface.register("entropy", eager_mask)' = 'pass' }
# ///
"""An attention function of one's own needs a mask under the same name: without it, every token sees the later ones and the padding."""

import torch

# --8<-- [start:imports]
from transformers import (
    AttentionInterface,
    AttentionMaskInterface,
    AutoModelForCausalLM,
    AutoTokenizer,
)
from transformers.masking_utils import eager_mask
from transformers.models.llama.modeling_llama import eager_attention_forward

# --8<-- [end:imports]

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint, padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(
    checkpoint, dtype=torch.float32, attn_implementation="eager"
)
inputs = tokenizer(
    ["Short.", "A prompt of more words."], padding=True, return_tensors="pt"
)
seen = inputs["attention_mask"].bool()
with torch.no_grad():
    eager = model(**inputs, output_attentions=True)
before = eager.logits[seen]

# --8<-- [start:enable]
entropies = []


def with_entropy(module, query, key, value, attention_mask, scaling, **_):
    """Compute attention, and keep the mean entropy of its weights instead of them."""
    output, weights = eager_attention_forward(
        module, query, key, value, attention_mask, scaling
    )
    entropies.append(torch.special.entr(weights).sum(-1).mean().item())
    return output, None


AttentionInterface.register("entropy", with_entropy)
AttentionMaskInterface.register("entropy", eager_mask)
model.set_attn_implementation("entropy")
# --8<-- [end:enable]
kept = []  # what each layer's attention returns next to its output
for layer in model.model.layers:
    layer.self_attn.register_forward_hook(lambda *args: kept.append(args[-1][1]))
with torch.no_grad():
    after = model(**inputs).logits[seen]
print(
    f"{len(entropies)} layers, entropy {min(entropies):.2f} to {max(entropies):.2f}"
)
assert len(entropies) == model.config.num_hidden_layers
for weights, entropy in zip(eager.attentions, entropies, strict=True):
    expected = -(weights * weights.clamp_min(1e-30).log()).sum(-1).mean()
    assert torch.allclose(torch.tensor(entropy), expected, atol=1e-4), entropy
assert all(0 < each < torch.tensor(seen.shape[1]).log() for each in entropies)
assert kept == [None] * len(entropies), "the weights are kept"
assert torch.allclose(before, after, atol=1e-4), "the mask was not used"
model.set_attn_implementation("eager")
model(**inputs)
assert kept[-1].shape == eager.attentions[-1].shape, "the hook sees no weights"
