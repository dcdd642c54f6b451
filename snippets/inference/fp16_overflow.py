# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { "dtype = torch.float16" = "dtype = torch.bfloat16" }
# ///
"""fp16 ends at 65,504: a larger activation is inf, the difference of two is nan, and sampling stops. bf16 has the range of fp32."""

from unittest.mock import patch

import torch

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:provoke]
dtype = torch.float16
hidden = torch.tensor([300.0], dtype=dtype)
squared = hidden * hidden  # 90,000
logits = torch.stack([squared - squared, hidden], dim=-1)
print(squared.item(), logits.tolist())
try:
    torch.multinomial(logits.float().softmax(-1), 1)
except RuntimeError as error:
    message = str(error)
    print(message)
# --8<-- [end:provoke]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]
assert squared.isinf().all(), squared
assert logits.isnan().any(), logits
assert shown == [
    "inf [[nan, 300.0]]",
    "probability tensor contains either `inf`, `nan` or element < 0",
], f"printed was {shown}"

# The cure: bf16 keeps the number, with fewer digits.
# --8<-- [start:cure]
hidden = torch.tensor([300.0], dtype=torch.bfloat16)
squared = hidden * hidden
# --8<-- [end:cure]
assert squared.dtype == torch.bfloat16, squared.dtype
assert squared.isfinite().all()
assert abs(squared.item() - 90_000) / 90_000 < 0.01
assert torch.finfo(torch.float16).max == 65_504
