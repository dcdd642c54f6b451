"""Test `headroom measure --wanted` and `headroom adopt`: order, time limit, kill and resume, packs, tampered packs."""

import io
import json
import os
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from factories import MACHINE, a_claim, a_session, edited, keep, load_clean, write, write_tree
from headroom import __version__
from headroom.changes.adoption import adoption
from headroom.cli import FAILED, OK, USAGE, main
from headroom.execution import lent_pack, measurement
from headroom.execution.session_plan import plan
from headroom.execution.wanted import START_SECONDS, wanted_claims, wanted_sessions
from headroom.io import record_pack
from headroom.io.record_pack import MANIFEST, PackError
from headroom.io.safe_read import sha256
from headroom.records import load
from headroom.records.paths import evidence_path, evidence_text
from killed_process import journals, lines_of, measure_wanted, temporaries, wait_for

REPOSITORY = Path(__file__).parents[1]
HARNESS = f"{__version__} ({measurement._harness_sha256()[:12]})"
CLAIMS = [a_claim(f"training.{name}", benchmark=name, blocks=10) for name in ("low", "high", "middle")]
ORDER = {
    "run_seconds": {name: {"cpu": 0.1} for name in ("low", "high", "middle")},
    "wanted": [
        {"claims": ["training.high"], "worth": 9, "why": "it is first"},
        {"claims": ["training.middle"], "worth": 5, "why": "it is second"},
    ],
}
Files = dict[str, bytes]


def git(root: Path, *words: str) -> None:
    """Run git, with an author."""
    names = {
        f"GIT_{who}_{what}": "somebody@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, env={**os.environ, **names})


def a_repository(root: Path) -> Path:
    """Write a tree with three claims to measure, and commit it."""
    write_tree(root, CLAIMS)
    write(root / "checks/facts/measuring-order.yml", yaml.safe_dump(ORDER))
    write(root / ".gitignore", ".cache/\n")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "Add three claims")
    return root


def measured(root: Path) -> list[str]:
    """Return the benchmarks that have evidence, with one entry per file."""
    return sorted(path.parent.name for path in (root / "checks/evidence").rglob("*.json"))


class TestOrder:
    """`headroom.execution.wanted`."""

    def test_greatest_worth_per_second_is_first(self, tmp_path: Path) -> None:
        found = list(wanted_sessions(load_clean(a_repository(tmp_path)), "cpu", "cpu", 600))
        assert [session.benchmark for session in found] == ["high", "middle", "low"]
        assert [session.seconds for session in found] == [START_SECONDS + 30 * 0.1] * 3
        assert [session.worth for session in found] == [9, 5, 1]

    def test_claim_with_evidence_of_this_class_and_benchmark_is_not_wanted(self, tmp_path: Path) -> None:
        root = write_tree(tmp_path, CLAIMS, [a_session(CLAIMS[0]), a_session(CLAIMS[1], syntax="x = 1\n")])
        assert [claim.id for claim in wanted_claims(load(root), "cpu", "cpu")] == ["training.high", "training.middle"]
        assert len(wanted_claims(load(root), "another-cpu", "cpu")) == 3
        assert wanted_claims(load(root), "h200", "cuda") == []

    @pytest.mark.parametrize(("lost", "wanted"), [(0, False), (1, False), (3, True), (10, False)])
    def test_claim_is_wanted_again_if_a_session_lost_some_of_its_runs(
        self, tmp_path: Path, lost: int, *, wanted: bool
    ) -> None:
        """Up to a tenth does not count against a session; where all runs failed, they would fail again."""

        def lose(data: dict[str, Any]) -> None:
            gone = [run for run in data["runs"] if run["arm"] == CLAIMS[0].subject and run["block"] < lost]
            data["runs"] = [run for run in data["runs"] if run not in gone]
            kept = ("block", "position", "arm", "control", "point")
            data["failures"] = [{**{name: run[name] for name in kept}, "reason": "lost"} for run in gone]

        root = write_tree(tmp_path, CLAIMS[:1], [edited(a_session(CLAIMS[0], blocks=10), lose)])
        assert bool(wanted_claims(load(root), "cpu", "cpu")) is wanted

    def test_claims_of_one_benchmark_share_a_session_that_fits(self, tmp_path: Path) -> None:
        one = a_claim("training.one", blocks=10)
        both = [one, a_claim("training.two", blocks=10, subject="cleverer"), a_claim("training.three", blocks=20)]
        tree = load(write_tree(tmp_path, both))
        alone = START_SECONDS + 30 * 15
        sizes = {
            most: [len(each.claims) for each in wanted_sessions(tree, "cpu", "cpu", most)] for most in (alone, 900)
        }
        assert sizes == {alone: [1, 1], 900: [2]}

    def test_recorded_duration_replaces_the_declared_one(self, tmp_path: Path) -> None:
        other = a_claim("training.other", benchmark="high", subject="cleverer", blocks=10)
        write_tree(tmp_path, [*CLAIMS, other], [a_session(CLAIMS[1], blocks=10)])
        (found,) = [each for each in wanted_sessions(load(tmp_path), "cpu", "cpu", 900) if each.benchmark == "high"]
        assert found.seconds == pytest.approx(START_SECONDS + 30 * 59 / 30)

    def test_every_listed_name_exists_in_this_repository(self) -> None:
        tree = load(REPOSITORY)
        order = tree.measuring_order
        listed = [claim for each in order.wanted for claim in each.claims]
        assert len(listed) == len(set(listed))
        assert all(tree.claims[claim].retired is None for claim in listed)
        assert set(order.run_seconds) == {claim.benchmark for claim in tree.measured()}

    def test_every_gpu_claim_fits_in_ten_minutes(self) -> None:
        tree = load(REPOSITORY)
        found = list(wanted_sessions(tree, "an-unknown-gpu", "cuda", 600))
        assert {claim for each in found for claim in each.claims} == {
            claim.id for claim in wanted_claims(tree, "an-unknown-gpu", "cuda")
        }
        assert all(plan(tree, each.claims).blocks >= 10 for each in found)


