# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["google/t5-v1_1-xxl"]
# ablation = { "del encoder" = "pass" }
# ///
"""Encode the prompts of an image generator once and free the text encoder: of its weights nothing stays, and the prompts stay as vectors."""

import weakref

import torch
from transformers import AutoTokenizer, T5EncoderModel

checkpoint = "google/t5-v1_1-xxl"
device = "cuda" if torch.cuda.is_available() else "cpu"

# --8<-- [start:enable]
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
encoder = T5EncoderModel.from_pretrained(checkpoint, dtype=torch.bfloat16).to(
    device
)
prompts = ["a lighthouse in fog", ""]  # "": for guidance with two passes
tokens = tokenizer(
    prompts,
    padding="max_length",
    truncation=True,
    max_length=512,
    return_tensors="pt",
)
with torch.no_grad():  # Flux reads the padding too: no attention mask
    prompt_vectors = encoder(tokens["input_ids"].to(device)).last_hidden_state
# --8<-- [end:enable]
with torch.no_grad():
    whole = {"input_ids": tokens["input_ids"].to(device)}
    mask = tokens["attention_mask"].to(device)
    unmasked = encoder(**whole).last_hidden_state
    masked = encoder(**whole, attention_mask=mask).last_hidden_state
assert prompt_vectors.equal(unmasked), "the encoder did not read the padding"
assert not prompt_vectors.equal(masked), "the mask changes nothing"
weights = {weakref.ref(p): p.nbytes for p in encoder.parameters()}

# --8<-- [start:free]
del encoder
if torch.cuda.is_available():
    torch.cuda.empty_cache()
# --8<-- [end:free]

stays = sum(size for weight, size in weights.items() if weight() is not None)
print(f"of {sum(weights.values()) / 2**20:.1f} MiB of weights, {stays} bytes stay")
print(f"the prompts take {prompt_vectors.nbytes / 2**20:.2f} MiB")
assert sum(weights.values()) > 0
assert prompt_vectors.shape[:2] == (2, 512)
assert prompt_vectors.dtype == torch.bfloat16, prompt_vectors.dtype
assert not prompt_vectors[0].equal(prompt_vectors[1]), "both prompts are the same"
assert stays == 0, f"{stays} bytes of the text encoder stay"
