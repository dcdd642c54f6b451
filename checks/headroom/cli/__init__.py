"""The command ``headroom``: a thin adapter that parses words and prints results.

Each subcommand is a module of its own, imported when it is called, so that help is instant and nothing but ``measure``
and the ``run`` of snippets and notebooks ever loads torch.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

OK, FAILED, USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 only when all is well, 2 for bad usage."""
    options = _parser().parse_args(arguments)
    root: Path = options.root.resolve()
    if not (root / "checks" / "registry").is_dir():
        print(
            f"headroom: {root} holds no checks/registry/; call it in the project's folder, or with --root DIR",
            file=sys.stderr,
        )
        return USAGE
    from headroom.writing import UnwritableError  # noqa: PLC0415 - help does not need it

    try:
        return int(importlib.import_module(f"headroom.cli.{options.module}").run(root, options))
    except UnwritableError as error:
        print(f"headroom: {error}", file=sys.stderr)
        return FAILED


def command() -> NoReturn:
    """Run the command, and end the process without taking its records apart, which would take time."""
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="headroom", description="Holds a documentation site to what is measured.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--root", type=Path, default=Path(), metavar="DIR", help="the project's folder (default: here)")
    common.add_argument("--json", action="store_true", help="print results as JSON")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser(
        "check", parents=[common], help="everything that can be known without running a snippet"
    )
    check.add_argument("--only", metavar="RULE", help="report this rule only")
    check.add_argument("--fix", action="store_true", help="rewrite the figures that differ from the evidence")
    check.set_defaults(module="check")

    verdict = commands.add_parser("verdict", parents=[common], help="each claim on each hardware class")
    verdict.add_argument("claims", nargs="*", metavar="CLAIM", help="the claims (default: all)")
    verdict.set_defaults(module="verdict")

    measure = commands.add_parser("measure", parents=[common], help="measure here, and add one evidence file")
    measure.add_argument("names", nargs="+", metavar="BENCHMARK|CLAIM", help="what to measure, in one session")
    measure.add_argument(
        "--out", type=Path, metavar="DIR", help="write the evidence below this folder instead of the tree"
    )
    measure.add_argument(
        "--device", choices=["auto", "cpu", "cuda"], default="auto", help="where (default: a GPU if there is one)"
    )
    measure.set_defaults(module="measure")

    snippets = commands.add_parser("snippets", help="list or run the snippets").add_subparsers(
        required=True, metavar="ACTION"
    )
    listing = snippets.add_parser("list", parents=[common], help="every snippet, and when it last ran")
    listing.add_argument("pattern", nargs="?", default="", help="a part of the snippets' names")
    listing.set_defaults(module="snippets_list")
    running = snippets.add_parser("run", parents=[common], help="run snippets exactly as the tests do")
    running.add_argument("pattern", nargs="?", default="", help="a part of the snippets' names")
    running.add_argument("--changed", action="store_true", help="only those that have not run here as they stand")
    running.add_argument("--record", action="store_true", help="write what happened under checks/runs/")
    running.set_defaults(module="snippets_run")

    notebooks = commands.add_parser("notebooks", help="run the notebooks").add_subparsers(
        required=True, metavar="ACTION"
    )
    rerun = notebooks.add_parser(
        "run", parents=[common], help="run notebooks, and compare their outputs with the stored"
    )
    rerun.add_argument("pattern", nargs="?", default="", help="a part of the notebooks' paths")
    rerun.add_argument("--record", action="store_true", help="store the new outputs in the notebooks")
    rerun.set_defaults(module="notebooks_run")
    return parser
