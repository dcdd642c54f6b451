# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "model.resize_token_embeddings(pad_to_multiple_of=64)" = "" }
# ///
"""A vocabulary padded to a multiple of 64 changes the loss, unless the logits of the new rows are masked."""

import math
from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(
    ["Some rows of the head are no word."] * 4, return_tensors="pt"
).to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).eval()  # no dropout, so that two runs can be compared


def loss_and_gradients():
    model.zero_grad()
    outputs = model(**batch, labels=batch["input_ids"])
    outputs.loss.backward()
    gradient = model.get_output_embeddings().weight.grad
    return outputs.loss.item(), gradient.clone(), outputs.logits.shape[-1]


before, gradient_before, _ = loss_and_gradients()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:which]
odd = {
    name: tuple(weight.shape)
    for name, weight in model.named_parameters()
    if weight.dim() == 2 and any(size % 64 for size in weight.shape)
}
print(odd)  # GPT-2: {'transformer.wte.weight': (50257, 768)}
# --8<-- [end:which]

sizes = tuple(model.get_input_embeddings().weight.shape)
assert odd == {"transformer.wte.weight": sizes}, f"not aligned: {odd}"

# --8<-- [start:enable]
words = model.config.vocab_size  # 50,257
model.resize_token_embeddings(pad_to_multiple_of=64)  # 50,304
# --8<-- [end:enable]

unmasked, gradient_unmasked, width = loss_and_gradients()
rows = model.get_input_embeddings().weight.detach().clone()


# --8<-- [start:mask]
def mask_padding(_head, _inputs, logits):
    """Rows that are no word get no probability, and so no gradient."""
    logits[..., words:].fill_(torch.finfo(logits.dtype).min)


model.get_output_embeddings().register_forward_hook(mask_padding)
# --8<-- [end:mask]

masked, gradient_masked, _ = loss_and_gradients()

# --8<-- [start:is-it-on]
with torch.no_grad():
    logits = model(**batch).logits
padding = logits.softmax(-1)[..., words:].sum(-1).max()
print(f"{logits.shape[-1]} logits, probability of padding {padding:g}")
# on: a multiple of 64, and 0
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

assert width % 64 == 0, f"the head gives {width} logits, no multiple of 64"
assert width > words, "nothing was padded"
text = f"{64 * math.ceil(sizes[0] / 64)} logits, probability of padding 0"
assert shown == [{"transformer.wte.weight": sizes}, text], f"printed was {shown}"
assert not padding.requires_grad, "the check saved activations"

# The new rows start as the mean of all others, up to a noise that is far smaller than
# the distance of any word from it.
mean = rows[:words].mean(0)
far = (rows - mean).norm(dim=1)
assert far[words:].max() < 0.01 * far[:words].min(), "the new rows are not the mean"

# Without the mask, the new rows take a part of the probability: each takes no more
# than a word does on average.
assert -1e-5 <= unmasked - before <= math.log(width / words) + 1e-5, (
    f"the loss was {before}, and is {unmasked}"
)
assert unmasked > before, "padding did not change the loss"
assert gradient_unmasked[words:].any(), "the new rows have no gradient"

# With the mask, loss and gradients are those of the model as it was loaded.
assert padding == 0, f"padding has the probability {padding}"
assert math.isclose(masked, before, rel_tol=1e-5), f"{before} became {masked}"
assert torch.allclose(
    gradient_masked[:words], gradient_before, rtol=1e-6, atol=1e-5
), "the gradient has changed"
assert not gradient_masked[words:].any(), "the new rows have a gradient"
