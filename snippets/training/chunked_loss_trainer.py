# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# ablation = { "with self.accelerator.autocast():" = "if True:" }
# ///
"""A subclass of the Trainer trains with a chunked loss in the Trainer's precision, and evaluates with the model's own loss."""

import torch
from datasets import load_dataset
from torch.nn.functional import cross_entropy, pad
from torch.utils.checkpoint import checkpoint
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

name = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(name)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(
    name, dtype=torch.float32, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
)
model.loss_type = "ForCausalLM"  # labels are counted as they are shifted
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
).select(range(16))


def chunked_loss(model, labels, *, labels_of_step=None, chunk=512, **inputs):
    """The same function as in chunked_loss.py."""
    head = model.get_output_embeddings()
    hidden = model.base_model(**inputs).last_hidden_state.flatten(0, 1)
    labels = pad(labels, (0, 1), value=-100)[:, 1:].flatten()

    def summed(states, wanted):
        return cross_entropy(head(states).float(), wanted, reduction="sum")

    parts = zip(hidden.split(chunk), labels.split(chunk), strict=True)
    sums = [checkpoint(summed, *part, use_reentrant=False) for part in parts]
    if labels_of_step is None:
        labels_of_step = (labels != -100).sum()
    return torch.stack(sums).sum() / labels_of_step


# How many rows of logits does the head make at a time, and in which format are matmuls?
rows, formats = [], set()
model.lm_head.register_forward_hook(
    lambda module, args, logits: rows.append(logits.shape[:-1].numel())
)
for layer in (model.lm_head, model.transformer.h[0].mlp.c_fc):
    layer.register_forward_hook(lambda _m, _a, output: formats.add(output.dtype))


# What the step must find: the loss of all texts at once, which has all rows at once.
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
batch = collator(list(tokens))
with torch.no_grad():
    full, chunked = model(**batch).loss, chunked_loss(model, **batch)
assert torch.allclose(chunked, full), f"the loss is {chunked} instead of {full}"
assert rows[0] > 512 == max(rows[1:]), f"rows of logits: {rows}"
rows.clear()
formats.clear()


# --8<-- [start:enable]
class ChunkedTrainer(Trainer):
    """Trains with the chunked loss, and evaluates with the model's own."""

    def compute_loss(self, model, inputs, **options):
        """What the Trainer calls; in evaluation it wants the logits, too."""
        if options.get("return_outputs"):
            return super().compute_loss(model, inputs, **options)
        labels = options.get("num_items_in_batch")
        with self.accelerator.autocast():  # else bf16=True does nothing here
            return chunked_loss(model, labels_of_step=labels, **inputs)


trainer = ChunkedTrainer(
    model,
    TrainingArguments(
        output_dir="out",
        bf16=True,
        use_cpu=not torch.cuda.is_available(),
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        max_steps=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=collator,
)
trainer.train()
# --8<-- [end:enable]

print(f"at most {max(rows)} rows of logits at a time, matmuls in {formats}")
assert max(rows) <= 512, f"the head made {max(rows)} rows of logits at once"
assert formats == {torch.bfloat16}, f"matmuls are in {formats}"
trained = trainer.state.log_history[-1]["train_loss"]
assert abs(trained - full) < 0.01 * full, f"{trained} was logged, not {full}"

# In evaluation the model's own loss has all rows of a batch at once.
some = tokens.select(range(8, 16))
inputs = {k: v.to(model.device) for k, v in collator(list(some)).items()}
returned = trainer.compute_loss(model, inputs, return_outputs=True)
assert isinstance(returned, tuple), "evaluation gets no logits"
rows.clear()
evaluated = trainer.evaluate(some)["eval_loss"]
assert max(rows) == inputs["labels"].numel() > 512, f"rows of logits: {rows}"
with torch.no_grad():
    own = model.eval()(**inputs).loss
assert abs(evaluated - own) < 0.01 * own, f"evaluation gave {evaluated}, not {own}"
