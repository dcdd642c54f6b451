"""The generated parts of the start page: choices, figures, their scope, out-of-memory symptoms and planned guides."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from headroom.io.markdown_escape import text
from headroom.records import CitedClaim, Claim, ModelledClaim, ReportedClaim, Tree
from headroom.records.snippets import SnippetRun
from headroom.site import planned
from headroom.site.claims import phrasing
from headroom.site.markdown_blocks import table
from headroom.site.method_finder import choices
from headroom.site.method_finder.choices import HARDWARE, JOBS, PROBLEMS, Choice
from headroom.site.method_finder.symptoms_page import by_symptom
from headroom.site.site_data import INDEX, PageContext, SiteData

SCHEME = "start:"
"""The scheme of empty links that stand for these parts."""
MESSAGE = "CUDA out of memory"
_SCOPE = (
    "Scope: training and inference of transformers. Times measured on a CPU say nothing about a GPU; bytes do. "
    "The models measured on a CPU are small."
)
Kind = Literal["on a GPU", "on a CPU", "reported", "computed", "cited", "open"]
# Words of symptoms in the order of a run; symptoms without any of these words come last.
_STAGES = (
    *("know from what", "loading", "forward", "batch size", "block", "loss", "backward", "optimizer", "evaluat"),
    *("steps", "hours", "random", "resume"),
)


def with_parts(lines: Sequence[str], site: SiteData, page: PageContext) -> list[str]:
    """Replace each line `[](start:PART)` with that part."""
    made = {f"[]({SCHEME}{name})": part for name, part in _PARTS.items()}
    return [row for line in lines for row in (made[line](site, page) if line in made else [line])]


def _choices(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield a card per problem with links to its page and to the lists of its choices."""
    yield from ('<div class="choice problems" markdown data-no-terms>', "")
    every = choices.of_site(site)
    for problem in choices.problems(site):
        words = PROBLEMS[problem]
        yield f"- [{words.title}]({page.href(choices.problem_path(problem))}) {words.hint}"
        yield ""
        mine = [choice for choice in every if choice.problem == problem]
        for job in dict.fromkeys(choice.job for choice in mine):
            links = [_link(choice, page) for choice in mine if choice.job == job]
            yield f"    - <span>{JOBS[job].capitalize()}</span> {' '.join(links)}"
        yield ""
    yield "</div>"


def _link(choice: Choice, page: PageContext) -> str:
    name = HARDWARE[choice.hardware].removeprefix("a ")
    return f'[{name[0].upper()}{name[1:]}]({page.href(choice.path)}){{ aria-label="{choice.title}" }}'


def _figures(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the numbers of claims by evidence."""
    claims = _by_evidence(site)
    yield from ('<div class="figures" markdown>', "")
    yield f"- **{claims['on a CPU']}** [claims]({page.href(INDEX)}) measured on a CPU"
    yield f"- **{claims['on a GPU']}** measured on a GPU"
    yield f"- **{claims['reported']}** reported: recomputed from rows that others published"
    yield f"- **{claims['computed']}** computed from formulas"
    yield from ("", "</div>", "")


def _by_evidence(site: SiteData) -> Counter[Kind]:
    return Counter(_evidence(site, claim) for claim in site.tree.claims.values() if not claim.retired)


def _scope(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield what the figures are about, and the numbers of other claims, sessions and snippets."""
    tree, claims = site.tree, _by_evidence(site)
    runs = {name: run.date for (name, _), run in sorted(tree.runs.items()) if _as_it_stands(tree, run)}
    sessions = [session.head.date for session in tree.sessions]
    undecided = sum(_undecided(site, claim) for claim in tree.claims.values() if not claim.retired)
    others = (
        f"{claims['cited']} cited claims, {claims['open']} without a result yet, {undecided} measured but undecided"
    )
    measured = f"[{len(sessions)} sessions]({page.href('claims/hardware.md')}) of measurement{_last(sessions)}"
    yield f"{_SCOPE} Also: {others}, {measured}, {len(runs)} snippets run unmodified{_last(runs.values())}."
    yield "{ .others }"


def _as_it_stands(tree: Tree, run: SnippetRun) -> bool:
    snippet = tree.snippets.get(run.snippet)
    return snippet is not None and snippet.sha256 == run.sha256


def _last(dates: Iterable[str]) -> str:
    newest = max(dates, default=None)
    return f", last on {phrasing.day(newest)}" if newest else ""


def _evidence(site: SiteData, claim: Claim) -> Kind:
    """Return the evidence of a claim; measured on a GPU counts before measured on a CPU."""
    if isinstance(claim, CitedClaim):
        return "cited"
    if isinstance(claim, ReportedClaim):
        return "reported"
    if isinstance(claim, ModelledClaim):
        return "computed"
    measured = [name for name, standing in site.board.standings[claim.id].items() if standing.verdict is not None]
    if not measured:
        return "open"
    return "on a GPU" if any(map(site.on_gpu, measured)) else "on a CPU"


def _undecided(site: SiteData, claim: Claim) -> bool:
    """Tell whether a claim was measured, and every session of it was inconclusive."""
    measured = [each.status for each in site.board.standings[claim.id].values() if each.verdict is not None]
    return bool(measured) and set(measured) == {"inconclusive"}


def _out_of_memory(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the table of out-of-memory symptoms and the methods for each."""
    found = by_symptom(site, page)
    mine = sorted((symptom for symptom in found if symptom.startswith(MESSAGE) and symptom != MESSAGE), key=_stage)
    rows = [[text(symptom.removeprefix(MESSAGE).lstrip(" ,")), _first_bold(found[symptom])] for symptom in mine]
    yield from table((f"`{MESSAGE}` …", "go to"), rows).splitlines()


def _stage(symptom: str) -> int:
    """Return the place of a symptom in the order of a run, behind all stages if it names none."""
    words = symptom.removeprefix(MESSAGE).lower()
    return next((place for place, stage in enumerate(_STAGES) if stage in words), len(_STAGES))


def _first_bold(links: list[str]) -> str:
    return ", ".join([f"**{links[0]}**", *links[1:]])


def _planned(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield a list of the planned guides."""
    yield from (f"- [{title}]({page.href(path)})" for path, title in planned.guides(site).items())


_PARTS = {
    "choices": _choices,
    "figures": _figures,
    "scope": _scope,
    "out-of-memory": _out_of_memory,
    "planned": _planned,
}