class TestLoan:
    """`headroom measure --wanted` in a separate process, with short runs."""

    def test_kill_loses_only_the_running_session_and_another_clone_adopts_the_pack(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        root = a_repository(tmp_path / "lent")
        clone = Path(shutil.copytree(root, tmp_path / "clone"))
        doomed = measure_wanted(root, "--minutes", "2", wait=0.03, complete=True)
        wait_for(lambda: len(journals(root)) == 2 and lines_of(journals(root)[-1]) > 4, doomed)
        doomed.killed(signal.SIGKILL)
        assert doomed.survivors() == []
        assert measured(root) == ["high"]

        file = tmp_path / "lent.tar"
        again = measure_wanted(root, "--minutes", "2", "--pack", str(file), complete=True)
        code, out, err = again.ends()
        assert code == OK, err
        assert measured(root) == ["high", "low", "middle"]
        assert "middle" in out.splitlines()[0]
        assert "earlier sessions did not finish" in err
        assert "3 records are packed" in err
        assert load_clean(root).problems == ()
        assert temporaries(root) == []

        assert main(["adopt", str(file), "--root", str(clone)]) == OK
        printed = capsys.readouterr().out
        assert printed.count("added checks/evidence/") == 3
        assert "training.high on cpu: unmeasured (no evidence yet) → supported" in printed
        assert measured(clone) == measured(root)
        assert main(["adopt", str(file), "--root", str(clone)]) == OK
        assert capsys.readouterr().out.count("already here") == 3

    def test_signal_ends_the_loan_and_what_is_complete_is_packed(self, tmp_path: Path) -> None:
        root, file = a_repository(tmp_path / "lent"), tmp_path / "lent.tar"
        doomed = measure_wanted(root, "--minutes", "2", "--pack", str(file), wait=0.03, complete=True)
        wait_for(lambda: len(journals(root)) == 2 and lines_of(journals(root)[-1]) > 4, doomed)
        code, _, err = doomed.killed(signal.SIGTERM)
        assert (code, measured(root)) == (FAILED, ["high"])
        assert "ended by SIGTERM; what is complete is in the tree" in err
        assert session_of(record_pack.unpack(file)).startswith("checks/evidence/high/")

    def test_session_that_would_end_too_late_is_stopped_after_its_second_block(self, tmp_path: Path) -> None:
        root = a_repository(tmp_path / "lent")
        doomed = measure_wanted(root, "--minutes", "0.75", wait=1.5)  # a session of 30 runs takes 45 s, 35 are left
        code, _, err = doomed.ends()
        assert (code, measured(root)) == (OK, []), err
        assert "ended by the time limit; no evidence is written" in err

    def test_nothing_is_started_that_does_not_fit(self, tmp_path: Path) -> None:
        root = a_repository(tmp_path / "lent")
        code, _, err = measure_wanted(root, "--minutes", "0.6").ends()
        assert (code, measured(root), journals(root)) == (OK, [], [])
        assert "3 sessions are still wanted" in err

    @pytest.mark.parametrize("words", [(), ("--wanted", "training.high")])
    def test_names_or_wanted_but_not_both(
        self, tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["measure", *words, "--root", str(a_repository(tmp_path))]) == USAGE
        assert "name a benchmark or claims, or write --wanted" in capsys.readouterr().err

    @pytest.mark.parametrize("minutes", ["0", "-1", "nan", "1e9", "many"])
    def test_minutes_are_a_positive_number(self, tmp_path: Path, minutes: str) -> None:
        with pytest.raises(SystemExit):
            main(["measure", "--wanted", "--minutes", minutes, "--root", str(tmp_path)])


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    """Return a clone without evidence, and the pack of another clone with one session."""
    clone, lent = a_repository(tmp_path / "clone"), tmp_path / "lent"
    shutil.copytree(clone, lent)
    keep(lent, a_session(CLAIMS[0], blocks=10, harness=HARNESS))
    file = tmp_path / "lent.tar"
    lent_pack.write(load(lent), MACHINE, "cpu", file)
    return clone, file


def rewrite(file: Path, change: Callable[[Files], None], *, hashes: bool = False) -> None:
    """Change the files of a pack, and on request their hashes in the manifest."""
    files = record_pack.unpack(file)
    change(files)
    if hashes:
        manifest = json.loads(files[MANIFEST])
        manifest["files"] = {name: sha256(data) for name, data in files.items() if name != MANIFEST}
        files[MANIFEST] = json.dumps(manifest).encode()
    file.write_bytes(record_pack.pack(files))


def in_manifest(**fields: Any) -> Callable[[Files], None]:
    """Return a change of the manifest's fields."""

    def change(files: Files) -> None:
        files[MANIFEST] = json.dumps({**json.loads(files[MANIFEST]), **fields}).encode()

    return change


def slower(files: Files) -> None:
    """Change a sample."""
    name = session_of(files)
    data = json.loads(files[name])
    data["runs"][0]["samples"]["step_time"] = [9.0]
    files[name] = json.dumps(data).encode()


def session_of(files: Files) -> str:
    """Return the path of the only session."""
    (name,) = (name for name in files if name.startswith("checks/evidence/"))
    return name


class TestTamperedPack:
    """A pack that was edited is refused as a whole, with the reason."""

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (slower, "its content is not the one that the manifest lists; it was changed"),
            (lambda files: files.pop(MANIFEST), "it has no manifest"),
            (lambda files: files.update({MANIFEST: b"{"}), "its manifest is invalid"),
            (in_manifest(format=2), "its manifest is invalid: format"),
            (in_manifest(files={}), "its manifest and its files differ"),
            (in_manifest(files={"checks/evidence/low/x.json": "0" * 64}), "its manifest and its files differ"),
            (in_manifest(code_sha256="0" * 64, commit="0" * 40), "its commit is unknown"),
            (in_manifest(code_sha256="0" * 64, commit=None), "it names no commit"),
            (in_manifest(code_sha256="0" * 64, changed={"snippets/x.py": "0" * 64}), "with another 'snippets/x.py'"),
            (in_manifest(code_sha256="0" * 64, changed={"../../x.py": "0" * 64}), "with another '../../x.py'"),
        ],
    )
    def test_whole_pack_is_refused(
        self,
        trees: tuple[Path, Path],
        change: Callable[[Files], None],
        reason: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        clone, file = trees
        rewrite(file, change)
        assert main(["adopt", str(file), "--root", str(clone)]) == FAILED
        printed = capsys.readouterr().err
        assert reason in printed
        assert "nothing of it is added" in printed
        assert measured(clone) == []

    @pytest.mark.parametrize(
        ("entry", "reason"),
        [
            ({"name": "checks/evidence/../../../x.json"}, "no record has this path"),
            ({"name": "/checks/evidence/low/x.json"}, "no record has this path"),
            ({"name": "checks/registry/training/low.yml"}, "no record has this path"),
            ({"name": "checks/evidence/low/x.json", "type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}, "a link"),
            ({"name": "checks/evidence/low/x.json", "type": tarfile.LNKTYPE, "linkname": MANIFEST}, "a link"),
            ({"name": "checks/evidence/low/x.json", "type": tarfile.FIFOTYPE}, "a link or a special file"),
            ({"name": MANIFEST}, "two files of this name"),
            ({"name": "checks/evidence/low/x.json", "size": 17 << 20}, "it is larger than"),
            ({"name": "checks/evidence/low/x.json", "mtime": 1}, "bytes that"),
        ],
    )
    def test_unsafe_entry_is_refused(self, trees: tuple[Path, Path], entry: dict[str, Any], reason: str) -> None:
        clone, file = trees
        odd = tarfile.TarInfo()
        for name, value in entry.items():
            setattr(odd, name, value)
        with tarfile.open(file, "a") as archive:
            archive.addfile(odd, io.BytesIO(bytes(odd.size)))
        with pytest.raises(PackError, match=reason):
            adoption(clone, file)

    @pytest.mark.parametrize(
        ("data", "reason"),
        [(b"", "not a tar"), (b"x" * 2000, "not a tar"), (b"\x1f\x8b\x08" + bytes(600), "not a tar")],
    )
    def test_file_that_is_no_tar_is_refused(self, trees: tuple[Path, Path], data: bytes, reason: str) -> None:
        clone, file = trees
        file.write_bytes(data)
        with pytest.raises(PackError, match=reason):
            adoption(clone, file)

    def test_bytes_after_the_end_are_refused(self, trees: tuple[Path, Path]) -> None:
        clone, file = trees
        file.write_bytes(file.read_bytes() + b"hidden")
        with pytest.raises(PackError, match="bytes that"):
            adoption(clone, file)

    def test_huge_file_is_refused_before_it_is_read(
        self, trees: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clone, file = trees
        monkeypatch.setattr(record_pack, "MAX_PACK_BYTES", 1000)
        with pytest.raises(PackError, match="larger than 1000 bytes"):
            adoption(clone, file)


class TestRefusedRecord:
    """A record that cannot count is refused with its reason, and no file is overwritten."""

    def test_untouched_pack_adds_its_session(self, trees: tuple[Path, Path]) -> None:
        clone, file = trees
        found = adoption(clone, file)
        assert (found.refused, len(found.added)) == ({}, 1)
        assert [(each.claim, each.after and each.after.status) for each in found.verdicts] == [
            ("training.low", "supported")
        ]

    def test_changed_sample_with_new_hashes_does_not_fit_the_file_name(self, trees: tuple[Path, Path]) -> None:
        clone, file = trees
        rewrite(file, slower, hashes=True)
        found = adoption(clone, file)
        assert found.added == {}
        assert "the file name does not match the content" in "".join(found.refused.values())

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"harness": "0.0.1 (of nobody)"}, "its harness, 0.0.1 (of nobody), is unknown"),
            ({"syntax": "x = 1\n"}, "its benchmark, `low`, is another one"),
            ({"date": "2199-01-01"}, "is in the future"),
            ({"hardware_class": "h200"}, "it is of the hardware class `h200`"),
            ({"order": lambda slots, *_: list(slots)}, "it fails the gate `order_not_random`"),
            ({"noise": 0.0}, "it fails the gate `copied_samples`"),
            ({"units": {"step_time": "B"}}, "it fails the gate `unit_mismatch`"),
        ],
    )
    def test_session_is_refused(self, trees: tuple[Path, Path], changes: dict[str, Any], reason: str) -> None:
        clone, file = trees
        evidence = a_session(CLAIMS[0], blocks=10, **{"harness": HARNESS, **changes})
        text = evidence_text(evidence)

        def put(files: Files) -> None:
            del files[session_of(files)]
            files[evidence_path(evidence, text)] = text.encode()

        rewrite(file, put, hashes=True)
        found = adoption(clone, file)
        assert found.added == {}
        assert reason in "".join(found.refused.values())

    def test_existing_file_is_not_overwritten(self, trees: tuple[Path, Path]) -> None:
        clone, file = trees
        name = session_of(record_pack.unpack(file))
        write(clone / name, "something else")
        assert main(["adopt", str(file), "--root", str(clone)]) == FAILED
        assert (clone / name).read_text("utf-8") == "something else"

    def test_unknown_class_is_drafted_and_nothing_is_added(
        self, trees: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        clone, file = trees
        rewrite(file, in_manifest(hardware_class="new-cpu"))
        assert main(["adopt", str(file), "--root", str(clone)]) == FAILED
        printed = capsys.readouterr()
        assert "the tree has no hardware class `new-cpu`" in printed.out
        assert "cpu-avx512-bf16:" in printed.out
        assert "first add this entry" in printed.err
        assert measured(clone) == []

    def test_equal_records_give_equal_packs(self, trees: tuple[Path, Path], tmp_path: Path) -> None:
        _, file = trees
        lent_pack.write(load(tmp_path / "lent"), MACHINE, "cpu", tmp_path / "again.tar")
        assert (tmp_path / "again.tar").read_bytes() == file.read_bytes()

    def test_json_names_what_was_added(self, trees: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
        clone, file = trees
        assert main(["adopt", str(file), "--json", "--root", str(clone)]) == OK
        printed = json.loads(capsys.readouterr().out)
        assert printed["added"] == [session_of(record_pack.unpack(file))]
        assert printed["verdicts"][0]["claim"] == "training.low"
