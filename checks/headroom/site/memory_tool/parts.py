"""The generated parts of the page "Will it fit?": a table of common models, and what each change costs."""

from collections.abc import Iterator, Mapping, Sequence

from headroom.io.markdown_escape import text
from headroom.memory.architecture import Architecture
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
    "fused": ("Fused AdamW", "smaller-optimizer-step", "the optimizer step"),
    "chunked": ("Chunked loss", "chunked-loss", "logits and loss"),
    "checkpointing": ("Gradient checkpointing", "activation-checkpointing", "saved activations"),
    "batch": ("Half the batch, accumulated twice", "gradient-accumulation", "activations, logits and loss"),
    "eight": ("8-bit AdamW", "eight-bit-adam", "optimizer states"),
    "offload": ("Optimizer states in CPU memory", "optimizer-offload", "optimizer states"),
    "lora": ("LoRA", "lora", "gradients and optimizer states"),
    "qlora": ("QLoRA", "qlora", "weights, gradients and optimizer states"),
    "int8": ("8-bit weights (LLM.int8)", "quantized-weights", "weights, for inference"),
    "nf4": ("4-bit weights (NF4)", "quantized-weights", "weights, for inference"),
    "int4": ("4-bit checkpoint (AWQ, GPTQ)", "quantized-weights", "weights, for inference"),
}
"""The changes that the page searches, in the order of their cost: the name, the method, and what it lowers."""

_QUANTIZED = {
    "int8": ("int8-outliers-rtx-4090-batch-1", "int8-h100-batch-1"),
    "nf4": ("nf4-rtx-4090-batch-1", "nf4-h100-batch-1", "nf4-hellaswag-llama-8b"),
    "int4": ("int4-compiled-a100", "gptq-hellaswag-llama-8b"),
}
"""The claims about the time and the quality of quantized weights, by the change."""
_ERRORS = "tools/estimate-errors.md"
_LEARNS_LESS = "training.lora.learns-less"


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
    hardware = choices.likely_class(site, "one-gpu")
    rows = []
    for name, (title, method, lowers) in CHANGES.items():
        if known := site.tree.methods.get(method):
            section = page.href(known.section)
            link = f"[{title}]({section}){{ #change-{name} }}"
            found = [*_of_quantized(site, name)] or [
                cost(site, known, "memory", hardware, section),
                *_quality(site, name),
            ]
            rows.append([link, lowers, "<br>".join(found)])
    yield from ("", *table(("Change", "Lowers", "Cost"), rows).splitlines(), "")


def _error(site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield a link to the comparison with measured jobs, if the site has that page."""
    if any(each.path == f"docs/{_ERRORS}" for each in site.pages):
        link = f"[How far off the estimate is]({page.href(_ERRORS)})"
        yield f"{link}, compared with memory that others measured, by kind of job."


def _quality(site: SiteData, change: str) -> Iterator[str]:
    """Yield what the authors of a method's critique say of its result."""
    if change in ("lora", "qlora") and _LEARNS_LESS in site.tree.claims:
        yield f"[updates of a lower rank than full fine-tuning learns](claim:{_LEARNS_LESS})"


def _of_quantized(site: SiteData, change: str) -> Iterator[str]:
    """Yield the claims about quantized weights, whose cost depends on the format more than on the method."""
    for name in _QUANTIZED.get(change, ()):
        claim = f"inference.quantization.{name}"
        if claim in site.tree.claims:
            yield f"[](claim:{claim})"
