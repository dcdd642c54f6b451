# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 300
# ablation = { "@torch.inference_mode()" = "@torch.enable_grad()" }
# ///
"""An evaluation that keeps only two numbers from one batch to the next, and gives the mean loss over all tokens."""

import torch
from datasets import load_dataset
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
name = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(name)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32).to(device)
rows = load_dataset("Salesforce/wikitext", "wikitext-2-raw-v1", split="validation")
texts = [row["text"] + tokenizer.eos_token for row in rows if row["text"].strip()]


# --8<-- [start:enable]
@torch.inference_mode()
def mean_loss(model, texts: list[str], batch_size: int = 2) -> torch.Tensor:
    """Every token counts alike, in whichever batch it stands."""
    training = model.training
    model.eval()
    summed = torch.zeros((), device=model.device)
    count = torch.zeros((), device=model.device)
    for start in range(0, len(texts), batch_size):
        part = texts[start : start + batch_size]
        batch = tokenizer(part, return_tensors="pt", padding=True, truncation=True)
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        batch["labels"], counted = labels, (labels[:, 1:] != -100).sum().item()
        if counted:  # the mean of no labels is not a number
            summed += model(**batch.to(model.device)).loss * counted
            count += counted
    model.train(training)
    return summed / count


# --8<-- [end:enable]


def left(texts: list[str]) -> int:
    """Bytes that an evaluation of these texts leaves behind."""
    with profile(profile_memory=True) as trace:
        losses.append(mean_loss(model, texts))
    rows = trace.key_averages()
    return sum(r.self_cpu_memory_usage + r.self_device_memory_usage for r in rows)


losses: list[torch.Tensor] = []
left(texts[:2])  # whatever is made once
print(f"{left(texts[:2])} bytes are left by one batch, {left(texts)} by all")

one, everything = left(texts[:2]), left(texts)
assert abs(everything - one) < 2**16, (
    f"{everything} bytes were left by {len(texts)} texts, and {one} by two"
)
# A text of one token has no label, and dropout is on again where it was on before.
ids = tokenizer(["a", texts[0]], return_tensors="pt", padding=True).input_ids
assert (ids[0] != tokenizer.pad_token_id).sum() == 1, "the text has two tokens"
model.train()
alone = mean_loss(model, ["a", texts[0]], batch_size=1)
assert model.training, "the evaluation leaves the model without dropout"
assert torch.equal(alone, mean_loss(model.eval(), texts[:1], batch_size=1))
assert not model.training, "the evaluation turns dropout on"
# The mean over all tokens, text by text.
with torch.no_grad():
    sums, counts = 0.0, 0
    for text in texts:
        ids = tokenizer(text, return_tensors="pt", truncation=True).input_ids
        ids = ids.to(device)
        sums += model(input_ids=ids, labels=ids).loss.item() * (ids.shape[1] - 1)
        counts += ids.shape[1] - 1
assert abs(losses[-1].item() - sums / counts) < 1e-4
