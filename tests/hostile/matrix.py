"""The expected result of each attack on each loader: words of its one problem, or why it is harmless."""

from collections.abc import Mapping
from dataclasses import dataclass

from hostile.loaders import LOADERS


@dataclass(frozen=True, slots=True)
class Harmless:
    """The reason why an attack causes no problem."""

    why: str


Cell = str | Harmless
ABSENT = Harmless("the grammar has no such thing")
UNREAD = Harmless("the checks look for names of files in it, and nothing else")


def cells(every: Cell = ABSENT, **others: Cell) -> Mapping[str, Cell]:
    """Return a row: the cell of each loader by its name, else by its grammar, else ``every``."""
    return {
        name: others.get(name.replace("-", "_"), others.get(loader.kind, every)) for name, loader in LOADERS.items()
    }


UNSEEN, DEEP, LARGE = "an invisible character", "nested too deeply", "larger than 1048576 bytes"
LARGE_SCRIPT = "larger than 131072 bytes"
VALUES, ANCHOR, BITS = "more than 100000 values", "an anchor or alias", "an integer beyond 64 bits"
INTEGER, NUMBER, FINITE = "should be a valid integer", "should be a valid number", "is not a finite number"
IN_TIME = Harmless("prose may be odd; it is read in time")
DECLARES_NOTHING = Harmless("a script that declares nothing; a claim that is measured with it says so")
NO_CONTENT = cells(
    yaml="empty",
    json="not valid JSON",
    notebook="not valid JSON",
    script="0 PEP 723",
    bare=DECLARES_NOTHING,
    page="empty",
    config="lists no page",
)
NESTED = cells(
    yaml="nested deeper than 32",
    page="nested deeper than 32",
    json=DEEP,
    notebook=DEEP,
    script="parsed as TOML",
    bare="too many nested parentheses",
    config=ABSENT,
)
MATRIX: Mapping[str, Mapping[str, Cell]] = {
    "empty": NO_CONTENT,
    "blank": NO_CONTENT,
    "truncated": cells(
        yaml="",
        json="not valid JSON",
        notebook="not valid JSON",
        script="not valid Python",
        bare="not valid Python",
        page="not between two lines of `---`",
        config=Harmless("it names fewer pages, and each is a problem"),
    ),
    "binary": cells("not UTF-8 (byte 128)"),
    "UTF-16": cells("not UTF-8 (byte 0)"),
    "not UTF-8": cells("not UTF-8"),
    "byte order mark": cells("a byte order mark"),
    "null byte": cells("a null byte"),
    "line ends of Windows": cells(Harmless("a checkout on Windows reads as any other")),
    "line ends of old": cells(f"{UNSEEN}, U+000D"),
    "escape sequence": cells(f"{UNSEEN}, U+001B"),
    "next line": cells(f"{UNSEEN}, U+0085"),
    "line separator": cells(f"{UNSEEN}, U+2028"),
    "right to left": cells(f"{UNSEEN}, U+202E"),
    "isolate": cells(f"{UNSEEN}, U+2066"),
    "zero width": cells(f"{UNSEEN}, U+200B"),
    "tag character": cells(f"{UNSEEN}, U+E0041"),
    "blank letter": cells(f"{UNSEEN}, U+3164"),
    "blank pattern": cells(f"{UNSEEN}, U+2800"),
    "variation selector": cells(f"{UNSEEN}, U+FE0F"),
    "lookalike letter": cells("a letter that looks Latin"),
    "mathematical letters": cells("a letter that looks Latin"),
    "unfinished merge": cells("an unresolved merge conflict"),
    "10 MB scalar": cells(LARGE, json="at most 600 characters", script=LARGE_SCRIPT, bare=LARGE_SCRIPT),
    "20 MB": cells(LARGE, json="larger than 16777216 bytes", script=LARGE_SCRIPT, bare=LARGE_SCRIPT),
    "deep lists": NESTED,
    "deep mappings": NESTED,
    "a million rows": cells(LARGE, json=VALUES, script=LARGE_SCRIPT, bare=LARGE_SCRIPT),
    "values without end": cells(
        yaml=VALUES, page=VALUES, json=VALUES, notebook=VALUES, script=LARGE_SCRIPT, bare=LARGE_SCRIPT, config=IN_TIME
    ),
    "alias bomb": cells(yaml=ANCHOR, page=ANCHOR),
    "anchor": cells(yaml=ANCHOR, page=ANCHOR),
    "tag": cells(yaml="the tag `tag:yaml.org,2002:python/object/apply:os.system`", page="the tag"),
    "two documents": cells(yaml="more than one document"),
    "key twice": cells(
        yaml="occurs twice",
        json="occurs twice",
        notebook="occurs twice",
        page="occurs twice",
        script="Cannot overwrite a value",
    ),
    "unknown key": cells(
        yaml="`verdict`: unknown key",
        json="`/verdict`: unknown key",
        script="`verdict`: unknown key",
        page="unknown key `verdict`",
        notebook="unknown key `verdict`",
        classes="`verdict`: Input should be an object",
        glossary="`verdict`: Input should be an object",
    ),
    "not a number": cells(
        json=f"`NaN` {FINITE}",
        notebook=f"`NaN` {FINITE}",
        claims=INTEGER,
        models=NUMBER,
        facts=NUMBER,
        classes=NUMBER,
        script="parsed as TOML",
        methods="should be a valid array",
        glossary="should be a valid array",
        stand_ins=INTEGER,
        page=Harmless("the name of a class that there is not"),
    ),
    "nan of a header": cells(script=INTEGER),
    "infinity": cells(yaml=FINITE, json=FINITE, notebook=FINITE, page=FINITE, script=INTEGER),
    "5,000 digits": cells(yaml=BITS, json=BITS, notebook=BITS, page=BITS, script="parsed as TOML"),
    "beyond 64 bits": cells(yaml=BITS, json=BITS, notebook=BITS, page=BITS, script="less than or equal to 600"),
    "a list for a value": cells(
        claims=INTEGER,
        models=NUMBER,
        facts=NUMBER,
        classes=NUMBER,
        json=NUMBER,
        methods="should be a valid string",
        glossary="should be a valid string",
        script=INTEGER,
        stand_ins=INTEGER,
        page="not a list of classes",
        notebook="not formatted as Jupyter saves it",
    ),
    "escaped control": cells(
        yaml="control, text-direction or invisible",
        json="control, text-direction or invisible",
        script="an invisible character",
        page="invisible",
        notebook="invisible",
    ),
    "escaped control in an output": cells(runs="a control character"),
    "path in an output": cells(runs="an absolute path"),
    "output without end": cells(runs="at most 4000 characters"),
    "escaped half": cells(
        yaml="invalid Unicode",
        page="invalid Unicode",
        json="Invalid JSON",
        script="parsed as TOML",
        notebook="not formatted as Jupyter saves it",
    ),
    "header of no table": cells(script="`tool.headroom` is not a table"),
    "header of odd lists": cells(script="`dependencies` is not a list of strings"),
    "many headers": cells(script="9001 PEP 723"),
    "encoding rot13": cells(script="the encoding `rot13`", bare="the encoding `rot13`"),
    "encoding utf-7": cells(script="the encoding `utf-7`", bare="the encoding `utf-7`"),
    "endless sum": cells(script=DEEP, bare=DEEP),
    "endless signs": cells(script=DEEP, bare=DEEP),
    "endless calls": cells(script=DEEP, bare=DEEP),
    "literal of digits": cells(script="not valid Python", bare="not valid Python"),
    "indents": cells(script="too many levels of indentation", bare="too many levels of indentation"),
    "comments without end": cells(page=IN_TIME),
    "blanks in a heading": cells(page=IN_TIME),
    "marks in braces": cells(page=IN_TIME),
    "runs of backticks": cells(page=IN_TIME),
    "reasons without end": cells(page=IN_TIME),
    "words without dots": cells(config=IN_TIME),
    "markup in front matter": cells(page="markup or a quotation mark", notebook="markup or a quotation mark"),
    "front matter unmarked": cells(page="not between two lines of `---`"),
    "hardware of mappings": cells(page="not a list of classes"),
    "markup in a cell": cells(notebook="invisible"),
}
