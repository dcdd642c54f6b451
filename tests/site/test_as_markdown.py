"""Pages as plain Markdown, without syntax that only this project understands."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from headroom.io.safe_read import read_text
from headroom.pages.markdown_syntax import fenced
from headroom.pages.source import load_pages
from headroom.site import exports
from headroom.site.as_markdown import link_text, plain, plain_text
from headroom.site.exports import markdown_pages
from headroom.site.serve_cache import ServeCache
from headroom.site.site_data import PageContext, SiteData

ROOT = Path(__file__).parents[2]
GUIDE = PageContext("training/guide.md", ("cpu",))
SVG = "<svg><title>Time</title><desc>Falls.</desc></svg>"
TABS = '=== "One"\n\n    ```python\n    x\n    ```\n\n=== "Two"\n\n    y'
MEASURED = "measured: step time 20 % shorter, on an x86 server CPU"
FULL = ("llms-full.txt", "llms-contribute.txt")
NAV = ["index.md", {"Training": ["training/guide.md", {"Named": "claims/index.md"}]}, {"Alone": "claims/hardware.md"}]


def shown(site: SiteData, text: str, page: PageContext = GUIDE) -> str:
    """Return a page's text as plain Markdown with normalised spaces."""
    return plain(text, site, page).replace("\u00a0", " ").strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Clever [is faster](claim:training.time).",
            f"Clever [is faster](../claims/training/time.md) ({MEASURED}).",
        ),
        (
            "[no](claim:training.slower)",
            "[no](../claims/training/slower.md) (contradicted: worse, 1.26 times slower, on an x86 server CPU)",
        ),
        ("[who](claim:training.unmeasured)", "[who](../claims/training/unmeasured.md) (not measured on a CPU yet)"),
        ("[they](claim:training.cited)", "[they](../claims/training/cited.md) (cited: authors)"),
        ("[3.5×](claim:training.sweep#ratio@cpu,batch_size=64)", "[3.5×](../claims/training/sweep.md)"),
        ("[](claim:training.memory#ratio@cpu)", "[2.91](../claims/training/memory.md)"),
        (
            "[](claim:training.time)",
            "[**−20 %** step time (measured)](../claims/training/time.md)",
        ),
        ("[141](fact:h200.memory) GB", '[141](<https://example.org/h200> "H200 &amp; data sheet, page 1") GB'),
        ("[`a`](claim:training.time#ratio@cpu)", "[`a`](../claims/training/time.md)"),
        ("`[x](claim:training.time)`", "`[x](claim:training.time)`"),
        ("[x](claim:training.nothing)", "x"),
        ("[b](../concepts/bytes.ipynb#there)", "[b](../concepts/bytes.md#there)"),
        ("[n](https://x.y/a.ipynb)", "[n](https://x.y/a.ipynb)"),
    ],
)
def test_links_become_web_links_with_verdict_or_source(site: SiteData, text: str, expected: str) -> None:
    assert shown(site, text) == expected


def test_a_carried_over_claim_names_its_source_class(site: SiteData) -> None:
    found = shown(site, "[less](claim:training.memory)", PageContext("training/guide.md", ("h200",)))
    assert found.endswith(
        "(counted on a CPU: saved-activation memory 3.20 GiB → 1.10 GiB, 2.91 times less, on an x86 server CPU)"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A. <!-- no-claim: advice --> B.", "A. B."),
        ("A. <!-- no-claim: unproven -->", "A. (not measured)"),
        ("A.\n<!-- no-claim: unproven -->\n", "A.\n(not measured)"),
        ("## Head {#there}", "## Head"),
        ("## Head { data-search-exclude }", "## Head"),
        ("Text.\n{ .lead }", "Text."),
        ("a<small>b</small> <span><small>c</small></span>", "a; b c"),
        ("<span>a</span><small>b</small><br><small>c</small>", "a; b; c"),
        ("a\n\n<form><label>b</label></form>\n\nc", "a\n\nc"),
        ("### `a` fails: `b` {#x}\n", "### `a` fails: `b`"),
        ("``` { .text .output }\n{#x} <b>\n```", "```text\n{#x} <b>\n```"),
        ('```python title="x" hl_lines="1"\nx\n```', "```python\nx\n```"),
        ('<span class="badge badge-cited">cited</span> x<br>y', "**cited** x; y"),
        ('<a href="https://x.y/(a)">t</a>', "[t](<https://x.y/(a)>)"),
        (f"<figure>\n{SVG}\n<figcaption>Low is good.</figcaption>\n</figure>", "Figure: Time. Falls. Low is good"),
        ('!!! warning "Mind"\n\n    A\n\n    - b\n\nC', "**Mind**\n\nA\n\n- b\n\nC"),
        (TABS, "**One**\n\n```python\nx\n```\n\n**Two**\n\ny"),
        ('- a\n\n    ??? note "In"\n\n        b', "- a\n\n    **In**\n\n    b"),
        ("!!! tip\n    a", "**Tip**\n\na"),
        ('```python\n=== "a"\n\n\n    b\n```', '```python\n=== "a"\n\n\n    b\n```'),
        ("a\n\n\n\nb  ", "a\n\nb"),
    ],
)  # fmt: skip
def test_notes_attributes_elements_tabs_and_admonitions_become_plain(site: SiteData, text: str, expected: str) -> None:
    assert shown(site, text).removesuffix(".") == expected.removesuffix(".")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2&#46;9&#37; &#40;a&#41;", "2.9% (a)"),
        ("a&#95;b and &#95;c&#95;", "a_b and \\_c\\_"),
        ("&#60;b&#62; &#38;amp&#59;", "&lt;b&gt; &amp;amp;"),
        ("&#91;x&#93;&#40;y&#41;", "\\[x\\](y)"),
        ("&#45; x", "\\- x"),
        ("1&#46; x", "1\\. x"),
        ("| a&#124;b |", "| a\\|b |"),
        ("&#96;&#96;&#96;", "\\`\\`\\`"),
        ("&#33;&#91;x&#93;", "\\!\\[x\\]"),
        ("`&#46;`", "`&#46;`"),
    ],
)
def test_text_of_records_is_escaped_only_where_needed(text: str, expected: str) -> None:
    assert plain_text.plain(text) == expected


