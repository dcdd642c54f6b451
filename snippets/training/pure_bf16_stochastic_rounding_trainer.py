# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "torchao>=0.18"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# ablation = { "optim_args=\"bf16_stochastic_round=True\"" = "optim_args=\"bf16_stochastic_round=False\"" }
# ///
"""The Trainer's 8-bit torchao optimizer rounds bf16 weights stochastically, so that small updates arrive on average."""

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

if not torch.cuda.is_available():  # torchao compiles its step: minutes on a CPU
    torch.compiler.set_stance("force_eager")
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    learning_rate=1e-5,
    optim="adamw_torch_8bit",
    optim_args="bf16_stochastic_round=True",
    use_cpu=not torch.cuda.is_available(),
    max_steps=2,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]

# The proof: with a gradient of 1, each of ten updates takes 1e-5 from every weight. All
# are below half of the last digit of a weight above 1/128. Their mean must arrive.
optimizer = trainer.create_optimizer()
before = [weight.detach().clone() for weight in model.parameters()]
for _ in range(10):
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    optimizer.step()
optimizer.zero_grad()
pairs = zip(model.parameters(), before, strict=True)
differences = [(w.float() - old.float())[old.abs() > 2**-7] for w, old in pairs]
mean = torch.cat(differences).mean().item()
print(f"weights above 1/128 changed by {mean:.2e} on average")
assert -1.05e-4 < mean < -0.95e-4, f"the mean change is {mean:.2e} and not -1e-4"

# Both states of large weights are in 8 bits, with an fp32 scale for each 256 numbers.
large = [w for w in model.parameters() if w.dim() > 1 and w.numel() % 256 == 0]
assert len(large) >= 7 * model.config.num_hidden_layers
for state in (
    optimizer.state[w][name] for w in large for name in ("exp_avg", "exp_avg_sq")
):
    assert state.codes.dtype == torch.uint8, f"a state is {state.codes.dtype}"
    assert state.codes.numel() == 256 * state.scale.numel()

before = [weight.detach().clone() for weight in model.parameters()]
trainer.train()
assert trainer.state.global_step == 2
assert {w.dtype for w in model.parameters()} == {torch.bfloat16}
pairs = zip(model.parameters(), before, strict=True)
assert any(not w.cpu().equal(old.cpu()) for w, old in pairs), "nothing was trained"
