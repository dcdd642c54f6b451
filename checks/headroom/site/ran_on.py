"""The line under a snippet's code: its command, a link to the file, where it last ran, and its output."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, SubElement

from headroom.records.snippet_environments import MAKE
from headroom.records.snippets import Snippet, SnippetRun
from headroom.site import output_fold
from headroom.site.claims import phrasing
from headroom.site.site_data import UNSEARCHED, PageContext, SiteData

SCHEME = "ran:"
_LAST = "?last"
"""The query of a file's last link on the page, which shows the snippet's output."""
_NAMED = ("torch", "tensorflow", "jax")
"""The libraries whose version the line gives."""
_LINK = "code-link"
"""The placeholder of a link to code, replaced last because MkDocs cannot see the ids of code blocks."""

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[^`]*$")
_PLAIN = re.compile(r"^(?P<before>[ \t]*(?:`{3,}|~{3,}))(?P<language>\w+)[ \t]*$")
_INCLUDE = re.compile(r"""^\s*--8<--\s+["'](?P<path>snippets/[^"':]+\.py)(:(?P<region>[A-Za-z0-9_-]+))?["']\s*$""")


def with_marks(lines: list[str]) -> list[str]:
    """Name each fence that shows a snippet, and add an empty `ran:` link below it with the same indentation.

    The link gives the file and the fence, and tells whether it is the file's last. Call this before the includes are
    expanded.
    """
    found: list[str] = []
    fence: re.Match[str] | None = None
    shown: list[tuple[str, str]] = []
    names: set[str] = set()
    last: dict[str, int] = {}
    for line in lines:
        found.append(line)
        if fence is None:
            fence, shown, start = _FENCE.match(line), [], len(found) - 1
        elif include := _INCLUDE.match(line):
            opening = _PLAIN.match(found[start])
            name = _name(include, names) if opening and not shown else ""
            shown.append((include["path"], name))
            if opening and name:  # its lines get the ids `L-NAME-3`
                found[start] = f"{opening['before']}{{ .{opening['language']} #{name} }}"
        elif _closes(line.strip(), fence["mark"]):
            for path, name in shown:
                last[path] = len(found) + 1
                found += ["", f"{fence['indent']}[]({SCHEME}{path}{name and f'#{name}'})", ""]
            fence = None
    for path, place in last.items():
        found[place] = found[place].replace(path, path + _LAST, 1)
    return found


def _name(include: re.Match[str], names: set[str]) -> str:
    """Return an anchor from the include's file and region, or nothing if the page has it already."""
    name = f"{PurePosixPath(include['path']).stem}-{include['region'] or 'file'}"
    if name in names:
        return ""
    names.add(name)
    return name


def _closes(line: str, mark: str) -> bool:
    return len(line) >= len(mark) and not line.strip(mark[0])


def target(href: str) -> tuple[str, bool, str]:
    """Return the file of a `ran:` link, whether it is the page's last link to that file, and the fence's name."""
    parts = urlsplit(href)
    return parts.path, f"?{parts.query}" == _LAST, parts.fragment


def fill(parent: Element, link: Element, site: SiteData, page: PageContext) -> None:
    """Replace the paragraph around a `ran:` link with the command, the runs and the output.

    Raises:
        LookupError: there is no such snippet.
    """
    path, last, name = target(link.get("href", ""))
    snippet = site.tree.snippets.get(path.removeprefix("snippets/").removesuffix(".py"))
    if snippet is None:
        raise LookupError(f"there is no snippet `{path}`")
    parent.set("class", "ran-on")
    parent.attrib.update(UNSEARCHED)
    parent.remove(link)
    how = SubElement(parent, "span", {"class": "run"})
    SubElement(how, "code").text = snippet.command
    how.append(copy_button(snippet.command, "Copy the command"))
    SubElement(how, "a", {"href": page.href(path)}).text = "Whole file"
    if name:
        SubElement(how, _LINK, {"to": name}).text = "Link"
    when = SubElement(parent, "span", {"class": "when"})
    when.text = _sentence(runs(snippet, site))
    if snippet.header.environment:
        when.text += " Its libraries are pinned: "
        command = SubElement(when, "code")
        command.text, command.tail = MAKE, f" builds the environment {snippet.header.environment}."
    if last and (output := output_fold.of(snippet, site)):
        parent.tag = "div"  # a paragraph cannot hold a block
        parent.append(output_fold.element(output))


def with_links(html: str) -> str:
    """Replace the placeholders of links to code in a page's HTML."""
    link = r'<a href="#\1" aria-label="Link to this code">'
    return re.sub(rf'<{_LINK} to="([^"]*)">', link, html).replace(f"</{_LINK}>", "</a>")


def copy_button(text: str, name: str) -> Element:
    """Return a button with which the theme's script copies a text; the style sheet hides it without scripts."""
    button = Element("button", {"class": "copy", "type": "button", "data-clipboard-text": text, "aria-label": name})
    button.text = "Copy"
    return button


def _sentence(parts: Iterable[str]) -> str:
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def runs(snippet: Snippet, site: SiteData) -> Iterator[str]:
    """Yield the newest run on a CPU and the newest on a GPU, in words."""
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
        f"{'changed since it last ran, ' if stale else 'ran '}on {phrasing.day(run.date)}",
        device,
        *(f"{name} {run.versions[name]}" for name in _NAMED if name in run.versions),
        f"with a tiny stand-in for {stand_ins}" if stand_ins else "",
    ]
    return ", ".join(filter(None, parts))
