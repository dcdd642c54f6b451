# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "peft>=0.21", "trl>=1.16"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 120
# ablation = { "dtype=torch.bfloat16" = "dtype=torch.float32" }
# ///
"""TRL sends every weight to the engine in the trainer's data type; with LoRA, it sends the merged weights, not the adapters."""

import warnings
from unittest.mock import patch

import torch
from accelerate import Accelerator
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl.generation.vllm_generation import VLLMGeneration

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message=".*gradient_checkpointing")

checkpoint = "Qwen/Qwen3-0.6B"
torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


class Receiver:
    """Stands for vLLM's server: keeps what a sync sends."""

    def update_named_params(self, metadata, parameters):
        self.got = {name: weight.detach().clone() for name, weight in parameters}
        assert [name for name, *_ in metadata] == list(self.got)

    def reset_prefix_cache(self):
        pass


class WithoutEngine(VLLMGeneration):
    """TRL's own synchronization, with the receiver in the place of vLLM."""

    def _init_vllm(self):
        self.vllm_client = Receiver()


def received(model):
    """Return the tensors that TRL sends in one sync."""
    generation = WithoutEngine(model, Accelerator(), tokenizer, mode="server")
    generation.sync_weights()
    return generation.vllm_client.got


def size(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


# --8<-- [start:enable]
base = AutoModelForCausalLM.from_pretrained(
    checkpoint, dtype=torch.bfloat16
)  # TRL's default: float32
policy = get_peft_model(base, LoraConfig(r=16, target_modules="all-linear"))
# --8<-- [end:enable]
frozen = {n: w for n, w in policy.named_parameters() if "lora_" not in n}
adapters = {n: w for n, w in policy.named_parameters() if "lora_" in n}
layers = base.config.num_hidden_layers
assert len(adapters) == 2 * 7 * layers, f"{len(adapters)} matrices of adapters"
parameters = sum(weight.numel() for weight in frozen.values())
untouched = {name: weight.clone() for name, weight in frozen.items()}
for weight in adapters.values():  # as after some training
    weight.data += 0.02 * torch.randn_like(weight)
projection = policy.base_model.model.model.layers[0].self_attn.q_proj
delta = projection.get_delta_weight("default")
expected = projection.base_layer.weight.float() + delta.float()
got = received(policy)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
print(f"{size(got.values()) / parameters:g} bytes per parameter and sync")
print(
    f"{size(adapters.values()) / parameters:.2f} bytes per parameter in the adapters"
)
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]
assert size(got.values()) == 2 * parameters, (
    "a sync does not send 2 bytes per parameter"
)
of_adapters = sum(weight.nbytes for weight in adapters.values()) / parameters
assert shown == [
    "2 bytes per parameter and sync",
    f"{of_adapters:.2f} bytes per parameter in the adapters",
], f"printed was {shown}"
assert not any("lora_" in name for name in got), "adapters are sent"
sent = got["model.layers.0.self_attn.q_proj.weight"]
rounding = 2**-6 * max(expected.abs().max(), delta.abs().max()).item()
assert rounding < 0.5 * delta.abs().max(), "too coarse to see the adapters"
assert (sent.float() - expected).abs().max() < rounding, (
    "the adapters are not merged"
)


def drift(weights, before):
    """Return the share of weights that are not what they were, and the largest difference."""
    off = [(w.float() - before[n].float()).abs() for n, w in weights.items()]
    return sum((o > 0).sum().item() for o in off) / parameters, max(
        o.max().item() for o in off
    )


# --8<-- [start:drift]
share, largest = drift(frozen, untouched)
print(f"{share:.0%} of the frozen weights changed, by up to {largest:.1e}")
# --8<-- [end:drift]
shown = printed.call_args.args[0]
off = torch.cat([(frozen[n] - untouched[n].float()).abs().ravel() for n in frozen])
part = off.count_nonzero().item() / off.numel()
wanted = (
    f"{part:.0%} of the frozen weights changed, by up to {off.max().item():.1e}"
)
assert shown == wanted, f"printed was {shown}"
assert share > 0.01, "merging and unmerging gave every weight back"

# A base in float32: twice the bytes, and what the frozen weights lose is of the size of float32's rounding.
exact = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
policy = get_peft_model(exact, LoraConfig(r=16, target_modules="all-linear"))
for name, weight in policy.named_parameters():
    if name in adapters:
        weight.data.copy_(adapters[name].data)
frozen = {n: w for n, w in policy.named_parameters() if "lora_" not in n}
before = {name: weight.clone() for name, weight in frozen.items()}
assert size(received(policy).values()) == 4 * parameters
rounded = drift(frozen, before)[1]
print(f"with a base in float32, by up to {rounded:.1e}")
assert rounded < 1e-3 * largest, (rounded, largest)
