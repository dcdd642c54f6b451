"""The page of one choice: its methods by bytes per parameter, then by evidence."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from headroom.io.markdown_escape import text
from headroom.records.methods import Method
from headroom.site import memory_form
from headroom.site.markdown_blocks import bullets, table
from headroom.site.matrix import matrix_page as matrix
from headroom.site.method_finder import choices, model_state
from headroom.site.method_finder.choices import HARDWARE, JOBS, PROBLEMS, Choice, Kind
from headroom.site.method_finder.gains import Gain, Ground, cost, gain
from headroom.site.site_data import PageContext, SiteData

_COLUMNS = ("method", "gain", "cost and other effects")
_KINDS: dict[Kind, str] = {"speed": "Fewer hours on the same machine", "memory": "The same on a smaller machine"}


def render(site: SiteData, choice: Choice) -> str:
    """Return the page as Markdown with front matter."""
    return "\n\n".join(_parts(site, choice)) + "\n"


def _parts(site: SiteData, choice: Choice) -> Iterator[str]:
    hardware = choices.likely_class(site, choice.hardware)
    page = PageContext(choice.path)
    about = f"{choice.title}. What helps, with the evidence, the cost and the code."
    known = f"hardware: [{hardware}]\n" if hardware else ""
    head = f'title: "{choice.title}"\ndescription: "{about}"\n{known}hardware_fixed: true\nsearch: {{boost: 0.5}}'
    yield f"---\n{head}\n---"
    yield f"# {choice.title}"
    if choice.fills_one_gpu and any(each.path == f"docs/{memory_form.PAGE}" for each in site.pages):
        kind = "ranked full" if choice.job == "pretraining" else "ranked"
        yield memory_form.form(page.href(memory_form.PAGE), kind)
    if first := choice.methods(site, "first"):
        yield _heading("Find the cause", 2)
        yield f'<div class="choice" markdown>\n\n{bullets(_named(each, choice, page) for each in first)}\n\n</div>'
    kinds = PROBLEMS[choice.problem].gains
    for kind in kinds:
        methods = [each for each in choice.methods(site) if _kind(each, kinds) == kind]
        if methods and len(kinds) > 1:
            yield _heading(_KINDS[kind], 2)
        yield from _ranked(site, choice, page, kind, methods, level=2 + (len(kinds) > 1))
    if seen := choice.methods(site, "symptom"):
        yield _heading("Only if you see this", 2)
        yield bullets(_by_symptom(each, choice, page) for each in seen)
    if guides := choice.guides(site):
        yield _heading("Guides", 2)
        yield bullets(_guide(site_page.path, site_page.meta, page) for site_page in guides)
    yield _aside(_why(site, hardware, page))
    yield _aside(_others(site, choice, page))


def _heading(title: str, level: int) -> str:
    """Return a section heading that the search leaves out."""
    return f"{'#' * level} {title} {{ data-search-exclude }}"


def _aside(text: str) -> str:
    """Return a secondary paragraph that the search leaves out."""
    return f"{text}\n{{ .others data-search-exclude }}"


def _others(site: SiteData, choice: Choice, page: PageContext) -> str:
    """Return links to the same problem with other jobs and hardware."""
    alike = [each for each in choices.of_site(site) if each.problem == choice.problem and each != choice]
    links = [f"[{JOBS[each.job]} on {HARDWARE[each.hardware]}]({page.href(each.path)})" for each in alike]
    links.append(f"[another problem]({page.href('index.md')})")
    return f"Not yours? {' · '.join(links)}"


def _kind(method: Method, kinds: Sequence[Kind]) -> Kind:
    """Return the kind of gain for which a method answers a problem."""
    if len(kinds) == 1:
        return kinds[0]
    return "speed" if method.answers and "too-slow" in method.answers.problems else "memory"


def _ranked(
    site: SiteData, choice: Choice, page: PageContext, kind: Kind, methods: Sequence[Method], level: int
) -> Iterator[str]:
    """Yield the table by bytes per parameter, then a table per strength of evidence, sorted by name."""
    hardware = choices.likely_class(site, choice.hardware)
    counted = [method for method in methods if kind == "memory" and model_state.forms(method)]
    if counted:
        yield _heading("Fewer bytes per parameter", level)
        yield _answers(model_state.COLUMNS, model_state.rows(site, choice, page, counted, hardware))
        yield _aside(model_state.NOTE)
    found = [gain(site, method, kind, hardware) for method in methods if method not in counted]
    found.sort(key=lambda each: (each.ground, each.method.name.lower()))
    for ground, group in groupby(found, key=lambda each: each.ground):
        yield _heading(_ground(site, ground, hardware), level)
        if ground is Ground.UNMEASURED:
            yield bullets(_by_symptom(each.method, choice, page) for each in group)
        else:
            yield _answers(_COLUMNS, (_row(site, choice, page, kind, each, hardware) for each in group))


def _answers(columns: Sequence[str], rows: Iterable[list[str]]) -> str:
    return f'<div class="answers" markdown data-no-terms>\n\n{table(columns, rows)}\n\n</div>'


def _ground(site: SiteData, ground: Ground, hardware: str | None) -> str:
    place = text(site.class_name(hardware)) if hardware else ""
    return {
        Ground.MEASURED: f"Measured on {place}",
        Ground.REPORTED: "Reported by others",
        Ground.CITED: "Cited",
        Ground.CARRIED_OVER: "Bytes counted on a CPU, for small models",
        Ground.UNMEASURED: "Without a figure for the gain",
        Ground.NOT_SHOWN: "Measured, and no gain found",
    }[ground]


def _row(site: SiteData, choice: Choice, page: PageContext, kind: Kind, found: Gain, hardware: str | None) -> list[str]:
    section = page.href(choice.section(found.method))
    return [
        f"**[{text(found.method.name)}]({section})**<br><small>You see: {text(choice.symptom(found.method))}</small>",
        found.cell(),
        cost(site, found.method, kind, hardware, section),
    ]


def _named(method: Method, choice: Choice, page: PageContext) -> str:
    return f"[{text(method.name)}]({page.href(choice.section(method))})"


def _by_symptom(method: Method, choice: Choice, page: PageContext) -> str:
    return f"{text(method.symptoms[0])}: **{_named(method, choice, page)}**"


def _guide(path: str, meta: dict[str, object], page: PageContext) -> str:
    title = meta.get("title") or path.rpartition("/")[2].partition(".")[0]
    about = f": {text(meta['description'])}" if meta.get("description") else ""
    return f"[{text(title)}]({page.href(path.removeprefix('docs/'))}){about}"


def _why(site: SiteData, hardware: str | None, page: PageContext) -> str:
    """Return the explanation of the order."""
    place = text(site.class_name(hardware)) if hardware else "hardware of this kind"
    gpu = bool(hardware) and site.on_gpu(hardware or "")
    order = (
        f"measured on {place}, reported by others for real sizes, cited, counted on a CPU"
        if gpu
        else f"measured on {place}, cited"
    )
    return (
        f"**Order:** by evidence: {order}. Within a table methods stand by name, because their figures have different "
        f"baselines. “–” means that nothing is known. [All methods on all hardware]({page.href(matrix.PAGE)})."
    )
