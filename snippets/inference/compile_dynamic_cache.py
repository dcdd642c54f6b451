# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "torch.compile(model.forward, backend=count)" = "model.forward" }
# ///
"""A compiled forward pass with a growing cache makes a few graphs, not one per token: torch.compile marks the changed length as dynamic."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
inputs = tokenizer("A cache that grows", return_tensors="pt")
graphs = []


def count(graph, _):
    """Count the graphs that torch.compile makes, and run them as they are."""
    graphs.append(graph)
    return graph.forward


# --8<-- [start:enable]
forward = torch.compile(model.forward, backend=count)
cache = DynamicCache(config=model.config)
with torch.no_grad():
    token = model(**inputs, past_key_values=cache).logits[:, -1:].argmax(-1)
    for _ in range(12):
        output = forward(input_ids=token, past_key_values=cache)
        token = output.logits[:, -1:].argmax(-1)
# --8<-- [end:enable]
print(f"{len(graphs)} graphs for 12 steps")
assert 1 <= len(graphs) <= 3, len(graphs)
assert not output.logits.requires_grad, "a step saved activations"
usual = model.generate(**inputs, max_new_tokens=13, do_sample=False)
assert token.item() == usual[0, -1].item(), (
    "another token than without torch.compile"
)


# The page counts what an uncompiled step of a Llama calls: 40 operators per layer, and 21 more.
class Count(TorchDispatchMode):
    """Count the operators that compute or copy, without views."""

    calls = 0

    def __torch_dispatch__(self, func, _, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        first = result[0] if isinstance(result, tuple | list) else result
        given = [
            tensor.untyped_storage().data_ptr()
            for tensor in args
            if isinstance(tensor, torch.Tensor)
        ]
        view = (
            isinstance(first, torch.Tensor)
            and first.untyped_storage().data_ptr() in given
        )
        self.calls += not view and func is not torch.ops.aten.empty.memory_format
        return result


half = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
cache = DynamicCache(config=half.config)
with torch.no_grad():
    half(**inputs, past_key_values=cache)
    with Count() as called:
        half(input_ids=token, past_key_values=cache)
expected = 40 * half.config.num_hidden_layers + 21
assert called.calls == expected, f"{called.calls} operators"
