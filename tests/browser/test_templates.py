"""Every kind of page in every width and scheme, by HTTP and from the file system."""

from pathlib import Path

import pytest

from page_visits import JUDGED, SCHEMES, Visit
from templates import representatives

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MAX_TRANSFERRED_BYTES, MAX_REQUESTS = 150_000, 16  # the calculator of memory is five files


def test_every_kind_of_page_is_visited(visits: dict[str, Visit]) -> None:
    """Expect at least the kinds listed here."""
    claims = {f"{kind} claim" for kind in ("measured", "measured swept", "measured retired", "cited", "modelled")}
    others = {"index", "404", "training/", "training/ hub", "training/*/", "concepts/", "notebook", "contribute/"}
    assert claims | others | {"claims/index", "claims/hardware", "claims/harness"} <= set(visits)
    states = {f"{width} {scheme}" for width, scheme in JUDGED}
    assert all(set(seen.violations) == states for seen in visits.values())


def test_a_kind_is_found_by_its_folder(tmp_path: Path) -> None:
    """The largest page represents it; redirects do not count."""
    pages = {
        "index.html": "x",
        "moved.html": '<meta http-equiv="refresh" content="0; url=index.html">',
        "find.html": "x",
        "find/index.html": "x",
        "find/memory.html": "x",
        "find/time.html": "longer",
        "find/space.html": "the longest",
        "find/space/one.html": "x",
        "find/time/one.html": "longer",
        "claims/all.html": "x",
        "claims/more.html": "x",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "claims.json").write_text('{"claims": []}', "utf-8")
    found = {kind: path.relative_to(tmp_path).as_posix() for kind, path in representatives(tmp_path).items()}
    assert found == {
        "index": "index.html",
        "find": "find.html",
        "find/index": "find/index.html",
        "find/": "find/memory.html",
        "find/ hub": "find/space.html",
        "find/*/": "find/time/one.html",
        "claims/all": "claims/all.html",
        "claims/more": "claims/more.html",
    }


def test_axe_finds_nothing(visits: dict[str, Visit]) -> None:
    """Check WCAG 2.0 to 2.2, A and AA, and best practices, with all folds open."""
    assert {
        f"{kind}, {state}": found for kind, seen in visits.items() for state, found in seen.violations.items() if found
    } == {}


def test_no_page_requests_another_host(visits: dict[str, Visit], opened: dict[str, Visit]) -> None:
    assert {
        kind: seen.external_requests for kind, seen in [*visits.items(), *opened.items()] if seen.external_requests
    } == {}


def test_no_page_logs_to_the_console(visits: dict[str, Visit], opened: dict[str, Visit]) -> None:
    """The 404 page's own failed request is allowed."""
    noise = {kind: seen.noise for kind, seen in [*visits.items(), *opened.items()] if seen.noise}
    assert set(noise) <= {"404"}
    assert all("status of 404" in message for message in noise.get("404", ()))
    assert len(noise.get("404", ())) <= 1


def test_every_page_is_small(visits: dict[str, Visit]) -> None:
    """Count the compressed bytes of a first visit."""
    heavy = {
        kind: (seen.transferred, seen.requests)
        for kind, seen in visits.items()
        if not 10_000 < seen.transferred <= MAX_TRANSFERRED_BYTES or not 2 < len(seen.requests) <= MAX_REQUESTS
    }
    assert heavy == {}


def test_a_notebook_loads_nothing_of_jupyter(visits: dict[str, Visit]) -> None:
    usual = {url for kind in ("training/*/", "concepts/") for url in visits[kind].requests}
    (own,) = (url for url in visits["notebook"].requests if url not in usual)
    assert own.endswith(".html")


def test_no_page_scrolls_sideways(visits: dict[str, Visit], opened: dict[str, Visit]) -> None:
    """Check a phone, and 1280 pixels at 200 and 400 %."""
    wide = {
        kind: {width: found for width, found in seen.widths.items() if found > width}
        for kind, seen in [*visits.items(), *opened.items()]
    }
    assert {kind: found for kind, found in wide.items() if found} == {}
    assert all(len(seen.widths) == 4 for seen in visits.values())


def test_colours_follow_the_system(visits: dict[str, Visit], opened: dict[str, Visit]) -> None:
    """They also change while a page is open."""
    for seen in [*visits.values(), *opened.values()]:
        assert seen.follows == dict.fromkeys(SCHEMES, True)


def test_every_page_has_its_own_description(visits: dict[str, Visit]) -> None:
    """Search engines show it."""
    descriptions = {kind: seen.description for kind, seen in visits.items() if kind != "404"}
    assert min(len(text) for text in descriptions.values()) > 10
    assert len(set(descriptions.values())) == len(descriptions)
