"""The age of evidence: by the claim's limits in days and versions, and never by today's date."""

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from factories import (
    BENCHMARK,
    CITED,
    SNIPPET,
    a_claim,
    a_run_record,
    a_session,
    edited,
    load_clean,
    standing,
    write,
    write_tree,
)
from headroom import records
from headroom.cli import main
from headroom.io import git_history
from headroom.records import Evidence, MeasuredClaim
from headroom.records.claims import Freshness
from headroom.verdicts import judge_all
from headroom.verdicts.freshness import STEPS, Age, AgeReference, age
from headroom.verdicts.remeasure import stale_benchmarks
from headroom.verdicts.summary import rows
from test_roofline import a_machine
from test_roofline import keep as keep_machine

CLAIM = a_claim()
DAY = date(2026, 11, 20)
"""The default date of a session."""


def on(evidence: Evidence, **environment: Any) -> Evidence:
    """Return the session with another environment."""
    return edited(evidence, lambda data: data["environment"].update(environment))


def with_versions(**versions: str) -> Evidence:
    """Return a session with these versions, including the driver's."""
    driver = versions.pop("driver", None)
    return on(a_session(CLAIM, blocks=10), versions=versions, driver=driver)


def age_of(session: Evidence, *, days: int = 0, keys: tuple[str, ...] = tuple(STEPS), **newest: str) -> Age:
    """Return the age of a session after so many days, with these newest versions."""
    freshness = Freshness.model_validate({"max_age_days": 100, "keys": keys})
    return age(freshness, session, AgeReference(DAY + timedelta(days), newest))


class TestDays:
    @pytest.mark.parametrize(
        ("days", "word"), [(-5, "fresh"), (0, "fresh"), (80, "fresh"), (81, "ageing"), (100, "ageing"), (101, "stale")]
    )
    def test_evidence_is_ageing_past_four_fifths_of_the_limit_and_stale_past_it(self, days: int, word: str) -> None:
        found = age_of(with_versions(), days=days)
        assert found == Age(word, "" if word == "fresh" else f"{days} days old, limit 100")


class TestVersions:
    @pytest.mark.parametrize(
        ("key", "own", "newest", "word"),
        [
            ("torch", "2.13.0", "2.13.9+cpu", "fresh"),
            ("torch", "2.13.0+cu130", "2.14.0", "fresh"),
            ("torch", "2.13.0", "2.15.0", "ageing"),
            ("torch", "2.13.0", "2.16.0", "ageing"),
            ("torch", "2.13.0", "2.17.0", "stale"),
            ("torch", "2.13.0", "3.0.0", "stale"),
            ("torch", "3.0.0", "2.13.0", "fresh"),
            ("torch", "2.14.0a0+nv26.10", "2.15.0", "fresh"),
            ("transformers", "5.17.0", "5.22.0", "fresh"),
            ("transformers", "5.17.0", "5.23.0", "ageing"),
            ("transformers", "5.11.3", "5.23.0", "stale"),
            ("transformers", "4.57.6", "5.0.0", "stale"),
            ("driver", "580.95.05", "590.44.01", "fresh"),
            ("driver", "580.95.05", "600.1", "ageing"),
            ("driver", "535.1", "580.95.05", "stale"),
            ("driver", "580.1", "580.9", "fresh"),
            ("torch", "unknown", "2.15.0", "fresh"),
            ("torch", "2.13.0", "git", "fresh"),
            ("torch", "9" * 300, "2.15.0", "fresh"),
        ],
    )
    def test_a_version_that_is_behind_ages_the_evidence(self, key: str, own: str, newest: str, word: str) -> None:
        assert age_of(with_versions(**{key: own}), **{key: newest}).word == word

    def test_the_reason_names_both_versions(self) -> None:
        assert age_of(with_versions(torch="2.13.0+cpu"), torch="2.15.1").reason == (
            "torch 2.13.0+cpu is 2 minor versions behind 2.15.1"
        )
        assert (
            age_of(with_versions(torch="2.13.0"), torch="3.1.0").reason
            == "torch 2.13.0 is 1 major version behind 3.1.0"
        )

    def test_only_keys_that_the_claim_names_and_the_session_recorded_count(self) -> None:
        newest = {"driver": "700.1", "torch": "9.0"}
        assert age_of(with_versions(driver="500.1"), keys=("benchmark", "transformers"), **newest).word == "fresh"
        assert age_of(with_versions(), keys=("driver", "torch"), **newest).word == "fresh"
        assert age_of(with_versions(driver="500.1"), keys=("driver",), **newest).word == "stale"

    def test_the_oldest_word_wins_and_all_its_reasons_are_named(self) -> None:
        session = with_versions(torch="2.13.0", transformers="5.0.0")
        assert age_of(session, days=101, torch="2.15.0", transformers="5.30.0") == Age(
            "stale", "101 days old, limit 100; transformers 5.0.0 is 30 minor versions behind 5.30.0"
        )


