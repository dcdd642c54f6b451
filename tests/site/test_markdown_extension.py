"""The Markdown extension: claim and fact links, the lines under snippets, and marks."""

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
    """Return a page as HTML, with the extensions of mkdocs.yml that affect links and code."""
    ours = HeadroomExtension(site=site, page=lambda: page)
    snippets = {"base_path": [str(site.tree.root)], "check_paths": True, "dedent_subsections": True}
    return markdown.markdown(
        text,
        extensions=["tables", "admonition", "pymdownx.superfences", "pymdownx.tabbed", "pymdownx.snippets", ours],
        extension_configs={"pymdownx.snippets": snippets, "pymdownx.tabbed": {"alternate_style": True}},
    )


def link(site: SiteData, text: str, page: PageContext = PAGE) -> ET.Element:
    """Return the first link of a rendered text."""
    found = ET.fromstring(f"<div>{rendered(site, text, page)}</div>").find(".//a")  # noqa: S314 - our own output
    assert found is not None
    return found


def words(element: ET.Element) -> str:
    """Return an element's text with normalised spaces."""
    return " ".join("".join(element.itertext()).replace("\u00a0", " ").split())


@pytest.mark.parametrize(
    ("claim", "status", "word"),
    [
        ("memory", "supported", "measured"),
        ("slower", "contradicted", "contradicted"),
        ("noisy", "inconclusive", "inconclusive"),
        ("disputed", "disputed", "disputed"),
        ("sweep", "flips", "depends"),
        ("unmeasured", "unmeasured", "not measured on a CPU yet"),
        ("cited", "cited", "cited: authors"),
    ],
)
def test_a_claim_link_leads_to_its_page_and_has_a_badge(site: SiteData, claim: str, status: str, word: str) -> None:
    """The badge is inside the link, and the sentence is the link's title."""
    found = link(site, f"It [is so](claim:training.{claim}).")
    badge = found.find("span")
    assert found.get("href") == f"../claims/training/{claim}.md"
    assert badge is not None
    assert (badge.get("class"), badge.text) == (f"badge badge-{status}", word)
    assert found.text == "is so"
    assert str(found.get("title")).endswith(".")


def test_the_title_has_class_version_day_ratio_interval_and_blocks(site: SiteData) -> None:
    memory = str(link(site, "[x](claim:training.memory)").get("title")).replace("\u00a0", " ")
    assert memory == (
        "On an x86 server CPU (Made-up Xeon) with torch 2.13.0: saved-activation memory 3.20 GiB → 1.10 GiB, "
        "2.91 times less. Ratio 2.91 exactly; 20 blocks, 20 November 2026."
    )
    time = str(link(site, "[x](claim:training.time)").get("title")).replace("\u00a0", " ")
    assert "step time 20 % shorter. Ratio 1.24, 99 % interval 1.23 to 1.26; 20 blocks, 20 November 2026." in time


def test_a_carried_over_badge_names_the_class_it_was_counted_on(site: SiteData) -> None:
    """Bytes carry over from a CPU; times do not."""
    page = PageContext("training/guide.md", ("h200",))
    memory = link(site, "[x](claim:training.memory)", page)
    assert words(memory) == "xcounted on a CPU"
    assert "On an H200, counted on an x86 server CPU with torch 2.13.0: saved-activation memory 3.20" in str(
        memory.get("title")
    )
    time = link(site, "[x](claim:training.time)", page)
    assert words(time) == "xnot measured on a GPU yet"
    assert "1.2" not in str(time.get("title"))


def test_a_badge_distinguishes_two_classes_of_cpus(own_root: Path) -> None:
    path = own_root / "checks/facts/hardware-classes.yml"
    text = path.read_text()
    path.write_text(text + text.partition("h200:")[0].replace("cpu:", "cpu-amx:", 1).replace("an x86", "a newer x86"))
    data, page = SiteData.load(own_root), PageContext("training/guide.md", ("cpu-amx",))
    assert words(link(data, "[x](claim:training.memory)", page)) == "xcounted on another CPU"
    assert words(link(data, "[x](claim:training.time)", page)) == "xnot measured on this CPU yet"


def test_the_badge_shows_the_worst_verdict_of_the_pages_classes(site: SiteData) -> None:
    page = PageContext("training/guide.md", ("cpu", "h200"))
    assert words(link(site, "[x](claim:training.time)", page)) == "xnot measured on a GPU yet"
    assert words(link(site, "[x](claim:training.slower)", page)) == "xcontradicted on an x86 server CPU"


