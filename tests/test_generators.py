"""The site hangs neither on one generator nor on one run: another one makes the same bytes of the same tree."""

import importlib.util
import os
import re
from pathlib import Path

import pytest

from built_sites import build, built_once

pytestmark = [pytest.mark.slow, pytest.mark.deep]

ROOT = Path(__file__).parents[1]
GENERATOR = re.compile(rb'<meta name="generator" content="[^"]*">')


def files(site: Path) -> dict[str, bytes]:
    """Every file of a built site, without what each page says of its generator."""
    found = (path for path in site.rglob("*") if path.is_file())
    return {path.relative_to(site).as_posix(): GENERATOR.sub(b"", path.read_bytes()) for path in found}


def test_properdocs_builds_the_same_bytes(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every page and file of the real site, in another process, with other hashes, in another folder."""
    if importlib.util.find_spec("properdocs") is None:
        reason = "no properdocs: `make .venv/tests` installs it"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    site = files(built_once("site", lambda: ROOT, tmp_path_factory))
    done = build(ROOT, tmp_path / "other", "properdocs", PYTHONHASHSEED="7", DISABLE_MKDOCS_2_WARNING="true")
    assert done.returncode == 0, done.stderr
    other = files(tmp_path / "other")
    assert len(site) > 100
    assert set(site) == set(other)
    assert [name for name in site if site[name] != other[name]] == []
    assert b"ProperDocs" in (tmp_path / "other/index.html").read_bytes()