class TestAgeReference:
    def test_the_newest_versions_are_releases_of_any_session_or_run(self, tmp_path: Path) -> None:
        sessions = [with_versions(torch="2.9.0", driver="580.95"), with_versions(torch="2.16.0.dev20261101")]
        root = write_tree(tmp_path, [CLAIM], sessions)
        assert AgeReference.of(load_clean(root)).newest == {"torch": "2.9.0", "driver": "580.95"}
        write(root / "snippets/training/clever.py", SNIPPET)
        versions = {"torch": "2.10.0+cpu", "transformers": "5.23.0rc1"}
        write(root / "checks/runs/training/clever/cpu.json", a_run_record(versions=versions))
        assert AgeReference.of(load_clean(root)).newest == {"torch": "2.10.0+cpu", "driver": "580.95"}

    def test_outside_git_the_newest_date_of_a_record_counts(self, tmp_path: Path) -> None:
        assert AgeReference.of(load_clean(write_tree(tmp_path, [CLAIM]))).day == date(1970, 1, 1)
        write_tree(tmp_path, [CLAIM], [a_session(CLAIM, blocks=10)])
        assert AgeReference.of(load_clean(tmp_path)).day == DAY
        write(tmp_path / "snippets/training/clever.py", SNIPPET)
        write(tmp_path / "checks/runs/training/clever/cpu.json", a_run_record(date="2026-11-21"))
        assert AgeReference.of(load_clean(tmp_path)).day == date(2026, 11, 21)
        cited = {**CITED, "source": {**CITED["source"], "retrieved": "2026-11-22"}}
        write(tmp_path / "checks/registry/training/cited.yml", yaml.safe_dump(cited, allow_unicode=True))
        assert AgeReference.of(load_clean(tmp_path)).day == date(2026, 11, 22)
        source = {"title": "a", "url": "https://example.org", "locator": "b", "retrieved": "2026-11-23"}
        figure = {"value": 1, "unit": "GB", "source": "s"}
        sheet = {"id": "sheet", "title": "A", "sources": {"s": source}, "figures": {"memory": figure}}
        write(tmp_path / "checks/facts/sheet.yml", yaml.safe_dump(sheet))
        assert AgeReference.of(load_clean(tmp_path)).day == date(2026, 11, 23)
        write_tree(tmp_path, [CLAIM, a_claim("training.old", retired={"since": "2026-11-24", "why": "wrong"})])
        assert AgeReference.of(load_clean(tmp_path)).day == date(2026, 11, 24)
        keep_machine(tmp_path, a_machine(date="2026-11-25"))
        assert AgeReference.of(load_clean(tmp_path)).day == date(2026, 11, 25)

    def test_in_a_repository_the_day_of_the_last_commit_counts(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(git_history, "last_commit_day", lambda root: "2031-01-01" if root == tmp_path else None)
        root = write_tree(tmp_path, [CLAIM], [a_session(CLAIM, blocks=10)])
        assert AgeReference.of(load_clean(root)).day == date(2031, 1, 1)


def aged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *claims: MeasuredClaim, **changes: Any) -> Path:
    """Return a tree whose evidence is five years old."""
    monkeypatch.setattr(git_history, "last_commit_day", lambda _: "2031-11-20")
    return write_tree(tmp_path, claims or [CLAIM], [a_session(CLAIM, **changes)])


