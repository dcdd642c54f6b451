# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "liger-kernel>=0.8"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# needs = ["cuda", "bf16"]
# timeout = 120
# ablation = { "use_liger_kernel=True" = "use_liger_kernel=False" }
# ///
"""With use_liger_kernel in the Trainer, norms and MLPs run Liger's kernels, and training never computes the whole logits."""

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
calls = []
model.lm_head.register_forward_hook(lambda *args: calls.append(args[-1].shape))

# --8<-- [start:enable]
trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=8,
        bf16=True,
        use_liger_kernel=True,
        max_steps=2,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
trainer.train()
# --8<-- [end:enable]

# --8<-- [start:is-it-on]
fused = [
    name
    for name, module in model.named_modules()
    if module.forward.__module__.startswith("liger_kernel")
]
print(f"{len(fused)} modules run a kernel of Liger")  # not 0
# --8<-- [end:is-it-on]

# The proof: all norms and MLPs are Liger's, the head was not called once in training,
# and the loss is the one that the model computes without Liger.
layers = model.config.num_hidden_layers
norms = [name for name in fused if name.endswith("norm")]
mlps = [name for name in fused if name.endswith("mlp")]
assert len(norms) == 2 * layers + 1, f"{len(norms)} norms run Liger's kernel"
assert len(mlps) == layers, f"{len(mlps)} MLPs run Liger's kernel"
assert trainer.state.global_step == 2
assert not calls, f"the head made logits of {calls[0]} in training"
with torch.no_grad():
    model(input_ids=torch.tensor([tokens[0]["input_ids"]], device="cuda"))
assert calls, "the hook on the head does not see calls"
plain = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
plain.load_state_dict(model.state_dict())
batch = trainer.data_collator([tokens[0], tokens[1]]).to("cuda")
with torch.no_grad():
    fused_loss = model.train()(**batch).loss
    expected = plain.to("cuda").train()(**batch).loss
assert torch.allclose(fused_loss.float(), expected, rtol=1e-2, atol=1e-3), (
    f"the loss is {fused_loss}, not {expected}"
)
