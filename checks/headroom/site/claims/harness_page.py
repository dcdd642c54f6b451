"""The page about the harness: false verdicts in A/A sessions, the smallest detectable gain, and its overhead."""

import math
from collections.abc import Iterator, Sequence

from headroom.io.markdown_escape import text
from headroom.maths.statistics import error_rate_bound
from headroom.site.claims import phrasing
from headroom.site.site_data import PageContext, SiteData, evidence_file
from headroom.verdicts import aa_tests
from headroom.verdicts.aa_tests import Trial

PAGE = "claims/harness.md"
_WIDE = math.log(1.2)
"""The plot's range in log ratio, in both directions; wider intervals are cut off."""
_HEIGHT, _TOP = 220, 12
_HEAD = """---
title: The harness, measured
description: "Sessions of a program against itself: false verdicts, the smallest gain found, the cost of measuring"
---

# The harness, measured

**How often does it see a difference where there is none?** Here a training step is measured against itself, under
another name, with the command, processes, order and rule of all measurements on this site. Every supported
difference is an error. No session is left out, and all figures are computed from the raw samples when the site is
built."""


def render(site: SiteData) -> str:
    """Return the page as Markdown with front matter."""
    classes = [part for name in sorted(site.tree.classes) for part in _class(site, name)]
    return "\n\n".join([_HEAD, *(classes or ["No such session has been measured yet."])]) + "\n"


def _class(site: SiteData, name: str) -> Iterator[str]:
    trials = aa_tests.trials(site.tree, name)
    if not trials:
        return
    title = site.class_name(name)
    yield f"## {text(title[0].upper() + title[1:])}"
    errors = sum(trial.error for trial in trials)
    heads = [trial.session.head for trial in trials]
    days = sorted({phrasing.day(head.date) for head in heads})
    torch = sorted({head.environment.versions.get("torch", "unknown") for head in heads})
    bound = _percent(error_rate_bound(errors, len(trials)))
    counts = _percent(trials[0].min_effect)
    at_most = f"so at most {bound} of such sessions do (95\u00a0% bound)"
    rows = [
        f"Sessions: {len(trials)}, of {len(trials[0].baseline)} blocks, {', '.join(days)}, torch {', '.join(torch)}",
        f"Found a difference of more than {counts} in either direction: **{errors}**; {at_most}",
        f"Would have been rejected by their control alone: {sum(not trial.control for trial in trials)}",
        f"Not counted, because other processes used the machine: {sum(trial.busy for trial in trials)}",
    ]
    yield "\n".join(f"- {row}" for row in rows)
    yield _figure(trials)
    quiet = [trial for trial in trials if not trial.busy]
    yield from _detectable(quiet, len(trials) - len(quiet))
    yield from _shares(site, name)
    yield from _raw(trials)


def _shares(site: SiteData, name: str) -> Iterator[str]:
    found = aa_tests.harness_shares(site.tree, name)
    if found:
        yield "### What measuring costs"
        yield (
            "The share of a session's time that the harness takes for itself: for processes, inspections and records. "
            "The rest is the benchmark's own. The libraries are loaded before a session begins; older sessions loaded "
            "them in their first run, and there it counts. "
            "Of each benchmark, the sessions count that its newest harness measured."
        )
        rows = [f"| {text(benchmark)} | {_percent(share)} |" for benchmark, share in found.items()]
        yield "\n".join(["| benchmark | share |", "|---|---|", *rows])


def _detectable(trials: Sequence[Trial], busy: int) -> Iterator[str]:
    found = list(aa_tests.detectable(trials))
    if not found:
        return
    run = trials[0].seconds / 3 / len(trials[0].baseline)  # a block has three runs
    yield "### The smallest gain that is found"
    yield (
        "Had the second step been better by this much, four of five sessions would have shown it: their whole interval "
        f"would have lain above {1 + trials[0].min_effect:g}. A run takes {run:.1f} seconds. "
        "A longer session in this table is several sessions joined into one."
        + (
            f" The {busy} sessions of a busy machine are left out here, as a claim would leave them out."
            if busy
            else ""
        )
    )
    rows = [f"| {each.blocks} | {each.minutes:.1f} | {_percent(each.effect)} | {each.sessions} |" for each in found]
    yield "\n".join(["| blocks | minutes | gain that is found | sessions |", "|---|---|---|---|", *rows])


def _raw(trials: Sequence[Trial]) -> Iterator[str]:
    page = PageContext(PAGE)
    yield '??? "Every session"'
    rows = []
    for number, trial in enumerate(trials, 1):
        found = trial.found
        others = "busy" if trial.busy else ""
        link = f"[raw data]({page.href(evidence_file(trial.session.path))})"
        rows.append(f"    | {number} | {found.ratio:.3f} | {found.low:.3f} to {found.high:.3f} | {others} | {link} |")
    yield "\n".join(["    | session | ratio | interval, 99\u00a0% | machine | |", "    |---|---|---|---|---|", *rows])


def _figure(trials: Sequence[Trial]) -> str:
    """Return the plot of each session's interval in order of time, with the band of differences too small to count."""
    top = _y(1 + trials[0].min_effect)
    bottom = _y(1 / (1 + trials[0].min_effect))
    label = f"The intervals of {len(trials)} sessions of a step against itself"
    parts = [
        f'<svg class="plot" width="100%" height="{_HEIGHT + 30}" role="img" aria-label="{text(label)}">',
        f'<rect class="zone" x="0" width="100%" y="{top:.1f}" height="{bottom - top:.1f}"/>',
    ]
    for value in (1.2, 1.1, 1.0, 1 / 1.1, 1 / 1.2):
        name = "one" if value == 1 else "tick"
        parts.append(f'<line class="{name}" x1="0" x2="100%" y1="{_y(value):.1f}" y2="{_y(value):.1f}"/>')
        parts.append(
            f'<text class="axis" x="0" y="{_y(value) - 4:.1f}">{"same" if value == 1 else f"{value:.2f}×"}</text>'
        )
    for number, trial in enumerate(trials):
        x = 12 + 86 * (number + 0.5) / len(trials)
        low, high = _y(trial.found.low), _y(trial.found.high)
        title = f"session {number + 1}: {trial.found.ratio:.3f}, {trial.found.low:.3f} to {trial.found.high:.3f}"
        line = f'<line class="whisker" x1="{x:.2f}%" x2="{x:.2f}%" y1="{low:.1f}" y2="{high:.1f}">'
        parts.append(f"{line}<title>{title}</title></line>")
        parts.append(f'<circle fill="currentColor" cx="{x:.2f}%" cy="{_y(trial.found.ratio):.1f}" r="3"/>')
    parts.append(f'<text class="axis" x="12%" y="{_HEIGHT + 24}">one session after the other →</text>')
    caption = (
        "A line is the 99\u00a0% interval of a session, a dot its ratio. Differences in the grey band are "
        "too small to count. A line wholly above or below the band would be a false verdict."
    )
    return "\n".join(
        [
            '<figure class="plot" data-search-exclude>',
            *parts,
            "</svg>",
            f"<figcaption>{text(caption)}</figcaption>",
            "</figure>",
        ]
    )


def _y(ratio: float) -> float:
    bounded = max(-_WIDE, min(_WIDE, math.log(ratio))) if ratio > 0 else -_WIDE
    return _TOP + (_HEIGHT - _TOP) * (1 - bounded / _WIDE) / 2


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%"
