# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { '    "max_cache_len": 256,' = "" }
# ///
"""generate() with a static cache compiles the decode step once. Without max_cache_len, the cache's size follows the prompt, and another prompt length compiles again."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, CompileConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
graphs = []


def count(graph, _):
    """Count the graphs that torch.compile makes, and run them as they are."""
    graphs.append(graph)
    return graph.forward


compiled = CompileConfig(backend=count, mode=None)
compiled._compile_all_devices = True  # noqa: SLF001 - generate() compiles on GPUs alone

# --8<-- [start:enable]
settings = {
    "cache_implementation": "static",
    "max_cache_len": 256,
    "max_new_tokens": 8,
    "do_sample": False,
}
# --8<-- [end:enable]
seen = []
for words in (10, 20, 30, 10):
    inputs = tokenizer("word " * words, return_tensors="pt")
    model.generate(**inputs, **settings, compile_config=compiled)
    seen.append(len(graphs))
print("graphs after prompts of 10, 20, 30 and 10 words:", seen)

assert seen == [1, 1, 1, 1], seen

# Without the private switch, generate() compiles nothing on a CPU.
torch.compiler.reset()
graphs.clear()
usual = CompileConfig(backend=count, mode=None)
model.generate(**inputs, **settings, compile_config=usual)
assert graphs == [], graphs
