"""The cache of `headroom check`: whatever happens to it, what is found is what is found without one."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from headroom import cache as module
from headroom import rules
from headroom.cache import Cache
from headroom.cli import main
from headroom.files import _read, sha256
from headroom.records import Evidence
from headroom.verdicts import Standing
from headroom.verdicts.summary import rows

CLEAN = Path(__file__).parent / "rule_cases" / "clean"
SEAL = "headroom/seal"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for the user's secret."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clean tree to change."""
    return Path(shutil.copytree(CLEAN, tmp_path / "tree"))


def heard(standing: Standing) -> list[str]:
    """The sessions of a claim on a class, and what each says."""
    newest = [(standing.session.path, repr(standing.verdict))] if standing.session else []
    others = [(session.path, repr(verdict)) for session, verdict in standing.others]
    return [*map(str, [*newest, *others]), *(session.path for session in standing.void)]


def found(root: Path, cache: Cache) -> str:
    """All that is found in a tree: every problem and session, and every verdict with its figures and its samples."""
    context = rules.Context.of(root, cache)
    sessions = [
        (session.path, session.head.model_dump(), sorted(session.measured, key=repr))
        for session in context.tree.sessions
    ]
    standings = {
        claim: {name: (standing.status, *heard(standing)) for name, standing in each.items()}
        for claim, each in context.board.standings.items()
    }
    verdicts = [asdict(row) for row in rows(context.tree, context.board)]
    problems = [asdict(problem) for problem in rules.check(context)]
    return json.dumps([problems, verdicts, standings, sessions], default=str)


def remembered(root: Path) -> str:
    """What is found with the tree's cache, which is then saved."""
    cache = Cache.open(root)
    text = found(root, cache)
    cache.save()
    return text


def values(root: Path) -> Path:
    """Where the cache lies."""
    return root / ".cache" / "check" / "values"


def held(root: Path) -> int:
    """How much the cache of a tree holds that is believed."""
    cache = Cache.open(root)
    return len(cache._values) + len(cache._recent)


