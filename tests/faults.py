"""Faults of records: each changes a clean tree, and gives exactly one problem."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from factories import CITED, SNIPPET, a_run_record, a_session, write, write_tree
from headroom.io.safe_read import MAX_TEXT_BYTES
from headroom.io.strict_load import MAX_VALUES
from headroom.records import MeasuredClaim

CLAIM = "checks/registry/training/clever.yml"
CITED_PATH = "checks/registry/training/cited.yml"
METHOD = "checks/methods/cleverness.yml"
CLASSES = "checks/facts/hardware-classes.yml"
STAND_INS = "checks/facts/stand-ins.yml"
SHEET = "checks/facts/sheet.yml"
SCRIPT = "checks/benchmarks/made_up.py"
SNIPPET_PATH = "snippets/training/clever.py"
PIPE = "checks/methods/pipe.yml"
RUN = "checks/runs/training/clever/cpu.json"
CLAIM_TEXT = """id: training.clever
kind: measured
statement: A clever step takes less time than a plain one.
method: cleverness
guide: training/guide.md
benchmark: made_up
subject: clever
baseline: plain
metric: {name: step_time}
relation: better
min_effect: 0.02
blocks: 20
tolerance: 0.01
scope:
  fixed: {model: made up}
  sweep: {axis: batch_size, unit: sequences, grid: [1, 8]}
  holds_for: batch_size >= 8
  hardware: [cpu]
flips:
  - {between: [1, 8], why: made up}
not_claimed:
  - that it takes less memory
"""
SHEET_TEXT = """id: sheet
title: A data sheet
sources:
  here: {title: A sheet, url: "https://example.org/x", locator: page 1, retrieved: "2026-11-01"}
figures:
  memory: {value: 141, unit: GB, source: here}
"""
MODELLED_PATH = "checks/registry/training/model.yml"
MODELLED_TEXT = """id: training.model
kind: modelled
statement: A made-up formula.
method: cleverness
guide: training/guide.md
formula: a * b
variables:
  a: {value: 2, unit: B, meaning: made up}
  b: {value: 3, unit: "1", meaning: made up}
predicts: {name: some bytes, unit: B}
validity: {words: made up, bounds: {a: {at_least: 1}}}
validated_by:
  - {claim: training.clever, figure: subject, hardware: cpu, tolerance: 0.1}
not_claimed:
  - anything