class TestStanding:
    def test_stale_evidence_keeps_its_verdict(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        found = standing(aged(tmp_path, monkeypatch), CLAIM)
        assert found.age == Age("stale", "1826 days old, limit 365")
        assert (found.status, found.reason) == ("supported", "clear")
        assert found.session is not None
        assert found.session.head.date == "2026-11-20"

    def test_check_prints_the_same_for_fresh_and_for_old_evidence(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        root = write_tree(tmp_path, [CLAIM], [a_session(CLAIM)])
        outputs = set()
        for day in ("2026-11-20", "2031-11-20", "2099-01-01"):
            monkeypatch.setattr(git_history, "last_commit_day", lambda _, day=day: day)
            main(["check", "--root", str(root)])
            outputs.add(capsys.readouterr().out)
        assert len(outputs) == 1

    def test_a_session_of_a_changed_benchmark_is_void(self, tmp_path: Path) -> None:
        changed = BENCHMARK.replace("1.0", "2.0")
        root = write_tree(tmp_path, [CLAIM], [a_session(CLAIM)], benchmarks={"made_up": changed})
        found = standing(root, CLAIM)
        assert (found.status, found.age) == ("unmeasured", Age("void", "its benchmark has changed"))

    def test_an_unmeasured_claim_has_no_age(self, tmp_path: Path) -> None:
        assert standing(write_tree(tmp_path, [CLAIM]), CLAIM).age is None

    def test_the_age_is_that_of_the_newest_session(self, tmp_path: Path) -> None:
        sessions = [a_session(CLAIM, date="2016-01-01"), a_session(CLAIM)]
        assert standing(write_tree(tmp_path, [CLAIM], sessions), CLAIM).age == Age("fresh", "")

    def test_a_row_ends_with_the_age_and_its_reason(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tree = load_clean(aged(tmp_path, monkeypatch, CLAIM, a_claim("training.never", benchmark="never")))
        first, never = rows(tree, judge_all(tree))
        assert str(first).endswith("20 blocks, stale (1826 days old, limit 365)")
        assert str(never) == "training.never on cpu: unmeasured (no evidence yet)"


class TestStaleBenchmarks:
    def test_stale_claims_are_listed_by_benchmark_and_retired_ones_are_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = {"since": "2026-11-24", "why": "wrong"}
        others = [
            a_claim("training.too"),
            a_claim("training.gone", retired=gone),
            a_claim("training.other", benchmark="b"),
        ]
        patient = a_claim("training.patient", freshness={"max_age_days": 1100, "keys": []})
        tree = load_clean(aged(tmp_path, monkeypatch, CLAIM, *others, patient, date="2029-11-19"))
        (found,) = stale_benchmarks(tree, judge_all(tree))
        assert (found.benchmark, found.hardware_class) == ("made_up", "cpu")
        assert found.claims == (CLAIM.id, "training.too")
        assert str(found) == "made_up on cpu, for 2 claims: stale, 731 days old, limit 365"
        assert list(stale_benchmarks(tree, judge_all(tree), "h200")) == []

    def test_a_changed_benchmark_is_listed(self, tmp_path: Path) -> None:
        changed = BENCHMARK.replace("1.0", "2.0")
        tree = load_clean(write_tree(tmp_path, [CLAIM], [a_session(CLAIM)], benchmarks={"made_up": changed}))
        (found,) = stale_benchmarks(tree, judge_all(tree))
        assert str(found) == "made_up on cpu, for 1 claim: void, its benchmark has changed"


class TestCommand:
    """`headroom verdict --stale`."""

    def test_names_go_to_stdout_and_reasons_to_stderr(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """So that a script can use the names."""
        root = str(aged(tmp_path, monkeypatch))
        assert main(["verdict", "--stale", "--root", root]) == 0
        printed = capsys.readouterr()
        assert printed.out == "made_up\n"
        assert printed.err == "headroom: made_up on cpu, for 1 claim: stale, 1826 days old, limit 365\n"
        assert main(["verdict", "--stale", "--json", "--on", "cpu", "--root", root]) == 0
        (row,) = json.loads(capsys.readouterr().out)
        assert row == {
            "benchmark": "made_up",
            "hardware_class": "cpu",
            "claims": [CLAIM.id],
            "reasons": ["stale, 1826 days old, limit 365"],
        }

    def test_other_classes_and_claims_have_nothing_stale(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        root = str(aged(tmp_path, monkeypatch, CLAIM, a_claim("training.other", benchmark="b")))
        for words in (["--on", "h200"], ["training.other"]):
            assert main(["verdict", "--stale", *words, "--root", root]) == 0
            printed = capsys.readouterr()
            assert (printed.out, printed.err) == ("", "headroom: nothing is stale\n")

    def test_an_unknown_class_is_a_usage_error(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["verdict", "--on", "h300", "--root", str(write_tree(tmp_path, [CLAIM]))]) == 2
        assert "no hardware class `h300`; use `here` or one of: cpu, h200" in capsys.readouterr().err

    def test_here_is_the_class_of_this_machine(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A machine without a class is a usage error."""
        from headroom import environment  # noqa: PLC0415 - what is asked about the machine is put in its place

        root = str(aged(tmp_path, monkeypatch))
        machine = load_clean(Path(root)).sessions[0].head.environment
        monkeypatch.setattr(environment, "observe", lambda **_: machine)
        assert main(["verdict", "--stale", "--on", "here", "--root", root]) == 0
        assert capsys.readouterr().out == "made_up\n"
        monkeypatch.setattr(environment, "observe", lambda **_: machine.model_copy(update={"threads": 3}))
        assert main(["verdict", "--stale", "--on", "here", "--root", root]) == 2
        assert "no hardware class" in capsys.readouterr().err

    def test_on_restricts_rows_to_a_class(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        claim = a_claim(scope={"fixed": {}, "hardware": ["cpu", "h200"]})
        assert main(["verdict", "--on", "h200", "--root", str(write_tree(tmp_path, [claim]))]) == 0
        assert capsys.readouterr().out == f"{CLAIM.id} on h200: unmeasured (no evidence yet)\n"


def test_packages_that_judge_or_show_do_not_read_the_clock() -> None:
    package = Path(records.__file__).parents[1]
    names = ("records", "verdicts", "prose", "rules", "site")
    for path in sorted(path for name in names for path in (package / name).rglob("*.py")):
        text = path.read_text("utf-8")
        assert not any(word in text for word in (".now(", ".today(", "time.time", "monotonic(", "gmtime(")), path
