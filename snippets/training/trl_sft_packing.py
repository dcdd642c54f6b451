# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "trl>=1.16"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "packing_strategy=\"bfd\"" = "packing_strategy=\"wrapped\"" }
# ///
"""With TRL's packing strategy "bfd", a row holds whole texts that do not see each other, and tokens beyond max_length are dropped. "wrapped" fills rows completely, and cuts and mixes texts."""

import warnings
from unittest.mock import patch

import torch
from datasets import load_dataset
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer, pack_dataset

# TRL 1.16 passes transformers an argument by its old name.
warnings.filterwarnings("ignore", message="`gradient_checkpointing`")

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())

# --8<-- [start:enable]
trainer = SFTTrainer(
    checkpoint,  # on a GPU with model_init_kwargs={"attn_implementation": "flash_attention_2"}
    SFTConfig(
        output_dir="out",
        packing=True,
        packing_strategy="bfd",  # the default; turns padding_free on
        max_length=128,  # tokens per row
        per_device_train_batch_size=2,
        max_steps=2,
        save_strategy="no",
        report_to="none",
        use_cpu=not torch.cuda.is_available(),  # bf16 needs it without a GPU
    ),
    train_dataset=texts,
)
trainer.train()
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
rows = trainer.train_dataset
held = sum(map(len, rows["input_ids"]))
print(
    f"{len(texts)} texts in {len(rows)} rows, {held / (128 * len(rows)):.0%} full"
)
batch = trainer.data_collator([rows[0], rows[1]])
print(sorted(batch))  # position_ids and no attention_mask
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

# The proof: each text is whole in one row, up to 128 tokens, and the rest is dropped.
tokens = [
    [*tokenizer(text)["input_ids"], tokenizer.eos_token_id]
    for text in texts["text"]
]
lengths = (
    sorted(length for row in rows["seq_lengths"] for length in row)
    if ("seq_lengths" in rows.column_names)
    else []
)
assert lengths == sorted(min(len(text), 128) for text in tokens), "a text is cut"
assert max(map(len, tokens)) > 128, "no text is too long for a row"
full = sum(lengths) / (128 * len(rows))
first = f"{len(tokens)} texts in {len(rows)} rows, {full:.0%} full"
assert shown == [first, sorted(batch)], f"printed was {shown}"
whole = trainer.train_dataset.from_list([{"input_ids": text} for text in tokens])
kept = {
    strategy: sum(map(len, pack_dataset(whole, 128, strategy)["input_ids"]))
    for strategy in ("bfd", "bfd_split", "wrapped")
}
print(f"tokens that stay, of {sum(map(len, tokens)):,}: {kept}")
assert kept["bfd"] == held < sum(map(len, tokens)), "nothing is dropped"
assert kept["bfd_split"] == kept["wrapped"] == sum(map(len, tokens)), kept

# Padding-free: one row per batch, whose texts do not see each other, also with SDPA.
assert batch["input_ids"].shape == (
    1,
    len(rows[0]["input_ids"] + rows[1]["input_ids"]),
)
assert "attention_mask" not in batch, "a mask hides where the texts begin"
model = trainer.model.float().eval()
inputs = {k: batch[k].to(model.device) for k in ("input_ids", "position_ids")}
first = rows[0]["seq_lengths"][0]
assert (inputs["position_ids"][0] == 0).sum() == sum(
    len(rows[i]["seq_lengths"]) for i in (0, 1)
), "positions do not restart at each text"
with torch.no_grad():
    before = model(**inputs, use_cache=False).logits[0]
    inputs["input_ids"][:, : first - 1] = 7
    moved = (model(**inputs, use_cache=False).logits[0] - before).abs()
assert moved[: first - 1].max() > 1e-3, "the change of the first text has no effect"
assert moved[first:].max() < 1e-4, "another text sees the first"
# The first label of each text is ignored, so that no text predicts the next.
begins = (batch["position_ids"] == 0) if "position_ids" in batch else None
assert (batch["labels"][begins] == -100).all(), "a text predicts the next"
