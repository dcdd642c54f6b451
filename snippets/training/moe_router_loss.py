# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["allenai/OLMoE-1B-7B-0924"]
# ablation = { "    output_router_logits=True," = "    use_cache=False," }
# ///
"""output_router_logits=True adds the routers' load-balancing loss to the loss of a mixture of experts. It is off by default."""

from unittest.mock import patch

import torch
from torch.nn.functional import cross_entropy, one_hot
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "allenai/OLMoE-1B-7B-0924"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Send every word somewhere."] * 4, return_tensors="pt")
batch = batch.to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    output_router_logits=True,  # off unless you ask for it
    router_aux_loss_coef=0.01,  # OLMoE's default
)
# --8<-- [end:enable]
model = model.to(device).train()

routed = []
for block in model.model.layers:
    block.mlp.gate.register_forward_hook(lambda *args: routed.append(args[-1]))

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
outputs = model(**batch, labels=batch["input_ids"])
shifted = outputs.logits[:, :-1].flatten(0, 1), batch["input_ids"][:, 1:].flatten()
added = (outputs.loss - cross_entropy(*shifted)).item()
print(f"{added:.4f} of the loss is not that of the words")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof: what is added is 0.01 times the experts' number times the sum over experts
# of the part of the tokens that one gets and the probability that it was given.
number = model.config.num_experts
logits = torch.cat([scores for scores, _, _ in routed])
chosen = torch.cat([indices for _, _, indices in routed])
part = one_hot(chosen, number).sum(dim=1).float().mean(dim=0)
given = logits.float().softmax(dim=-1).mean(dim=0)
expected = 0.01 * number * (part * given).sum().item()
assert expected > 0.01
assert abs(added - expected) < 1e-4, f"{added} was added instead of {expected}"
assert shown == f"{added:.4f} of the loss is not that of the words", shown

config = AutoConfig.from_pretrained(checkpoint)
assert not config.output_router_logits, "it is on by default"
assert config.router_aux_loss_coef == 0.01, "OLMoE has another coefficient"

# It reaches the routers.
router = model.model.layers[0].mlp.gate.weight
with_it, without = (
    torch.autograd.grad(loss, router, retain_graph=True)[0]
    for loss in (outputs.loss, cross_entropy(*shifted))
)
assert not torch.allclose(with_it, without), "the router's gradient is the same"

# It is part of the loss in evaluation, too.
evaluated = model.eval()(**batch, labels=batch["input_ids"])
assert torch.allclose(evaluated.loss, outputs.loss, rtol=1e-6, atol=1e-5), (
    "evaluation has another loss"
)
