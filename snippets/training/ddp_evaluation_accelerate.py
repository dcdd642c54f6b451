# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "accelerator.gather_for_metrics((logits.argmax(-1), labels))" = "accelerator.gather((logits.argmax(-1), labels))" }
# ///
"""gather_for_metrics returns the predictions of all ranks without the samples that pad the last batch; gather returns those, too."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
dataset = TensorDataset(torch.eye(11), torch.arange(11))
model = torch.nn.Linear(11, 11)
loader = DataLoader(dataset, batch_size=3)

# --8<-- [start:enable]
on_cpu = not torch.accelerator.is_available()
accelerator = Accelerator(cpu=on_cpu)
model, loader = accelerator.prepare(model, loader)
found = []
model.eval()
with torch.no_grad():
    for inputs, labels in loader:
        logits = model(inputs)
        found.append(accelerator.gather_for_metrics((logits.argmax(-1), labels)))
predictions, labels = (torch.cat(parts) for parts in zip(*found, strict=True))
accuracy = (predictions == labels).float().mean()
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
asked = patch.object(TensorDataset, "__len__", return_value=11).start()
# --8<-- [start:is-it-on]
print(f"{len(predictions)} predictions for {len(dataset)} samples")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]
assert shown == "11 predictions for 11 samples", f"printed was {shown}"
assert asked.called, "the printed number of samples is not that of the data set"
assert not model.training, "evaluation needs eval mode"
assert not logits.requires_grad, "evaluation needs no graph"

assert accelerator.num_processes == dist.get_world_size() == 2
assert len(labels) == 11, f"{len(labels)} predictions for 11 samples"
assert sorted(labels.tolist()) == list(range(11)), "a sample comes twice"
plain = accelerator.unwrap_model(model)
with torch.no_grad():
    alone = plain(torch.eye(11, device=accelerator.device)).argmax(-1)
right = alone == torch.arange(11, device=accelerator.device)
found = predictions[labels.argsort()]
assert found.equal(alone), f"{found} instead of {alone}"
assert accuracy == right.float().mean(), "not the accuracy of one process"
accelerator.end_training()
