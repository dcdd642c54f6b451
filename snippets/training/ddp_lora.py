# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "get_peft_model(model, adapter)" = "model" }
# ///
"""With LoRA, DDP sends the gradients of the adapters alone."""

import os
import warnings
from unittest.mock import patch

import torch
import torch.distributed as dist
from peft import LoraConfig, get_peft_model
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
checkpoint = "Qwen/Qwen3-0.6B"
tokens = torch.randint(0, 100, (2, 16), device=device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
adapter = LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")
model = DistributedDataParallel(
    get_peft_model(model, adapter).to(device)
)  # adapters before DDP
# --8<-- [end:enable]


class Payloads(TorchDispatchMode):
    """Note the bytes of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Payloads() as payloads:  # notes the bytes of each all-reduce
    model(input_ids=tokens, labels=tokens).loss.backward()
weights = sum(p.nbytes for p in model.parameters())
print(f"sent {sum(payloads.sent)} bytes, for weights of {weights}")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert dist.get_world_size() == 2
adapters = [p for n, p in model.named_parameters() if "lora_" in n]
assert sum(payloads.sent) == sum(p.nbytes for p in adapters), (
    f"sent {payloads.sent}"
)
assert 0 < sum(payloads.sent) < weights / 2
assert all(p.dtype == torch.float32 for p in adapters)
plain = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
added = sum(p.nbytes for p in adapters)
whole = added + sum(p.nbytes for p in plain.parameters())
linear = [
    name
    for name, module in plain.named_modules()
    if isinstance(module, torch.nn.Linear) and name != "lm_head"
]
assert len(adapters) == 2 * len(linear) > 0, "not each linear layer has an adapter"
assert shown == f"sent {added} bytes, for weights of {whole}", shown
dist.destroy_process_group()
