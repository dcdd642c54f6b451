"""Claim and fact links in a page, and the line under every snippet."""

import logging
from html import unescape
from pathlib import Path
from re import sub
from xml.etree import ElementTree as ET

import markdown
import pytest

from headroom.site.markdown_extension import HeadroomExtension
from headroom.site.site_data import PageContext, SiteData

PAGE = PageContext("training/guide.md", ("cpu",))


def rendered(site: SiteData, text: str, page: PageContext = PAGE) -> str:
    """A page as HTML, rendered by the extensions of mkdocs.yml that matter here."""
    ours = HeadroomExtension(site=site, page=lambda: page)
    snippets = {"base_path": [str(site.tree.root)], "check_paths": True, "dedent_subsections": True}
    return markdown.markdown(
        text,
        extensions=["tables", "admonition", "pymdownx.superfences", "pymdownx.tabbed", "pymdownx.snippets", ours],
        extension_configs={"pymdownx.snippets": snippets, "pymdownx.tabbed": {"alternate_style": True}},
    )


def link(site: SiteData, text: str, page: PageContext = PAGE) -> ET.Element:
    """The first link of a rendered text."""
    found = ET.fromstring(f"<div>{rendered(site, text, page)}</div>").find(".//a")  # noqa: S314 - our own output
    assert found is not None
    return found


def words(element: ET.Element) -> str:
    """The text of an element, spaces normalised."""
    return " ".join("".join(element.itertext()).replace("\u00a0", " ").split())


@pytest.mark.parametrize(
    ("claim", "status", "word"),
    [
        ("memory", "supported", "measured"),
        ("slower", "contradicted", "contradicted"),
        ("noisy", "inconclusive", "inconclusive"),
        ("disputed", "disputed", "disputed"),
        ("sweep", "flips", "gain from 8 sequences up"),
        ("unmeasured", "unmeasured", "no CPU measurement yet"),
        ("cited", "cited", "cited: authors"),
    ],
)
def test_a_claim_link_leads_to_its_page_and_carries_its_status_in_words(
    site: SiteData, claim: str, status: str, word: str
) -> None:
    """The badge is part of the link, and the sentence behind it is its title."""
    found = link(site, f"It [is so](claim:training.{claim}).")
    badge = found.find("span")
    assert found.get("href") == f"../claims/training/{claim}.md"
    assert badge is not None
    assert (badge.get("class"), badge.text) == (f"badge badge-{status}", word)
    assert found.text == "is so"
    assert str(found.get("title")).endswith(".")


def test_the_title_says_it_in_full_with_hardware_ratio_and_interval(site: SiteData) -> None:
    """It names the class, the version, the day, the amount, the ratio, the interval and the blocks."""
    memory = str(link(site, "[x](claim:training.memory)").get("title")).replace("\u00a0", " ")
    assert memory == (
        "On an x86 server CPU (Made-up Xeon) with torch 2.13.0: saved-activation memory 3.20 GiB → 1.10 GiB, "
        "2.91 times less. Ratio 2.91 exactly; 20 blocks, 20 November 2026."
    )
    time = str(link(site, "[x](claim:training.time)").get("title")).replace("\u00a0", " ")
    assert "step time 20 % shorter. Ratio 1.24, 99 % interval 1.23 to 1.26; 20 blocks, 20 November 2026." in time


def test_a_page_about_another_class_says_where_the_figure_comes_from(site: SiteData) -> None:
    """Bytes carry over from a CPU and say so; times do not, and nothing stands in for them."""
    page = PageContext("training/guide.md", ("h200",))
    memory = link(site, "[x](claim:training.memory)", page)
    assert words(memory) == "xcounted on a CPU"
    assert "On an H200, counted on an x86 server CPU with torch 2.13.0: saved-activation memory 3.20" in str(
        memory.get("title")
    )
    time = link(site, "[x](claim:training.time)", page)
    assert words(time) == "xno GPU measurement yet"
    assert "1.2" not in str(time.get("title"))