def test_a_page_without_hardware_uses_the_claims_classes(site: SiteData) -> None:
    assert words(link(site, "[x](claim:training.part)", PageContext())) == "xmeasured"


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
    assert link(site, "[x](claim:training.memory)", PageContext(path, ("cpu",))).get("href") == href


def test_a_figure_link_keeps_its_text_and_has_no_badge(site: SiteData) -> None:
    found = link(site, "[3.5×](claim:training.sweep#ratio@cpu,batch_size=64)")
    assert (found.get("class"), words(found)) == ("claim-figure", "3.5×")
    assert "On an x86 server CPU" in str(found.get("title"))


def test_an_empty_figure_link_shows_the_figure(site: SiteData) -> None:
    assert words(link(site, "[](claim:training.memory#subject@cpu)")) == "1.10 GiB"
    assert words(link(site, "[](claim:training.memory#change@cpu)")) == "−66 %"


def test_a_fact_link_leads_to_its_source(site: SiteData) -> None:
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
        ("time", "h200", "not measured on a GPU yet"),
        ("part", "cpu", "64.0 MiB → 18.2 MiB saved-activation memory at 64 sequences measured"),
        ("slower", "cpu", "+26 % step time contradicted"),
        ("unmeasured", "cpu", "not measured on a CPU yet"),
        ("cited", "cpu", "on 8 A100, 2024 cited: authors"),
    ],
)
def test_an_empty_link_becomes_the_summary_of_a_table_cell(
    site: SiteData, claim: str, hardware: str, text: str
) -> None:
    page = PageContext("training/guide.md", (hardware,))
    found = link(site, f"| a |\n|---|\n| [](claim:training.{claim}) |", page)
    assert words(found) == text
    assert found.get("class") == "claim claim-summary"


def test_a_summary_for_two_classes_names_each(site: SiteData) -> None:
    found = link(site, "[](claim:training.time)", PageContext("training/guide.md", ("cpu", "h200")))
    assert words(found) == "−20 % step time, an x86 server CPU measuredan H200 not measured on a GPU yet"


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
def test_a_broken_link_logs_one_warning(site: SiteData, href: str, caplog: pytest.LogCaptureFixture) -> None:
    """With --strict, MkDocs fails on warnings of this logger."""
    rendered(site, f"[text](<{href}>)")
    assert [(r.levelno, r.name) for r in caplog.records] == [(logging.WARNING, "mkdocs.headroom")]
    assert "training/guide.md" in caplog.text


def test_links_inside_code_stay_text(site: SiteData, caplog: pytest.LogCaptureFixture) -> None:
    html = rendered(
        site, "```text\n[x](claim:training.memory)\n```\n\n`[x](claim:nothing)`\n\n    [x](claim:nothing)\n"
    )
    assert "<a" not in html
    assert html.count("(claim:") == 3
    assert not caplog.records


def test_other_links_are_unchanged(site: SiteData) -> None:
    assert link(site, "[x](other.md#claim:1)").attrib == {"href": "other.md#claim:1"}


def test_hostile_texts_stay_inside_the_title_attribute(own_root: Path) -> None:
    path = own_root / "checks/facts/hardware-classes.yml"
    path.write_text(path.read_text().replace("an x86 server CPU", "'\"><script>alert(1)</script>'"))
    html = rendered(SiteData.load(own_root), "[x](claim:training.memory) [](claim:training.memory)")
    assert "<script>alert" not in html
    assert "alert(1)" in html


INCLUDE = '--8<-- "snippets/training/clever.py:enable"'
RAN = "Ran on 21 November 2026, an x86 server CPU, torch 2.13.0, with a tiny stand-in for openai-community/gpt2"


def indented(text: str) -> str:
    """Return a text as the body of a tab or an admonition."""
    return sub(r"(?m)^(?=.)", "    ", text)


def line_of(html: str) -> str:
    """Return the text of the only line about a snippet's runs."""
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
def test_a_fence_with_a_snippet_is_followed_by_its_last_run(site: SiteData, text: str) -> None:
    html = rendered(site, text)
    assert line_of(html) == f"uv run snippets/training/clever.py Copy Whole file Link {RAN}."
    assert 'href="../snippets/training/clever.py"' in html
    assert "--8&lt;--" not in html
    assert unescape(sub(r"<[^>]+>", "", html)).count('model = "openai-community/gpt2"') == 1


