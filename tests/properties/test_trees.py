"""Trees with changed files: `headroom check`, the exports and `--fix` report problems and never crash or hang."""

import json
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from headroom import rules
from headroom.records import Problem
from headroom.site import exports
from headroom.site.site_data import SiteData
from hostile.loaders import CLEAN

CPU_SECONDS = 10
"""The CPU time after which a check counts as a hang."""
FILES = {path.relative_to(CLEAN).as_posix(): path.read_bytes() for path in sorted(CLEAN.rglob("*")) if path.is_file()}
WORDS = (
    *("", " ", "\n", "\n\n", "\t", "\r\n", "\r", "\x00", "\ufeff", "\u202e", "\u2028", "\x1b[2J", "×", "é", "🙂"),
    *("ǆ", "\ud7ff", "---\n", "...\n", "- ", ": ", "? ", "!!str ", "!x ", "&a ", "*a ", "<<: ", "|\n", ">-\n"),
    *("{", "}", "[", "]", '"', "'", "#", ",", "null", "true", "~", ".nan", "NaN", "1e999", "-0", "0", "1", "8"),
    *("1e-300", "99999999999999999999", "2026-11-21", "0001-01-01", "h200", "cpu", "[", "](", ")", "[](claim:"),
    *("[?](claim:training.clever.step-time#ratio@h200,batch_size=8)", "[1 %](fact:number-formats.fp16_max)"),
    *("[](methods:training/gpu.md)\n", "```\n", "```python\n", "~~~\n", "````", "`", "``", "<!--", "-->"),
    *("<!-- not-run: x -->\n", '--8<-- "snippets/training/clever.py:enable"\n', '--8<-- "../x"\n'),
    *("# /// script\n", "# ///\n", "# [tool.headroom]\n", "# x = 1\n", "# --8<-- [start:a]\n"),
    *("# --8<-- [end:a]\n", '"""', "ARMS = (1,)\n", "ARMS = ('a',)\n", "(", ")", "lambda:", "if x:\n", "\\"),
    *("\\u", "\\ud800", "<<<<<<< a\n", ">>>>>>> b\n", "=======\n", "# A {#a}\n", "| a | b |\n|---|---|\n", "> "),
    *("1. ", "    ", "!!! note\n", "<script>", "&amp;", "is faster than", "twice as fast", "up to 9×", "never"),
    *("on any GPU", "half the memory", "1,234.5 tokens/s", "−4 %", "about 3 GiB"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 8, 9223372036854775808, 1e-300, 1e300, -0.0, 0.5, "", " ", "x", "\x1b"),
    *("training.clever.step-time", "h200", [], {}, [[]], [None], {"x": 1}, "clever", "plain", "batch_size"),
    *("step_time", "2026-02-30", "supported", ["x"] * 40, "y" * 700),
)
Draw = Callable[[st.SearchStrategy[Any]], Any]
ADDED = st.sampled_from([word.encode("utf-8", "surrogatepass") for word in WORDS]) | st.binary(max_size=2)


@st.composite
def spliced(draw: Draw, data: bytes) -> bytes:
    """Replace some bytes by words, by bytes of another file, or by many repetitions of themselves."""
    at = draw(st.integers(0, len(data)))
    gone = draw(st.sampled_from((0, 0, 1, 2, 8, 64, 4096)))
    other = FILES[draw(st.sampled_from(sorted(FILES)))]
    start = draw(st.integers(0, len(other)))
    added = draw(ADDED | st.just(data[at : at + gone]) | st.just(other[start : start + 200]))
    return data[:at] + added * draw(st.sampled_from((1, 1, 1, 2, 50))) + data[at + gone :]


@st.composite
def reordered(draw: Draw, data: bytes) -> bytes:
    """Delete, move or repeat a line."""
    rows = data.split(b"\n")
    row = rows[draw(st.integers(0, len(rows) - 1))]
    if draw(st.booleans()):
        rows.remove(row)
    rows[slice(*[draw(st.integers(0, len(rows)))] * 2)] = [row] * draw(st.integers(0, 2))
    return b"\n".join(rows)