def test_a_class_is_never_taken_for_another_of_its_kind(own_root: Path) -> None:
    """What another CPU measured carries over or not, and either way the badge says that it was another."""
    path = own_root / "checks/facts/hardware-classes.yml"
    text = path.read_text()
    path.write_text(text + text.partition("h200:")[0].replace("cpu:", "cpu-amx:", 1).replace("an x86", "a newer x86"))
    data, page = SiteData.load(own_root), PageContext("training/guide.md", ("cpu-amx",))
    assert words(link(data, "[x](claim:training.memory)", page)) == "xcounted on another CPU"
    assert words(link(data, "[x](claim:training.time)", page)) == "xnot measured on this CPU"


def test_where_the_classes_of_a_page_differ_the_badge_shows_the_worst(site: SiteData) -> None:
    """A page about two classes never shows the better verdict for both."""
    page = PageContext("training/guide.md", ("cpu", "h200"))
    assert words(link(site, "[x](claim:training.time)", page)) == "xno GPU measurement yet"
    assert words(link(site, "[x](claim:training.slower)", page)) == "xcontradicted on an x86 server CPU"


def test_a_page_about_no_hardware_takes_that_of_the_claim(site: SiteData) -> None:
    """The start page, for one."""
    assert words(link(site, "[x](claim:training.part)", PageContext())) == "xfrom 8 sequences up"


@pytest.mark.parametrize(
    ("path", "href"),
    [
        ("index.md", "claims/training/memory.md"),
        ("training/guide.md", "../claims/training/memory.md"),
        ("a/b/c.md", "../../claims/training/memory.md"),
        ("claims/index.md", "training/memory.md"),
    ],
)
def test_links_are_relative_to_the_page(site: SiteData, path: str, href: str) -> None:
    """At any depth."""
    assert link(site, "[x](claim:training.memory)", PageContext(path, ("cpu",))).get("href") == href


def test_a_figure_link_keeps_its_text_and_has_no_badge(site: SiteData) -> None:
    """Its title is the sentence of the claim."""
    found = link(site, "[3.5×](claim:training.sweep#ratio@cpu,batch_size=64)")
    assert (found.get("class"), words(found)) == ("claim-figure", "3.5×")
    assert "On an x86 server CPU" in str(found.get("title"))


def test_an_empty_figure_link_shows_the_figure(site: SiteData) -> None:
    """In the unit of its metric, or as a change."""
    assert words(link(site, "[](claim:training.memory#subject@cpu)")) == "1.10 GiB"
    assert words(link(site, "[](claim:training.memory#change@cpu)")) == "−66 %"


def test_a_fact_link_leads_to_its_source(site: SiteData) -> None:
    """And names the source and the place in it."""
    found = link(site, "[141](fact:h200.memory)")
    assert found.get("href") == "https://example.org/h200"
    assert (found.get("class"), found.get("title")) == ("fact", "H200 & data sheet, page 1")


@pytest.mark.parametrize(
    ("claim", "hardware", "text"),
    [
        ("memory", "cpu", "3.20 GiB → 1.10 GiB saved-activation memory measured"),
        (
            "memory",
            "h200",
            "3.20 GiB → 1.10 GiB saved-activation memory counted on a CPU",
        ),
        ("time", "cpu", "−20 % step time measured"),
        ("time", "h200", "no GPU measurement yet"),
        ("part", "cpu", "64.0 MiB → 18.2 MiB saved-activation memory at 64 sequences from 8 sequences up"),
        ("slower", "cpu", "+26 % step time contradicted"),
        ("unmeasured", "cpu", "no CPU measurement yet"),
        ("cited", "cpu", "on 8 A100, 2024 cited: authors"),
    ],
)
def test_an_empty_link_becomes_the_summary_of_a_table_cell(
    site: SiteData, claim: str, hardware: str, text: str
) -> None:
    """What a reader decides by, where it holds, and the badge."""
    page = PageContext("training/guide.md", (hardware,))
    found = link(site, f"| a |\n|---|\n| [](claim:training.{claim}) |", page)
    assert words(found) == text
    assert found.get("class") == "claim claim-summary"


def test_an_empty_link_on_a_page_about_two_classes_names_each(site: SiteData) -> None:
    """So that no figure is read for the wrong hardware."""
    found = link(site, "[](claim:training.time)", PageContext("training/guide.md", ("cpu", "h200")))
    assert words(found) == "−20 % step time, an x86 server CPU measuredan H200 no GPU measurement yet"