def test_the_line_stays_inside_its_tab(site: SiteData) -> None:
    html = rendered(site, f'=== "One"\n\n{indented(FENCE)}\n=== "Two"\n\n    text\n')
    first = html.partition('<div class="tabbed-block">')[2].partition("</div>\n<div class=")[0]
    assert 'class="ran-on"' in first
    assert html.count("tabbed-block") == 2


def test_a_changed_snippet_is_reported(own_root: Path) -> None:
    path = own_root / "snippets/training/clever.py"
    path.write_text(path.read_text() + "# changed\n")
    html = rendered(SiteData.load(own_root), FENCE)
    assert f"Changed since it last ran, {RAN.removeprefix('Ran ')}" in line_of(html)


def test_a_snippet_of_another_environment_names_the_command_that_builds_it(own_root: Path) -> None:
    path = own_root / "snippets/training/clever.py"
    path.write_text(path.read_text().replace("[tool.headroom]\n", '[tool.headroom]\n# environment = "small"\n'))
    html = rendered(SiteData.load(own_root), FENCE)
    assert " Its libraries are pinned: <code>make environments</code> builds the environment small.</span>" in html


def test_a_gpu_snippet_without_a_run_is_reported(site: SiteData) -> None:
    text = FENCE.replace("clever.py:enable", "on_gpu.py")
    assert (
        line_of(rendered(site, text)) == "uv run snippets/training/on_gpu.py Copy Whole file Link Not run on a GPU yet."
    )


def test_a_snippet_without_any_run_is_reported(own_root: Path) -> None:
    (own_root / "checks/runs/training/clever/cpu.json").unlink()
    assert line_of(rendered(SiteData.load(own_root), FENCE)).endswith("Whole file Link Not run yet.")


def test_the_cpus_run_is_shown_before_the_gpus(own_root: Path) -> None:
    path = own_root / "checks/runs/training/clever/cpu.json"
    text = path.read_text().replace('"cpu"', '"h200"', 1).replace('"device": "cpu"', '"device": "NVIDIA H200"')
    path.with_name("h200.json").write_text(text.replace("stand-in", "real"))
    data = SiteData.load(own_root)
    assert not data.tree.problems
    assert line_of(rendered(data, FENCE)).endswith(f"{RAN}; ran on 21 November 2026, NVIDIA H200, torch 2.13.0.")


def test_a_fence_without_a_snippet_has_no_line(site: SiteData) -> None:
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
def test_the_note_unproven_becomes_not_measured(site: SiteData, text: str) -> None:
    """The note works in every kind of block and does not change heading ids."""
    html = rendered(site, text)
    assert html.count('<small class="unproven">not measured</small>') == 1
    assert html.index("faster") < html.index("not measured")
    assert "no-claim" not in html
    assert "unproven:" not in html


@pytest.mark.parametrize("text", ["It is. <!-- no-claim: proved -->", "`<!-- no-claim: unproven -->`"])
def test_other_notes_and_code_get_no_mark(site: SiteData, text: str) -> None:
    assert "not measured" not in rendered(site, text)


def test_an_empty_header_cell_becomes_a_data_cell(site: SiteData) -> None:
    """Screen readers would announce an empty header; cells with code or links stay headers."""
    html = rendered(site, "| | time | `b` | [c](index.md) | |\n|---|---|---|---|---|\n| a | 1 | 2 | 3 | |\n")
    head = ET.fromstring(f"<div>{html}</div>").find(".//thead/tr")  # noqa: S314 - our own output
    assert head is not None
    assert [cell.tag for cell in head] == ["td", "th", "th", "th", "td"]


class TestCodeAnchors:
    """The anchors of code blocks and their lines."""

    def test_a_blocks_anchor_has_file_and_region(self, site: SiteData) -> None:
        """An earlier block with the same name as a heading does not take the anchor."""
        html = rendered(site, f"```text\nother\n```\n\n{FENCE}")
        assert '<div id="clever-enable" class="highlight">' in html
        assert '<a href="#clever-enable" aria-label="Link to this code">Link</a>' in html

    def test_a_repeated_region_has_no_anchor(self, site: SiteData) -> None:
        """An id occurs once per page."""
        html = rendered(site, f"{FENCE}\n{FENCE}")
        assert html.count('id="clever-enable"') == 1
        assert html.count('href="#clever-enable"') == 1

    def test_a_fence_with_options_has_no_anchor(self, site: SiteData) -> None:
        """It has the line below it nevertheless."""
        html = rendered(site, f'```py title="x"\n{INCLUDE}\n```\n')
        assert "clever-enable" not in html
        assert "Whole file" in html