def test_a_snippet_is_included_with_its_command_and_run(site: SiteData) -> None:
    source = (site.tree.root / "docs/training/guide.md").read_text("utf-8")
    found = plain(source, site, GUIDE).replace("\u00a0", " ")
    assert found.count('```python\nmodel = "openai-community/gpt2"\n```') == 2
    assert "8<" not in found
    assert "Run it: `uv run snippets/training/clever.py` ([whole file](../snippets/training/clever.py)), ran" in found
    assert "ran on 21 November 2026, an x86 server CPU, torch 2.13.0, with a tiny stand-in for openai-" in found


def test_a_snippet_of_another_environment_names_the_command_that_builds_it(own_root: Path) -> None:
    path = own_root / "snippets/training/clever.py"
    path.write_text(path.read_text().replace("[tool.headroom]\n", '[tool.headroom]\n# environment = "small"\n'))
    own = SiteData.load(own_root)
    found = plain((own_root / "docs/training/guide.md").read_text("utf-8"), own, GUIDE)
    assert "; `make environments` builds its environment small" in found


def test_links_of_a_joined_file_start_at_the_sites_address() -> None:
    text = "[a](../x.md) [b](y.md#z) [c](#d) [e](https://f.g/h) `[i](j.md)`"
    assert link_text.site_relative(text, "k/l.md", "") == (
        "[a](x.md) [b](k/y.md#z) [c](k/l.md#d) [e](https://f.g/h) `[i](j.md)`"
    )
    assert link_text.site_relative("[a](../x.md)", "k/l.md", "https://s/") == "[a](https://s/x.md)"


@pytest.fixture(scope="module")
def ours() -> tuple[SiteData, dict[str, str]]:
    """Return this repository's site and its pages as Markdown."""
    found = SiteData.load(ROOT)
    return found, markdown_pages.files(found, exports.pages(found), "Headroom", "About it.", NAV)


def stripped(rows: list[str]) -> str:
    """Return rows without the indentation of a surrounding list."""
    return "\n".join(row.strip() for row in rows)


