"""The generated parts of the start page: choices, figures, out-of-memory symptoms and planned guides."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

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
from headroom.verdicts import Status

SCHEME = "start:"
"""The scheme of empty links that stand for these parts."""
MESSAGE = "CUDA out of memory"
_WORDS: Mapping[Status, str] = {
    "contradicted": "contradicted",
    "disputed": "undecided",
    "inconclusive": "undecided",
    "flips": "depend on the size",
    "supported": "hold",
}
_MEASURED = ("hold", "depend on the size", "contradicted", "undecided")
_OTHERS = ("reported", "cited", "still open")


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
    """Yield the numbers of snippets, claims by verdict, and sessions, with dates."""
    tree = site.tree
    runs = {name: run.date for (name, _), run in sorted(tree.runs.items()) if _as_it_stands(tree, run)}
    sessions = [session.head.date for session in tree.sessions]
    claims = Counter(_standing(site, claim) for claim in tree.claims.values() if not claim.retired)
    index, hardware = page.href(INDEX), page.href("claims/hardware.md")
    yield from ('<div class="figures" markdown>', "")
    yield f"- **{len(runs)}** snippets run unmodified{_last(runs.values())}"
    yield f"- **{sum(claims[word] for word in _MEASURED)}** [claims]({index}) measured: {_counted(claims, _MEASURED)}"
    yield f"- **{sum(claims[word] for word in _OTHERS)}** not measured here: {_counted(claims, _OTHERS)}"
    yield f"- **{len(sessions)}** [sessions]({hardware}) of measurement{_last(sessions)}"
    yield from ("", "</div>")


def _as_it_stands(tree: Tree, run: SnippetRun) -> bool:
    snippet = tree.snippets.get(run.snippet)
    return snippet is not None and snippet.sha256 == run.sha256


def _last(dates: Iterable[str]) -> str:
    newest = max(dates, default=None)
    return f", last on {phrasing.day(newest)}" if newest else ""


def _counted(claims: Mapping[str, int], kinds: Sequence[str]) -> str:
    return ", ".join(f"{claims[word]} {word}" for word in kinds if claims[word])


def _standing(site: SiteData, claim: Claim) -> str:
    """Return the worst status of a claim over all classes, in the words of the start page."""
    if isinstance(claim, CitedClaim):
        return "cited"
    if isinstance(claim, ReportedClaim):
        return "reported"
    if isinstance(claim, ModelledClaim):
        return "hold" if site.board.models[claim.id].status == "modelled" else "undecided"
    found = {standing.status for standing in site.board.standings[claim.id].values()}
    return next((word for status, word in _WORDS.items() if status in found), "still open")


def _out_of_memory(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the table of out-of-memory symptoms and the methods for each."""
    found = by_symptom(site, page)
    rows = [
        [text(symptom.removeprefix(MESSAGE).lstrip(" ,")), links]
        for symptom, links in found.items()
        if symptom.startswith(MESSAGE)
    ]
    yield from table((f"`{MESSAGE}` …", "go to"), rows).splitlines()


def _planned(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield a list of the planned guides."""
    yield from (f"- [{title}]({page.href(path)})" for path, title in planned.guides(site).items())


_PARTS = {"choices": _choices, "figures": _figures, "out-of-memory": _out_of_memory, "planned": _planned}
