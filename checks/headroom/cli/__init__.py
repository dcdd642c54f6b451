"""The command ``headroom``: parse the arguments, and call the module of the subcommand.

Each subcommand is a module that is imported when it is called. So help is instant, and only the subcommands that
measure or run code start processes that import torch.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from headroom.cli.estimate_options import add_estimate_options
from headroom.cli.plan_options import add_plan_options
from headroom.cli.trace_options import add_trace_options

OK, FAILED, USAGE = 0, 1, 2
_MOST_MINUTES = 24 * 60
_ANYWHERE = ("estimate", "plan", "topology")
"""The subcommands that run in any folder: without a project, they read the records in the installed package."""
_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - it has no public name


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 for success, 1 for problems, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    from headroom.io.atomic_write import UnwritableError  # noqa: PLC0415 - not needed for help
    from headroom.records.data_root import data_root, is_project  # noqa: PLC0415 - as above

    anywhere = options.root is None and options.module in _ANYWHERE
    root = data_root() if anywhere else (options.root or Path()).resolve()
    if not (anywhere or is_project(root)):
        fault = f"{root} has no folder checks/registry/, so it is no clone of the project"
        print(f"headroom: {fault}: run `git clone` and `cd` into the clone, or use --root DIR", file=sys.stderr)
        return USAGE

    try:
        return int(importlib.import_module(f"headroom.cli.{options.module}").run(root, options))
    except UnwritableError as error:
        print(f"headroom: {error}", file=sys.stderr)
        return FAILED


def command() -> NoReturn:
    """Run the command, and exit at once: freeing all records one by one would take time."""
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` for example, has closed the pipe before the end
        code = FAILED
    sys.stderr.flush()
    os._exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headroom", description="Check a documentation site against its measurements."
    )
    common = _common("here")
    anywhere = _common("here, or else the records of the installed package")
    device = argparse.ArgumentParser(add_help=False)
    device.add_argument(
        "--device", choices=["auto", "cpu", "cuda"], default="auto", help="the device (default: a GPU if there is one)"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _judging(commands, common)
    estimate = commands.add_parser(
        "estimate", parents=[anywhere], help="estimate the GPU memory of training or inference, without a GPU"
    )
    add_estimate_options(estimate)
    plan = commands.add_parser(
        "plan", parents=[anywhere], help="rank layouts of training over GPUs: memory and predicted step time of each"
    )
    add_plan_options(plan)
    _topology(commands, common)
    _tracing(commands, common)
    _measuring(commands, [common, device])
    _new(
        commands.add_parser(
            "new", help="write a draft of a claim, benchmark, snippet, guide, method or reported result"
        ),
        common,
    )
    _running(commands, common)
    return parser


def _common(place: str) -> argparse.ArgumentParser:
    """Return a parser with the options of all subcommands."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--root", type=Path, metavar="DIR", help=f"the project's folder (default: {place})")
    common.add_argument("--json", action="store_true", help="print results as JSON")
    return common


def _topology(commands: _Commands, common: argparse.ArgumentParser) -> None:
    topology = commands.add_parser(
        "topology", parents=[common], help="read nvidia-smi topo or rocm-smi --showtopo: links, faults, what they mean"
    )
    topology.add_argument("file", metavar="FILE", help="the saved output, or - for standard input")
    topology.add_argument("--svg", type=Path, metavar="FILE.svg", help="write a drawing of the box")
    topology.set_defaults(module="topology")


def _judging(commands: _Commands, common: argparse.ArgumentParser) -> None:
    check = commands.add_parser(
        "check", parents=[common], help="check pages, claims and records, without running a snippet"
    )
    check.add_argument("--only", metavar="RULE", help="report problems of this rule only")
    check.add_argument("--fix", action="store_true", help="rewrite figures that differ from the evidence")
    check.set_defaults(module="check")

    verdict = commands.add_parser(
        "verdict", parents=[common], help="print the verdict on each claim per hardware class"
    )
    verdict.add_argument("claims", nargs="*", metavar="CLAIM", help="the claims (default: all)")
    verdict.add_argument("--stale", action="store_true", help="list the benchmarks to measure again")
    verdict.add_argument("--on", metavar="CLASS", help="only this hardware class; `here` is that of this machine")
    verdict.set_defaults(module="verdict")

    changes = commands.add_parser(
        "changes", parents=[common], help="compare verdicts, claims and evidence with an earlier commit"
    )
    changes.add_argument("--against", required=True, metavar="REF", help="the earlier commit, as in git")
    changes.add_argument("--markdown", action="store_true", help="print results as Markdown")
    changes.set_defaults(module="changes")


def _tracing(commands: _Commands, common: argparse.ArgumentParser) -> None:
    trace = commands.add_parser(
        "trace", parents=[common], help="trace the memory of a training step or of inference without a GPU"
    )
    add_trace_options(trace)
    trace.set_defaults(module="trace")


