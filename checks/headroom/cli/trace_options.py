"""The options of ``headroom trace``."""

import argparse

_ADAPTERS = ("lora-qv", "lora-attention", "lora-all", "dora-all", "qlora-qv", "qlora-attention", "qlora-all")
_SIZES = {"batch": 1, "length": 2048, "context": 0, "rank": 16, "accumulation": 1, "loss-chunk": 0}


def add_trace_options(trace: argparse.ArgumentParser) -> None:
    """Add what is traced, its sizes, and what is written."""
    trace.add_argument("model", nargs="*", metavar="MODEL", help="a known model, or a folder with a config.json")
    trace.add_argument(
        "--coefficients", action="store_true", help="write the coefficients of the named architectures (default: all)"
    )
    jobs = ["full", *_ADAPTERS, "evaluate", "prefill", "decode"]
    trace.add_argument("--job", choices=jobs, default="full", help="what is traced (default: full fine-tuning)")
    trace.add_argument("--precision", choices=["bf16", "autocast", "mixed", "fp32"], default="bf16")
    trace.add_argument("--attention", choices=["auto", "sdpa", "eager", "flash"], default="auto")
    trace.add_argument("--optimizer", default="adamw_torch", metavar="NAME", help="a name of transformers' optim")
    trace.add_argument("--four-bit", action="store_true", help="with prefill, decode or evaluate: NF4 linear weights")
    trace.add_argument("--checkpointed", action="store_true", help="with gradient checkpointing")
    trace.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="whose kernels (default: cuda)")
    trace.add_argument("--measure", action="store_true", help="run the job on this machine too, and print the error")
    trace.add_argument(
        "--grid",
        action="store_true",
        help="compare estimates with many traced steps; with --measure, traced steps with measured ones",
    )
    trace.add_argument("--record", action="store_true", help="with --grid: write checks/memory-errors/")
    for name, default in _SIZES.items():
        trace.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"(default: {default})")
    _add_image_options(trace)


def _add_image_options(trace: argparse.ArgumentParser) -> None:
    """Add the options of vision-language models."""
    trace.add_argument(
        "--images", type=int, default=0, metavar="N", help="images in each sequence, whose length has their tokens"
    )
    trace.add_argument(
        "--image-size", type=_pixels, metavar="WxH", help="pixels of each image, where the model takes any size"
    )
    trace.add_argument("--freeze-tower", action="store_true", help="do not train the vision tower")
    trace.add_argument(
        "--no-input-gradients",
        dest="input_gradients",
        action="store_false",
        help="with --checkpointed: call disable_input_require_grads()",
    )


def _pixels(text: str) -> tuple[int, int]:
    """Return the width and the height of 1024x768; argparse reports a ValueError."""
    width, height = map(int, text.split("x"))
    if min(width, height) < 1:
        raise ValueError(text)
    return width, height
