"""Attacks: hostile bytes made from a clean file, for each grammar that can express them."""

import json
import re
from collections.abc import Callable, Mapping

from hostile.loaders import Loader

Attack = Callable[[Loader], bytes | None]

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
CALL = "!!python/object/apply:os.system ['touch hostile-was-here']"
MANY, DEEP, MEGABYTE = 1_000_000, 20_000, 1 << 20


def whole(data: bytes) -> Attack:
    """Replace the file by these bytes."""
    return lambda _: data


def edited(edit: Callable[[str], str | bytes]) -> Attack:
    """Edit the clean text."""

    def attack(loader: Loader) -> bytes:
        found = edit(loader.clean)
        return found.encode() if isinstance(found, str) else found

    return attack


def inserted(text: str) -> Attack:
    """Insert a text after the first line."""
    return edited(lambda clean: clean.replace("\n", f"{text}\n", 1))


def by_kind(**edits: Callable[[str], str]) -> Attack:
    """Edit the clean text by its grammar; give None for a grammar without an edit."""

    def attack(loader: Loader) -> bytes | None:
        edit = edits.get(loader.kind)
        return edit(loader.clean).encode("utf-8", "surrogatepass") if edit else None

    return attack


def printed(text: str) -> Attack:
    """Insert a text at the start of a run's recorded output."""

    def attack(loader: Loader) -> bytes | None:
        before = '"output": "'
        return loader.clean.replace(before, before + text, 1).encode() if before in loader.clean else None

    return attack


def key(yaml: str, toml: str = "", value: str = "", metadata: str = "") -> Attack:
    """Add a key: a line of YAML, front matter or TOML, or a member of JSON or of notebook metadata."""
    return by_kind(
        yaml=lambda clean: f"{clean.rstrip()}\n{yaml}\n",
        page=lambda clean: clean.replace("---\n", f"---\n{yaml}\n", 1),
        **({"script": lambda clean: _headed(clean, toml)} if toml else {}),
        **({"json": lambda clean: clean.replace("{", f"{{{value},", 1)} if value else {}),
        **(
            {"notebook": lambda clean: clean.replace('"Counting"', f'"Counting",\n   {metadata}', 1)}
            if metadata
            else {}
        ),
    )


def _headed(clean: str, toml: str) -> str:
    return clean.replace("# [tool.headroom]\n", f"# [tool.headroom]\n# {toml}\n", 1)


def replaced_value(text: str, quoted: str | None = None) -> Attack:
    """Replace the first replaceable value by a number or a word."""
    quoted = quoted or text
    return by_kind(
        yaml=lambda clean: _first(
            clean,
            (
                "blocks: 10",
                "value: 0.25",
                "value: 65504",
                "1.0e+12",
                "train: 8",
                "[training is slow]",
                "[tokens a second]",
            ),
            text,
        ),
        json=lambda clean: _first(clean, ('"load_before": 0.0', '"seconds": 0.5'), quoted),
        script=lambda clean: _headed(clean, f"timeout = {text}"),
        page=lambda clean: clean.replace("[cpu]", text),
        notebook=lambda clean: clean.replace('"execution_count": null', f'"execution_count": {quoted}'),
    )


def _first(clean: str, places: tuple[str, ...], text: str) -> str:
    place = next(place for place in places if place in clean)
    head = place.rpartition(" ")[0] + " " if ": " in place else ""
    return clean.replace(place, head + text, 1)


def python(tail: str) -> Attack:
    """Append Python to a script."""
    return by_kind(script=lambda clean: f"{clean}\n{tail}\n", bare=lambda clean: f"{clean}\n{tail}\n")


def first_line(line: str) -> Attack:
    """Insert a line before a script."""
    return by_kind(script=lambda clean: f"{line}\n{clean}", bare=lambda clean: f"{line}\n{clean}")


