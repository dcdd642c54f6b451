"""What each session made of a claim, and the page and the feed that tell of changes."""

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


def argued(root: Path, said: str) -> SiteData:
    """A tree where a claim has one session a day: `S` supports it, `R` reverses it."""
    return SiteData.load(write_tree(root / said, [CLAIM], sessions(said)))


def told(site: SiteData, name: str = CLAIM.id) -> list[tuple[str, str, str]]:
    """What was said after each session, and why."""
    return [(event.day, event.after, event.why) for event in verdict_history.events(site.tree.claims[name], site)]


@pytest.mark.parametrize(
    ("sides", "states"),
    [
        ("SS", ["supported", "supported"]),
        ("SRRRR", ["supported", "disputed", "disputed", "contradicted", "contradicted"]),
        ("RiS", ["contradicted", "inconclusive", "disputed"]),
    ],
)
def test_each_day_has_the_verdict_that_a_page_showed_then(tmp_path: Path, sides: str, states: list[str]) -> None:
    """Recomputed from the sessions up to it: whatever came later changes nothing of what was."""
    found = told(argued(tmp_path, sides))
    assert [state for _, state, _ in found] == states
    for count in range(1, len(sides)):
        before = argued(tmp_path, sides[:count])
        assert told(before) == found[:count]
        assert before.board.of(CLAIM, "cpu").status == states[count - 1]


def test_the_reason_of_a_change_is_told(tmp_path: Path) -> None:
    """And that of what is no change."""
    assert [why for _, _, why in told(argued(tmp_path, "SSRRRi"))] == [
        "first evidence",
        "confirmed",
        "new evidence contradicts an older session",
        "still open",
        "the dispute is settled",
        "new evidence",
    ]


def retired(site: SiteData, name: str, **more: str) -> SiteData:
    """The same, where a claim is no longer made."""
    claim = site.tree.claims[name]
    given_up = claim.model_copy(update={"retired": Retirement(since="2026-11-21", why="it was vague", **more)})
    return replace(site, tree=replace(site.tree, claims={**site.tree.claims, name: given_up}))


def test_a_retirement_ends_the_history(site: SiteData) -> None:
    """With why, and with what took its place."""
    found = told(retired(site, "training.time", superseded_by="training.memory"), "training.time")
    assert found == [
        ("2026-11-20", "supported", "first evidence"),
        ("2026-11-21", "retired", "it was vague; superseded by training.memory"),
    ]


def test_what_no_longer_counts_is_told_and_changes_nothing(site: SiteData) -> None:
    """A session of a benchmark that has changed since."""
    changed = replace(site.tree, benchmarks={**site.tree.benchmarks, "timed": "0" * 64})
    found = told(replace(site, tree=changed, board=judge_all(changed)), "training.time")
    assert found == [("2026-11-20", "unmeasured", "not counted: its benchmark has changed since")]


def section(site: SiteData) -> str:
    """The section of the claim's page."""
    return "\n".join(verdict_history.section(CLAIM, site, PageContext("claims/training/x.md")))


def test_a_long_history_is_folded_and_says_when_the_verdict_last_changed(tmp_path: Path) -> None:
    """Nobody reads sixty rows to learn that nothing happened."""
    assert "???" not in section(argued(tmp_path, "SR"))
    folded = section(argued(tmp_path, "RiSSSSSSS"))
    assert '??? note "9 entries; the verdict last changed on 5\u00a0October\u00a02026"' in folded
    assert folded.count("    | ") == 2 + 9


class TestFeed:
    """feed.xml."""

    @staticmethod
    def of(site: SiteData) -> ET.Element:
        """The feed, parsed."""
        return ET.fromstring(feed.atom(site, feed.changes(site), "Headroom"))  # noqa: S314 - our own

    def test_has_what_atom_asks_for(self, site: SiteData) -> None:
        """Of a feed and of each entry: one id, title and date, an author, and one link to a page (RFC 4287)."""
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
        """Whatever is added after it, and wherever the site is published: a reader sees it once."""

        def entries(site: SiteData) -> dict[str, str]:
            return {
                entry.findtext(f"{ATOM}id", ""): entry.findtext(f"{ATOM}updated", "")
                for entry in self.of(site).findall(f"{ATOM}entry")
            }

        before, after = entries(argued(tmp_path, "SR")), entries(argued(tmp_path, "SRRR"))
        assert before.items() < after.items()
        assert entries(replace(site, address="https://a.example/b/")) == entries(site)

    def test_addresses_are_whole_where_the_site_is_known(self, site: SiteData) -> None:
        """By a base for all of them, and a link to itself."""
        found = self.of(replace(site, address="https://a.example/b/"))
        assert found.get("{http://www.w3.org/XML/1998/namespace}base") == "https://a.example/b/"
        assert "https://a.example/b/feed.xml" in [link.get("href") for link in found.findall(f"{ATOM}link")]

    def test_nothing_measured_is_an_empty_feed(self, site: SiteData) -> None:
        """With a date all the same, which is the same every time."""
        found = ET.fromstring(feed.atom(site, [], "Headroom"))  # noqa: S314 - our own
        assert found.findtext(f"{ATOM}updated") == "1970-01-01T00:00:00Z"
        assert "No verdict has changed yet." in feed.page(site, [])
        assert "Nothing has been measured yet." in feed.page(site, [])


def test_the_page_tells_changes_before_first_measurements(tmp_path: Path) -> None:
    """Each with its claim; what merely confirms is left out."""
    found = argued(tmp_path, "SSR")
    page = feed.page(found, feed.changes(found))
    changed, _, fresh = page.partition("## Measured for the first time")
    assert "measured → disputed" in changed
    assert "confirmed" not in page
    assert "](training/" in changed
    assert "](training/" in fresh


def test_a_retired_claim_stands_among_the_changes(site: SiteData) -> None:
    """Also where nobody has ever measured it."""
    for name, before in {"training.unmeasured": "not measured yet", "training.cited": "cited"}.items():
        found = retired(site, name)
        page = feed.page(found, feed.changes(found)).partition("## Measured for the first time")[0]
        assert f"| all | {before} → retired | it was vague |" in page


def test_few_are_shown_and_the_rest_is_counted(site: SiteData, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that neither grows without bound."""
    monkeypatch.setattr(feed, "_ROWS", 2)
    monkeypatch.setattr(feed, "_ENTRIES", 2)
    found = feed.changes(site)
    assert f"{sum(event.first for event in found) - 2} older changes are on the pages of their claims." in feed.page(
        site, found
    )
    assert feed.atom(site, found, "Headroom").count("<entry>") == 2
