"""Read untrusted files safely, write them atomically, and hash scripts."""

import os
from pathlib import Path
from re import findall
from unicodedata import bidirectional, category, name

import pytest

from headroom.io.atomic_write import write_atomic
from headroom.io.python_source import syntax_sha256
from headroom.io.safe_read import (
    HIDDEN,
    MAX_JSON_BYTES,
    MAX_SCRIPT_BYTES,
    MAX_TEXT_BYTES,
    UnreadableError,
    read_bytes,
    read_text,
    sha256,
)
from headroom.io.strict_load import MAX_DEPTH, MAX_VALUES

SCRIPT = '''"""A docstring."""
import os


def double(number):
    """Another."""
    return number * 2  # twice
'''


class TestReading:
    def test_a_file_of_the_maximum_size_is_read_and_a_larger_one_is_not(self, tmp_path: Path) -> None:
        path = tmp_path / "a"
        path.write_bytes(b"12345")
        assert read_bytes(path, tmp_path, limit=5) == b"12345"
        with pytest.raises(UnreadableError, match="larger than 4 bytes") as caught:
            read_bytes(path, tmp_path, limit=4)
        assert caught.value.remedy

    def test_a_path_that_leaves_the_root_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("x")
        (tmp_path / "tree").mkdir()
        with pytest.raises(UnreadableError, match="out of the tree"):
            read_text(tmp_path / "tree" / ".." / "secret", tmp_path / "tree")

    def test_a_folder_whose_name_starts_with_the_roots_is_outside(self, tmp_path: Path) -> None:
        (tmp_path / "tree").mkdir()
        (tmp_path / "tree-2").mkdir()
        (tmp_path / "tree-2" / "a").write_text("x")
        with pytest.raises(UnreadableError, match="out of the tree"):
            read_text(tmp_path / "tree" / ".." / "tree-2" / "a", tmp_path / "tree")

    @pytest.mark.parametrize("target", ["../secret", "l"])
    def test_a_symbolic_link_to_the_outside_or_to_itself_is_refused(self, tmp_path: Path, target: str) -> None:
        (tmp_path / "secret").write_text("x")
        (tmp_path / "tree").mkdir()
        (tmp_path / "tree" / "l").symlink_to(target)
        with pytest.raises(UnreadableError) as caught:
            read_text(tmp_path / "tree" / "l", tmp_path / "tree")
        assert caught.value.remedy

    @pytest.mark.parametrize("name", ["l", "m/a"])
    def test_a_symbolic_link_inside_the_root_is_refused(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "n").mkdir()
        (tmp_path / "n" / "a").write_text("x")
        (tmp_path / "l").symlink_to("n/a")
        (tmp_path / "m").symlink_to("n")
        with pytest.raises(UnreadableError, match="a symbolic link, or a path through one"):
            read_text(tmp_path / name, tmp_path)

    def test_the_root_may_be_a_symbolic_link(self, tmp_path: Path) -> None:
        (tmp_path / "n").mkdir()
        (tmp_path / "n" / "a").write_text("x")
        (tmp_path / "m").symlink_to("n")
        assert read_text(tmp_path / "m" / "a", tmp_path / "m") == "x"

    @pytest.mark.parametrize("name", ["absent", "."])
    def test_a_missing_file_and_a_folder_are_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(UnreadableError, match=r"no such file|a folder, not a file"):
            read_text(tmp_path / name, tmp_path)

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"\xef\xbb\xbfa", "byte order mark"),
            (b"a\0b", "null byte"),
            (b"ab\xff", r"not UTF-8 \(byte 2\)"),
            (b"\xed\xa0\x80", "not UTF-8"),
        ],
    )
    def test_bytes_that_are_not_plain_text_are_refused(self, tmp_path: Path, data: bytes, message: str) -> None:
        (tmp_path / "a").write_bytes(data)
        with pytest.raises(UnreadableError, match=message):
            read_text(tmp_path / "a", tmp_path)

    def test_invisible_characters_are_refused_and_visible_ones_are_not(self) -> None:
        """Controls, line separators, surrogates and invisible or reordering formats are refused."""
        hidden = {chr(i) for i in range(0x110000) if HIDDEN.match(chr(i))}
        categories = {category(char) for char in hidden}
        assert not any(char.isascii() and char.isprintable() for char in hidden)  # so records skip searching such text
        assert {"Cc", "Cf", "Cs", "Zl", "Zp"} <= categories <= {"Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Lo", "Mn", "So"}
        blank = [name(char) for char in hidden if category(char) in ("Lo", "Mn", "So")]
        words = ("FILLER", "JOINER", "INHERENT", "VARIATION SELECTOR", "PATTERN BLANK")
        assert all(any(word in each for word in words) for each in blank)
        shown = {char for char in map(chr, range(0x110000)) if category(char) == "Cf"} - hidden
        scripts = {name(char).split()[0] for char in shown}
        assert scripts <= {"ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN", "SHORTHAND", "MUSICAL"}
        assert not any(
            bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI") for c in shown
        )
        assert not hidden & set("\n\t \u00a0\u202f×−µ…“”é🙂")

    def test_windows_line_endings_become_newlines(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes("é\r\nb\n".encode())
        assert read_text(tmp_path / "a", tmp_path) == "é\nb\n"


class TestWriting:
    def test_a_file_is_written_in_utf_8_with_newlines_and_its_folder(self, tmp_path: Path) -> None:
        path = tmp_path / "new" / "a"
        write_atomic(path, "é\n")
        assert path.read_bytes() == "é\n".encode()

    def test_a_written_file_has_the_permissions_of_a_new_file(self, tmp_path: Path) -> None:
        write_atomic(tmp_path / "a", "x")
        (tmp_path / "b").write_text("x")
        assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    @pytest.mark.parametrize("old", ["old", None])
    def test_an_interruption_leaves_the_old_file_and_no_temporary_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, old: str | None
    ) -> None:
        path = tmp_path / "a"
        if old is not None:
            path.write_text(old)

        def fail(_: int) -> None:
            raise error

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(type(error)):
            write_atomic(path, "new")
        assert {p.name: p.read_text() for p in tmp_path.iterdir()} == ({} if old is None else {"a": old})

    def test_the_content_is_synchronized_before_the_file_gets_its_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a"
        path.write_text("old")
        seen: list[set[str]] = []
        monkeypatch.setattr(os, "fsync", lambda _: seen.append({p.read_text() for p in tmp_path.iterdir()}))
        write_atomic(path, "new")
        assert seen[0] == {"old", "new"}
        assert path.read_text() == "new"