def nested(opened: str, closed: str) -> Attack:
    """Insert nested brackets, as a key's value if there is one."""
    text = opened * DEEP + closed * DEEP
    return by_kind(
        yaml=lambda _: text,
        json=lambda _: text,
        notebook=lambda _: text,
        script=lambda clean: _headed(clean, f"x = {text}"),
        bare=lambda clean: f"{clean}\nx = {text}\n",
        page=lambda clean: clean.replace("---\n", f"---\nx: {text}\n", 1),
    )


def scalar(size: int) -> Attack:
    """Insert one value of this many characters."""
    return by_kind(
        **dict.fromkeys(("yaml", "page", "config", "script", "bare"), lambda clean: f"{clean}\n# {'y' * size}\n"),
        json=lambda clean: clean.replace('"made-up"', f'"{"y" * size}"', 1),
        notebook=lambda clean: clean.replace("Counting", "y" * size),
    )


def rows(count: int) -> Attack:
    """Insert a list of this many rows."""
    return by_kind(
        yaml=lambda _: "- a\n" * count,
        page=lambda clean: clean.replace("---\n", "---\nrows:\n" + "- a\n" * count, 1),
        json=lambda _: json.dumps([0] * count),
        notebook=lambda _: json.dumps([0] * count),
        **dict.fromkeys(("script", "bare"), lambda clean: f"{clean}\nx = [\n" + "0,\n" * count + "]\n"),
        config=lambda clean: clean + "  - a\n" * count,
    )


