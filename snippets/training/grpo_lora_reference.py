# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "peft>=0.21", "trl>=1.16"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 120
# ablation = { 'peft_config=lora' = 'peft_config=None' }
# ///
"""With LoRA, the reference model of the KL term is the base model with the adapters off, so no second model is loaded."""

import warnings
from unittest.mock import patch

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, PrinterCallback
from trl import GRPOConfig, GRPOTrainer

# TRL 1.16 and peft 0.21 ask transformers for this by its old name.
warnings.filterwarnings("ignore", message=".*gradient_checkpointing")

checkpoint = "Qwen/Qwen3-0.6B"
prompts = Dataset.from_dict({"prompt": ["Count to three.", "Name a colour."] * 16})
seen = []


class Watched(GRPOTrainer):
    """The trainer, which keeps what reaches the loss."""

    def compute_loss(self, model, inputs, *args, **keywords):
        seen.append(inputs)
        return super().compute_loss(model, inputs, *args, **keywords)


def brevity(completions, **_):
    return [-float(len(text)) for text in completions]


# --8<-- [start:enable]
lora = LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM")
trainer = Watched(  # GRPOTrainer
    model=checkpoint,
    reward_funcs=brevity,
    train_dataset=prompts,
    peft_config=lora,
    args=GRPOConfig(
        output_dir="out",
        beta=0.04,  # the KL term: needs log-probabilities of a reference model
        learning_rate=1e-2,
        num_generations=4,
        per_device_train_batch_size=8,
        max_completion_length=8,
        max_steps=4,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        bf16=torch.cuda.is_available(),
    ),
)
# --8<-- [end:enable]
trainer.remove_callback(PrinterCallback)  # prints every entry of the log
trainer.train()


def size(*models):
    """Return the bytes of all parameters; a shared one counts once."""
    parameters = {
        w.data_ptr(): w
        for model in models
        if model is not None
        for w in model.parameters()
    }
    return sum(w.numel() * w.element_size() for w in parameters.values())


base = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).to(
    trainer.model.device
)
adapters = size(
    *[
        m
        for n, m in trainer.model.named_modules()
        if n.endswith(("lora_A", "lora_B"))
    ]
)
linear = [
    name
    for name, module in base.named_modules()
    if isinstance(module, torch.nn.Linear) and name != "lm_head"
]
adapted = [n for n, _ in trainer.model.named_modules() if n.endswith("lora_A")]
assert len(adapted) == len(linear) > 0, "not each linear layer has an adapter"
held = size(trainer.model, trainer.ref_model)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
print("reference model:", trainer.ref_model)
print(f"{held:,} bytes of weights, of which {held - size(base):,} are adapters")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]
assert trainer.ref_model is None, "a second model is loaded"
assert held - size(base) == adapters > 0
total = f"{size(base) + adapters:,} bytes of weights"
assert shown == [
    "reference model: None",
    f"{total}, of which {adapters:,} are adapters",
], f"printed was {shown}"
assert held < 1.5 * size(base), "there are two copies of the weights"

# The reference's log-probabilities are those of the untouched checkpoint, also after the policy has moved.
kl = [entry["kl"] for entry in trainer.state.log_history if "kl" in entry]
assert kl[0] < 1e-6, kl
assert kl[-1] > 1e-4, kl
last = seen[-1]
ids = torch.cat([last["prompt_ids"], last["completion_ids"]], 1)
mask = torch.cat([last["prompt_mask"], last["completion_mask"]], 1)
length = last["completion_ids"].shape[1]
with torch.no_grad():
    logits = base(input_ids=ids, attention_mask=mask).logits[:, -length - 1 : -1]
scores = logits.log_softmax(-1).gather(-1, last["completion_ids"][..., None])[
    ..., 0
]
off = ((scores - last["ref_per_token_logps"]) * last["completion_mask"]).abs().max()
assert off < 1e-3, f"the reference is off by {off}"