def _measuring(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    measure = commands.add_parser("measure", parents=parents, help="measure on this machine, and add an evidence file")
    measure.add_argument("names", nargs="*", metavar="BENCHMARK|CLAIM", help="what to measure, in one session")
    measure.add_argument(
        "--wanted", action="store_true", help="measure what has no evidence on this hardware, the most wanted first"
    )
    measure.add_argument(
        "--minutes", type=_minutes, default=30.0, metavar="N", help="with --wanted or --via: end within N minutes (30)"
    )
    measure.add_argument(
        "--slice",
        type=_minutes,
        default=10.0,
        metavar="N",
        help="with --wanted: no session over N minutes (10)",
    )
    measure.add_argument(
        "--pack", type=Path, metavar="FILE.tar", help="with --wanted: pack the new records in one file"
    )
    measure.add_argument(
        "--out", type=Path, metavar="DIR", help="write the evidence below this folder instead of the tree"
    )
    _fleet(measure)
    measure.set_defaults(module="measure")

    adopt = commands.add_parser(
        "adopt", parents=parents[:1], help="check the pack of another machine, and add its records"
    )
    adopt.add_argument("file", type=Path, metavar="FILE.tar", help="a file that `measure --wanted --pack` wrote")
    adopt.set_defaults(module="adopt")

    reproduce = commands.add_parser(
        "reproduce", parents=parents, help="measure a claim on this machine, and compare the result with the registry"
    )
    reproduce.add_argument("claim", metavar="CLAIM", help="the claim to measure again")
    reproduce.add_argument(
        "--out", type=Path, metavar="DIR", help="write the evidence below this folder (default: .cache/reproduced)"
    )
    reproduce.set_defaults(module="reproduce")

    machine = commands.add_parser(
        "machine", parents=parents, help="measure this machine's matmuls, bandwidth and launches"
    )
    machine.add_argument("--record", action="store_true", help="write the result under checks/machines/")
    machine.add_argument("--svg", type=Path, metavar="FILE.svg", help="write a drawing of the roofline")
    machine.set_defaults(module="machine")


def _fleet(measure: argparse.ArgumentParser) -> None:
    measure.add_argument(
        "--via", choices=["local", "slurm", "ray"], help="measure on each machine of a fleet, through this engine"
    )
    measure.add_argument(
        "--machines", type=_count, default=1, metavar="N", help="with --via: the number of machines (1)"
    )
    measure.add_argument(
        "--engine-option",
        type=_option,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="with --via: an option of sbatch, such as partition=gpu, or the address of a Ray cluster",
    )


def _count(text: str) -> int:
    """Return a positive whole number; argparse reports a ValueError."""
    if (count := int(text)) < 1:
        raise ValueError(text)
    return count


def _option(text: str) -> str:
    """Return NAME=VALUE; argparse reports a ValueError."""
    if "=" not in text.strip("="):
        raise ValueError(text)
    return text


def _minutes(text: str) -> float:
    """Return a positive number of minutes; argparse reports a ValueError."""
    if not 0 < (minutes := float(text)) <= _MOST_MINUTES:
        raise ValueError(text)
    return minutes


def _running(commands: _Commands, common: argparse.ArgumentParser) -> None:
    snippets = commands.add_parser("snippets", help="list or run the snippets").add_subparsers(
        required=True, metavar="ACTION"
    )
    listing = snippets.add_parser("list", parents=[common], help="list every snippet with the date of its last run")
    listing.add_argument("pattern", nargs="?", default="", help="one snippet, a folder or a glob (default: all)")
    listing.set_defaults(module="snippets_list")
    running = snippets.add_parser("run", parents=[common], help="run snippets as the tests do")
    running.add_argument("pattern", nargs="?", default="", help="one snippet, a folder or a glob (default: all)")
    running.add_argument(
        "--changed", action="store_true", help="only snippets without a run record of their present version"
    )
    running.add_argument("--record", action="store_true", help="write run records under checks/runs/")
    running.set_defaults(module="snippets_run")

    notebooks = commands.add_parser("notebooks", help="run the notebooks").add_subparsers(
        required=True, metavar="ACTION"
    )
    rerun = notebooks.add_parser(
        "run", parents=[common], help="run notebooks, and compare their outputs with the stored ones"
    )
    rerun.add_argument("pattern", nargs="?", default="", help="a part of the notebooks' paths")
    rerun.add_argument("--record", action="store_true", help="store the new outputs in the notebooks")
    rerun.set_defaults(module="notebooks_run")


def _new(new: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    kinds = new.add_subparsers(required=True, metavar="KIND", dest="kind")

    claim = _kind(kinds, common, "claim", "a claim that a benchmark measures", "training.padding-free.peak-memory")
    claim.add_argument("--benchmark", required=True, metavar="B", help="the benchmark that measures it")
    claim.add_argument("--method", required=True, metavar="M", help="the method that it is about")
    claim.add_argument("--guide", metavar="PAGE", help="its page below docs/ (default: the page of the method)")
    claim.add_argument("--metric", default="step_time", help="the metric to compare (default: step_time)")
    _kind(kinds, common, "benchmark", "a script with the arms that claims compare", "gpt2_padding")
    _kind(kinds, common, "snippet", "a script for a page, with its proof", "training/padding_free")
    guide = _kind(kinds, common, "guide", "a page with the sections of a guide", "training/single-gpu")
    guide.add_argument("--method", metavar="M", help="the method of its first section")
    guide.add_argument("--snippet", metavar="S", help="the snippet whose regions it shows")
    method = _kind(kinds, common, "method", "a technique with its names, symptoms and claims", "padding-free")
    method.add_argument("--guide", required=True, metavar="PAGE", help="the page below docs/ with its section")
    reported = _kind(kinds, common, "reported", "a comparison in rows that somebody published", "fms-lora-mistral-7b")
    reported.add_argument("--claim", required=True, metavar="C", help="the reported claim that the rows decide")
    reported.add_argument("--source", required=True, metavar="S", help="the original: OWNER/NAME@COMMIT:PATH")
    reported.add_argument("--rows", required=True, metavar="FILE", help="the copy below checks/published/")


def _kind(kinds: Any, common: argparse.ArgumentParser, name: str, what: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = kinds.add_parser(name, parents=[common], help=what, description=f"{what}.")
    parser.add_argument("id", metavar="ID", help=f"such as {example}")
    parser.set_defaults(module="new")
    return parser
