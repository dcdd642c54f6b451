# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "torchao>=0.18"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "bf16_stochastic_round=True" = "bf16_stochastic_round=False" }
# ///
"""With stochastic rounding, updates below half of a bf16 weight's last digit arrive on average."""

import torch
from torchao.optim import _AdamW
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":  # torchao compiles its step, which takes minutes on a CPU
    torch.compiler.set_stance("force_eager")
torch.manual_seed(0)
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Rounded up now and then."] * 4, return_tensors="pt").to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
model = model.to(device).train()
optimizer = _AdamW(
    model.parameters(),
    lr=1e-5,
    weight_decay=0.0,
    bf16_stochastic_round=True,
)
# --8<-- [end:enable]

# The proof: with a gradient of 1, each of ten updates takes 1e-5 from every weight. All
# are below half of the last digit of a weight above 1/128. Their mean must arrive.
before = [weight.detach().clone() for weight in model.parameters()]
for _ in range(10):
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    optimizer.step()
pairs = zip(model.parameters(), before, strict=True)
assert optimizer.param_groups[0]["weight_decay"] == 0, "weights decay as well"
differences = torch.cat(
    [(w.float() - old.float())[old.abs() > 2**-7] for w, old in pairs]
)
mean = differences.mean().item()
print(f"{differences.numel()} weights above 1/128 changed by {mean:.2e} on average")
assert -1.05e-4 < mean < -0.95e-4, f"the mean change is {mean:.2e} and not -1e-4"
assert {w.dtype for w in model.parameters()} == {torch.bfloat16}
states = {s["exp_avg"].dtype for s in optimizer.state.values()}
assert states == {torch.bfloat16}, f"the states are {states}"

# Each single update is lost or a whole last digit: most weights stay as they are.
stayed = (differences == 0).float().mean().item()
assert 0.1 < stayed < 0.9, f"{stayed:.0%} of the weights stayed as they were"

# It trains with a real gradient, too.
before = [weight.detach().clone() for weight in model.parameters()]
optimizer.zero_grad()
model(**batch, labels=batch["input_ids"]).loss.backward()
optimizer.step()
pairs = zip(model.parameters(), before, strict=True)
assert all(not w.equal(old) for w, old in pairs if old.dim() > 1), "no update"
