"""The options of ``headroom plan``. Their names are those of the arguments of ``headroom.plan``."""

import argparse
from pathlib import Path

SHOWN = 10
"""The layouts that are printed without ``--all``."""
PLAN_FIELDS = (
    "card",
    "gpus",
    "batch",
    "length",
    "gpus_per_node",
    "network",
    "link",
    "precision",
    "kernels",
    "tensor_overlap",
    "loss",
    "optimizer",
    "sure",
)


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``headroom plan`` to its parser; an option that is not given is None."""
    parser.add_argument("model", metavar="MODEL", help="a model's name, its folder, or the path of a config.json")
    parser.add_argument("--card", required=True, metavar="NAME", help="the GPU, such as H100 or A100 80GB")
    for name, text in (
        ("gpus", "GPUs (default: 1)"),
        ("batch", "sequences per optimizer step, over all GPUs (default: 1)"),
        ("length", "tokens per sequence (default: 2048)"),
        ("gpus-per-node", "GPUs that the fast link joins (default: 8, or all)"),
    ):
        parser.add_argument(f"--{name}", metavar="N", type=int, help=text)
    parser.add_argument("--network", metavar="GBIT", type=float, help="Gb/s per GPU between nodes (default: 400)")
    parser.add_argument("--link", metavar="GB", type=float, help="GB/s per GPU and direction in a node")
    parser.add_argument("--precision", metavar="TYPE", help="format of the layers' matmuls: bf16 or fp8")
    parser.add_argument("--kernels", metavar="KIND", help="fused (torch.compile, Transformer Engine) or eager")
    parser.add_argument("--tensor-overlap", action="store_true", default=None, help="async tensor parallelism")
    parser.add_argument("--loss", metavar="KIND", help="whole, chunked or fused, as for headroom estimate")
    parser.add_argument("--optimizer", metavar="NAME", help="a name of the Trainer's optim")
    parser.add_argument("--sure", action="store_true", default=None, help="only layouts that fit for certain")
    parser.add_argument("--all", action="store_true", help=f"print all layouts, not the first {SHOWN}")
    parser.add_argument("--table", action="store_true", help="print the layouts as a Markdown table alone")
    parser.add_argument(
        "--svg", type=Path, metavar="FILE.svg", help="draw the printed layouts, with the parts of their step times"
    )
    parser.set_defaults(module="plan")
