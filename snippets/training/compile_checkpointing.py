# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 180
# ablation = { "model.activation_checkpointing_enable()" = "pass" }
# ///
"""Activation checkpointing works inside a compiled model: one graph, fewer saved activations, the same gradients."""

import torch
from torch._dynamo.utils import counters
from torch.profiler import profile
from transformers import AutoModelForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":  # graphs without generated code, so that a test takes seconds
    torch.compiler.set_default_backend("aot_eager")
checkpoint = "Qwen/Qwen3-0.6B"
batch = torch.randint(500, (4, 96), device=device)


def fresh() -> torch.nn.Module:
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    return model.to(device).train()


def kept_for_backward(model: torch.nn.Module) -> int:
    """Bytes that a forward pass allocates and does not free, after a first step."""
    model(input_ids=batch, labels=batch).loss.backward()
    with profile(profile_memory=True) as trace:
        loss = model(input_ids=batch, labels=batch).loss
    loss.backward()
    rows = trace.key_averages()
    return sum(r.self_cpu_memory_usage + r.self_device_memory_usage for r in rows)


plain = fresh()
plain.compile(fullgraph=True)
without = kept_for_backward(plain)
counters.clear()

# --8<-- [start:enable]
model = fresh()
model.config.use_cache = False  # its warning would break the graph
model.activation_checkpointing_enable()
model.compile(fullgraph=True)
# --8<-- [end:enable]

assert not model.config.use_cache, "the cache's warning breaks the graph"
kept = kept_for_backward(model)
graphs = counters["stats"]["unique_graphs"]
print(f"saved: {kept / 2**20:.1f} MiB, without: {without / 2**20:.1f} MiB")
assert graphs == 1, f"{graphs} graphs were compiled"
assert kept < 0.7 * without, f"{kept} bytes are kept, and {without} without"
for one, other in zip(model.parameters(), plain.parameters(), strict=True):
    assert other.grad.any(), "a gradient is 0"
    assert torch.allclose(one.grad, other.grad, rtol=1e-3, atol=1e-5), (
        "a gradient is another one"
    )

# fullgraph: a break is an error, here too.
model.lm_head.register_forward_pre_hook(lambda *_: torch._dynamo.graph_break())  # noqa: SLF001
torch._dynamo.reset()  # noqa: SLF001 - so that the hook is noticed
try:
    model(input_ids=batch, labels=batch)
    reason = "no error"
except torch._dynamo.exc.Unsupported as error:  # noqa: SLF001
    reason = str(error)
assert "graph_break()" in reason, f"a break in the graph gives {reason}"

# With the cache left on, the warning does break the graph.
cached = fresh()
cached.activation_checkpointing_enable()
cached.compile(fullgraph=True)
try:
    cached(input_ids=batch, labels=batch)
    reason = "nothing"
except torch._dynamo.exc.Unsupported as error:  # noqa: SLF001
    reason = str(error)
assert "logging.Logger" in reason, f"{reason} broke the graph"
