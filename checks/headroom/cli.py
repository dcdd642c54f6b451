"""The command ``headroom``: a thin adapter that parses words and prints results.

Everything heavy is imported by the subcommand that needs it, so that help is instant and nothing but ``measure`` and
the ``run`` of snippets and notebooks ever loads torch.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

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
    return int(options.run(root, options))


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
    check.set_defaults(run=_check)

    verdict = commands.add_parser("verdict", parents=[common], help="each claim on each hardware class")
    verdict.add_argument("claims", nargs="*", metavar="CLAIM", help="the claims (default: all)")
    verdict.set_defaults(run=_verdict)

    measure = commands.add_parser("measure", parents=[common], help="measure here, and add one evidence file")
    measure.add_argument("names", nargs="+", metavar="BENCHMARK|CLAIM", help="what to measure, in one session")
    measure.add_argument(
        "--out", type=Path, metavar="DIR", help="write the evidence below this folder instead of the tree"
    )
    measure.add_argument(
        "--device", choices=["auto", "cpu", "cuda"], default="auto", help="where (default: a GPU if there is one)"
    )
    measure.set_defaults(run=_measure)

    snippets = commands.add_parser("snippets", help="list or run the snippets").add_subparsers(
        required=True, metavar="ACTION"
    )
    listing = snippets.add_parser("list", parents=[common], help="every snippet, and when it last ran")
    listing.add_argument("pattern", nargs="?", default="", help="a part of the snippets' names")
    listing.set_defaults(run=_snippets_list)
    running = snippets.add_parser("run", parents=[common], help="run snippets exactly as the tests do")
    running.add_argument("pattern", nargs="?", default="", help="a part of the snippets' names")
    running.add_argument("--changed", action="store_true", help="only those that have not run here as they stand")
    running.add_argument("--record", action="store_true", help="write what happened under checks/runs/")
    running.set_defaults(run=_snippets_run)

    notebooks = commands.add_parser("notebooks", help="run the notebooks").add_subparsers(
        required=True, metavar="ACTION"
    )
    rerun = notebooks.add_parser(
        "run", parents=[common], help="run notebooks, and compare their outputs with the stored"
    )
    rerun.add_argument("pattern", nargs="?", default="", help="a part of the notebooks' paths")
    rerun.add_argument("--record", action="store_true", help="store the new outputs in the notebooks")
    rerun.set_defaults(run=_notebooks_run)
    return parser


def _check(root: Path, options: argparse.Namespace) -> int:
    from headroom import rules  # noqa: PLC0415

    if options.only and options.only not in (known := (*rules.READING, *rules.RULES)):
        print(f"headroom: there is no rule `{options.only}`; rules are: {', '.join(known)}", file=sys.stderr)
        return USAGE
    context = rules.Context.of(root)
    if options.fix:
        for fix in rules.apply(root, context):
            print(f"{fix.path}: rewrote a figure as `{fix.text}`", file=sys.stderr)
        context = rules.Context.of(root)
    problems = rules.check(context, options.only)
    if options.json:
        print(json.dumps([asdict(problem) for problem in problems], indent=1))
    else:
        for problem in problems:
            print(problem)
        tree = context.tree
        counts = f"{len(tree.snippets)} snippets, {len(tree.claims)} claims, {len(tree.sessions)} sessions"
        print(
            f"{counts}, {len(context.pages)} pages: {len(problems) or 'no'} problem{'s' * (len(problems) != 1)}",
            file=sys.stderr,
        )
    return FAILED if problems else OK


def _verdict(root: Path, options: argparse.Namespace) -> int:
    from headroom.records import load  # noqa: PLC0415
    from headroom.verdicts import board  # noqa: PLC0415
    from headroom.verdicts.summary import rows  # noqa: PLC0415

    tree = load(root)
    unknown = [name for name in options.claims if name not in tree.claims]
    if unknown:
        print(f"headroom: there is no claim `{unknown[0]}`; `headroom verdict` lists all", file=sys.stderr)
        return USAGE
    for problem in tree.problems:
        print(problem, file=sys.stderr)
    found = [row for row in rows(tree, board(tree)) if not options.claims or row.claim in options.claims]
    if options.json:
        print(json.dumps([asdict(row) for row in found], indent=1))
    else:
        for row in found:
            print(row)
    return FAILED if tree.problems else OK


def _measure(root: Path, options: argparse.Namespace) -> int:
    from headroom import environment  # noqa: PLC0415
    from headroom.records import load  # noqa: PLC0415
    from headroom.running import measuring  # noqa: PLC0415

    tree = load(root)
    try:
        what = measuring.plan(tree, options.names)
    except measuring.MeasureError as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    try:
        from tqdm import tqdm  # noqa: PLC0415

        from headroom.running.isolation import QUIET, Nursery, NurseryError  # noqa: PLC0415
    except ImportError as error:
        print(f"headroom: {error.name} is missing; pip install 'headroom[snippets]'", file=sys.stderr)
        return USAGE
    try:
        machine = environment.observe(options.device, threads=int(QUIET["OMP_NUM_THREADS"]))
        with Nursery(QUIET) as nursery, tqdm(total=what.blocks * len(what.slots), unit="run") as bar:

            def progress(done: int, _total: int, ratios: str) -> None:
                bar.update(done - bar.n)
                bar.set_postfix_str(ratios)

            session = measuring.Session(tree, what, machine, measuring.launcher(nursery.run), progress)
            try:
                path = measuring.keep(session.measure(), options.out or root)
            except KeyboardInterrupt:
                print(
                    f"\nheadroom: interrupted; no evidence is written, the runs so far are in {session.journal}",
                    file=sys.stderr,
                )
                return FAILED
    except (measuring.MeasureError, NurseryError, ValueError) as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    print(json.dumps({"evidence": str(path)}) if options.json else path)
    return OK


def _snippets_list(root: Path, options: argparse.Namespace) -> int:
    from headroom.records import load  # noqa: PLC0415

    tree = load(root)
    rows: list[dict[str, Any]] = []
    for name, snippet in sorted(tree.snippets.items()):
        if options.pattern in name:
            dates = {c: run.date for (s, c), run in tree.runs.items() if s == name and run.sha256 == snippet.sha256}
            rows.append({"snippet": name, "title": snippet.title, "command": snippet.command, "ran": dates})
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            ran = ", ".join(f"{date} on {name}" for name, date in row["ran"].items()) or "has not run as it stands"
            print(f"{row['snippet']}: {row['title']} ({ran})")
    return OK if rows else FAILED


def _snippets_run(root: Path, options: argparse.Namespace) -> int:
    from datetime import UTC, datetime  # noqa: PLC0415

    from headroom import environment  # noqa: PLC0415
    from headroom.records import load  # noqa: PLC0415
    from headroom.running import measuring, snippets  # noqa: PLC0415
    from headroom.running.isolation import QUIET  # noqa: PLC0415

    tree = load(root)
    wanted = snippets.changed(tree) if options.changed else set(tree.snippets)
    chosen = [snippet for name, snippet in sorted(tree.snippets.items()) if name in wanted and options.pattern in name]
    runner = snippets.Runner(tree, root / ".cache")
    results: list[dict[str, Any]] = []
    try:
        for snippet in chosen:
            result = runner.run(snippet)
            ablated = (
                runner.run_ablated(snippet) if isinstance(result, snippets.Passed) and snippet.header.ablation else None
            )
            results.append(_result(snippet.id, result, ablated))
            if not options.json:
                print("{snippet}: {outcome} {detail}".format(**results[-1]).rstrip(), flush=True)
            if options.record and results[-1]["outcome"] == "passed" and isinstance(result, snippets.Passed):
                machine = environment.observe(result.device, threads=int(QUIET["OMP_NUM_THREADS"]))
                noticed = ablated if isinstance(ablated, snippets.Noticed) else None
                today = f"{datetime.now(UTC):%Y-%m-%d}"
                where = measuring.hardware_class(tree, machine)
                snippets.write(snippets.record(result, noticed, snippet, where, today), root)
    except (measuring.MeasureError, RuntimeError) as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    finally:
        runner.close()
    if options.json:
        print(json.dumps(results, indent=1))
    if not chosen and not options.changed:
        print(f"headroom: no snippet's name holds `{options.pattern}`", file=sys.stderr)
        return USAGE
    return FAILED if any(result["outcome"] == "failed" for result in results) else OK


def _notebooks_run(root: Path, options: argparse.Namespace) -> int:
    from headroom.files import UnreadableError  # noqa: PLC0415
    from headroom.running import notebooks  # noqa: PLC0415

    chosen = [path for path in sorted((root / "docs").rglob("*.ipynb")) if options.pattern in path.as_posix()]
    chosen = [path for path in chosen if "/." not in path.relative_to(root).as_posix()]
    results: dict[str, list[str]] = {}
    for path in chosen:
        name = path.relative_to(root).as_posix()
        try:
            found = notebooks.run(path, root, record=options.record)
        except (notebooks.NotebookError, UnreadableError) as error:
            found, results[name] = [], [str(error)]
        else:
            results[name] = [f"cell {each.cell} shows something else\n{each.diff}" for each in found]
        if not options.json:
            print("\n".join([f"{name}: {'differs' if results[name] else 'as stored'}", *results[name]]), flush=True)
    if options.json:
        print(json.dumps(results, indent=1))
    if not chosen:
        print(f"headroom: no notebook's path holds `{options.pattern}`", file=sys.stderr)
        return USAGE
    return FAILED if any(results.values()) else OK


def _result(name: str, result: Any, ablated: Any) -> dict[str, Any]:
    """One snippet's outcome as plain values."""
    from headroom.running.results import Failed, NotRun  # noqa: PLC0415

    failed = next((each for each in (result, ablated) if isinstance(each, Failed)), None)
    if failed:
        return {"snippet": name, "outcome": "failed", "detail": f"{failed.message}\n{failed.stderr}"}
    if isinstance(result, NotRun):
        return {"snippet": name, "outcome": "not run", "detail": f"({result.reason})"}
    mib = result.peak_memory_bytes / 2**20
    noticed = "ablation noticed" if ablated else "no ablation"
    return {"snippet": name, "outcome": "passed", "detail": f"({result.seconds:.1f} s, {mib:,.0f} MiB, {noticed})"}


if __name__ == "__main__":
    sys.exit(main())
