"""The records of accelerators, what reads them, and their tables on a page."""

from pathlib import Path

import pytest

from headroom import records
from headroom.memory.fixed_costs import usable_shares
from headroom.memory.sizes import card_bytes, card_memory
from headroom.records.accelerators import Memory, Rate
from headroom.records.cards import read_cards
from headroom.records.tree import Tree
from headroom.site.accelerator_tables import SCHEME, with_tables
from headroom.site.site_data import SiteData

ROOT = Path(__file__).parents[2]
CLEAN = ROOT / "tests" / "rule_cases" / "clean"
OWNED = {"rtx-3090", "rtx-4090", "rtx-5090", "t4", "l4", "l40s", "a10"}
RENTED = {"a100-sxm-80gb", "h100-sxm", "h200-sxm", "b200", "gb200", "mi300x", "tpu-v5e", "trainium-2"}


@pytest.fixture(scope="module")
def tree() -> Tree:
    """Return the project's own records."""
    return records.load(ROOT)


@pytest.fixture(scope="module")
def clean() -> SiteData:
    """Return the data of the clean tree."""
    return SiteData.load(CLEAN)


class TestRecords:
    """The files of checks/facts/accelerators/."""

    def test_there_are_enough_accelerators_and_cells(self, tree: Tree) -> None:
        found = {name: each for family in tree.families.values() for name, each in family.accelerators.items()}
        assert len(found) >= 40
        assert sum(len([*each.cells()]) for each in found.values()) >= 450
        assert found.keys() >= OWNED | RENTED

    def test_every_name_of_a_card_has_the_memory_of_its_accelerator(self, tree: Tree) -> None:
        """One device of an MI250X has half of the package."""
        listed = tree.cards.listed.cards
        assert tree.cards.cards.keys() == listed.keys()
        known = {name: each for family in tree.families.values() for name, each in family.accelerators.items()}
        for name, card in tree.cards.cards.items():
            accelerator = known[listed[name].accelerator]
            assert isinstance(accelerator.memory, Memory)
            assert card.printed.value * accelerator.devices == accelerator.memory.value
            assert card.reported == accelerator.reported
            assert card.usable == accelerator.usable
        assert tree.cards.cards["mi250x"].printed.value == 64

    def test_the_estimator_takes_what_a_program_can_use_of_a_card(self) -> None:
        """The recorded figure, else the share of an RTX 4090 of what the driver reports, else of the printed size."""
        share = usable_shares(ROOT)
        assert card_bytes("RTX 4090", ROOT) == int(23.53 * 2**30)
        assert card_bytes("L4", ROOT) == int(23034 * 2**20 * share[1])
        assert card_bytes("B200", ROOT) == card_bytes("180GB", ROOT) == int(180 * 2**30 * share[0])
        bases = [card_memory(each, ROOT).basis for each in ("RTX 4090", "L4", "B200", "23GiB")]
        assert [*map(bool, bases)] == [True] * 4
        assert len({*bases}) == 4

    def test_cards_follow_a_changed_file(self, tmp_path: Path) -> None:
        """Cards are cached by the times and sizes of their files."""
        facts = tmp_path / "checks/facts"
        (facts / "accelerators").mkdir(parents=True)
        for name in ("cards.yml", "accelerators/made-up.yml"):
            (facts / name).write_bytes((CLEAN / "checks/facts" / name).read_bytes())
        assert read_cards(tmp_path).cards["made-up"].printed.value == 24
        text = (facts / "accelerators/made-up.yml").read_text("utf-8")
        (facts / "accelerators/made-up.yml").write_text(
            text.replace("{value: 24, unit: GB", "{value: 240, unit: GB"), "utf-8"
        )
        assert read_cards(tmp_path).cards["made-up"].printed.value == 240

    def test_the_roofline_of_a_gpu_class_is_its_accelerators_fastest_rate(self, tree: Tree) -> None:
        """A slower format than the fastest would refuse sessions that are real."""
        classes = [known for known in tree.classes.values() if known.device == "cuda"]
        assert classes
        for known in classes:
            assert known.peak is not None
            (found,) = [
                f.accelerators[known.peak.accelerator]
                for f in tree.families.values()
                if known.peak.accelerator in f.accelerators
            ]
            rates = [rate.value for name, rate in found.peaks.items() if isinstance(rate, Rate) and name != "int8"]
            assert known.roofline == max(float(rate) for rate in rates if rate != "unknown") * 1e12

    def test_a_fact_link_names_a_cell(self, tree: Tree) -> None:
        sheet = tree.sheet("h100-sxm")
        assert sheet is not None
        shown = {name: (figure.value, figure.unit) for name, figure in sheet.figures.items()}
        assert shown["memory"] == (80, "GB")
        assert shown["reported"] == (81559, "MiB")
        assert (shown["link_one_direction"][0], shown["link"][0]) == (450, 900)
        assert shown["bf16_sparse"][0] == pytest.approx(2 * shown["bf16"][0], rel=0.01)
        assert shown["achieved_bf16"][0] < shown["bf16"][0]


class TestTables:
    """What stands on the page."""

    def test_all_has_a_row_each_with_sources(self, clean: SiteData) -> None:
        """The largest memory comes first, and a figure with low confidence has a question mark."""
        text = "\n".join(with_tables([f"[]({SCHEME}all)"], clean))
        rows = [row for row in text.splitlines() if row.startswith("| <span")]
        assert ["made-pair" in rows[0], "made-card" in rows[1]] == [True, True]
        assert 'data-memory="128"' in rows[0]
        assert (
            'href="https://example.org/sheet" title="A made-up data sheet, made up; confidence high">989</a>' in rows[1]
        )
        assert ">none</a>" in rows[0]
        assert "| – |" in rows[0]

    def test_low_confidence_has_a_question_mark(self, clean: SiteData) -> None:
        family = clean.tree.families["made-up"]
        pair = family.accelerators["made-pair"]
        text = "\n".join(with_tables([f"[]({SCHEME}all)"], clean))
        assert pair.device_bf16 is not None
        assert pair.device_bf16.confidence == "low"
        assert "</a>?" not in text  # no shown cell of the clean tree is of low confidence
        own = "\n".join(with_tables([f"[]({SCHEME}all)"], SiteData.load(ROOT)))
        assert "confidence low" in own
        assert own.count("</a>?") == own.count("confidence low")

    def test_achieved_stands_with_the_peak_and_the_share(self, clean: SiteData) -> None:
        (row,) = [row for row in with_tables([f"[]({SCHEME}achieved)"], clean) if "794" in row]
        assert row.endswith("| 989 | 80% |")

    def test_exceptions_and_notes_are_listed(self, clean: SiteData) -> None:
        text = "\n".join(with_tables([f"[]({SCHEME}exceptions)", f"[]({SCHEME}notes)"], clean))
        assert "int8&#45;double" in text or "int8-double" in text
        assert "Some lists count one device of it." in text

    def test_an_unknown_table_is_an_error(self, clean: SiteData) -> None:
        assert with_tables(["text"], clean) == ["text"]
        with pytest.raises(LookupError, match="known are all, achieved, exceptions, notes"):
            with_tables([f"[]({SCHEME}nothing)"], clean)
