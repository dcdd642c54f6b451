# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 120
# ablation = { "include_num_input_tokens_seen=\"non_padding\"" = "include_num_input_tokens_seen=\"all\"" }
# ///
"""The Trainer counts the tokens without padding, and its log gives the rate after the first steps, so that the price of a million tokens leaves out padding and start-up."""

import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "openai-community/gpt2"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
lengths = [16, 8, 12, 4] * 12  # padded to 16
rows = [
    {
        "input_ids": [1] * n + [0] * (16 - n),
        "attention_mask": [1] * n + [0] * (16 - n),
        "labels": [1] * n + [-100] * (16 - n),
    }
    for n in lengths
]

# --8<-- [start:enable]
trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=4,
        max_steps=12,  # on a GPU: 100
        logging_steps=4,  # on a GPU: 20
        include_num_input_tokens_seen="non_padding",
        report_to="none",
        save_strategy="no",
    ),
    train_dataset=rows,
)
trainer.train()
logs = [log for log in trainer.state.log_history if "loss" in log]
tokens = logs[-1]["num_input_tokens_seen"] - logs[0]["num_input_tokens_seen"]
seconds = logs[-1]["train_runtime"] - logs[0]["train_runtime"]
price_per_hour = 1.0  # of all GPUs of the instance
price_per_million = price_per_hour / 3600 * seconds / tokens * 1_000_000
# --8<-- [end:enable]
seen = [log["num_input_tokens_seen"] for log in logs]
print(f"tokens after 4, 8 and 12 steps: {seen}, of 768 with padding")
assert [log["step"] for log in logs] == [4, 8, 12]
assert seen[-1] == sum(lengths) == 480, "padding is counted"
assert tokens == seen[2] - seen[0] < 480, "the first steps are counted"
assert 0 < seconds < logs[-1]["train_runtime"]
tokens_per_hour = tokens / seconds * 3600
hour = price_per_million * tokens_per_hour / 1_000_000
assert abs(hour - price_per_hour) < 1e-9, "an hour has another price"
