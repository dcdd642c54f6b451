# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { "fully_shard([model.model.norm, model.lm_head], **options)" = "pass", "fully_shard(model.model.embed_tokens, **options)" = "pass" }
# ///
"""Embedding and LM head in FSDP2 groups of their own: a rank gathers and reduces one of them at a time, so the peak is lower.

One process plays rank 0 of eight: torch's `fake` group allocates what a real one does and sends nothing.
"""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.profiler import profile
from transformers import LlamaConfig, LlamaForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("fake", rank=0, world_size=8)
policy = MixedPrecisionPolicy(
    param_dtype=torch.bfloat16, reduce_dtype=torch.float32
)
options = {
    "mp_policy": policy,
    "mesh": init_device_mesh(device, (dist.get_world_size(),)),
}
config = LlamaConfig(
    vocab_size=8192,
    hidden_size=256,
    intermediate_size=512,
    num_hidden_layers=4,
    num_attention_heads=4,
    num_key_value_heads=2,
    tie_word_embeddings=False,
    use_cache=False,
)


def build() -> LlamaForCausalLM:
    """Return the model with the same weights in each call."""
    torch.manual_seed(0)
    return LlamaForCausalLM(config).to(device).train()


def peak(make) -> tuple[float, int]:
    """Return the loss and the peak of a step, without what other models hold."""
    with profile(profile_memory=True) as trace:
        model = make()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
        torch.manual_seed(1)
        tokens = torch.randint(config.vocab_size, (1, 32), device=device)
        for _ in range(2):
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    held = most = 0
    events = trace.profiler.kineto_results.events()
    for event in sorted(events, key=lambda event: event.start_ns()):
        if (
            event.name() == "[memory]"
            and event.device_type().name == device.upper()
        ):
            held += event.nbytes()
            most = max(most, held)
    return loss.item(), most


def layers_and_root() -> LlamaForCausalLM:
    model = build()
    for layer in model.model.layers:
        fully_shard(layer, **options)
    return fully_shard(model, **options)


def head_and_embedding_too() -> LlamaForCausalLM:
    model = build()
    # --8<-- [start:enable]
    for layer in model.model.layers:
        fully_shard(layer, **options)
    fully_shard(model.model.embed_tokens, **options)
    fully_shard([model.model.norm, model.lm_head], **options)
    fully_shard(model, **options)
    # --8<-- [end:enable]
    return model


loss, one_group = peak(layers_and_root)
same, own_groups = peak(head_and_embedding_too)
print(f"embedding and LM head in the root's group: {one_group / 2**20:.1f} MiB")
print(f"in groups of their own: {own_groups / 2**20:.1f} MiB")

# The proof: the same loss, and a peak that is lower by more than the bf16 weights of one of the two.
assert abs(same - loss) < 1e-3, (same, loss)
assert one_group - own_groups > 2 * config.vocab_size * config.hidden_size, (
    one_group,
    own_groups,
)
# Each of the two is a group of its own, next to the layers and the root.
model = head_and_embedding_too()
groups = {
    name for name, module in model.named_modules() if isinstance(module, FSDPModule)
}
layers = {f"model.layers.{number}" for number in range(config.num_hidden_layers)}
outer = {"model.embed_tokens", "lm_head", "model.norm", ""}
assert groups == outer | layers, groups

# Both have the policy, too: their weights are bf16 in the forward pass.
computed = {}
for name in ("model.embed_tokens", "lm_head"):
    model.get_submodule(name).register_forward_pre_hook(
        lambda module, *_, name=name: computed.update({name: module.weight.dtype})
    )
model(input_ids=torch.zeros(1, 4, dtype=torch.long, device=device))
assert set(computed.values()) == {torch.bfloat16}, computed
assert len(computed) == 2, computed
dist.destroy_process_group()
