"""Predicted figures on the site: components on hover and focus, tinted cells, tables, and plain Markdown."""

import logging
from pathlib import Path
from xml.etree import ElementTree as ET

import markdown
import pytest

from headroom.memory.job import Job
from headroom.memory.known_errors import in_words, known_error
from headroom.pages.source import Page
from headroom.site.as_markdown import plain
from headroom.site.markdown_extension import HeadroomExtension
from headroom.site.site_data import PageContext, SiteData

PAGE = PageContext("training/guide.md", ("cpu",))
JOB = "estimate:plain-0.1b/full?length=1024"
TABLE = "[Batch; 512; 1,024](estimate-table:plain-0.1b/full?batch=1,2&length=512,1024)"


@pytest.fixture(scope="module")
def site() -> SiteData:
    """Return the data of the clean tree, which has coefficients."""
    return SiteData.load(Path(__file__).parents[1] / "rule_cases/clean")


def rendered(site: SiteData, text: str) -> ET.Element:
    """Return a page as the elements that the site makes of it."""
    html = markdown.markdown(text, extensions=["tables", HeadroomExtension(site=site, page=lambda: PAGE)])
    return ET.fromstring(f"<div>{html}</div>")  # noqa: S314 - our own output


def test_a_figure_explains_its_components(site: SiteData) -> None:
    """They are in the title, which the keyboard reaches."""
    (figure,) = rendered(site, f"It needs [1.4 GiB]({JOB}).").iter("abbr")
    assert (figure.text, figure.get("tabindex")) == ("1.4 GiB", "0")
    title = figure.get("title", "")
    assert title.startswith("Predicted peak, ")
    assert "weights 209 MiB (2 B per parameter) + " in title


def test_a_figure_links_the_page_about_the_error(site: SiteData) -> None:
    """If the site has one."""
    known = SiteData(site.tree, site.board, pages=(*site.pages, Page("docs/contribute/memory.md", "")))
    (figure,) = rendered(known, f"It needs [1.4 GiB]({JOB}).").iter("a")
    assert figure.get("href") == "../contribute/memory.md"


def test_an_empty_link_is_filled_and_tinted_on_request(site: SiteData) -> None:
    """The cell names the card; other cells stay as they are."""
    root = rendered(site, f'| a | b |\n|---|---|\n| []({JOB} "card") | []({JOB}) |')
    tinted, bare = root.iter("td")
    assert ("".join(tinted.itertext()), "".join(bare.itertext())) == ("1.4 GiB 8 GB", "1.4 GiB")
    assert (tinted.get("class"), bare.get("class")) == ("fits fits-1", None)


def test_a_table_has_a_row_per_item(site: SiteData) -> None:
    """With a legend below it, and a model's title for its id."""
    root = rendered(site, TABLE)
    texts = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
    assert texts == [["Batch", "512", "1,024"], ["1", "1,022 MiB 8 GB", "1.4 GiB 8 GB"], texts[2]]
    assert "8, 12, 16, 24, 32, 48, 80 or 141 GB" in "".join(root.itertext())
    assert "Known error of the peak: unknown, because no published row" in "".join(root.itertext())


def test_a_table_names_the_known_error_of_its_jobs() -> None:
    """As the hover of each figure does; the words lead to the page about errors."""
    site = SiteData.load(Path(__file__).parents[2])
    known = in_words(known_error(Job(job="lora"), site.tree.root))
    root = rendered(site, TABLE.replace("plain-0.1b/full", "llama-3.2-1b/lora"))
    figures = [each for each in root.iter("a") if each.get("class") == "predicted"]
    assert "published rows" in known
    assert len(figures) == 4
    assert all(each.get("title", "").endswith(f". Known error of the peak: {known}") for each in figures)
    assert f"Known error of the peak: {known}." in "".join(root.itertext())
    assert [each.text for each in root.iter("a") if each not in figures] == ["Known error of the peak"]


def test_a_table_says_which_figures_have_no_known_error() -> None:
    """Inference in bf16 was compared with published peaks, and with quantized weights it was not."""
    site = SiteData.load(Path(__file__).parents[2])
    jobs = "llama-3.2-1b,llama-3.1-8b/decode,decode+quantization=nf4"
    root = rendered(site, f"[Model; bf16; NF4](estimate-table:{jobs})")
    assert "; of the others unknown, because no published row" in "".join(root.itertext())


def test_a_wrong_address_is_a_warning(site: SiteData, caplog: pytest.LogCaptureFixture) -> None:
    """The text stays, without components."""
    with caplog.at_level(logging.WARNING, "mkdocs.headroom"):
        root = rendered(site, "[1.0 GiB](estimate:unknown/full)")
    assert [each.get("title") for each in root.iter("abbr")] == []
    assert "no shape is recorded" in caplog.text


def test_plain_markdown_has_figures_and_cards(site: SiteData) -> None:
    """Neither addresses nor empty cells."""
    text = plain(f"It needs [1.4 GiB]({JOB}).\n\n{TABLE}\n", site, PAGE)
    assert "It needs 1.4 GiB.\n" in text
    assert "| 1 | 1,022 MiB, 8 GB | 1.4 GiB, 8 GB |" in text


@pytest.mark.parametrize(
    ("batch", "card", "tint"), [(1, "8 GB", 1), (30, "32 GB", 2), (60, "80 GB", 3), (900, "several GPUs", 4)]
)
def test_the_tint_follows_the_card(site: SiteData, batch: int, card: str, tint: int) -> None:
    """A job that fits on no card names several GPUs."""
    text = f'| a |\n|---|\n| []({JOB}&batch={batch} "card") |'
    (cell,) = rendered(site, text).iter("td")
    assert (cell.get("class"), "".join(cell.itertext()).partition(" GiB ")[2]) == (f"fits fits-{tint}", card)
