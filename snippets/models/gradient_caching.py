# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["BAAI/bge-base-en-v1.5"]
# ablation = { "loss = contrastive_loss(leaf)" = "loss = torch.stack([contrastive_loss(part) for part in leaf.split(size)]).mean()" }
# ///
"""Gradient caching: chunks of a batch give the gradients of the whole batch with its in-batch negatives, while the memory for saved activations is that of one chunk. Gradient accumulation over the same chunks gives other gradients."""

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.functional import cross_entropy, normalize
from transformers import AutoModel, AutoTokenizer

checkpoint = "BAAI/bge-base-en-v1.5"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModel.from_pretrained(checkpoint, dtype=torch.float32)

questions = [f"question {i} about subject {i * i}" for i in range(16)]
passages = [
    f"passage {i} about subject {i * i}, with more words" for i in range(16)
]
texts = [*questions, *passages]
tokens = tokenizer(texts, padding=True, return_tensors="pt")
# Row i holds a question and its passage, so that a chunk has whole pairs.
batch = {name: values.view(2, 16, -1) for name, values in tokens.items()}


def embed(chunk):
    flat = {name: values.flatten(0, 1) for name, values in chunk.items()}
    vectors = model(**flat).last_hidden_state[:, 0]
    return normalize(vectors, dim=-1).unflatten(0, (2, -1)).transpose(0, 1)


def contrastive_loss(pairs, temperature=0.02):
    question, passage = pairs.unbind(1)
    scores = question @ passage.T / temperature  # each other passage is a negative
    return cross_entropy(scores, torch.arange(len(scores)))


# --8<-- [start:enable]
def cached_backward(batch, size):
    rows = next(iter(batch.values())).shape[1]
    chunks = [
        {name: values[:, start : start + size] for name, values in batch.items()}
        for start in range(0, rows, size)
    ]
    states, vectors = [], []
    with torch.no_grad():  # first pass: the vectors only
        for chunk in chunks:
            states.append(torch.get_rng_state())
            vectors.append(embed(chunk))
    leaf = torch.cat(vectors).requires_grad_()
    loss = contrastive_loss(leaf)  # all negatives of the batch
    loss.backward()  # ends at the vectors
    for chunk, state, gradient in zip(
        chunks, states, leaf.grad.split(size), strict=True
    ):
        torch.set_rng_state(state)  # the dropout masks of the first pass
        embed(chunk).backward(gradient)  # second pass, one chunk at a time
    return loss.detach()


# --8<-- [end:enable]


def gradients(step):
    """Return the gradients of a step, and the most bytes that it has saved at a time."""
    model.zero_grad()
    held = most = 0

    class Saved:
        def __init__(self, tensor):
            nonlocal held, most
            self.tensor = tensor
            held += tensor.nbytes
            most = max(most, held)

        def __del__(self):
            nonlocal held
            held -= self.tensor.nbytes

    with saved_tensors_hooks(Saved, lambda saved: saved.tensor):
        step()
    found = {
        n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None
    }
    return found, most


def off(one, other):
    """Return the distance of two sets of gradients, relative to the second."""
    far = sum((one[name] - other[name]).square().sum() for name in other)
    return (far / sum(each.square().sum() for each in other.values())).sqrt().item()


def accumulate(size):
    for start in range(0, 16, size):
        chunk = {
            name: values[:, start : start + size] for name, values in batch.items()
        }
        (contrastive_loss(embed(chunk)) * size / 16).backward()


model.eval()  # without dropout, the whole batch is comparable to its chunks
whole, whole_bytes = gradients(lambda: contrastive_loss(embed(batch)).backward())
cached, cached_bytes = gradients(lambda: cached_backward(batch, size=4))
accumulated, _ = gradients(lambda: accumulate(size=4))
print(f"gradient caching: {off(cached, whole):.0e} from the whole batch")
print(f"accumulation: {off(accumulated, whole):.1e} from the whole batch")
print(f"saved bytes: {cached_bytes / whole_bytes:.2f} of the whole batch")
loss, plain_loss = cached_backward(batch, size=4), contrastive_loss(embed(batch))
assert torch.allclose(loss, plain_loss), (loss, plain_loss)
assert not loss.requires_grad, "the loss keeps the graph of the vectors"
assert off(accumulated, whole) > 0.1, "accumulation would do as well"
assert off(cached, whole) < 1e-4, f"{off(cached, whole):.1e}"
assert cached_bytes < 0.35 * whole_bytes, (cached_bytes, whole_bytes)

# With dropout, each chunk meets the same masks in both passes: one chunk of all rows is then the plain step.
model.train()
torch.manual_seed(1)
plain, _ = gradients(lambda: contrastive_loss(embed(batch)).backward())
torch.manual_seed(1)
again, _ = gradients(lambda: cached_backward(batch, size=16))
torch.manual_seed(2)
other, _ = gradients(lambda: contrastive_loss(embed(batch)).backward())
assert off(again, plain) < 1e-4


def in_chunks(size=4):
    """A plain step whose dropout masks are drawn per chunk."""
    parts = [
        embed({n: values[:, start : start + size] for n, values in batch.items()})
        for start in range(0, 16, size)
    ]
    contrastive_loss(torch.cat(parts)).backward()


torch.manual_seed(1)
plain, _ = gradients(in_chunks)
torch.manual_seed(1)
again, _ = gradients(lambda: cached_backward(batch, size=4))
assert off(again, plain) < 1e-4, (
    "a chunk has other dropout masks in its second pass"
)
assert off(other, plain) > 0.1, "dropout is off"
