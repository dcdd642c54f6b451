"""The methods with a closed form for weights, gradients and optimizer states, by bytes per parameter."""

from collections.abc import Iterator, Sequence

from headroom.io.markdown_escape import text
from headroom.records.methods import Method, StateBytes
from headroom.site.method_finder.choices import Choice
from headroom.site.method_finder.gains import cost
from headroom.site.site_data import PageContext, SiteData

COLUMNS = ("method", "bytes per parameter", "counted for", "known effects")
_FULL = 16
"""The bytes per parameter of full fine-tuning: fp32 weights and gradients, and the two moments of AdamW."""
NOTE = (
    "Counted: weights, gradients and optimizer states, before any activation. Full fine-tuning with AdamW takes "
    f"{_FULL} bytes per parameter, in fp32 or with `bf16=True`."
)


def forms(method: Method) -> list[tuple[str, StateBytes]]:
    """Return the name and the bytes of the method and of its variants that need fewer than full fine-tuning."""
    every = [(method.name, method.state_bytes), *((each.name, each.state_bytes) for each in method.variants)]
    return [(name, known) for name, known in every if known and known.total < _FULL]


def rows(
    site: SiteData, choice: Choice, page: PageContext, methods: Sequence[Method], hardware: str | None
) -> Iterator[list[str]]:
    """Yield the table's rows, the fewest bytes first."""
    found = [(known, name, method) for method in methods for name, known in forms(method)]
    for known, name, method in sorted(found, key=lambda each: (each[0].total, each[1].lower())):
        section = page.href(choice.section(method))
        effects = cost(site, method, "memory", hardware, section) if name == method.name else "–"
        yield [f"**[{text(name)}]({section})**", _sum(known), text(known.of), effects]


def _sum(known: StateBytes) -> str:
    """Return the total, and its parts if more than one counts."""
    parts = [f"{each:g}" for each in (known.weights, known.gradients, known.optimizer) if each]
    return f"{' + '.join(parts)} = **{known.total:g}**" if len(parts) > 1 else f"**{known.total:g}**"