@pytest.mark.parametrize(
    "href",
    [
        "claim:training.nothing",
        "claim:training.memory#speed@cpu",
        "claim:training.memory#ratio@h200",
        "claim:training.cited#ratio@cpu",
        "claim:Not An Id",
        "fact:h200.nothing",
        "fact:nothing.memory",
        "fact:",
    ],
)
def test_a_link_that_leads_nowhere_is_a_warning(site: SiteData, href: str, caplog: pytest.LogCaptureFixture) -> None:
    """One warning of MkDocs' own logger, which `--strict` counts."""
    rendered(site, f"[text](<{href}>)")
    assert [(r.levelno, r.name) for r in caplog.records] == [(logging.WARNING, "mkdocs.headroom")]
    assert "training/guide.md" in caplog.text


def test_links_inside_code_stay_text(site: SiteData, caplog: pytest.LogCaptureFixture) -> None:
    """In a fence, in inline code, and in code that is indented."""
    html = rendered(
        site, "```text\n[x](claim:training.memory)\n```\n\n`[x](claim:nothing)`\n\n    [x](claim:nothing)\n"
    )
    assert "<a" not in html
    assert html.count("(claim:") == 3
    assert not caplog.records


def test_other_links_are_left_alone(site: SiteData) -> None:
    """Whatever they point at."""
    assert link(site, "[x](other.md#claim:1)").attrib == {"href": "other.md#claim:1"}


def test_what_a_record_says_cannot_leave_its_attribute(own_root: Path) -> None:
    """Titles are escaped, quotes and all."""
    path = own_root / "checks/facts/hardware-classes.yml"
    path.write_text(path.read_text().replace("an x86 server CPU", "'\"><script>alert(1)</script>'"))
    html = rendered(SiteData.load(own_root), "[x](claim:training.memory) [](claim:training.memory)")
    assert "<script>alert" not in html
    assert "alert(1)" in html


INCLUDE = '--8<-- "snippets/training/clever.py:enable"'
RAN = "Ran on 21 November 2026, an x86 server CPU, torch 2.13.0, with a tiny stand-in for openai-community/gpt2"


def indented(text: str) -> str:
    """A text as the body of a tab or an admonition."""
    return sub(r"(?m)^(?=.)", "    ", text)


def line_of(html: str) -> str:
    """The text of the only line that says where a snippet ran."""
    body = ET.fromstring(f"<div>{html.replace('checked', '').replace('<input', '<br')}</div>")  # noqa: S314 - our own
    (found,) = body.findall(".//p[@class='ran-on']")
    return " ".join(words(part) for line in found for part in ([*line] or [line]))


FENCE = f"```python\n{INCLUDE}\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        FENCE,
        FENCE + "Text right below.",
        f"~~~~python\n{INCLUDE}\n~~~~\n",
        f"!!! note\n\n{indented(FENCE)}\n\nText.",
        f"- item\n\n{indented(FENCE)}\n- item",
    ],
)
def test_below_a_fence_that_shows_a_snippet_stands_where_it_ran(site: SiteData, text: str) -> None:
    """At the indentation of the fence, whatever stands around it."""
    html = rendered(site, text)
    assert line_of(html) == f"uv run snippets/training/clever.py Copy Whole file Link {RAN}."
    assert 'href="../snippets/training/clever.py"' in html
    assert "--8&lt;--" not in html
    assert unescape(sub(r"<[^>]+>", "", html)).count('model = "openai-community/gpt2"') == 1


def test_in_a_tab_the_line_stays_in_the_tab(site: SiteData) -> None:
    """The second tab is still a tab."""
    html = rendered(site, f'=== "One"\n\n{indented(FENCE)}\n=== "Two"\n\n    text\n')
    first = html.partition('<div class="tabbed-block">')[2].partition("</div>\n<div class=")[0]
    assert 'class="ran-on"' in first
    assert html.count("tabbed-block") == 2


def test_a_snippet_that_has_changed_says_so(own_root: Path) -> None:
    """The record's hash is no longer that of the bytes that the page shows."""
    path = own_root / "snippets/training/clever.py"
    path.write_text(path.read_text() + "# changed\n")
    html = rendered(SiteData.load(own_root), FENCE)
    assert f"Changed since it last ran, {RAN.removeprefix('Ran ')}" in line_of(html)


