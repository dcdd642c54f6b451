"""The folded output of a snippet's last run, shown under its code."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from headroom.io.markdown_escape import fence as fenced
from headroom.records.snippets import Snippet
from headroom.site.site_data import SiteData


@dataclass(frozen=True, slots=True)
class Printed:
    """The output of a run as a page shows it."""

    title: str
    """The device, and a note if the run used a tiny stand-in for the real model."""
    text: str


def of(snippet: Snippet, site: SiteData) -> Printed | None:
    """Return the output of this version's newest run that has any, preferring a GPU on the same day."""
    records = [run for (name, _), run in site.tree.runs.items() if name == snippet.id and run.sha256 == snippet.sha256]
    run = max(
        (run for run in records if run.output),
        key=lambda run: (run.date, site.on_gpu(run.hardware_class)),
        default=None,
    )
    if run is None or run.output is None:
        return None
    place = "a GPU" if site.on_gpu(run.hardware_class) else "a CPU"
    stand_ins = [*run.models.values()].count("stand-in")
    model = f", with {'a tiny stand-in' if stand_ins == 1 else 'tiny stand-ins'}" if stand_ins else ""
    return Printed(f"Output on {place}{model}", run.output)


def element(printed: Printed) -> Element:
    """Return the output as an HTML fold."""
    found = Element("details", {"class": "printed"})
    SubElement(found, "summary").text = printed.title
    box = SubElement(found, "div", {"class": "output no-copy"})
    SubElement(SubElement(box, "pre"), "code").text = printed.text
    return found


def fence(printed: Printed, indent: str) -> str:
    """Return the output as plain Markdown with this indentation."""
    rows = [f"{printed.title}:", "", *fenced(printed.text, "text").split("\n")]
    return "\n".join(f"{indent}{row}".rstrip() for row in rows)