@st.composite
def revalued(draw: Draw, data: bytes) -> bytes:
    """Change a value of a JSON file, a YAML file or front matter; leave other files as they are."""
    text = data.decode("utf-8", "replace")
    front, part, body = text.split("---\n", 2) if text.startswith("---\n") else ("", text, None)
    is_json = part.lstrip().startswith("{")
    try:
        value = draw(changed_value(json.loads(part) if is_json else yaml.safe_load(part)))
        written = json.dumps(value, indent=1) + "\n" if is_json else yaml.safe_dump(value, sort_keys=False)
    except (ValueError, yaml.YAMLError):
        return data
    return (f"{front}---\n{written}---\n{body}" if body is not None else written).encode("utf-8", "surrogatepass")


@st.composite
def changed_value(draw: Draw, value: Any) -> Any:
    """Replace a nested value by another, or delete or add an entry."""
    if not value or not isinstance(value, dict | list) or draw(st.integers(0, 6)) == 0:
        return draw(st.sampled_from((*VALUES, [value], {"x": value})))
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, changed = draw(st.sampled_from(keys)), value.copy()
    what = draw(st.sampled_from(("delete", "add", "change", "change", "change")))
    if what == "delete":
        del changed[key]
    elif what == "add" and isinstance(value, dict):
        changed[draw(st.sampled_from(("x", "hardware", "control", *map(str, keys))))] = draw(st.sampled_from(VALUES))
    elif what == "add":
        changed.insert(key, value[key])
    else:
        changed[key] = draw(changed_value(value[key]))
    return changed


@st.composite
def changes(draw: Draw) -> dict[str, bytes]:
    """Draw one to three files of the clean tree, each changed one to four times."""
    changed = {}
    for name in draw(st.lists(st.sampled_from(sorted(FILES)), min_size=1, max_size=3, unique=True)):
        data = FILES[name]
        for _ in range(draw(st.integers(1, 4))):
            data = draw(draw(st.sampled_from((spliced, spliced, reordered, revalued)))(data))
        changed[name] = data
    return changed


@contextmanager
def limited() -> Iterator[None]:
    """Raise TimeoutError after CPU_SECONDS of CPU time, however busy the machine is."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {CPU_SECONDS} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def check(root: Path) -> list[Problem]:
    """Check the tree, export it if it can be read, and apply `--fix`, which has nothing left to fix afterwards."""
    context = rules.Context.of(root)
    found = rules.check(context)
    if not context.tree.problems:
        site = SiteData(context.tree, context.board)
        exports.pages(site)
        exports.claims_json(site)
    fixed = {fix.path for fix in rules.apply(root, context)}
    assert fixed <= set(FILES)
    assert list(rules.apply(root, rules.Context.of(root))) == []
    return found


def is_readable(problem: Problem, data: bytes) -> bool:
    """Return whether a problem is one line, of a known rule, with a remedy, at an existing line of its file."""
    assert str(problem).isprintable()
    assert problem.message
    assert problem.remedy
    return problem.rule in {*rules.READING, *rules.RULES} and 1 <= (problem.line or 1) <= data.count(b"\n") + 2


def test_changed_trees_are_checked_without_a_crash(tmp_path: Path) -> None:
    """Every problem is readable, and many rules find problems, so the changes reach them."""
    root = Path(shutil.copytree(CLEAN, tmp_path / "tree"))
    reached: Counter[str] = Counter()

    @given(changes())
    def check_changed(changed: dict[str, bytes]) -> None:
        files = {**FILES, **changed}
        for name, data in files.items():
            (root / name).write_bytes(data)
        with limited():
            found = check(root)
        assert [problem for problem in found if not is_readable(problem, files.get(problem.path, b""))] == []
        reached.update({problem.rule for problem in found})

    check_changed()
    assert len(reached) > 8
    assert reached.total() > 30
