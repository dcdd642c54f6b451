# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# timeout = 300
# ablation = { "model.activation_checkpointing_enable()" = "pass" }
# ///
"""Allocated memory over one training step of Llama 3.2 1B, counted on fake tensors without a GPU."""

import weakref
from collections import Counter

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry
from transformers import AutoModelForCausalLM, LlamaConfig, masking_utils

CONFIG = LlamaConfig(  # of meta-llama/Llama-3.2-1B
    hidden_size=2048,
    num_hidden_layers=16,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=64,
    intermediate_size=8192,
    vocab_size=128256,
    tie_word_embeddings=True,
    use_cache=False,
)
BATCH, LENGTH = 4, 2048
FLOPS, BYTES = (
    400e12,
    2.5e12,
)  # per second: an assumed GPU, for the width of a moment
KINDS = "weights", "states", "gradients", "activations", "logits", "temporaries"


# --8<-- [start:count]
class Memory(TorchDispatchMode):
    """Allocated bytes by kind: a storage counts until nothing refers to it."""

    def __init__(self, **known):
        super().__init__()
        self.held, self.kinds, self.rows = Counter(), {}, []
        self.seconds, self.phase = 0.0, "forward"
        for kind, tensors in known.items():
            for tensor in tensors:
                self.count(tensor, kind)

    def count(self, tensor, kind):
        """Count a tensor's storage as one of this kind, in blocks of 512 bytes."""
        storage = tensor.untyped_storage()
        key, size = id_of(tensor), -(-storage.nbytes() // 512) * 512
        if key in self.kinds:
            self.held[self.kinds[key]] -= size
        else:
            weakref.finalize(storage, self.free, key, size)
        self.kinds[key] = kind
        self.held[kind] += size

    def count_new(self, tensor):
        """Count a tensor whose storage is not counted yet."""
        if id_of(tensor) not in self.kinds:
            self.count(tensor, self.kind_of(tensor))

    def free(self, key, size):
        """Stop counting a storage."""
        self.held[self.kinds.pop(key)] -= size

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        out = op(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                self.count_new(tensor)
        if not op.is_view:
            self.seconds += seconds(op, args, kwargs or {}, out)
        self.rows.append((self.seconds, self.phase, dict(self.held)))
        return out

    def kind_of(self, tensor):
        """Name a new tensor by its shape and the phase of the step."""
        by_token = (
            tensor.shape[-1:] == (CONFIG.vocab_size,) and tensor.numel() > 2**29
        )
        if by_token:
            return "logits"
        return "activations" if self.phase == "forward" else "temporaries"


# --8<-- [end:count]


def seconds(op, args, kwargs, out):
    """Estimate an operation's time: matmuls by FLOPs, everything else by bytes."""
    flops = flop_registry.get(op.overloadpacket)
    tensors = [t for t in tree_leaves((args, out)) if isinstance(t, torch.Tensor)]
    moved = sum(t.numel() * t.element_size() for t in tensors)
    work = flops(*args, **kwargs, out_val=out) if flops else 0
    return max(work / FLOPS, moved / BYTES)


def flash(q, k, v, scale=None, **_):
    """The kernel that CUDA runs here; on fake tensors it needs no GPU."""
    kernel = torch.ops.aten._scaled_dot_product_flash_attention  # noqa: SLF001
    return kernel(q, k, v, is_causal=True, scale=scale)[0]


def id_of(tensor) -> int:
    """The address of a tensor's storage, which views share."""
    return tensor.untyped_storage()._cdata  # noqa: SLF001


torch.nn.functional.scaled_dot_product_attention = flash
masking_utils.find_packed_sequence_indices = lambda *args, **kwargs: None


def step(*, checkpointed: bool) -> list:
    """Count the second step of a training loop; the first one makes the states."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = AutoModelForCausalLM.from_config(CONFIG, dtype=torch.bfloat16)
        if checkpointed:
            model.activation_checkpointing_enable()
        parameters = list(model.train().parameters())
        optimizer = torch.optim.AdamW(parameters, fused=True)
        ids = torch.zeros(BATCH, LENGTH, dtype=torch.long)
        for _ in range(2):
            states = [t for s in optimizer.state.values() for t in s.values()]
            memory = Memory(weights=parameters, states=states)
            hooks = [
                p.register_post_accumulate_grad_hook(
                    lambda p, memory=memory: memory.count(p.grad, "gradients")
                )
                for p in parameters
            ]
            with memory:
                loss = model(input_ids=ids, labels=ids).loss
                memory.phase = "backward"
                loss.backward()
                memory.phase = "optimizer"
                optimizer.step()
                optimizer.zero_grad()
            for hook in hooks:
                hook.remove()
    return memory.rows


def thinned(rows: list, bins: int) -> list:
    """Keep the start and the largest sum of each stretch of time and phase."""
    best = {}
    for row in rows:
        key = int(row[0] / rows[-1][0] * bins), row[1]
        if key not in best or sum(row[2].values()) > sum(best[key][2].values()):
            best[key] = row
    return [rows[0], *best.values()]


# A count by hand: whole blocks of 512 bytes, nothing for a view, and nothing after the last reference.
known = torch.zeros(100)
with Memory(weights=[known]) as memory:
    new = known + 1
    view = new.view(10, 10)
    assert memory.held == {"weights": 512, "activations": 512}, memory.held
    memory.phase = "backward"
    other = new * 2
    del new
    assert memory.held["activations"] == 512, "the view does not hold the storage"
    del view
    assert +memory.held == {"weights": 512, "temporaries": 512}, memory.held
    assert [row[1] for row in memory.rows] == ["forward"] * 2 + ["backward"]

peaks = {}
for name, checkpointed in (("full", False), ("checkpointed", True)):
    rows = step(checkpointed=checkpointed)
    peaks[name] = max(rows, key=lambda row: sum(row[2].values()))[2]
    for taken, phase, held in thinned(rows, bins=24):
        gib = (f"{held.get(kind, 0) / 2**30:.2f}" for kind in KINDS)
        print(f"{name}: {taken * 1e3:.0f} {phase} {' '.join(gib)}")

full, checkpointed = peaks["full"], peaks["checkpointed"]
states = full["states"] / full["weights"]
assert 2 <= states < 2.01, (
    f"AdamW holds {states} bytes per byte of weights, not two"
)
assert checkpointed["activations"] < full["activations"] / 5, (
    f"checkpointing saves {checkpointed['activations']} bytes of activations"
)
assert abs(checkpointed["logits"] - full["logits"]) < 2**20, (
    "the logits are the same"
)
logits = 4 * BATCH * LENGTH * CONFIG.vocab_size
assert full["logits"] >= 2 * logits, "the peak is not at the loss"
