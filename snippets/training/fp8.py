# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "torchao>=0.18"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 180
# ablation = { "convert_to_float8_training(model, module_filter_fn=convert)" = "pass" }
# ///
"""After torchao's conversion, all three matmuls of a linear layer take fp8 inputs, also in compiled blocks. Weights and optimizer states stay fp32."""

from functools import partial
from operator import attrgetter
from unittest.mock import patch

import torch
from torch.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode
from torchao.float8 import Float8LinearConfig, convert_to_float8_training
from torchao.float8.float8_linear_utils import _auto_filter_for_recipe
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":  # graphs without generated code, so that a test takes seconds
    torch.compiler.set_default_backend("aot_eager")
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
text = "Eight bits are enough for a matmul, and not for a sum."
batch = tokenizer(  # 128 tokens: their number must be divisible by 16, too
    [text] * 4, padding="max_length", max_length=32, return_tensors="pt"
).to(device)


# --8<-- [start:filter]
def convert(
    layer: torch.nn.Linear, name: str, outputs: int = 1024, inputs: int = 4096
) -> bool:
    """Wide enough to gain with tensorwise scaling on an H100, and not the LM head."""
    n, k = layer.weight.shape
    wide = n > outputs or k > inputs
    return name != "lm_head" and wide and n % 16 == k % 16 == 0


# --8<-- [end:filter]

on_h100 = convert
if AutoConfig.from_pretrained(checkpoint).hidden_size < 1024:  # a small model
    convert = partial(convert, outputs=64, inputs=128)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
linear = sum(
    convert(m, n) for n, m in model.named_modules() if hasattr(m, "in_features")
)
convert_to_float8_training(model, module_filter_fn=convert)
model.config.use_cache = False
for block in model.model.layers:  # or the casts are kernels of their own
    block.compile()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)


def step() -> None:
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


# --8<-- [end:enable]

step()  # compiles

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with profile() as trace:
    step()
calls = {row.key: row.count for row in trace.key_averages()}
print(calls.get("aten::_scaled_mm", 0), "fp8 matmuls in", linear, "layers")
# --8<-- [end:is-it-on]
shown = printed.call_args.args


inside = attrgetter("_data")  # what torchao wraps


class Operands(TorchDispatchMode):
    """Note the pairs of data types that matmuls of wrapped tensors hold inside."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[tuple[torch.dtype, ...]] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.mm.default and hasattr(args[0], "_scale"):
            self.seen.add(tuple(inside(each).dtype for each in args))
        return func(*args, **(kwargs or {}))


e4m3, e5m2 = torch.float8_e4m3fn, torch.float8_e5m2
logits = []  # their types: the LM head is not converted, and computes in bf16
model.lm_head.register_forward_hook(lambda *call: logits.append(call[2].dtype))
with torch.compiler.set_stance("force_eager"), Operands() as operands:
    step()
assert logits == [torch.bfloat16], logits
ran = {name for name in calls if "Compiled Region" in name}
assert ran, "nothing that was compiled ran"
assert linear == 5 * model.config.num_hidden_layers, f"{linear} layers to convert"
found = calls.get("aten::_scaled_mm", 0)
assert found == 3 * linear, f"{found} fp8 matmuls in {linear} layers"
layers = 5 * model.config.num_hidden_layers
line = (3 * layers, "fp8 matmuls in", layers, "layers")
assert shown == line, f"printed was {shown}"
assert model.training, "the model was left in evaluation mode"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"

# In Llama 3.2 1B, our filter and torchao's tensorwise filter leave out the key and value
# projections. torchao's rowwise filter converts the two widest layers alone.
llama = {"q": (2048, 2048), "k": (512, 2048), "v": (512, 2048), "o": (2048, 2048)}
llama |= {"gate": (8192, 2048), "up": (8192, 2048), "down": (2048, 8192)}


def converted(chosen) -> set[str]:
    """Return the layers of this shape that a filter converts."""
    layers = {
        name: torch.nn.Linear(k, n, device="meta") for name, (n, k) in llama.items()
    }
    return {name for name, layer in layers.items() if chosen(layer, name)}


tensorwise, rowwise = (
    _auto_filter_for_recipe(name, filter_fqns=[])
    for name in ("tensorwise", "rowwise")
)
assert converted(on_h100) == set(llama) - {"k", "v"}, converted(on_h100)
assert converted(tensorwise) == converted(on_h100), converted(tensorwise)
assert converted(rowwise) == {"gate", "up"}, converted(rowwise)
assert convert(torch.nn.Linear(32, 1040), "any")
for sizes in ((32, 1032), (24, 1040)):
    assert not convert(torch.nn.Linear(*sizes), "any"), f"{sizes} are converted"
assert not convert(torch.nn.Linear(32, 1040), "lm_head"), "the LM head is converted"
rows = Float8LinearConfig.from_recipe_name("rowwise")
casts = (
    rows.cast_config_input,
    rows.cast_config_weight,
    rows.cast_config_grad_output,
)
assert {cast.target_dtype for cast in casts} == {e4m3}, "rowwise is e4m3 throughout"
assert operands.seen == {(e4m3, e4m3), (e5m2, e4m3)}, operands.seen
assert {p.dtype for p in model.parameters()} == {torch.float32}
states = {s["exp_avg"].dtype for s in optimizer.state.values()}
assert states == {torch.float32}, f"the optimizer's states are {states}"
