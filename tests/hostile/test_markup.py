"""Texts of records stay text on the site: no element or attribute comes from a record."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from html import escape
from html.parser import HTMLParser
from typing import Any, TypeVar
from xml.etree import ElementTree as ET

import markdown
import pytest
import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from headroom.pages.source import load_pages
from headroom.records import MeasuredClaim, Session, Tree, load
from headroom.records.claims import Claim
from headroom.records.facts import Match
from headroom.site import exports, table_markup
from headroom.site.claims import citation
from headroom.site.claims.points_table import Series
from headroom.site.exports import markdown_pages, samples_csv
from headroom.site.markdown_extension import HeadroomExtension
from headroom.site.plots import plot
from headroom.site.site_data import PageContext, SiteData
from headroom.verdicts import judge_all
from hostile.loaders import CLEAN

HARMLESS = "made harmless"
ATTACKS = {
    "script": "<script>alert(1)</script>",
    "image": "<img src=x onerror=alert(1)>",
    "out of an attribute": "\"'><b onclick='alert(1)'>",
    "entity": "&lt;script&gt;&#60;b&#62;",
    "comment": "<!-- a",
    "end of data": "]]></svg></desc>",
    "link": "[x](javascript:alert(1))",
    "picture": "![x](javascript:alert(1))",
    "autolink": "<javascript:alert(1)>",
    "reference": "[x][y] [y]: javascript:alert(1)",
    "attributes": "{ #x .y onclick=alert(1) }",
    "colon attributes": "{: onclick=alert(1) }",
    "emphasis": "*a* **b** __c__ ~~d~~ ==e==",
    "code": "a `b` ``c`` `",
    "cell": "a | b | c |",
    "lines": "a\n\n# b\n\n- c\n\n<b>d</b>",
    "fence": "a\n\n```\nb",
    "markup block": "a\n\n<div onclick=alert(1)>\n\nb",
    "note": "a\n\n!!! note\n    b",
    "include": 'a\n--8<-- "mkdocs.yml"\n',
    "footnote": "a[^1] [^1]: b",
    "backslash": "a \\",
    "claim link": "[](claim:training.clever.paper)",
    "table of methods": "a\n[](methods:training/gpu.md)\nb",
    "template": "{{ config }} {% raw %}",
}
# Texts that programs compare and pages do not show as they are: if they changed, the evidence would not count.
COMPARED = {"units.*", "environment.device"}
EXTENSIONS = (
    *("admonition", "attr_list", "footnotes", "md_in_html", "tables", "toc", "pymdownx.details", "pymdownx.highlight"),
    *("pymdownx.inlinehilite", "pymdownx.superfences", "pymdownx.snippets", "pymdownx.tabbed"),
)
M = TypeVar("M", bound=BaseModel)
Change = Callable[[str], str]


def places(value: Any, at: str = "") -> Iterator[str]:
    """Yield the places of texts in a record's data, with indices and keys written as `*`."""
    if isinstance(value, str):
        yield at
    elif isinstance(value, list):
        for each in value:
            yield from places(each, f"{at}.*")
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, f"{at}.{key}")


def at_place(value: Any, place: list[str], change: Change) -> Any:
    """Return the data with the texts at one place changed."""
    if not place:
        return change(value) if isinstance(value, str) else value
    head, *rest = place
    if isinstance(value, list):
        return [at_place(each, rest, change) for each in value]
    if isinstance(value, dict) and head in value:
        return {key: at_place(each, rest, change) if key == head else each for key, each in value.items()}
    return value


def changed(record: M, change: Change) -> tuple[M, set[str]]:
    """Change every text of a record that its model leaves free; return the record and the places."""
    kind: TypeAdapter[Any] = TypeAdapter(Claim) if hasattr(record, "statement") else TypeAdapter(type(record))
    free: set[str] = set()
    data = record.model_dump(mode="json")
    for place in dict.fromkeys(places(data)):
        tried = at_place(data, place.removeprefix(".").split("."), change)
        if place.removeprefix(".") in COMPARED or any(
            place.startswith(f".{name.removesuffix('*')}") for name in COMPARED
        ):
            continue
        try:
            record = kind.validate_python(tried)
        except ValidationError:
            continue
        data = tried
        free.add(place)
    return record, free


