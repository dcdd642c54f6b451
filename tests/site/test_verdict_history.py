"""The history of a claim, the page of changes and the feed."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from factories import write_tree
from headroom.records.retirement import Retirement
from headroom.site.claims import verdict_history
from headroom.site.exports import feed
from headroom.site.site_data import PageContext, SiteData
from headroom.verdicts import judge_all
from test_disputes import CLAIM
from test_disputes import history as sessions

ATOM = "{http://www.w3.org/2005/Atom}"


def argued(root: Path, sides: str) -> SiteData:
    """Return a tree with a session per day: `S` supports the claim, `R` reverses it."""
    return SiteData.load(write_tree(root / sides, [CLAIM], sessions(sides)))


def history(site: SiteData, name: str = CLAIM.id) -> list[tuple[str, str, str]]:
    """Return the states before and after each session, and the reasons."""
    return [(event.day, event.after, event.why) for event in verdict_history.events(site.tree.claims[name], site)]


@pytest.mark.parametrize(
    ("sides", "states"),
    [
        ("SS", ["supported", "supported"]),
        ("SRRRR", ["supported", "disputed", "disputed", "contradicted", "contradicted"]),
        ("RiS", ["contradicted", "inconclusive", "disputed"]),
    ],
)
def test_each_day_has_the_verdict_of_the_sessions_until_then(tmp_path: Path, sides: str, states: list[str]) -> None:
    """Later sessions do not change it."""
    found = history(argued(tmp_path, sides))
    assert [state for _, state, _ in found] == states
    for count in range(1, len(sides)):
        before = argued(tmp_path, sides[:count])
        assert history(before) == found[:count]
        assert before.board.of(CLAIM, "cpu").status == states[count - 1]


def test_every_entry_has_a_reason(tmp_path: Path) -> None:
    assert [why for _, _, why in history(argued(tmp_path, "SSRRRi"))] == [
        "first evidence",
        "confirmed",
        "new evidence contradicts an older session",
        "still open",
        "the dispute is settled",
        "new evidence",
    ]


def retired(site: SiteData, name: str, **more: str) -> SiteData:
    """Return the site with this claim retired."""
    claim = site.tree.claims[name]
    given_up = claim.model_copy(update={"retired": Retirement(since="2026-11-21", why="it was vague", **more)})
    return replace(site, tree=replace(site.tree, claims={**site.tree.claims, name: given_up}))


def test_a_retirement_ends_the_history(site: SiteData) -> None:
    found = history(retired(site, "training.time", superseded_by="training.memory"), "training.time")
    assert found == [
        ("2026-11-20", "supported", "first evidence"),
        ("2026-11-21", "retired", "it was vague; superseded by training.memory"),
    ]


def test_a_session_of_a_changed_benchmark_does_not_count(site: SiteData) -> None:
    changed = replace(site.tree, benchmarks={**site.tree.benchmarks, "timed": "0" * 64})
    found = history(replace(site, tree=changed, board=judge_all(changed)), "training.time")
    assert found == [("2026-11-20", "unmeasured", "not counted: its benchmark has changed since")]


def section(site: SiteData) -> str:
    """Return the history section of the claim's page."""
    return "\n".join(verdict_history.section(CLAIM, site, PageContext("claims/training/x.md")))


def test_a_long_history_is_folded_with_the_day_of_the_last_change(tmp_path: Path) -> None:
    assert "???" not in section(argued(tmp_path, "SR"))
    folded = section(argued(tmp_path, "RiSSSSSSS"))
    assert '??? note "9 entries; the verdict last changed on 5\u00a0October\u00a02026"' in folded
    assert folded.count("    | ") == 2 + 9


class TestFeed:
    """feed.xml."""

    @staticmethod
    def of(site: SiteData) -> ET.Element:
        """Return the parsed feed."""
        return ET.fromstring(feed.atom(site, feed.changes(site), "Headroom"))  # noqa: S314 - our own

    def test_feed_and_entries_have_the_fields_required_by_atom(self, site: SiteData) -> None:
        """RFC 4287: one id, title and date, an author, and one link to a page."""
        found = self.of(site)
        assert found.tag == f"{ATOM}feed"
        assert found.findtext(f"{ATOM}author/{ATOM}name")
        entries = found.findall(f"{ATOM}entry")
        assert len(entries) == len(feed.changes(site)) > 5
        for element in (found, *entries):
            for name in ("id", "title", "updated"):
                assert len(element.findall(f"{ATOM}{name}")) == 1
                assert element.findtext(f"{ATOM}{name}")
            assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", element.findtext(f"{ATOM}id", ""))
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", element.findtext(f"{ATOM}updated", ""))
            links = [link.get("href", "") for link in element.findall(f"{ATOM}link") if link.get("rel") == "alternate"]
            assert len(links) == 1
            assert links[0].endswith(".html")
        assert found.findtext(f"{ATOM}updated") == max(entry.findtext(f"{ATOM}updated", "") for entry in entries)

    def test_an_entry_keeps_its_id_and_its_day(self, site: SiteData, tmp_path: Path) -> None:
        """Later entries and the site's address do not change them."""

        def entries(site: SiteData) -> dict[str, str]:
            return {
                entry.findtext(f"{ATOM}id", ""): entry.findtext(f"{ATOM}updated", "")
                for entry in self.of(site).findall(f"{ATOM}entry")
            }

        before, after = entries(argued(tmp_path, "SR")), entries(argued(tmp_path, "SRRR"))
        assert before.items() < after.items()
        assert entries(replace(site, address="https://a.example/b/")) == entries(site)

    def test_addresses_are_absolute_if_the_site_has_an_address(self, site: SiteData) -> None:
        """Check xml:base and the link to itself."""
        found = self.of(replace(site, address="https://a.example/b/"))
        assert found.get("{http://www.w3.org/XML/1998/namespace}base") == "https://a.example/b/"
        assert "https://a.example/b/feed.xml" in [link.get("href") for link in found.findall(f"{ATOM}link")]

    def test_the_feed_is_empty_without_measurements(self, site: SiteData) -> None:
        """Its date is constant."""
        found = ET.fromstring(feed.atom(site, [], "Headroom"))  # noqa: S314 - our own
        assert found.findtext(f"{ATOM}updated") == "1970-01-01T00:00:00Z"
        assert "No verdict has changed yet." in feed.page(site, [])
        assert "Nothing has been measured yet." in feed.page(site, [])


def test_the_page_lists_changes_before_first_measurements(tmp_path: Path) -> None:
    found = argued(tmp_path, "SSR")
    page = feed.page(found, feed.changes(found))
    changed, _, fresh = page.partition("## Measured for the first time")
    assert "measured → disputed" in changed
    assert "confirmed" not in page
    assert "](training/" in changed
    assert "](training/" in fresh


def test_a_retirement_is_listed_among_the_changes(site: SiteData) -> None:
    """The claim may be unmeasured."""
    for name, before in {"training.unmeasured": "not measured yet", "training.cited": "cited"}.items():
        found = retired(site, name)
        page = feed.page(found, feed.changes(found)).partition("## Measured for the first time")[0]
        assert f"| all | {before} → retired | it was vague |" in page


def test_long_lists_are_cut_and_the_rest_is_counted(site: SiteData, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "_ROWS", 2)
    monkeypatch.setattr(feed, "_ENTRIES", 2)
    found = feed.changes(site)
    assert f"{sum(event.first for event in found) - 2} older changes are on the pages of their claims." in feed.page(
        site, found
    )
    assert feed.atom(site, found, "Headroom").count("<entry>") == 2