CONFLICT = "\n<<<<<<< ours\n=======\n>>>>>>> theirs"
ATTACKS: Mapping[str, Attack] = {
    "empty": whole(b""),
    "blank": whole(b"\n \n"),
    "truncated": by_kind(
        yaml=lambda clean: clean[: re.search(r"[\[{]", clean).end()],
        **dict.fromkeys(("json", "notebook"), lambda clean: clean[: len(clean) // 3]),
        **dict.fromkeys(("script", "bare"), lambda clean: clean[: clean.index('"""') + 9]),
        page=lambda clean: clean[: clean.index("\n---")],
    ),
    "binary": whole(bytes(range(256)) * 64),
    "UTF-16": edited(lambda clean: clean.encode("utf-16")),
    "not UTF-8": edited(lambda clean: clean.encode() + b"\xff\xfe"),
    "byte order mark": edited(lambda clean: "\ufeff" + clean),
    "null byte": inserted("\0"),
    "line ends of Windows": edited(lambda clean: clean.replace("\n", "\r\n")),
    "line ends of old": edited(lambda clean: clean.replace("\n", "\r")),
    "escape sequence": inserted("\x1b[2J"),
    "next line": inserted("\x85"),
    "line separator": inserted("\u2028"),
    "right to left": inserted("\u202e"),
    "isolate": inserted("\u2066"),
    "zero width": inserted("\u200b"),
    "tag character": inserted("\U000e0041"),
    "blank letter": inserted("a\u3164b"),
    "blank pattern": inserted("a\u2800b"),
    "variation selector": inserted("a\ufe0fb"),
    "lookalike letter": inserted("f\u0430ster"),
    "mathematical letters": inserted("\U0001d5f3\U0001d5ee\U0001d600\U0001d601"),
    "unfinished merge": inserted(CONFLICT),
    "10 MB scalar": scalar(10 * MEGABYTE),
    "20 MB": edited(lambda clean: clean + " " * 20 * MEGABYTE),
    "deep lists": nested("[", "]"),
    "deep mappings": nested('{"a":', "}"),
    "a million rows": rows(MANY),
    "values without end": rows(100_002),
    "alias bomb": key(BOMB),
    "anchor": key("x: &x 1"),
    "tag": key(f"x: {CALL}"),
    "two documents": by_kind(yaml=lambda clean: f"{clean}---\nx: 1\n"),
    "key twice": by_kind(
        yaml=lambda clean: f"{clean.rstrip()}\n{clean[: clean.index(':')]}: x\n",
        json=lambda clean: clean.replace(",", f",{clean[1 : clean.index(',')]},", 1),
        notebook=lambda clean: clean.replace('"title"', '"title": "x",\n   "title"'),
        script=lambda clean: _headed(clean, 'launch = "python"\n# launch = "python"'),
        page=lambda clean: clean.replace("title:", "title: x\ntitle:", 1),
    ),
    "unknown key": key(
        "verdict: supported", 'verdict = "supported"', '"verdict": "supported"', '"verdict": "supported"'
    ),
    "not a number": replaced_value(".nan", "NaN"),
    "nan of a header": by_kind(script=lambda clean: _headed(clean, "timeout = nan")),
    "infinity": replaced_value("1e999"),
    "5,000 digits": replaced_value("9" * 5000),
    "beyond 64 bits": replaced_value("9" * 20),
    "a list for a value": replaced_value("[[1]]"),
    "escaped control": by_kind(
        yaml=lambda clean: re.sub(
            r"(?m)^( *(?:statement|name|title|architecture):).*$", r'\1 "\\e[2J"', clean, count=1
        ),
        json=lambda clean: clean.replace('"made-up"', r'"\u001b[2J"', 1),
        script=lambda clean: clean.replace('"""A', r'"""\x1b[2J A'),
        page=lambda clean: re.sub("(?m)^title:.*$", r'title: "\\e[2J"', clean),
        notebook=lambda clean: clean.replace('"2\\n"', r'"\u001b[2J"'),
    ),
    "escaped control in an output": printed(r"\u001b[2J"),
    "path in an output": printed("/home/me/"),
    "output without end": printed("9" * MEGABYTE),
    "escaped half": replaced_value(r'"\ud800"'),
    "header of no table": by_kind(script=lambda clean: clean.replace("# [tool.headroom]\n", "# tool = 5\n# [x]\n")),
    "header of odd lists": by_kind(script=lambda clean: clean.replace("dependencies = []", "dependencies = 5")),
    "many headers": by_kind(script=lambda clean: "# /// script\n" * 9_000 + clean),
    "encoding rot13": first_line("# -*- coding: rot13 -*-"),
    "encoding utf-7": first_line("# vim: set fileencoding=utf-7 :"),
    "endless sum": python("x = " + "1+" * 60_000 + "1"),
    "endless signs": python("x = " + "-" * 120_000 + "1"),
    "endless calls": python("x = a" + "()" * 60_000),
    "literal of digits": python("x = " + "9" * 5000),
    "indents": python("\n".join(" " * i + "if x:" for i in range(150))),
    "comments without end": by_kind(page=lambda clean: clean + "<!--" * 200_000),
    "blanks in a heading": by_kind(page=lambda clean: clean + "# a" + " " * 900_000 + "b\n"),
    "marks in braces": by_kind(page=lambda clean: clean + "{" + "#a" * 400_000 + "\n"),
    "runs of backticks": by_kind(page=lambda clean: clean + " ".join("`" * i for i in range(1, 1400)) + "\n"),
    "reasons without end": by_kind(page=lambda clean: clean + "<!-- not-run: " * 60_000 + "\n```text\n```\n"),
    "words without dots": by_kind(config=lambda clean: clean + "# " + "a" * 1_000_000 + "\n"),
    "markup in front matter": by_kind(
        page=lambda clean: re.sub("(?m)^title:.*$", "title: '\"><script>alert(1)</script>'", clean),
        notebook=lambda clean: clean.replace('"Counting"', '"<b>Counting</b>"'),
    ),
    "front matter unmarked": by_kind(page=lambda clean: clean.replace("---\n", "")),
    "hardware of mappings": by_kind(page=lambda clean: clean.replace("[cpu]", "[{cpu: cpu}]")),
    "markup in a cell": by_kind(notebook=lambda clean: clean.replace("# Counting", r"# \u001b[2J Counting")),
}
