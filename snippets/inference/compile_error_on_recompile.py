# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# timeout = 120
# ablation = { "error_on_recompile = True" = "error_on_recompile = False" }
# ///
"""error_on_recompile turns a silent recompilation into an error that names the guard that failed."""

import torch
from transformers import LlamaConfig, LlamaModel

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=64,
    hidden_size=64,
    intermediate_size=64,
    num_hidden_layers=1,
    num_attention_heads=2,
)
model = LlamaModel(config).eval()
forward = torch.compile(model, backend="eager")
prompt = torch.zeros(1, 16, dtype=torch.long)
with torch.no_grad():
    forward(prompt, use_cache=False)

# --8<-- [start:enable]
torch._dynamo.config.error_on_recompile = True  # noqa: SLF001
# --8<-- [end:enable]
with torch.no_grad():
    forward(prompt, use_cache=False)  # the same shape: no error
reason = ""
try:
    with torch.no_grad():
        forward(torch.zeros(1, 24, dtype=torch.long), use_cache=False)
except torch._dynamo.exc.RecompileError as error:  # noqa: SLF001
    reason = str(error)
print(reason.splitlines()[0] if reason else "no error")
assert "24" in reason, reason
