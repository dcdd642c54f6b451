"""The options of ``headroom estimate``. Their names are those of the fields of ``Job`` and ``Layout``."""

import argparse

_WORDS = {
    "job": ("KIND", "full (or pretrain), lora, qlora, dora, evaluate, prefill or decode (default: full)"),
    "precision": ("TYPE", "bf16, autocast (fp32 weights), mixed (bf16 weights, autocast) or fp32 (default: bf16)"),
    "optimizer": ("NAME", "a name of the Trainer's optim (default: adamw_torch_fused)"),
    "attention": ("NAME", "sdpa, eager or flash (default: the first that the family has)"),
    "loss": (
        "KIND",
        "whole, chunked, fused, or as transformers 4.48: whole-upcast-copy, 4.45: whole-shift-copy (default: whole)",
    ),
    "targets": ("LAYERS", "layers with adapters: all, attention or qv (default: all)"),
    "cache": ("TYPE", "type of the KV cache: bf16, fp32, int8, int4 or int2 (default: bf16)"),
    "quantization": (
        "FORMAT",
        "weights of qlora: nf4-double (default) or nf4; of inference also int8 (LLM.int8), fp8 or int4 (AWQ, GPTQ)",
    ),
    "strategy": ("NAME", "data parallelism: ddp, zero1, zero2, zero3, fsdp or hsdp"),
    "offload": ("WHAT", "what is in CPU memory: none, optimizer or all (default: none)"),
}
_NUMBERS = {
    "batch": "sequences per GPU and micro-batch (default: 1)",
    "length": "tokens per sequence; for decode, tokens in the KV cache (default: 2048)",
    "accumulation": "micro-batches per optimizer step (default: 1)",
    "chunk": "tokens of each sequence in a chunk of a chunked loss, as torchtune splits; for a loss that splits the "
    "flattened batch, give its tokens divided by --batch (default: 512)",
    "rank": "rank of the adapters (default: 16)",
    "data": "data-parallel GPUs (default: 1)",
    "shard": "with hsdp, GPUs that divide one copy of the weights",
    "tensor": "GPUs of tensor parallelism (default: 1)",
    "pipeline": "stages of pipeline parallelism (default: 1)",
    "context": "GPUs of context parallelism (default: 1)",
    "expert": "GPUs of expert parallelism, out of the data-parallel ones (default: 1)",
}
_SWITCHES = {
    "checkpointing": "checkpoint the activations of each layer",
    "no_sync": "with FSDP, reduce gradients in the last micro-batch only, as the Trainer does",
    "master_weights": "keep an fp32 copy of the trained weights",
    "quantized_experts": "with quantized weights, quantized experts too, as linear layers per expert are",
    "saved_inputs": "with qlora, 4-bit layers save their inputs, as bitsandbytes before 0.43.2 did",
    "reentrant": "activation checkpoints are reentrant, the default of transformers before 5",
    "sequence_parallel": "divide norms and residuals over the GPUs of tensor parallelism",
    "loss_parallel": "divide the vocabulary over the GPUs of tensor parallelism",
    "gradient_as_bucket_view": "share the memory of DDP's buckets and of gradients",
}
_ENGINE_NUMBERS = {
    "max_model_len": "tokens of the longest request (default: the model's positions)",
    "max_num_seqs": "sequences in one batch (default: vLLM's for the card)",
    "max_num_batched_tokens": "tokens in one batch (default: vLLM's for the card)",
}
_SPELLINGS = {
    "tensor": ("--tensor-parallel", "--tensor-parallel-size"),
    "cache": ("--kv-dtype", "--kv-cache-dtype"),
}
"""Other spellings of an option, which vLLM's users know."""
ENGINE_FIELDS = ("engine", *_ENGINE_NUMBERS, "gpu_memory_utilization", "enforce_eager")
"""The options that only an estimate of an engine has. It takes ``tensor``, ``cache`` and ``quantization`` too."""
FIELDS = (*_WORDS, *_NUMBERS, *_SWITCHES)
"""The fields of a job and of its layout that the command line sets."""


def add_estimate_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``headroom estimate`` to its parser; an option that is not given is None."""
    parser.add_argument("model", metavar="MODEL", help="a model's name, its folder, or the path of a config.json")
    parser.add_argument(
        "--card",
        metavar="SIZE",
        help="the card's memory or name, such as 24GB or RTX 4090, to judge whether the job fits",
    )
    job = parser.add_argument_group("job and layout over GPUs")
    for name, (metavar, text) in _WORDS.items():
        job.add_argument(_option(name), *_SPELLINGS.get(name, ()), metavar=metavar, help=text)
    for name, text in _NUMBERS.items():
        job.add_argument(_option(name), *_SPELLINGS.get(name, ()), metavar="N", type=int, help=text)
    for name, text in _SWITCHES.items():
        job.add_argument(_option(name), action="store_true", default=None, help=text)
    _add_engine_options(parser)
    parser.set_defaults(module="estimate")


def _add_engine_options(parser: argparse.ArgumentParser) -> None:
    text = "what an engine reports when it starts; also --card, --tensor, --cache (bf16, fp8) and --quantization"
    engine = parser.add_argument_group("engine", f"{text} (fp8, awq, gptq, nf4, mxfp4, gguf-q8_0)")
    engine.add_argument("--engine", metavar="NAME", help="vllm: tokens of KV cache and concurrency at start")
    for name, text in _ENGINE_NUMBERS.items():
        engine.add_argument(_option(name), metavar="N", type=int, help=text)
    engine.add_argument(
        "--gpu-memory-utilization", metavar="X", type=float, help="part of the card's memory to use (default: 0.92)"
    )
    engine.add_argument("--enforce-eager", action="store_true", default=None, help="capture no CUDA graphs")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
