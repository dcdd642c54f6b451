"""The generated parts of the page "Will it fit?": a table of common models, and what each change costs."""

from collections.abc import Iterator, Mapping, Sequence

from headroom.io.markdown_escape import text
from headroom.memory.architecture import Architecture
from headroom.memory.fitting import cost_of
from headroom.records import CitedClaim, ReportedClaim
from headroom.records.methods import Method
from headroom.records.tree import Tree
from headroom.site.markdown_blocks import table
from headroom.site.memory_form import PAGE, form
from headroom.site.memory_tool.browser_data import cards
from headroom.site.memory_tool.models import known_models
from headroom.site.memory_tool.recipes import RECIPES, Recipe, gib, needed, peak
from headroom.site.method_finder import choices
from headroom.site.method_finder.gains import cost
from headroom.site.site_data import PageContext, SiteData

SCHEME = "memory:"
"""The scheme of empty links that stand for these parts."""
COMMON = ("llama-3.2-1b", "llama-3.2-3b", "mistral-7b-v0.3", "llama-3.1-8b", "qwen3-14b", "qwen3-32b", "llama-3.1-70b")
_COLUMNS = (3, 5, 7, 10, 12, 14)
"""The recipes of the table, by their place in RECIPES."""
CHANGES = {
    "fused": ("Fused AdamW", "fused optimizer", "the optimizer step"),
    "chunked": ("Chunked loss", "chunked loss", "logits and loss"),
    "checkpointing": ("Gradient checkpointing", "activation checkpointing", "saved activations"),
    "batch": ("Half the batch, accumulated twice", "half the batch, twice the accumulation", "activations and logits"),
    "eight": ("8-bit AdamW", "8-bit AdamW", "optimizer states"),
    "offload": ("Optimizer states in CPU memory", "optimizer states in CPU memory", "optimizer states"),
    "lora": ("LoRA", "LoRA", "gradients and optimizer states"),
    "qlora": ("QLoRA", "QLoRA", "weights, gradients and optimizer states"),
    "int8": ("8-bit weights (LLM.int8)", "8-bit weights (LLM.int8)", "weights, for inference"),
    "nf4": ("4-bit weights (NF4)", "4-bit weights (NF4)", "weights, for inference"),
    "int4": ("4-bit checkpoint (AWQ, GPTQ)", "4-bit checkpoint (AWQ, GPTQ)", "weights, for inference"),
}
"""The changes that the page searches, in the order of their cost: names here and in the estimator, what it lowers."""
_ERRORS = "tools/estimate-errors.md"


def with_parts(lines: Sequence[str], site: SiteData, page: PageContext) -> list[str]:
    """Replace each line ``[](memory:PART)`` with that part."""
    parts = {"table": _table, "changes": _changes, "form": _form, "error": _error}
    made = {f"[]({SCHEME}{name})": part for name, part in parts.items()}
    return [row for line in lines for row in (made[line](site, page) if line in made else [line])]


def _form(_site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the form of the start page."""
    yield from form(page.href(PAGE)).splitlines()


def _table(site: SiteData, _page: PageContext) -> Iterator[str]:
    """Yield the table of common models: the peak of each recipe and the smallest card that it fits."""
    models = known_models(site.tree)
    recipes = [RECIPES[place] for place in _COLUMNS]
    head = ("Model", *(f"{each.name}<br><small>{each.added}</small>" for each in recipes))
    rows = (_row(site.tree, name, models, recipes) for name in COMMON if name in models)
    yield from ("", *table(head, rows).splitlines(), "")


def _row(tree: Tree, name: str, models: Mapping[str, Architecture], recipes: Sequence[Recipe]) -> list[str]:
    found = (peak(models[name], each, tree) for each in recipes)
    return [text(tree.shapes[name].title), *(_cell(each, tree) for each in found)]


def _cell(bytes_: int | None, tree: Tree) -> str:
    """Return a peak and the smallest card that the job fits, or a dash if the job was not traced."""
    if bytes_ is None:
        return "–"
    high = needed(bytes_, tree)[1]
    card = next((printed for _, _, printed, usable in cards(tree) if usable >= high), None)
    return f"{gib(bytes_)}<br><small>{f'{card} card' if card else 'several GPUs'}</small>".replace(" ", "\u00a0")


def _changes(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the table of changes with the evidence on their cost."""
    rows = []
    for name, (title, change, lowers) in CHANGES.items():
        method, claims = cost_of(change)
        if known := site.tree.methods.get(method):
            section = page.href(known.section)
            costs = "<br>".join(_costs(site, known, claims, section))
            rows.append([f"[{title}]({section}){{ #change-{name} }}", lowers, costs])
    yield from ("", *table(("Change", "Lowers", "Cost"), rows).splitlines(), "")


def _costs(site: SiteData, method: Method, claims: Sequence[str], section: str) -> Iterator[str]:
    """Yield the published claims about a change's cost; without one, what is known of its method's cost."""
    published = [each for each in claims if isinstance(site.tree.claims.get(each), ReportedClaim | CitedClaim)]
    if not published:
        yield cost(site, method, "memory", choices.likely_class(site, "one-gpu"), section)
        return
    yield from (f"[](claim:{each})" for each in published)
    if method.same_result:
        yield f"[same result]({section})"


def _error(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield a link to the comparison with measured jobs, if the site has that page."""
    if any(each.path == f"docs/{_ERRORS}" for each in site.pages):
        link = f"[How far off the estimate is]({page.href(_ERRORS)})"
        yield f"{link}, compared with memory that others measured, by kind of job."
