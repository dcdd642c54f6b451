"""``headroom snippets run``."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from headroom import environment, writing
from headroom.cli import FAILED, OK, USAGE
from headroom.records import load
from headroom.records.snippets import named
from headroom.running import guard, planning, snippets
from headroom.running.isolation import QUIET
from headroom.running.results import Failed, NotRun


def run(root: Path, options: argparse.Namespace) -> int:
    """Run the snippets, and record what happened where that is asked for."""
    tree = load(root)
    wanted = snippets.changed(tree) if options.changed else set(tree.snippets)
    chosen = [snippet for snippet in named(tree.snippets, options.pattern) if snippet.id in wanted]
    runner = snippets.Runner(tree, root / ".cache")
    results: list[dict[str, Any]] = []
    try:
        today = f"{guard.now(tree):%Y-%m-%d}" if options.record else ""
        if options.record:
            writing.probe(root / "checks/runs")
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
                where = planning.hardware_class(tree, machine)
                snippets.write(snippets.record(result, noticed, snippet, where, today), root)
    except (planning.MeasureError, RuntimeError) as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    finally:
        runner.close()
    if options.json:
        print(json.dumps(results, indent=1))
    if not chosen and not options.changed:
        print(f"headroom: no snippet `{options.pattern}`; name one, its folder or a glob as `*lora*`", file=sys.stderr)
        return USAGE
    return FAILED if any(result["outcome"] == "failed" for result in results) else OK


def _result(name: str, result: Any, ablated: Any) -> dict[str, Any]:
    """One snippet's outcome as plain values."""
    failed = next((each for each in (result, ablated) if isinstance(each, Failed)), None)
    if failed:
        return {"snippet": name, "outcome": "failed", "detail": f"{failed.message}\n{failed.stderr}"}
    if isinstance(result, NotRun):
        return {"snippet": name, "outcome": "not run", "detail": f"({result.reason})"}
    mib = result.peak_memory_bytes / 2**20
    noticed = "ablation noticed" if ablated else "no ablation"
    return {"snippet": name, "outcome": "passed", "detail": f"({result.seconds:.1f} s, {mib:,.0f} MiB, {noticed})"}
