# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "trl>=1.16"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "        assistant_only_loss=True,\n" = "" }
# ///
"""With assistant_only_loss, TRL computes the loss on the assistant's tokens only, including the token that ends its turn."""

import warnings
from unittest.mock import patch

import torch
from datasets import Dataset
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

# TRL 1.16 passes transformers an argument by its old name.
warnings.filterwarnings("ignore", message="`gradient_checkpointing`")

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)

# --8<-- [start:enable]
# TRL knows the templates of common models. Your own needs the generation marks.
tokenizer.chat_template = """{% for message in messages %}
{{ message.role }}: {% if message.role == "assistant" %}
{% generation %}{{ message.content + eos_token }}{% endgeneration %}
{% else %}{{ message.content + eos_token }}
{% endif %}{% endfor %}"""
chats = Dataset.from_list(
    [
        {
            "messages": [
                {"role": "user", "content": "What is a token?"},
                {"role": "assistant", "content": "A piece of text."},
                {"role": "user", "content": "And a logit?"},
                {"role": "assistant", "content": "A score."},
            ]
        }
    ]
    * 4
)
trainer = SFTTrainer(
    checkpoint,
    SFTConfig(
        output_dir="out",
        assistant_only_loss=True,
        max_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=not torch.cuda.is_available(),  # bf16 needs it without a GPU
    ),
    train_dataset=chats,
    processing_class=tokenizer,
)
trainer.train()
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
row = trainer.train_dataset[0]
labels = [label for label in row["labels"] if label != -100]
print(repr(tokenizer.decode(labels)))  # the answers, each with its end
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof: the labels are the two answers with the mark that ends them, and nothing else.
decoded = tokenizer.decode(labels)
answers = [text.strip() for text in decoded.split(tokenizer.eos_token)]
assert answers == ["A piece of text.", "A score.", ""], decoded
end = tokenizer.eos_token
expected = repr(f" A piece of text.{end} A score.{end}")
assert shown == expected, f"printed was {shown}"
assert "logit" in tokenizer.decode(row["input_ids"]), "not a whole chat"