class TestOurs:
    """This repository's own pages."""

    def test_no_page_has_project_specific_syntax(self, ours: tuple[SiteData, dict[str, str]]) -> None:
        """Check for includes, link schemes, notes, elements and numeric entities outside code."""
        for path, text in ours[1].items():
            rows = text.split("\n")
            code = {row for fence in fenced(rows) for row in range(fence.first, fence.last + 1)}
            prose = re.sub(r"(`+).+?\1", "", "\n".join(row for i, row in enumerate(rows) if i not in code))
            assert not re.search(
                r"--8<--|\]\((?:claim|fact|methods|ran|start|unproven):|<!--|</?[a-z]+[ >]|&#\d", prose
            ), path
            assert not re.search(r"^ *(?:!!!|\?\?\?|===) ", prose, re.MULTILINE), path

    def test_code_equals_the_snippet_files(self, ours: tuple[SiteData, dict[str, str]]) -> None:
        """Compare every region that a page shows."""
        _, files = ours
        checked = 0
        for page in load_pages(ROOT)[0]:
            for include in (include for fence in page.fences for include in fence.includes()):
                if include.path.startswith("snippets/") and include.region:
                    source = read_text(ROOT / include.path, ROOT)
                    start, end = (f"# --8<-- [{side}:{include.region}]\n" for side in ("start", "end"))
                    region = source.partition(start)[2].partition(end)[0].strip("\n")
                    path = markdown_pages.markdown_page(page.path.removeprefix("docs/"))
                    assert stripped(region.split("\n")) in stripped(files[path].split("\n")), include
                    checked += 1
        assert checked > 20

    def test_every_relative_link_leads_to_a_file(self, ours: tuple[SiteData, dict[str, str]]) -> None:
        """Check links to Markdown pages and to other published files."""
        site, files = ours
        known = {*files, *exports.data_files(site), *exports.json_files(site), *exports.text_files(site, "x")}
        for path, text in files.items():
            broken: list[str] = []

            def look(match: re.Match[str], label: str, path: str = path, broken: list[str] = broken) -> str:
                target = match["href"].strip("<>").partition("#")[0]
                if target and "://" not in target:
                    found = (Path("/") / path).parent / target
                    name = str(found.resolve()).removeprefix("/")
                    if name not in known and not (ROOT / "docs" / name).is_file():
                        broken.append(match["href"])
                return label

            plain_text.outside_code(text, link_text.LINK, "text", look)
            assert not broken, path

    def test_each_page_names_its_address(self, ours: tuple[SiteData, dict[str, str]]) -> None:
        """A copy must lead back to its page."""
        assert ours[1]["training/cpu.md"].endswith("\nSource: training/cpu.html\n")


def test_llms_txt_lists_the_navigation(site: SiteData) -> None:
    """The format is that of llmstxt.org: a title, a quoted summary, lists of links with descriptions."""
    files = markdown_pages.files(site, exports.pages(site), "Name", "What it is.", NAV)
    rows = files["llms.txt"].split("\n")
    assert rows[0] == "# Name"
    assert rows[2] == "> What it is."
    assert [row for row in rows if row.startswith("## ")] == ["## Pages", "## Training", "## Data"]
    assert "- [Headroom](index.md): The start" in rows
    assert "- [A guide](training/guide.md): A guide" in rows
    assert any(row.startswith("- [Named](claims/index.md): ") for row in rows)
    assert any(row.startswith("- [Alone](claims/hardware.md): ") for row in rows)
    full = files["llms-full.txt"]
    assert full.index("# Headroom") < full.index("# A guide") < full.index("# Claims")


def test_contributors_pages_have_their_own_full_text_file(ours: tuple[SiteData, dict[str, str]]) -> None:
    nav = ["training/cpu.md", {"Contribute": ["contribute/claim.md", "contribute/testing.md"]}]
    files = markdown_pages.files(ours[0], {}, "Headroom", "About it.", nav)
    sources = {name: re.findall(r"^Source: (.+)$", files[name], re.MULTILINE) for name in FULL}
    assert sources == {
        "llms-full.txt": ["training/cpu.html"],
        "llms-contribute.txt": ["contribute/claim.html", "contribute/testing.html"],
    }
    assert "(llms-full.txt)" in files["llms.txt"]
    assert "(llms-contribute.txt)" in files["llms.txt"]


def test_only_changed_pages_are_converted_again(site: SiteData) -> None:
    memory, made = ServeCache(), []

    def recall(kind: str, name: str, source: str, make: Callable[[], str]) -> str:
        def noted() -> str:
            made.append((kind, name))
            return make()

        found: str = memory.recall(kind, name, source, noted)
        return found

    generated = exports.pages(site)
    first = markdown_pages.files(site, generated, "Name", "What it is.", NAV, recall)
    assert first == markdown_pages.files(site, generated, "Name", "What it is.", NAV)
    made.clear()
    changed = {**generated, "claims/hardware.md": generated["claims/hardware.md"] + "\nMore.\n"}
    second = markdown_pages.files(site, changed, "Name", "What it is.", NAV, recall)
    assert made == [("plain", "claims/hardware.md"), ("full", "claims/hardware.md")]
    assert "\nMore.\n" in second["llms-full.txt"]


def test_addresses_are_absolute_if_the_site_has_an_address(site: SiteData) -> None:
    known = replace(site, address="https://a.example/b/")
    files = markdown_pages.files(known, exports.pages(known), "Name", "What it is.", NAV)
    assert "- [A guide](https://a.example/b/training/guide.md): A guide" in files["llms.txt"]
    assert "(https://a.example/b/claims/training/time.md)" in files["llms-full.txt"]
    assert "Source: https://a.example/b/training/guide.html" in files["training/guide.md"]