class TestHashes:
    def test_a_text_has_the_hash_of_its_bytes(self) -> None:
        known = "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"
        assert sha256("é") == sha256("é".encode()) == known

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("  # twice", ""),
            ("A docstring.", "Other words."),
            ('    """Another."""\n', ""),
            ("number * 2", "(number   *   2)"),
            ("\n\n\n", "\n"),
            ('"""A docstring."""', "'A docstring.'"),
        ],
    )
    def test_comments_formatting_and_docstrings_do_not_change_the_hash(self, old: str, new: str) -> None:
        assert old in SCRIPT
        assert syntax_sha256(SCRIPT.replace(old, new)) == syntax_sha256(SCRIPT)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("* 2", "* 3"),
            ("* 2", "* 2.0"),
            ("* 2", "* '2'"),
            ("* 2", "+ 2"),
            ("return number", "return other"),
            ("double", "twice"),
            ("(number)", "(number, more)"),
            ("(number)", "(number=None)"),
            ("return number * 2", "number * 2"),
            ("import os\n", ""),
        ],
    )
    def test_a_changed_literal_name_or_operation_changes_the_hash(self, old: str, new: str) -> None:
        assert old in SCRIPT
        assert syntax_sha256(SCRIPT.replace(old, new, 1)) != syntax_sha256(SCRIPT)

    def test_the_block_of_a_statement_changes_the_hash(self) -> None:
        assert syntax_sha256("if a:\n    b\n    c\n") != syntax_sha256("if a:\n    b\nc\n")
        assert syntax_sha256("if a:\n    b\nelse:\n    c\n") != syntax_sha256("if a:\n    b\n    c\n")

    def test_invalid_python_is_refused(self) -> None:
        with pytest.raises(UnreadableError, match="not valid Python"):
            syntax_sha256("def")


def test_the_limits_are_documented() -> None:
    page = Path(__file__).parents[1] / "docs/contribute/records.md"
    table = page.read_text(encoding="utf-8").partition("## What is refused")[2].partition("\n## ")[0]
    found = {int(number.replace(",", "")) for number in findall(r"\| ([\d,]+)(?: |\b)", table)}
    limits = {MAX_TEXT_BYTES, MAX_SCRIPT_BYTES, MAX_JSON_BYTES, MAX_VALUES, MAX_DEPTH, 64}
    assert found == limits