class TestUse:
    """What was computed once is not computed again."""

    def test_a_second_check_parses_no_session_and_judges_nothing(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And finds the same."""
        first = remembered(root)

        def never(*_: object, **__: object) -> None:
            raise AssertionError

        monkeypatch.setattr(Evidence, "model_validate_json", never)
        monkeypatch.setattr("headroom.records.reading.load_yaml", never)
        monkeypatch.setattr("headroom.verdicts.standing.judge_layout", never)
        assert remembered(root) == first

    def test_evidence_that_has_not_changed_for_a_while_is_not_even_read(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Until one file of a folder changes: then those beside it are read as well, and no others."""
        monkeypatch.setattr("headroom.files._SETTLED", 0.0)
        first = remembered(root)
        read: list[str] = []
        monkeypatch.setattr("headroom.files._read", lambda path, most: read.append(path) or _read(path, most))
        assert remembered(root) == first
        assert not [path for path in read if "/evidence/" in path]
        (old,) = (root / "checks/evidence/small_step").glob("h200-2026-11-20-*.json")
        os.utime(old)
        assert remembered(root) == first
        assert {Path(path) for path in read if "/evidence/" in path} == set(old.parent.iterdir())
        read.clear()
        assert remembered(root) == first
        assert not [path for path in read if "/evidence/" in path]

    def test_nothing_is_written_where_nothing_is_new(self, root: Path) -> None:
        """A check of a tree that has not changed leaves the file alone."""
        remembered(root)
        before = values(root).stat()
        remembered(root)
        assert values(root).stat() == before or values(root).stat().st_mtime_ns == before.st_mtime_ns

    def test_the_command_uses_it_and_prints_the_same_bytes(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """From nothing, with a cache, and after it has been deleted."""
        page = root / "docs/training/gpu.md"
        page.write_text(page.read_text("utf-8").replace("1.43×", "1.50×"), "utf-8")
        printed = []
        for _ in range(3):
            main(["check", "--json", "--root", str(root)])
            printed.append(capsys.readouterr())
        assert values(root).exists()
        shutil.rmtree(root / ".cache")
        main(["check", "--json", "--root", str(root)])
        printed.append(capsys.readouterr())
        assert len(set(printed)) == 1
        assert "1.43" in printed[0].out

    def test_it_is_bounded_by_what_is_used(self, root: Path) -> None:
        """However often a file changes, no more is kept of what is not used than of what is."""
        claim = root / "checks/registry/training/clever-step-time.yml"
        text = claim.read_text("utf-8")
        remembered(root)
        lines = len(values(root).read_bytes().splitlines())
        for number in range(3 * lines):
            claim.write_text(f"{text}# {number}\n", "utf-8")
            remembered(root)
        assert len(values(root).read_bytes().splitlines()) <= 2 * lines
        assert len(values(root).with_name("recent").read_bytes().splitlines()) <= lines


def digit(rng: random.Random, path: Path) -> None:
    """Another digit in the place of one."""
    text = path.read_text("utf-8")
    places = [match.start() for match in re.finditer(r"\d", text)]
    at = rng.choice(places) if places else 0
    path.write_text(text[:at] + str(rng.randrange(10)) + text[at + 1 :], "utf-8")


def line(rng: random.Random, path: Path) -> None:
    """A line taken out, or written twice."""
    lines = path.read_text("utf-8").splitlines(keepends=True) or [""]
    at = rng.randrange(len(lines))
    lines[at : at + 1] = [lines[at]] * rng.choice((0, 2))
    path.write_text("".join(lines), "utf-8")


def renamed(rng: random.Random, path: Path) -> None:
    """Another digit; evidence then takes the name that its bytes must have."""
    digit(rng, path)
    if path.suffix == ".json" and "evidence" in path.parts:
        path.rename(path.with_name(f"{path.stem.rpartition('-')[0]}-{sha256(path.read_text('utf-8'))[:12]}.json"))


def taken_away(_: random.Random, path: Path) -> None:
    """The file is gone."""
    path.unlink()


EDITS = (digit, digit, line, renamed, renamed, renamed, taken_away)


class TestTruth:
    """Content decides, and nothing else."""

    @pytest.mark.parametrize("settled", [0.0, 2.0])
    def test_after_any_edit_the_same_is_found_as_without(
        self,
        root: Path,
        monkeypatch: pytest.MonkeyPatch,
        settled: float,
        deep: bool,  # noqa: FBT001
    ) -> None:
        """Of claims, evidence, benchmarks, classes, methods, pages and records of runs, one after the other."""
        monkeypatch.setattr("headroom.files._SETTLED", settled)
        rng = random.Random(5)  # noqa: S311 - edits, not secrets
        seen = set()
        for number in range(1000 if deep else 60):
            if number % 10 == 0:  # anew, with the cache of the old one
                shutil.copytree(CLEAN, root, dirs_exist_ok=True)
            folders = ("checks", "docs", "snippets")
            files = sorted(path for folder in folders for path in (root / folder).rglob("*") if path.is_file())
            rng.choice(EDITS)(rng, rng.choice(files))
            with_cache = remembered(root)
            assert with_cache == found(root, Cache())
            seen.add(with_cache)
        assert len(seen) > 30

    @pytest.mark.parametrize(
        ("path", "old", "new"),
        [
            ("checks/facts/hardware-classes.yml", r"peak_flops: .*", "peak_flops: 1.0"),
            ("checks/benchmarks/small_step.py", r"\Z", "MORE = 1\n"),
            ("checks/registry/training/clever-step-time.yml", r"tolerance: .*", "tolerance: 0.0\nmin_effect: 3"),
            ("checks/evidence/small_step/h200-2026-11-20-*.json", r'"input_seed": \d+', '"input_seed": 1'),
        ],
    )
    def test_all_that_a_verdict_follows_from_counts(self, root: Path, path: str, old: str, new: str) -> None:
        """Its hardware class, its benchmark, the claim and the session."""
        before = remembered(root)
        (file,) = root.glob(path)
        file.write_text(re.sub(old, new, file.read_text("utf-8")), "utf-8")
        verdicts = json.loads(remembered(root))[1]
        assert verdicts == json.loads(found(root, Cache()))[1] != json.loads(before)[1]

    @pytest.mark.parametrize(
        ("path", "old", "new"),
        [
            ("checks/registry/training/clever-step-time.yml", "batch_size >= 8", "batch_size >= 1"),
            ("checks/evidence/small_step/h200-2026-11-20-*.json", '"arm": "clever"', '"arm": "clevel"'),
        ],
    )
    def test_time_stamps_do_not_count(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, path: str, old: str, new: str
    ) -> None:
        """A file that is changed within its time stamp and its size is read as it is."""
        monkeypatch.setattr("headroom.files._SETTLED", 0.0)
        remembered(root)
        (file,) = root.glob(path)
        before = file.stat()
        text = file.read_text("utf-8")
        file.write_text(text.replace(old, new), "utf-8")
        assert file.read_text("utf-8") != text
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert file.stat().st_size == before.st_size
        assert remembered(root) == found(root, Cache()) != found(CLEAN, Cache())

    def test_other_code_uses_nothing_of_it(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A changed line of the package may give another verdict."""
        remembered(root)
        assert held(root)
        monkeypatch.setattr(module, "_code", lambda: b"other")
        assert not held(root)

    def test_the_code_is_known_by_every_line_of_the_package(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In whatever room it stands."""
        package = Path(shutil.copytree(Path(module.__file__).parent, tmp_path / "headroom"))
        monkeypatch.setattr(module, "__file__", str(package / "cache.py"))
        before = module._code()
        gates = package / "verdicts" / "gates.py"
        gates.write_text(gates.read_text("utf-8").replace("_FAILED_SHARE = 0.1", "_FAILED_SHARE = 0.2"), "utf-8")
        assert module._code() != before


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def noise(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(5000))  # noqa: S311 - noise, not a secret


def forged(path: Path) -> None:
    """Every session supports every claim."""
    data = path.read_bytes()
    assert b'"contradicted"' in data
    path.write_bytes(data.replace(b'"contradicted"', b'"supported"'))


def unsealed(path: Path) -> None:
    """As ``forged``, and no signature."""
    forged(path)
    path.write_bytes(b"\n" + path.read_bytes().partition(b"\n")[2])


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_link(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def gone(path: Path) -> None:
    path.unlink()


class TestDamage:
    """A cache that is not what this user wrote here is none."""

    @pytest.mark.parametrize("harm", [cut, empty, noise, forged, unsealed, a_folder, a_link, gone])
    def test_nothing_of_it_is_believed(self, root: Path, harm: Callable[[Path], None]) -> None:
        """And nothing is said about it."""
        right = remembered(root)
        harm(values(root))
        assert not held(root)
        assert remembered(root) == right

    def test_a_byte_that_changes_anywhere_voids_it(self, root: Path) -> None:
        """In keys, values and the signature."""
        remembered(root)
        data = values(root).read_bytes()
        for at in random.Random(3).sample(range(len(data)), 50):  # noqa: S311 - places, not secrets
            values(root).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            assert not held(root)

    @pytest.mark.parametrize("harm", [cut, empty, noise, a_folder, gone])
    def test_nor_of_what_was_added_to_it(self, root: Path, harm: Callable[[Path], None]) -> None:
        """What is new lies in a file of its own, which is as easily lost."""
        remembered(root)
        page = root / "docs/training/gpu.md"
        page.write_text(page.read_text("utf-8") + "\nOne more sentence.\n", "utf-8")
        right = remembered(root)
        recent = values(root).with_name("recent")
        assert b"One more sentence" in recent.read_bytes()
        whole = held(root)
        harm(recent)
        assert 0 < held(root) < whole
        assert remembered(root) == right

    def test_one_that_came_with_a_contribution_is_not_believed(self, root: Path, home: Path) -> None:
        """Its author has another secret."""
        remembered(root)
        (home / SEAL).unlink()
        assert not held(root)
        assert (home / SEAL).stat().st_mode & 0o777 == 0o600

    def test_a_link_in_its_place_is_neither_read_nor_followed(self, root: Path, tmp_path: Path) -> None:
        """Nothing is written outside of the tree."""
        (tmp_path / "elsewhere").mkdir()
        (root / ".cache").symlink_to(tmp_path / "elsewhere")
        assert remembered(root) == found(root, Cache())
        assert list((tmp_path / "elsewhere").iterdir()) == []

    @pytest.mark.parametrize("place", [".cache", ".cache/check"])
    def test_a_file_in_the_place_of_its_folder_is_left_alone(self, root: Path, place: str) -> None:
        """There is then no cache."""
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).write_text("x")
        assert remembered(root) == found(root, Cache())
        assert (root / place).read_text() == "x"

    @pytest.mark.parametrize("seal", [b"", b"short", b"x" * 65])
    def test_a_secret_that_is_torn_is_made_anew(self, root: Path, home: Path, seal: bytes) -> None:
        """And what was sealed with it is not believed."""
        right = remembered(root)
        (home / SEAL).write_bytes(seal)
        assert remembered(root) == right
        assert len((home / SEAL).read_bytes()) == 64
        assert held(root)

    def test_without_a_place_for_the_secret_there_is_no_cache(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A build user often has no home."""
        (tmp_path / "file").write_text("x")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        assert remembered(root) == found(root, Cache())
        assert not values(root).exists()

    def test_several_checks_at_once_are_fine(self, root: Path) -> None:
        """Each reads a whole cache or none, and writes a whole one."""
        command = [sys.executable, "-m", "headroom.cli", "check", "--json", "--root", str(root)]
        children = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
        said = [child.communicate() for child in children]
        assert [child.returncode for child in children] == [0] * 4, said
        assert len({out for out, _ in said}) == 1
        assert held(root)