def test_a_snippet_for_a_gpu_without_a_record_says_so(site: SiteData) -> None:
    """A CPU has nothing to say about it."""
    text = FENCE.replace("clever.py:enable", "on_gpu.py")
    assert (
        line_of(rendered(site, text)) == "uv run snippets/training/on_gpu.py Copy Whole file Link Not run on a GPU yet."
    )


def test_a_snippet_without_any_record_says_so(own_root: Path) -> None:
    """Never silence."""
    (own_root / "checks/runs/training/clever/cpu.json").unlink()
    assert line_of(rendered(SiteData.load(own_root), FENCE)).endswith("Whole file Link Not run yet.")


def test_both_records_are_shown_where_there_are_two(own_root: Path) -> None:
    """The CPU's first, then the GPU's."""
    path = own_root / "checks/runs/training/clever/cpu.json"
    text = path.read_text().replace('"cpu"', '"h200"', 1).replace('"device": "cpu"', '"device": "NVIDIA H200"')
    path.with_name("h200.json").write_text(text.replace("stand-in", "real"))
    data = SiteData.load(own_root)
    assert not data.tree.problems
    assert line_of(rendered(data, FENCE)).endswith(f"{RAN}; ran on 21 November 2026, NVIDIA H200, torch 2.13.0.")


def test_a_fence_that_shows_no_snippet_has_no_line(site: SiteData) -> None:
    """Benchmarks and other code are not snippets."""
    html = rendered(site, '```python\n--8<-- "checks/benchmarks/fixed.py"\n```\n\n```\ntext\n```\n')
    assert "ran-on" not in html


@pytest.mark.parametrize(
    "text",
    [
        "It is faster. <!-- no-claim: unproven --> It is so.",
        "It is faster.\n<!-- no-claim: unproven -->",
        "## It is faster\n<!-- no-claim: unproven -->\n\nIt is so.",
        '!!! note "It is faster"\n    <!-- no-claim: unproven -->\n    It is so.',
        "- It is faster. <!-- no-claim: unproven -->\n- It is so.",
        "| a | b |\n|---|---|\n| faster <!-- no-claim: unproven --> | so |",
    ],
)
def test_a_sentence_that_nobody_has_measured_says_so(site: SiteData, text: str) -> None:
    """The reader sees two words behind the sentence, in whatever block it stands, and no id of a heading changes."""
    html = rendered(site, text)
    assert html.count('<small class="unproven">not measured</small>') == 1
    assert html.index("faster") < html.index("not measured")
    assert "no-claim" not in html
    assert "unproven:" not in html


@pytest.mark.parametrize("text", ["It is. <!-- no-claim: proved -->", "`<!-- no-claim: unproven -->`"])
def test_other_notes_and_code_get_no_mark(site: SiteData, text: str) -> None:
    """Notes of other kinds stay comments, and code stays code."""
    assert "not measured" not in rendered(site, text)


def test_an_empty_corner_of_a_table_heads_nothing(site: SiteData) -> None:
    """Else a screen reader announces a heading without words; a cell with code or a link in it stays one."""
    html = rendered(site, "| | time | `b` | [c](index.md) | |\n|---|---|---|---|---|\n| a | 1 | 2 | 3 | |\n")
    head = ET.fromstring(f"<div>{html}</div>").find(".//thead/tr")  # noqa: S314 - our own output
    assert head is not None
    assert [cell.tag for cell in head] == ["td", "th", "th", "th", "td"]


class TestNamesOfCode:
    """What a link calls a block of code, and its lines."""

    def test_a_block_is_called_by_its_file_and_region(self, site: SiteData) -> None:
        """The line below it has the link; so a block before it takes no name away."""
        html = rendered(site, f"```text\nother\n```\n\n{FENCE}")
        assert '<div id="clever-enable" class="highlight">' in html
        assert '<a href="#clever-enable" aria-label="Link to this code">Link</a>' in html

    def test_the_second_time_it_has_no_name(self, site: SiteData) -> None:
        """A page has a place once."""
        html = rendered(site, f"{FENCE}\n{FENCE}")
        assert html.count('id="clever-enable"') == 1
        assert html.count('href="#clever-enable"') == 1

    def test_a_fence_with_options_of_its_own_stays_as_it_is(self, site: SiteData) -> None:
        """It gets no name, and the line below it all the same."""
        html = rendered(site, f'```py title="x"\n{INCLUDE}\n```\n')
        assert "clever-enable" not in html
        assert "Whole file" in html
