# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# needs = ["cuda"]
# ablation = { "precision(\"high\")" = "precision(\"highest\")" }
# ///
"""With TF32 allowed, the error of an fp32 matmul is larger than fp32's and smaller than bf16's. The tensors stay fp32."""

import torch

# --8<-- [start:enable]
torch.set_float32_matmul_precision("high")
# --8<-- [end:enable]


# --8<-- [start:is-it-on]
def error(product: torch.Tensor, exact: torch.Tensor) -> float:
    """How far a product is from the exact one, relative to its size."""
    return ((product.double() - exact).norm() / exact.norm()).item()


a, b = torch.randn(2, 1024, 1024, device="cuda")
exact = a.double() @ b.double()
found = error(a @ b, exact)
print(f"{found:.0e}")  # TF32: a few 1e-04, fp32: below 1e-06
# --8<-- [end:is-it-on]

in_bf16 = error(a.bfloat16() @ b.bfloat16(), exact)
assert (a @ b).dtype == torch.float32, "the product is not fp32 any more"
assert found > 1e-4, f"off by {found:.0e}: the inputs were not rounded to TF32"
assert found < in_bf16 / 2, f"off by {found:.0e}, as bf16 is: {in_bf16:.0e}"
torch.set_float32_matmul_precision("highest")
in_fp32 = error(a @ b, exact)
assert in_fp32 < 1e-6, f"off by {in_fp32:.0e} in fp32"
