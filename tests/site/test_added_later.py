"""A new guide, method and claim appear everywhere on the site by their own files alone."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from built_sites import build

ANSWERS = {"problems": ["out-of-memory"], "jobs": ["fine-tuning"], "hardware": ["cpu"]}
GUIDE: dict[str, Any] = {
    "title": "A late guide",
    "description": "What was written last.",
    "type": "guide",
    "hardware": ["cpu"],
    "answers": ANSWERS,
    "was": {"top": ["late_guide"]},
}
METHOD = {
    "id": "latest",
    "name": "The latest trick",
    "aliases": ["late_trick=True"],
    "symptoms": ["Too late to allocate"],
    "was": ["late_guide#trick"],
    "section": "training/late.md#late-trick",
    "claims": {"memory": ["training.late"]},
    "answers": ANSWERS,
}
TEXT = "# A late guide\n\n## The latest trick {#late-trick}\n\nIt [saves memory](claim:training.late).\n"
PLACES = {
    "the list that the start page leads to": ("find/out-of-memory-fine-tuning-cpu.html", "The latest trick"),
    "its guides": ("find/out-of-memory-fine-tuning-cpu.html", "A late guide"),
    "the choices of the start page": ("index.html", "find/out-of-memory-fine-tuning-cpu.html"),
    "the symptoms": ("find/symptoms.html", "Too late to allocate"),
    "the table of methods": ("methods.html", "The latest trick"),
    "the old address": ("late_guide.html", "training/late.html"),
    "its anchor": ("late_guide.html", "late-trick"),
    "the list of claims": ("claims/index.html", "training/late.html"),
    "its page as Markdown": ("training/late.md", "[saves memory]("),
    "what language models read first": ("llms.txt", "A late guide"),
    "the data": ("claims.json", "training.late"),
}


@pytest.fixture(scope="module")
def built(site_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the small tree with a new guide, method and claim."""
    root = Path(shutil.copytree(site_root, tmp_path_factory.mktemp("added") / "tree"))
    (root / "docs/training/late.md").write_text(f"---\n{yaml.safe_dump(GUIDE)}---\n\n{TEXT}", "utf-8")
    (root / "docs/index.md").write_text("---\ntitle: Start\n---\n\n# Start\n\n[](start:choices)\n", "utf-8")
    (root / "checks/methods").mkdir(exist_ok=True)
    (root / "checks/methods/latest.yml").write_text(yaml.safe_dump(METHOD), "utf-8")
    claim = yaml.safe_load((root / "checks/registry/training/memory.yml").read_text("utf-8"))
    added = {**claim, "id": "training.late", "method": "latest", "guide": "training/late.md"}
    (root / "checks/registry/training/late.yml").write_text(yaml.safe_dump(added), "utf-8")
    config = root / "mkdocs.yml"
    nav = "nav: [index.md, training/guide.md, training/late.md, claims/index.md]"
    config.write_text(config.read_text("utf-8").partition("\nnav:")[0] + f"\n{nav}\n", "utf-8")
    out = tmp_path_factory.mktemp("site")
    done = build(root, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("place", PLACES)
def test_new_content_appears_in_every_list(built: Path, place: str) -> None:
    path, words = PLACES[place]
    assert words in (built / path).read_text("utf-8")


def test_search_finds_a_new_method_by_its_aliases(built: Path) -> None:
    index = json.loads((built / "search/search_index.json").read_text("utf-8"))
    (entry,) = [each for each in index["docs"] if each["location"] == "training/late.html#late-trick"]
    assert "late_trick=True" in json.dumps(entry)
    assert "Too late to allocate" in json.dumps(entry)
