# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'tokenizer.pad_token = tokenizer.eos_token' = 'pass' }
# ///
"""A tokenizer without a padding token refuses to pad. With the end of the text as padding token, the attention mask says which tokens are padding."""

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("openai-community/gpt2")
prompts = ["Short.", "A prompt of more words."]


def padding_error():
    """Return the error of a padded batch, or nothing."""
    try:
        tokenizer(prompts, padding=True, return_tensors="pt")
    except ValueError as error:
        return str(error)
    return ""


message = padding_error()
print(message)
assert message.startswith(
    "Asking to pad but the tokenizer does not have a padding token."
)

# --8<-- [start:cure]
tokenizer.pad_token = tokenizer.eos_token
# --8<-- [end:cure]
assert padding_error() == "", padding_error()
batch = tokenizer(prompts, padding=True, return_tensors="pt")
padding = batch["attention_mask"] == 0
assert padding.any()
assert (batch["input_ids"][padding] == tokenizer.eos_token_id).all()
assert not (batch["input_ids"][~padding] == tokenizer.eos_token_id).any()