def changed_tree(tree: Tree, change: Change) -> tuple[Tree, set[str]]:
    """Change every free text of every record in the same way, so that equal texts stay equal."""
    free: set[str] = set()

    def each(record: M) -> M:
        found, names = changed(record, change)
        if isinstance(found, MeasuredClaim):  # add a GPU without evidence to its scope
            scope = found.scope.model_copy(update={"hardware": ("h200", "cpu", "h300")})
            found = found.model_copy(update={"scope": scope})
        free.update(f"{type(record).__name__}{name}" for name in names)
        return found

    classes = {name: each(known) for name, known in tree.classes.items()}
    claims = {name: each(claim) for name, claim in tree.claims.items()}
    paper = tree.claims["training.clever.paper"].model_dump(mode="json")
    figure = {**paper["figures"][0], "as_printed": change("1.5x")}
    statement = change(paper["statement"])
    extra = {
        "id": "training.printed",
        "statement": statement,
        "quote": change("1.5x"),
        "in_brief": change("brief"),
        "figures": [figure],
    }
    claims["training.printed"] = TypeAdapter(Claim).validate_python({**paper, **extra})
    found = replace(
        tree,
        claims=claims,
        claim_paths={**tree.claim_paths, "training.printed": "checks/registry/training/printed.yml"},
        sessions=tuple(Session(session.path, each(session.evidence)) for session in tree.sessions),
        methods={name: each(method) for name, method in tree.methods.items()},
        classes={**classes, "h300": classes["h200"].model_copy(update={"match": Match(product="another")})},
        facts={name: each(sheet) for name, sheet in tree.facts.items()},
        machines={path: each(machine) for path, machine in tree.machines.items()},
        runs={name: each(run) for name, run in tree.runs.items()},
        snippets={name: each(snippet) for name, snippet in tree.snippets.items()},
    )
    return found, free


def the_site(change: Change) -> SiteData:
    """Return the clean tree's site data with changed texts."""
    tree, _ = changed_tree(load(CLEAN), change)
    return SiteData(tree, judge_all(tree))


def rendered(site: SiteData) -> dict[str, str]:
    """Return the HTML of every page, generated or written, without front matter."""
    pages = {path: text.partition("\n---\n")[2] for path, text in exports.pages(site).items()}
    for page in load_pages(CLEAN)[0]:
        if page.path.endswith(".md"):
            pages[page.path.removeprefix("docs/")] = page.text.partition("\n---\n")[2]
    found = {}
    for path, text in pages.items():
        context = PageContext(path, ("h200", "cpu") if path.startswith("training/") else ())
        ours = HeadroomExtension(site=site, page=lambda context=context: context)
        options = {"pymdownx.snippets": {"base_path": [str(CLEAN)], "check_paths": True}}
        shown = text + "\n\n[](claim:training.printed) [x](claim:training.printed)\n"
        found[path] = markdown.markdown(shown, extensions=[*EXTENSIONS, ours], extension_configs=options)
    return found


class Skeleton(HTMLParser):
    """The elements of a page with their attributes, without texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, ...]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element; values only of attributes that act or style. Long text makes a table one of cards."""
        acting = {"href", "src", "class", "style", "type", "action"}
        kept = [
            f"{name}={value}" if name in acting and not str(value).startswith("#") else name
            for name, value in attrs
            if name not in (table_markup.CARDS, table_markup.LABEL)
        ]
        self.elements.append((tag, *kept))

    def handle_data(self, data: str) -> None:
        """Record shown text."""
        self.words += data.split()


def skeletons(site: SiteData) -> dict[str, list[tuple[str, ...]]]:
    """Return the elements of every page."""
    return {path: Skeleton(html).elements for path, html in rendered(site).items()}


@cache
def harmless() -> dict[str, list[tuple[str, ...]]]:
    """Return the elements of every page if each free text is two harmless words longer."""
    return skeletons(the_site(lambda text: f"{text} {HARMLESS}"))


def test_the_walk_finds_the_texts_of_every_record() -> None:
    """It finds the texts that pages show, and the evidence still counts after the change."""
    tree, free = changed_tree(load(CLEAN), lambda text: f"{text} {HARMLESS}")
    known = {
        *(
            "MeasuredClaim.statement",
            "MeasuredClaim.subject",
            "MeasuredClaim.scope.sweep.unit",
            "MeasuredClaim.flips.*.why",
        ),
        *(
            "MeasuredClaim.scope.fixed.model",
            "MeasuredClaim.not_claimed.*",
            "CitedClaim.source.title",
            "CitedClaim.quote",
        ),
        *(
            "Evidence.environment.product",
            "Evidence.environment.unknown.*",
            "Evidence.runs.*.arm",
            "Evidence.design.timer",
        ),
        *("Evidence.environment.versions.torch", "Method.name", "HardwareClass.name", "SnippetRun.device"),
        *("FactSheet.sources.ieee-754.title", "Snippet.title"),
    }
    assert known <= free
    before = load(CLEAN)
    for name, claim in before.claims.items():
        for hardware in ("cpu", "h200"):
            assert judge_all(tree).status(tree.claims[name], hardware) == judge_all(before).status(claim, hardware)
    assert sum(tag[0] == "svg" for page in harmless().values() for tag in page) > 10


