"""``headroom snippets run``: run snippets with and without their technique, and optionally write run records."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from headroom import environment
from headroom.cli import FAILED, OK, USAGE
from headroom.execution import preloads, session_lock, session_plan, snippet_runner
from headroom.execution.isolation import QUIET
from headroom.execution.snippet_outcome import Failed, NotRun
from headroom.io import atomic_write
from headroom.records import load
from headroom.records.snippets import Snippet, named


def run(root: Path, options: argparse.Namespace) -> int:
    """Run the snippets and print their outcomes; with ``--record``, write run records."""
    tree = load(root)
    wanted = snippet_runner.changed(tree) if options.changed else set(tree.snippets)
    chosen = [snippet for snippet in named(tree.snippets, options.pattern) if snippet.id in wanted]
    device = environment.observe().device
    runner = snippet_runner.Runner(tree, root / ".cache", preload=preloads.modules(device))
    results: list[dict[str, Any]] = []
    try:
        today = f"{session_lock.now(tree):%Y-%m-%d}" if options.record else ""
        if options.record:
            atomic_write.probe(root / "checks/runs")
        for snippet in chosen:
            result, ablated = run_both(runner, snippet)
            results.append(outcome(snippet.id, result, ablated))
            if not options.json:
                print("{snippet}: {outcome} {detail}".format(**results[-1]).rstrip(), flush=True)
            if options.record and results[-1]["outcome"] == "passed" and isinstance(result, snippet_runner.Passed):
                machine = environment.observe(result.device, threads=int(QUIET["OMP_NUM_THREADS"]))
                where = session_plan.hardware_class(tree, machine)
                pinned = runner.versions(snippet)
                found = snippet_runner.record(result, detected(ablated), snippet, where, today, pinned)
                snippet_runner.write(found, root)
    except (session_plan.MeasureError, RuntimeError) as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    finally:
        runner.close()
    if options.json:
        print(json.dumps(results, indent=1))
    if not chosen and not options.changed:
        print(
            f"headroom: no snippet `{options.pattern}`; name one, its folder or a glob such as `*lora*`",
            file=sys.stderr,
        )
        return USAGE
    return FAILED if any(result["outcome"] == "failed" for result in results) else OK


def run_both(runner: snippet_runner.Runner, snippet: Snippet) -> tuple[Any, Any]:
    """Return the outcome of a snippet, and that of its ablation, or None if there is none to run."""
    result = runner.run(snippet)
    both = isinstance(result, snippet_runner.Passed) and snippet.header.ablation
    return result, runner.run_ablated(snippet) if both else None


def detected(ablated: Any) -> snippet_runner.AblationDetected | None:
    """Return an ablation's outcome if its proof failed, as it must."""
    return ablated if isinstance(ablated, snippet_runner.AblationDetected) else None


def outcome(name: str, result: Any, ablated: Any) -> dict[str, Any]:
    """Return a snippet's outcome as plain values."""
    failed = next((each for each in (result, ablated) if isinstance(each, Failed)), None)
    if failed:
        return {"snippet": name, "outcome": "failed", "detail": f"{failed.message}\n{failed.stderr}"}
    if isinstance(result, NotRun):
        return {"snippet": name, "outcome": "not run", "detail": f"({result.reason})"}
    mib = result.peak_memory_bytes / 2**20
    ablation = "ablation detected" if ablated else "no ablation"
    return {"snippet": name, "outcome": "passed", "detail": f"({result.seconds:.1f} s, {mib:,.0f} MiB, {ablation})"}
