"""The line below a page's title: dates of runs and evidence, and stale claims."""

import json
from pathlib import Path
from re import findall, search

import markdown
import pytest

from headroom.io import git_history
from headroom.site.markdown_extension import HeadroomExtension
from headroom.site.site_data import PageContext, SiteData

FENCE = '```python\n--8<-- "snippets/training/clever.py:enable"\n```\n'
CLAIM = "It [is so](claim:training.memory)."
FIGURE = "By [](claim:training.time#ratio@cpu)."
RAN = "Code last run 21 November 2026 on a CPU."
MEASURED = "Evidence measured 20 November 2026."
WITH = "With torch 2.13.0."


def rendered(site: SiteData, *text: str, hardware: str = "cpu") -> str:
    """Return a page with a title about one class."""
    ours = HeadroomExtension(site=site, page=lambda: PageContext("training/guide.md", (hardware,)))
    snippets = {"base_path": [str(site.tree.root)], "check_paths": True, "dedent_subsections": True}
    body = "\n\n".join(["# Title", "First sentence.", *text])
    extensions = ["pymdownx.superfences", "pymdownx.snippets", ours]
    return markdown.markdown(body, extensions=extensions, extension_configs={"pymdownx.snippets": snippets})


def line(html: str) -> str:
    """Return the line below the title, or nothing."""
    found = search(r'^<h1>Title</h1>\s*<p class="verified" data-search-exclude="">(.*?)</p>', html)
    return found[1].replace("\u00a0", " ") if found else ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ([FENCE], f"{RAN} {WITH}"),
        ([CLAIM], f"{MEASURED} {WITH}"),
        ([FIGURE], f"{MEASURED} {WITH}"),
        ([FENCE, CLAIM, CLAIM, FIGURE], f"{RAN} {MEASURED} {WITH}"),
        (["[A fact](fact:h200.memory) proves no run."], ""),
        (["Nothing of ours."], ""),
        (["It [is so](claim:training.cited)."], ""),
    ],
)
def test_the_line_gives_dates_and_versions_of_the_pages_snippets_and_claims(
    site: SiteData, text: list[str], says: str
) -> None:
    assert line(rendered(site, *text)) == says


def test_snippets_changed_since_their_last_run_are_counted(own_root: Path) -> None:
    on_gpu = FENCE.replace("clever.py:enable", "on_gpu.py")
    data = SiteData.load(own_root)
    assert line(rendered(data, FENCE, on_gpu)) == f"{RAN} Not run in this form: 1 of 2 scripts. {WITH}"
    path = own_root / "snippets/training/clever.py"
    path.write_text(path.read_text() + "# changed\n")
    assert line(rendered(SiteData.load(own_root), FENCE)) == "Not run in this form: 1 of 1 scripts."


def test_only_evidence_for_the_pages_hardware_is_dated(site: SiteData) -> None:
    """Bytes counted on a CPU carry over to a GPU's page; times do not."""
    assert line(rendered(site, CLAIM, hardware="h200")) == f"{MEASURED} {WITH}"
    assert line(rendered(site, "It [is so](claim:training.time).", hardware="h200")) == ""


def test_several_days_and_versions_are_a_range(own_root: Path) -> None:
    """Versions sort by number, not by letter."""
    path = own_root / "checks/runs/training/clever/cpu.json"
    record = json.loads(path.read_text())
    record["versions"] |= {"torch": "2.9.1+cu130"}
    gpu = record | {"hardware_class": "h200", "date": "2026-11-19", "device": "NVIDIA H200"}
    other = own_root / "snippets/training/on_gpu.py"
    gpu |= {"snippet": "training/on_gpu", "sha256": SiteData.load(own_root).tree.snippets["training/on_gpu"].sha256}
    place = own_root / "checks/runs/training/on_gpu/h200.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(gpu))
    assert other.exists()
    data = SiteData.load(own_root)
    assert not data.tree.problems
    text = line(rendered(data, FENCE, FENCE.replace("clever.py:enable", "on_gpu.py")))
    assert text == "Code last run 19 November 2026 to 21 November 2026 on a CPU and a GPU. With torch 2.9.1 to 2.13.0."


def test_stale_evidence_is_listed_and_folded(own_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The day of the last commit decides."""
    assert "stale" not in rendered(SiteData.load(own_root), CLAIM)
    monkeypatch.setattr(git_history, "last_commit_day", lambda _: "2029-01-01")
    html = rendered(SiteData.load(own_root), CLAIM, "And [this](claim:training.cited).")
    (banner,) = findall(r'<details class="stale" data-search-exclude="">.*?</details>', html)
    assert "<summary>Stale: the evidence of 1 of the 1 measured claims here</summary>" in banner
    assert findall(r'href="([^"]+)"', banner) == ["../claims/training/memory.md"]


def test_a_page_without_a_title_has_no_line(site: SiteData) -> None:
    ours = HeadroomExtension(site=site, page=lambda: PageContext("training/guide.md", ("cpu",)))
    assert "verified" not in markdown.markdown(CLAIM, extensions=[ours])
