# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "deepspeed>=0.19"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 600
# ablation = { "\"stage\": 3" = "\"stage\": 2" }
# ///
"""The Trainer's argument deepspeed shards the model while it loads, if TrainingArguments exists before the model, and fills in auto values."""

import tempfile
import warnings
from unittest.mock import patch

import torch
import torch.distributed as dist

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch itself calls torch.jit.script
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

warnings.filterwarnings("ignore", ".*(istutils|`torch[.](distributed|jit))")
checkpoint = "HuggingFaceTB/SmolLM2-135M"
rows = [{"input_ids": list(range(32)), "labels": list(range(32))} for _ in range(8)]

# --8<-- [start:enable]
config = {
    "train_micro_batch_size_per_gpu": "auto",  # from TrainingArguments
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "bf16": {"enabled": "auto"},
    "zero_optimization": {
        "stage": 3,
        "reduce_bucket_size": "auto",  # from the model's hidden size
        "stage3_prefetch_bucket_size": "auto",
        "stage3_param_persistence_threshold": 0,
        "stage3_gather_16bit_weights_on_model_save": True,
    },
}
# Before the model: this makes from_pretrained divide the weights.
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    deepspeed=config,
    bf16=torch.cuda.is_available(),
    per_device_train_batch_size=2,
    gradient_accumulation_steps=2,
    max_grad_norm=0.5,
    max_steps=1,
    save_strategy="no",
    report_to="none",
)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
# --8<-- [end:enable]
loaded = sum(getattr(p, "ds_tensor", p).numel() for p in model.parameters())
# --8<-- [start:train]
trainer = Trainer(model=model, args=arguments, train_dataset=rows)
trainer.train()
# --8<-- [end:train]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
engine = trainer.model_wrapped
parameters = [*engine.module.parameters()]
held = sum(getattr(p, "ds_tensor", p).numel() for p in parameters)
total = sum(getattr(p, "ds_numel", p.numel()) for p in parameters)
if dist.get_rank() == 0:
    print(f"stage {engine.zero_optimization_stage()}", f"{held / total:.2f}")
    print({k: engine.config[k] for k in config if k != "zero_optimization"})
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]

# The proof, on each rank: half of the weights, from the moment they are loaded, half of the states, and
# the values of TrainingArguments in place of auto.
assert dist.get_world_size() == 2
assert loaded / total == 0.5, f"{loaded / total:.2f} of the weights after loading"
assert held / total == 0.5
local = engine.optimizer.optimizer.state.values()
moments = sum(state["exp_avg"].numel() for state in local if state)
assert moments == total // 2, f"{moments / total:.2f} of the states"
assert engine.config["train_micro_batch_size_per_gpu"] == 2
assert engine.config["gradient_accumulation_steps"] == 2
assert engine.config["gradient_clipping"] == 0.5
hidden = model.config.hidden_size
zero = engine.config["zero_optimization"]
assert zero["reduce_bucket_size"] == hidden * hidden
assert zero.get("stage3_prefetch_bucket_size") == int(0.9 * hidden * hidden)
assert zero.get("stage3_gather_16bit_weights_on_model_save"), "it saves shards"
assert zero.get("stage3_param_persistence_threshold") == 0, "small weights stay"
assert engine.config["bf16"]["enabled"] == arguments.bf16
assert "'auto'" not in str(engine.config), engine.config
filled = {
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 2,
    "gradient_clipping": 0.5,
    "bf16": {"enabled": arguments.bf16},
}
lines = [] if dist.get_rank() else [("stage 3", "0.50"), (filled,)]
assert shown == lines, f"printed was {shown}"
dist.destroy_process_group()
