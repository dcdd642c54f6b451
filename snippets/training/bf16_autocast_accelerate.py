# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "mixed_precision=\"bf16\"" = "mixed_precision=\"no\"" }
# ///
"""With Accelerate, bf16 mixed precision is autocast over fp32 weights. It copies the logits back to fp32."""

import torch
from accelerate import Accelerator
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)

# --8<-- [start:enable]
accelerator = Accelerator(mixed_precision="bf16")
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
model, optimizer = accelerator.prepare(model.train(), optimizer)


def step(batch) -> None:
    loss = model(**batch, labels=batch["input_ids"]).loss
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()


# --8<-- [end:enable]


class MatmulTypes(TorchDispatchMode):
    """Note the data types that matmuls take."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[torch.dtype] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
            self.seen.add(args[-1].dtype)
        return func(*args, **(kwargs or {}))


text = "Sixteen bits where it is safe, thirty-two where it matters."
batch = tokenizer([text] * 8, return_tensors="pt").to(accelerator.device)
with MatmulTypes() as matmuls:
    step(batch)
print(matmuls.seen)  # on: {torch.bfloat16}, off: {torch.float32}

assert matmuls.seen == {torch.bfloat16}, f"matmuls took {matmuls.seen}"
assert model.training, "the model is not in training mode"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
held = {p.dtype for p in model.parameters()}
assert held == {torch.float32}, f"the weights are {held}"
states = {s["exp_avg"].dtype for s in optimizer.state.values()}
assert states == {torch.float32}, f"the optimizer's states are {states}"

# The copy: the head gives bf16 logits, and what the model returns is fp32.
heads: list[torch.Tensor] = []
model.lm_head.register_forward_hook(lambda *args: heads.append(args[-1]))
logits = model(**batch).logits
assert heads[0].dtype == torch.bfloat16, f"the head gave {heads[0].dtype}"
assert logits.dtype == torch.float32, f"the model gave {logits.dtype}"
assert logits.nbytes == 4 * batch["input_ids"].numel() * model.config.vocab_size
assert logits.data_ptr() != heads[0].data_ptr()
