# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# needs = ["cuda:2"]
# ablation = { "nn.DataParallel(model)" = "model" }
# ///
"""nn.DataParallel splits a batch over all GPUs of one process, and copies the weights to them in every forward pass."""

import torch
from torch import nn

model = nn.Linear(64, 64).cuda()
places = []

# --8<-- [start:enable]
model = nn.DataParallel(model)
output = model(torch.randn(8, 64, device="cuda"))
# --8<-- [end:enable]

copies = [module for module in model.modules() if isinstance(module, nn.Linear)]
copies[0].register_forward_hook(lambda m, a, o: places.append((o.device, m.weight)))
model(torch.randn(8, 64, device="cuda"))
assert {device.index for device, _ in places} == set(
    range(torch.cuda.device_count())
)
pointers = {weight.data_ptr() for _, weight in places}
model(torch.randn(8, 64, device="cuda"))
assert len(pointers) == torch.cuda.device_count(), "the weights are not copied"
assert output.device.index == 0, "the outputs are not gathered"