"""
LONG = " ".join(["word"] * 26)


def make(root: Path) -> Path:
    """Write a tree with a record of every kind and no problem, and return its root."""
    claim = MeasuredClaim.model_validate(yaml.safe_load(CLAIM_TEXT))
    write_tree(root, [claim], [a_session(claim, blocks=10)])
    write(root / CLAIM, CLAIM_TEXT)
    write(root / CITED_PATH, yaml.safe_dump(CITED, allow_unicode=True, sort_keys=False))
    write(root / SHEET, SHEET_TEXT)
    write(root / SNIPPET_PATH, SNIPPET)
    write(root / RUN, a_run_record())
    return root


def swap(path: str, old: str, new: str) -> Callable[[Path], None]:
    """Return a fault that replaces a text of a file."""

    def apply(root: Path) -> None:
        text = (root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (root / path).write_text(text.replace(old, new), encoding="utf-8")

    return apply


def add(path: str, text: str) -> Callable[[Path], None]:
    """Return a fault that adds or replaces a file."""

    def apply(root: Path) -> None:
        write(root / path, text)

    return apply


def add_bytes(path: str, data: bytes) -> Callable[[Path], None]:
    """Return a fault that writes bytes that are not text."""

    def apply(root: Path) -> None:
        (root / path).write_bytes(data)

    return apply


def link(path: str, target: str) -> Callable[[Path], None]:
    """Return a fault that replaces a file by a symbolic link."""

    def apply(root: Path) -> None:
        (root / path).unlink()
        (root / path).symlink_to(target)

    return apply


def resaved(edit: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    """Return a fault that edits the only evidence file without renaming it."""

    def apply(root: Path) -> None:
        (path,) = (root / "checks/evidence").rglob("*.json")
        data = json.loads(path.read_text(encoding="utf-8"))
        edit(data)
        path.write_text(json.dumps(data), encoding="utf-8")

    return apply


class Fault(NamedTuple):
    """A change of a clean tree, and the one problem that it must give."""

    do: Callable[[Path], None]
    path: str
    line: int | None
    rule: str
    field: str
    message: str


def of_claim(old: str, new: str, line: int, field: str, message: str) -> Fault:
    """Return a fault of the measured claim."""
    return Fault(swap(CLAIM, old, new), CLAIM, line, "claims", field, message)


def of_cited(old: str, new: str, line: int, message: str, field: str = "") -> Fault:
    """Return a fault of the cited claim."""
    return Fault(swap(CITED_PATH, old, new), CITED_PATH, line, "claims", field, message)


def of_modelled(old: str, new: str, line: int, field: str, message: str) -> Fault:
    """Return a fault that adds a faulty modelled claim."""
    assert MODELLED_TEXT.count(old) == 1
    return Fault(add(MODELLED_PATH, MODELLED_TEXT.replace(old, new)), MODELLED_PATH, line, "claims", field, message)


def of_snippet(old: str, new: str, line: int, message: str, field: str = "") -> Fault:
    """Return a fault of the snippet; loading does not compare it with its run record."""
    return Fault(swap(SNIPPET_PATH, old, new), SNIPPET_PATH, line, "snippets", field, message)


def of_method(text: str, line: int | None, message: str) -> Fault:
    """Return a fault of any YAML file, shown with a method."""
    return Fault(add(METHOD, text), METHOD, line, "methods", "", message)


def of_run(text: str, line: int | None, message: str) -> Fault:
    """Return a fault of any JSON file, shown with a run record."""
    return Fault(add(RUN, text), RUN, line, "runs", "", message)


# Faults that any file can have: its type, its encoding, and its YAML or JSON syntax.
OF_ANY_FILE = {
    "link": Fault(
        link(METHOD, f"../../{CLASSES}"), METHOD, None, "methods", "", "a symbolic link, or a path through one"
    ),
    "pipe": Fault(lambda root: os.mkfifo(root / PIPE), PIPE, None, "methods", "", "neither a file nor a folder"),
    "hidden": Fault(add("checks/methods/.x.yml", "x"), "checks/methods/.x.yml", None, "methods", "", "a hidden file"),
    "odd name": Fault(
        add("checks/methods/a b.yml", "x"), "checks/methods/a b.yml", None, "methods", "", "an unsupported file name"
    ),
    "too long": of_method("# " + "x" * MAX_TEXT_BYTES, None, "larger than"),
    "not UTF-8": Fault(add_bytes(METHOD, b"id: a\nname: \xff\n"), METHOD, 2, "methods", "", "not UTF-8 (byte 12)"),
    "byte order mark": of_method("\ufeffid: cleverness\n", 1, "a byte order mark"),
    "hidden character": of_method("id: cleverness\nname: cle\u200bver\n", 2, "an invisible character, U+200B"),
    "unfinished merge": of_method("id: cleverness\n<<<<<<< ours\n", 2, "an unresolved merge conflict"),
    "no YAML": of_method("id: [\n", 2, "did not find expected node"),
    "no document": of_method("", 1, "empty, or more than one"),
    "two documents": of_method("id: a\n---\nid: b\n", 1, "empty, or more than one"),
    "anchor": of_method("id: &a cleverness\n", 1, "an anchor or alias"),
    "alias": of_method("id: cleverness\nname: *a\n", 2, "an anchor or alias"),
    "tag": of_method("id: !x cleverness\n", 1, "the tag `!x`"),
    "tag of a list": of_method("id: a\nsymptoms: !x []\n", 2, "the tag `!x`"),
    "list as a key": of_method("? [a]\n: 1\n", 1, "a key that is not a string"),
    "control in a key": of_method(r'"a\tb": 1', 1, "a key with a control character"),
    "large number": of_method("id: 9223372036854775809\n", 1, "beyond 64 bits"),
    "deep YAML": of_method("[" * 33, 1, "nested deeper than 32"),
    "too deep for the parser": of_method("[" * 2000, 1, "nested deeper than 32"),
    "much YAML": of_method("- 1\n" * (MAX_VALUES + 2), MAX_VALUES + 2, f"more than {MAX_VALUES} values"),
    "duplicate key of JSON": of_run('{"a": 1, "a": 2}', None, "`a` occurs twice"),
    "duplicate key of a run": of_run(
        a_run_record().replace('"seconds"', '"seconds": 1.0, "seconds"', 1), None, "`seconds` occurs twice"
    ),
    "JSON not UTF-8": Fault(add_bytes(RUN, b"{\n\xff"), RUN, 2, "runs", "", "not UTF-8"),
    "text for a number": Fault(add(RUN, a_run_record(seconds="1.0")), RUN, None, "runs", "/seconds", "valid number"),
    "infinite JSON": of_run('{"a": 1e999}', None, "`1e999` is not a finite number"),
    "deep JSON": of_run("[" * 34 + "]" * 34, None, "nested too deeply"),
    "bottomless JSON": of_run("[" * 100_000 + "]" * 100_000, None, "nested too deeply"),
    "much JSON": of_run(f"[{'1,' * (MAX_VALUES + 1)}1]", None, f"more than {MAX_VALUES} values"),
    "other encoding": Fault(add(SCRIPT, "# coding: latin-1\n"), SCRIPT, 1, "benchmarks", "", "the encoding `latin-1`"),
}
FAULTS = {
    **OF_ANY_FILE,
    "unknown key": of_claim("method:", "speed: 2\nmethod:", 4, "speed", "unknown key"),
    "unknown key inside": of_claim("fixed:", "fix: {a: 1}\n  fixed:", 15, "scope.fix", "unknown key"),
    "missing key": of_claim("subject: clever\n", "", 1, "subject", "missing"),
    "no tolerance": of_claim("tolerance: 0.01\n", "", 1, "", "either `tolerance` or `gives_up`"),
    "tolerance and quality": of_claim(
        "tolerance: 0.01", "tolerance: 0.01\ngives_up: {quality: loss, at_most: 1e-2}", 1, "", "`tolerance` or"
    ),
    "unknown quality": of_claim(
        "tolerance: 0.01\n", "gives_up: {quality: wit, at_most: 0.1}\n", 13, "gives_up.quality", "unknown quality `wit`"
    ),
    "formula no arithmetic": of_modelled("a * b", "a.b", 6, "formula", "more than arithmetic"),
    "formula of nothing": of_modelled("a * b", "a * b * c", 1, "", "uses `c`, which is not in"),
    "variable of nothing": of_modelled("a * b", "a", 1, "", "does not use the variable `b`"),
    "variable twice": of_modelled("value: 2,", "value: 2, fact: sheet.memory,", 8, "variables.a", "exactly one of"),
    "variable without unit": of_modelled("unit: B, m", "m", 8, "variables.a", "`value` needs `unit`"),
    "variable of an unknown unit": of_modelled("unit: B, m", "unit: stone, m", 8, "variables.a.unit", "unit `stone`"),
    "prediction of an unknown unit": of_modelled("bytes, unit: B", "bytes, unit: oz", 10, "predicts.unit", "unit `oz`"),
    "bound of nothing": of_modelled("{at_least: 1}", "{}", 11, "validity.bounds.a", "neither at_least nor"),
    "bound of no variable": of_modelled("bounds: {a:", "bounds: {c:", 1, "", "`c` is not a variable"),
    "never validated": of_modelled(
        "\n  - {claim: training.clever, figure: subject, hardware: cpu, tolerance: 0.1}", " []", 12, "validated_by",
        "at least 1",
    ),
    "missing key inside": of_claim("  fixed: {model: made up}\n", "", 14, "scope.fixed", "missing"),
    "wrong type": of_claim("blocks: 20", "blocks: many", 12, "blocks", "valid integer"),
    "a list for a word": of_claim("subject: clever", "subject: [clever]", 7, "subject", "valid string"),
    "not finite": of_claim("min_effect: 0.02", "min_effect: .nan", 11, "min_effect", "valid number"),
    "not finite either": of_claim("min_effect: 0.02", "min_effect: inf", 11, "min_effect", "valid number"),
    "too large": of_claim("min_effect: 0.02", "min_effect: 1e999", 11, "", "not a finite number"),
    "bad id": of_claim("id: training.clever", "id: Training.clever", 1, "id", "match pattern"),
    "id without topic": of_claim("id: training.clever", "id: clever", 1, "id", "match pattern"),
    "other file": of_claim("id: training.clever", "id: training.other", 1, "", "does not belong in this file"),
    "duplicate key": of_claim("method:", "kind: cited\nmethod:", 4, "", "`kind` occurs twice"),
    "no kind": of_claim("kind: measured\n", "", 1, "", "the key `kind` is missing"),
    "unknown kind": of_claim("kind: measured", "kind: guessed", 1, "", "does not match"),
    "unknown metric": of_claim("name: step_time", "name: speed", 9, "metric.name", "unknown metric `speed`"),
    "time carried over": of_claim("step_time}", "step_time, carries_over: true}", 9, "metric", "never carries over"),
    "margin for better": of_claim("blocks:", "margin: 0.1\nblocks:", 1, "", "not_worse and equal_within need"),
    "no margin": of_claim("relation: better", "relation: not_worse", 1, "", "not_worse and equal_within need"),
    "unknown relation": of_claim("relation: better", "relation: best", 10, "relation", "better"),
    "one arm": of_claim("subject: clever", "subject: plain", 1, "", "the same arm"),
    "grid not rising": of_claim("[1, 8]}", "[8, 8]}", 16, "scope.sweep.grid", "not in ascending order"),
    "grid falling": of_claim("[1, 8]}", "[1, 8, 4]}", 16, "scope.sweep.grid", "not in ascending order"),
    "grid of one": of_claim("grid: [1, 8]", "grid: [8]", 16, "scope.sweep.grid", "at least 2"),
    "bad bound": of_claim("batch_size >= 8", "batch_size > 8", 14, "scope", "not a bound on the swept axis"),
    "other axis": of_claim("batch_size >= 8", "seq_len >= 8", 14, "scope", "not a bound on the swept axis"),
    "empty bound": of_claim("batch_size >= 8", "batch_size >= 9", 14, "scope", "no point of the grid"),
    "flips of one point": of_claim(
        "  sweep: {axis: batch_size, unit: sequences, grid: [1, 8]}\n  holds_for: batch_size >= 8\n",
        "", 1, "", "without a sweep cannot flip",
    ),
    "no reason": of_claim("blocks: 20", "retired: {since: 2026-11-21}\nblocks: 20", 12, "retired.why", "missing"),
    "nine blocks": of_claim("blocks: 20", "blocks: 9", 12, "blocks", "greater than or equal to 10"),
    "no hardware": of_claim("hardware: [cpu]", "hardware: []", 18, "scope.hardware", "at least 1"),
    "empty text": of_claim("subject: clever", "subject: '  '", 7, "subject", "at least 1 character"),
    "control": of_claim("A clever step takes less time than a plain one.", r'"A\x1b[2J"', 3, "statement", "control"),
    "override": of_claim("statement: A clever", r'statement: "\u202estep" #', 3, "statement", "text-direction"),
    "isolate": of_claim("that it takes less memory", r'"\u2066that it"', 22, "not_claimed.0", "text-direction"),
    "blank letter": of_claim("subject: clever", r'subject: "cle\u3164ver"', 7, "subject", "or invisible"),
    "lookalike letter": of_claim("subject: clever", r'subject: "cl\u0435ver"', 7, "subject", "only looks Latin"),
    "invisible": of_claim("subject: clever", r'subject: "cle\u200bver"', 7, "subject", "text-direction"),
    "long quote": of_cited("clever ran 2.0x faster", f"2.0x {LONG}", 1, "the quote has 30 words"),
    "figure not quoted": of_cited("quote: clever ran 2.0x", "quote: clever ran 2.1x", 1, "`2.0x` does not occur in"),
    "long in brief": of_cited("hardware_as_stated:", f"in_brief: {LONG}\nhardware_as_stated:", 1, "more than 12 words"),
    "blank locator": of_cited("locator: Table 2", "locator: '  '", 14, "at least 1", "source.locator"),
    "no day of reading": of_cited("  retrieved: '2026-11-01'\n", "", 8, "missing", "source.retrieved"),
    "unknown type of a source": of_cited("type: paper", "type: rumour", 12, "'paper'", "source.type"),
    "no https": of_cited("https://", "javascript://", 13, "match pattern", "source.url"),
    "no date": of_cited("'2026-11-01'", "yesterday", 15, "match pattern", "source.retrieved"),
    "method's file": Fault(swap(METHOD, "id: cleverness", "id: wit"), METHOD, 1, "methods", "", "differs from"),
    "method without symptom": Fault(
        swap(METHOD, "symptoms:\n- too slow", "symptoms: []"), METHOD, 7, "methods", "symptoms", "at least 1"
    ),
    "sheet's file": Fault(swap(SHEET, "id: sheet", "id: other"), SHEET, 1, "facts", "", "differs from the file name"),
    "no such day": of_cited("'2026-11-01'", "'2026-11-31'", 15, "`2026-11-31` is not a date", "source.retrieved"),
    "unknown unit": Fault(
        swap(SHEET, "unit: GB", "unit: stone"), SHEET, 6, "facts", "figures.memory.unit", "unknown unit `stone`"
    ),
    "stand-in without dtype": Fault(
        add(STAND_INS, "models: {a: {architecture: A, config: {}}}\ndatasets: {}\n"),
        STAND_INS, 1, "facts", "models.a.dtype", "missing",
    ),
    "data set of endless rows": Fault(
        add(STAND_INS, "models: {}\ndatasets: {a: {config: b, column: c, splits: {train: 4611686018427387904}}}\n"),
        STAND_INS, 2, "facts", "datasets.a.splits.train", "less than or equal to 10000",
    ),
    "model of endless size": Fault(
        add(STAND_INS, f"models: {{a: {{architecture: A, dtype: float32, config: {{n: {2**62}}}}}}}\ndatasets: {{}}\n"),
        STAND_INS, 1, "facts", "models.a.config.n", "less than or equal to 16777216",
    ),
    "no source": Fault(swap(SHEET, "source: here", "source: there"), SHEET, 6, "facts", "", "is not in `sources`"),
    "class without peak": Fault(
        swap(CLASSES, "peak_flops: 1000000000000.0", "peak_flops: 0"), CLASSES, 10, "facts", "cpu.peak_flops", "than 0"
    ),
    "broken benchmark": Fault(add(SCRIPT, "ARMS = (\n"), SCRIPT, 1, "benchmarks", "", "not valid Python"),
    "bottomless benchmark": Fault(
        add(SCRIPT, "x = " + "+".join("a" * 2000)), SCRIPT, 1, "benchmarks", "", "nested too deeply"
    ),
    "note among claims": Fault(
        add("checks/registry/notes.md", "x"), "checks/registry/notes.md", None, "claims", "", "not a .yml file"
    ),
    "text among evidence": Fault(
        add("checks/evidence/made_up/a.txt", "x"), "checks/evidence/made_up/a.txt", None, "evidence", "", "not a .json"
    ),
    "data among snippets": Fault(
        add("snippets/training/data.csv", "x"), "snippets/training/data.csv", None, "snippets", "", "not a .py file"
    ),
    "no header": of_snippet("# /// script", "# script", 1, "0 PEP 723 `script` blocks"),
    "two headers": of_snippet("assert clever\n", "# /// script\n# a = 1\n# ///\nassert clever\n", 1, "2 PEP 723"),
    "header no TOML": of_snippet('["torch"]', '["torch"', 1, "parsed as TOML"),
    "tool no table": of_snippet("[tool.headroom]\n", "tool = 1\n# [x]\n", 1, "`tool.headroom` is not a table"),
    "dependencies no list": of_snippet('["torch"]', '"torch"', 1, "`dependencies` is not a list of strings"),
    "hidden in a docstring": of_snippet("Cleverness is", r"Cleverness \u200bis", 1, "an invisible character"),
    "header's key": of_snippet("[tool.headroom]\n", "[tool.headroom]\n# speed = 1\n", 1, "unknown key", "speed"),
    "unknown need": of_snippet(
        "[tool.headroom]\n", '[tool.headroom]\n# needs = ["tpu"]\n', 1, "match pattern", "needs.0"
    ),
    "unknown launch": of_snippet(
        "[tool.headroom]\n", '[tool.headroom]\n# launch = "sh -c x"\n', 1, "match pattern", "launch"
    ),
    "neither": of_snippet('# ablation = { "clever = True" = "clever = False" }\n', "", 1, "either `ablation` or"),
    "both": of_snippet("[tool.headroom]\n", '[tool.headroom]\n# no_ablation = "none"\n', 1, "either `ablation` or"),
    "ablation absent": of_snippet("\nclever = True", "\nclever = 1", 1, "`clever = True` occurs 0 times"),
    "ablation twice": of_snippet("assert clever", "clever = True", 1, "`clever = True` occurs 2 times"),
    "ablation of nothing": of_snippet('"clever = False"', '"clever = True"', 1, "is replaced by itself"),
    "region unclosed": of_snippet("# --8<-- [end:enable]\n", "", 10, "region `enable` never ends"),
    "region twice": of_snippet("clever = True\n#", "# --8<-- [start:enable]\nclever = True\n#", 11, "out of order"),
    "region backwards": of_snippet("[start:enable]", "[end:enable]", 10, "region `enable` ends out of order"),
    "no docstring": of_snippet('"""Cleverness is on."""', "", 1, "no docstring"),
    "snippet no Python": of_snippet("assert clever", "assert (", 13, "not valid Python"),
    "run elsewhere": Fault(
        add("checks/runs/training/clever/h200.json", a_run_record()),
        "checks/runs/training/clever/h200.json", 1, "runs", "", "does not belong in this file",
    ),
    "run failed": Fault(add(RUN, a_run_record(outcome="failed")), RUN, None, "runs", "/outcome", "passed"),
    "run on a machine": Fault(
        add(RUN, a_run_record(output="saved /home/me/x")), RUN, None, "runs", "/output", "an absolute path",
    ),
    "run no JSON": Fault(add(RUN, "{"), RUN, 1, "runs", "", "not valid JSON"),
    "too many published rows": Fault(
        add("checks/published/source/rows.csv", "a,b\n" + "1,2\n" * 20_001),
        "checks/published/source/rows.csv", 20_002, "published", "", "more than 20000 rows",
    ),
    "link among published rows": Fault(
        lambda root: (write(root / "checks/published/source/LICENSE", "x").with_name("rows.csv")).symlink_to("LICENSE"),
        "checks/published/source/rows.csv", None, "published", "", "a symbolic link",
    ),
    "run NaN": Fault(add(RUN, a_run_record(seconds=float("nan"))), RUN, None, "runs", "", "`NaN` is not a finite"),
}  # fmt: skip