@pytest.mark.parametrize("name", ATTACKS)
def test_no_text_adds_an_element_or_an_attribute(name: str, *, deep: bool) -> None:
    """Attacks before and after a text give the same elements as harmless text."""
    attack = ATTACKS[name]
    changes: list[Change] = [lambda text: f"{text} {attack}"]
    if deep:
        changes.append(lambda text: f"{attack} {text}")
    for change in changes:
        found = skeletons(the_site(change))
        for path, elements in found.items():
            assert elements == harmless()[path], path


def published(site: SiteData) -> dict[str, list[tuple[str, ...]]]:
    """Return the elements of all other published files: drawings, the feed, and the Markdown of each page."""
    files = exports.text_files(site, "Headroom")
    files |= markdown_pages.files(
        site, exports.pages(site), "Headroom", "About", ["training/gpu.md", "claims/index.md"]
    )
    found = {}
    for path, text in files.items():
        if path.endswith((".svg", ".xml")):
            found[path] = [(each.tag, *each.keys()) for each in ET.fromstring(text).iter()]  # noqa: S314 - our own
        elif path.endswith(".md"):
            found[path] = Skeleton(markdown.markdown(text, extensions=["tables", "fenced_code"])).elements
    return found


@cache
def harmless_published() -> dict[str, list[tuple[str, ...]]]:
    """Return those elements if each free text is two harmless words longer."""
    return published(the_site(lambda text: f"{text} {HARMLESS}"))


@pytest.mark.parametrize("name", ATTACKS)
def test_no_text_acts_in_other_published_files(name: str) -> None:
    """In Markdown, SVG, XML, JSON, CSV and BibTeX, no element, attribute, field or row comes from a record."""
    site = the_site(lambda text: f"{text} {ATTACKS[name]}")
    found = published(site)
    assert set(found) == set(harmless_published())
    for path, elements in found.items():
        assert elements == harmless_published()[path], path
    for text in exports.claim_files(site).values():
        json.loads(text)
    for claim in site.tree.measured():
        rows = list(csv.reader(io.StringIO(samples_csv.samples(claim, site))))
        assert {len(row) for row in rows} == {len(rows[0])}
        assert len(rows) == samples_csv.samples(claim, site).count("\n")
        assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
    for claim in site.tree.claims.values():
        entry = citation.bibtex(claim, site)
        assert entry.count("{") == entry.count("}")
        assert "`" not in entry


@pytest.mark.parametrize("name", ["script", "lines", "cell", "code"])
def test_every_text_is_shown_as_written(name: str) -> None:
    """Character by character except for spaces, in text, front matter, drawings and exports."""
    attack = ATTACKS[name]
    site = the_site(lambda text: f"{text} {attack}")
    (statements, pages) = (
        {c["statement"] for c in json.loads(exports.claims_json(site))["claims"]},
        exports.pages(site),
    )
    for claim in site.tree.claims.values():
        assert claim.statement.endswith(attack.strip())
        assert any(text.endswith(claim.statement) for text in statements)  # a cited one follows "Reported by …"
        page = next(text for text in pages.values() if json.dumps(escape(claim.statement)) in text)
        assert yaml.safe_load(page.split("---\n")[1])["title"] == escape(claim.statement)
        words = " ".join(Skeleton(markdown.markdown(page.partition("\n---\n")[2], extensions=EXTENSIONS[:5])).words)
        assert " ".join(claim.statement.split()) in words
    drawn = 0
    for claim in site.tree.measured():
        for hardware, standing in site.board.standings[claim.id].items():
            if standing.verdict:
                series = Series(site.class_name(hardware), standing.verdict.points)
                ET.fromstring(plot.svg(claim, [series]))  # noqa: S314 - our own
                drawn += 1
    assert drawn > 5


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "http://x.y",
        "https://x y",
        "https://x<b>",
        'https://x"y',
        "https://x'y",
        "//x.y",
        "data:text/html,x",
    ],
)
def test_only_web_addresses_are_accepted(url: str) -> None:
    paper = load(CLEAN).claims["training.clever.paper"].model_dump(mode="json")
    with pytest.raises(ValidationError):
        TypeAdapter(Claim).validate_python({**paper, "source": {**paper["source"], "url": url}})


@pytest.mark.parametrize(
    "url", ["https://x.y/[a](javascript:b)", "https://x.y/`a`b`", "https://x.y/*a*_b_|c&d=e", "https://x.y/a\\)"]
)
def test_markdown_does_not_split_an_address(url: str) -> None:
    tree = load(CLEAN)
    paper = tree.claims["training.clever.paper"].model_dump(mode="json")
    claim = TypeAdapter(Claim).validate_python({**paper, "source": {**paper["source"], "url": url}})
    site = SiteData(replace(tree, claims={**tree.claims, claim.id: claim}), judge_all(tree))
    page = rendered(site)["claims/training/clever-paper.md"]
    assert sum(f"href={url}" in tag for tag in Skeleton(page).elements) == 1
    assert not [tag for tag in Skeleton(page).elements if any("javascript" in part and url not in part for part in tag)]
