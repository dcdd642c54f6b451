# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'batch["attention_mask"] == 0' = 'batch["input_ids"] == tokenizer.pad_token_id' }
# ///
"""With the end of the text as padding token, DataCollatorForLanguageModeling masks each end of a text, so a model never learns to stop. The attention mask tells padding from ends."""

from transformers import AutoTokenizer, DataCollatorForLanguageModeling

tokenizer = AutoTokenizer.from_pretrained("openai-community/gpt2")
tokenizer.pad_token = tokenizer.eos_token
end = tokenizer.eos_token_id
texts = ["Short.", "A text of more words."]
rows = [tokenizer(text + tokenizer.eos_token) for text in texts]
assert all(row["input_ids"][-1] == end for row in rows)

collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
ends = (collator(rows)["labels"] == end).sum().item()
print(f"ends that the model learns: {ends}")
assert ends == 0, ends


# --8<-- [start:cure]
def collate(rows):
    batch = tokenizer.pad(rows, return_tensors="pt")
    padding = batch["attention_mask"] == 0
    batch["labels"] = batch["input_ids"].masked_fill(padding, -100)
    return batch


# --8<-- [end:cure]
batch = collate(rows)
ends = (batch["labels"] == end).sum(dim=1).tolist()
print(f"ends per text: {ends}")
assert ends == [1, 1], ends
masked = (batch["labels"] == -100).sum(dim=1).tolist()
lengths = [len(row["input_ids"]) for row in rows]
assert masked == [max(lengths) - length for length in lengths], masked
assert masked[0] > 0
tokens = tokenizer.pad(rows, return_tensors="pt")["input_ids"]
assert batch["input_ids"].equal(tokens), "the input was changed"
labels = batch["labels"]
assert labels.where(labels != -100, end).equal(tokens), "other labels"
