"""What an estimate assumes, and what it does not count."""

from collections.abc import Iterator

from headroom.memory.architecture import Architecture
from headroom.memory.cache import window_of
from headroom.memory.job import Job
from headroom.memory.sizes import gib
from headroom.memory.weight_formats import CHECKPOINTS, EIGHT_BITS, FOUR_BITS


def _of_masks(architecture: Architecture, job: Job) -> Iterator[str]:
    """Yield what is left out where sdpa takes a mask: in layers whose sliding window is not longer than the sequence.

    transformers makes the mask in `sdpa_mask`, and torch's memory-efficient kernel saves it in the type of the queries.
    """
    windows = [window_of(architecture, layer) for layer in range(len(architecture.kinds))]
    masked = [window for window in windows if window is not None and window <= job.length]
    if masked and job.attention == "sdpa" and job.job != "decode":
        saved = len(masked) if job.training and not job.checkpointing else 1
        size = gib(saved * job.compute_width * job.batch * (job.length // job.layout.context) * job.length)
        yield (
            f"too low by {size} or more: the mask of sdpa in {len(masked)} layers with a sliding window of "
            f"{min(masked):,} tokens is not counted; `headroom trace` counts it"
        )


def _of_dropout(architecture: Architecture, job: Job) -> Iterator[str]:
    """Yield where dropout is on and was traced as off, or the reverse; fused attention saves no mask for its own."""
    config, fused = architecture.config, job.attention != "eager"
    for name, traced in sorted(architecture.coefficients.dropouts.items()):
        rate = config.get(name)
        counted = not (fused and name.startswith(("attention_", "attn_")))
        if job.training and counted and isinstance(rate, int | float) and (rate > 0) != traced:
            was = "counted, though it is 0" if traced else f"not counted, though it is {rate}"
            yield f"too {'high' if traced else 'low'}: the dropout masks of {name} are {was}; trace the model"


def _of_gathered_inputs(architecture: Architecture, job: Job) -> Iterator[str]:
    """Yield what PyTorch's plan of sequence parallelism saves, and Megatron-LM, which is estimated, gathers again.

    Two inputs of a layer are saved whole: that of queries, keys and values, and that of the MLP.
    """
    layout = job.layout
    if layout.sequence_parallel and job.training and not job.checkpointing:
        layers = -(-len(architecture.kinds) // layout.pipeline)
        tokens = job.batch * job.length // layout.context
        whole = 2 * layers * job.compute_width * tokens * architecture.symbols["h"]
        more = gib(whole - whole // layout.tensor)
        yield (
            f"too low by {more} for PyTorch's sequence parallelism, which saves gathered inputs; Megatron-LM gathers "
            "them again"
        )


def left_out(architecture: Architecture, job: Job) -> Iterator[str]:
    """Yield what this model needs and its estimate does not count, or counts and the model does not need."""
    places = architecture.symbols.get("P")
    if places is not None and job.length > places:
        yield f"the model cannot run this length: it has {places:,} positions, and a sequence has {job.length:,} tokens"
    if job.weight_format not in (None, *CHECKPOINTS) and "E" in architecture.symbols and not job.quantized_experts:
        yield (
            f"experts stay in {8 * job.width} bits: bitsandbytes quantizes linear layers, and transformers 5 stores a "
            "layer's experts as one tensor"
        )
    yield from _of_gathered_inputs(architecture, job)
    yield from _of_masks(architecture, job)
    yield from _of_dropout(architecture, job)


def assumptions(job: Job) -> tuple[str, ...]:
    """Return what an estimate of this job assumes, beyond the traced polynomials."""
    layout = job.layout
    rules = {
        "fused kernels keep no workspace between operations": True,
        "no sequence is padded: with padding, attention takes a mask, and other kernels": True,
        "no layer is compiled": True,
        "the optimizer states exist: the second step, not the first": job.training,
        "a chunk's three LM-head gradients exist at once": job.training and job.loss == "chunked",
        f"a chunk of the loss has {job.chunk:,} tokens of each sequence, together {job.batch * job.chunk:,}": (
            job.training and job.loss == "chunked"
        ),
        "Liger's fused loss by its source, not traced": job.training and job.loss == "fused",
        "states of paged optimizers may be in CPU memory and are not counted": job.training
        and job.optimizer.startswith("paged"),
        f"{job.weight_format} weights keep norms, embedding and LM head in {8 * job.width} bits": bool(
            job.weight_format
        ),
        "a 4-bit layer copies its weight to the type of its input while it runs": not job.training
        and job.weight_format in FOUR_BITS
        and not (job.job == "decode" and job.batch == 1),
        "an 8-bit layer quantizes its input, and the output of an int8 matmul is int32": not job.training
        and job.weight_format in EIGHT_BITS,
        "4-bit layers save their inputs, as bitsandbytes before 0.43.2": job.saved_inputs,
        "FSDP keeps the inputs of frozen layers and their gradients until the backward pass ends": job.inputs_persist,
        "DDP keeps a copy of all gradients in its buckets": layout.strategy == "ddp"
        and not layout.gradient_as_bucket_view,
        "FSDP reduces the gradients of each micro-batch; the Trainer reduces them once per step: no_sync": (
            job.accumulation > 1 and layout.strategy in ("fsdp", "hsdp") and layout.gpus > 1 and not job.no_sync
        ),
        "each GPU has whole gradients until the last micro-batch, in the type of the trained weights; the Trainer with "
        "bf16=True has them in bf16": job.no_sync,
        "two layers and all tensors outside of the layers are gathered at once": layout.weight_shards > 1,
        "tensor parallelism divides heads, MLP and their activations; norms are whole": layout.tensor > 1,
        "sequence parallelism divides norms and residuals": layout.sequence_parallel,
        "the pipeline schedule is 1F1B": layout.pipeline > 1,
        "a pipeline stage has a receive buffer per micro-batch, as PyTorch's have": layout.pipeline > 1
        and job.training,
        "context parallelism divides every activation by tokens, and attention scores by queries; gathered keys and "
        "values of other GPUs are not counted": layout.context > 1,
        "experts receive equally many tokens": layout.expert > 1,
        "offloaded states and their optimizer step take no GPU memory": layout.offload != "none",
    }
    return tuple(sentence for sentence, holds in rules.items() if holds)
