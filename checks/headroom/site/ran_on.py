"""The line under every code block that shows a snippet: its one command, its file, and where it last ran."""

import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element, SubElement

from headroom.records.snippets import Snippet, SnippetRun
from headroom.site.claims import words
from headroom.site.context import PageContext, SiteData

SCHEME = "ran:"

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[^`]*$")
_INCLUDE = re.compile(r"""^\s*--8<--\s+["'](?P<path>snippets/[^"':]+\.py)(:[A-Za-z0-9_-]+)?["']\s*$""")


def with_marks(lines: list[str]) -> list[str]:
    """The lines of a page with an empty `ran:` link below every fence that shows a snippet, indented as the fence is.

    This has to be done before the includes are replaced by what they include.
    """
    found: list[str] = []
    fence: re.Match[str] | None = None
    shown: list[str] = []
    for line in lines:
        found.append(line)
        if fence is None:
            fence, shown = _FENCE.match(line), []
        elif include := _INCLUDE.match(line):
            shown.append(include["path"])
        elif _closes(line.strip(), fence["mark"]):
            found += [part for path in shown for part in ("", f"{fence['indent']}[]({SCHEME}{path})", "")]
            fence = None
    return found


def _closes(line: str, mark: str) -> bool:
    return len(line) >= len(mark) and not line.strip(mark[0])


def fill(parent: Element, link: Element, site: SiteData, page: PageContext) -> None:
    """Turn the paragraph around a `ran:` link into the two lines that the reader sees: how to run it, and where it ran.

    Raises:
        LookupError: there is no such snippet.
    """
    path = link.get("href", "").removeprefix(SCHEME)
    snippet = site.tree.snippets.get(path.removeprefix("snippets/").removesuffix(".py"))
    if snippet is None:
        raise LookupError(f"there is no snippet `{path}`")
    parent.set("class", "ran-on")
    parent.remove(link)
    how = SubElement(parent, "span", {"class": "run"})
    SubElement(how, "code").text = snippet.command
    how.append(copy_button(snippet.command, "Copy the command"))
    SubElement(how, "a", {"href": page.href(path)}).text = "Whole file"
    SubElement(parent, "span", {"class": "when"}).text = _sentence(runs(snippet, site))


def copy_button(text: str, name: str) -> Element:
    """A button that the theme's script copies a text with; the style hides it where no script runs."""
    button = Element("button", {"class": "copy", "type": "button", "data-clipboard-text": text, "aria-label": name})
    button.text = "Copy"
    return button


def _sentence(parts: Iterable[str]) -> str:
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def runs(snippet: Snippet, site: SiteData) -> Iterator[str]:
    """Where a snippet last ran: its newest record of a CPU, and its newest of a GPU."""
    records = [run for (name, _), run in site.tree.runs.items() if name == snippet.id]
    records.sort(key=lambda run: (run.sha256 == snippet.sha256, run.date), reverse=True)
    for gpu in (False, True):
        newest = next((run for run in records if site.on_gpu(run.hardware_class) == gpu), None)
        if newest:
            yield _run(newest, snippet, site)
        elif gpu == any(need.startswith("cuda") for need in snippet.header.needs):
            yield "not run on a GPU yet" if gpu else "not run yet"


def _run(run: SnippetRun, snippet: Snippet, site: SiteData) -> str:
    stale = run.sha256 != snippet.sha256
    device = site.class_name(run.hardware_class) if run.device in ("cpu", "cuda") else run.device
    stand_ins = " and ".join(name for name, kind in run.models.items() if kind == "stand-in")
    parts = [
        f"{'changed since it last ran, ' if stale else 'ran '}on {words.day(run.date)}",
        device,
        f"torch {run.versions['torch']}" if "torch" in run.versions else "",
        f"with a tiny stand-in for {stand_ins}" if stand_ins else "",
    ]
    return ", ".join(filter(None, parts))
