# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { 'padding_side="left"' = 'padding_side="right"' }
# ///
"""Embeddings in batches: the last token with padding on the left, or the mean under the mask, give each text the vector that it has alone. A mean over the padding does not."""

import torch
from torch.nn.functional import cosine_similarity, normalize
from transformers import AutoModel, AutoTokenizer

checkpoint = "Qwen/Qwen3-0.6B"
model = AutoModel.from_pretrained(checkpoint, dtype=torch.float32).eval()
texts = ["short", "a text of some more words", "the longest text of all " * 4]

# --8<-- [start:enable]
tokenizer = AutoTokenizer.from_pretrained(checkpoint, padding_side="left")
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token


@torch.no_grad()
def embed(texts: list[str]) -> dict[str, torch.Tensor]:
    inputs = tokenizer(texts, padding=True, return_tensors="pt")
    hidden = model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1)
    return {
        "last token": normalize(hidden[:, -1], dim=-1),
        "mean": normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1),
    }


# --8<-- [end:enable]
together = embed(texts)
alone = [embed([text]) for text in texts]
for kind, vectors in together.items():
    wanted = torch.cat([each[kind] for each in alone])
    off = (vectors - wanted).abs().max().item()
    print(f"{kind}: at most {off:.0e} from the vector alone")
    assert not vectors.requires_grad, "the pass saved activations"
    assert off < 1e-5, f"{kind}: {off:.1e}"
    # Three texts have three vectors, so the comparison can fail.
    assert cosine_similarity(vectors[0], vectors[2], dim=0) < 0.999, kind

# Without the mask, the mean of a short text is that of its padding.
inputs = tokenizer(texts, padding=True, return_tensors="pt")
with torch.no_grad():
    blind = normalize(model(**inputs).last_hidden_state.mean(1), dim=-1)
assert (blind[0] - alone[0]["mean"][0]).abs().max() > 1e-3
assert torch.allclose(blind[2], alone[2]["mean"][0], atol=1e-5)
