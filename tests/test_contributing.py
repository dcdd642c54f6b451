"""What contributors are told to type and to read: their commands, paths and messages are those that there are."""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.cli import _parser
from headroom.pages.markdown_syntax import without_fences

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs/contribute").glob("*.md")])
TEMPLATES = sorted([*(ROOT / ".github").glob("*.md"), *(ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")])
CODE = re.compile(r"(?<!`)`(?!`)([^`]+)(?<!`)`(?!`)")
PROMPTED = re.compile(r"^\$ (.+)$", re.MULTILINE)
TOPS = ("checks", "docs", "snippets", "tests", ".github", ".ci")
# Programs that are not ours, and what is asked of each.
OTHERS = {"git", "nvidia-smi", "brew", "source", "bash", "pip"}
DRAFT = "mlp_checkpointing.py"  # what a newcomer begins; tests/test_folder_walk.py begins it
LEFT_OUT = "the following arguments are required"
each_page = pytest.mark.parametrize("page", [*PAGES, *TEMPLATES], ids=lambda path: path.name)


def code(page: Path) -> Iterator[str]:
    """What stands between single backticks, outside of fences, on one line."""
    return (" ".join(match[1].split()) for match in CODE.finditer(without_fences(page.read_text("utf-8"))))


def typed(page: Path) -> Iterator[str]:
    """The lines behind a prompt: somebody types them as they stand."""
    return (line.partition(" #")[0].strip() for line in PROMPTED.findall(page.read_text("utf-8")))


def named(page: Path) -> Iterator[str]:
    """Code in a sentence that begins with a command of ours; what it is to be given may be left out."""
    return (each for each in code(page) if re.match(r"(headroom|make|python|bash) [a-z.-]", each))


def words_of(command: str) -> list[str]:
    """A command's words, without the settings before it and the folder of its program."""
    words = shlex.split(command.replace("…", ""))
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    return [words[0].removeprefix(".venv/bin/"), *words[1:]] if words else []


def refused(words: list[str]) -> str:
    """What the command's parser says against these words; names in capitals stand for anything, and fit."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            _parser().parse_args([word for word in words if word[:1] != "["])
        except SystemExit as stop:
            return said.getvalue().splitlines()[-1] if stop.code else ""
    return ""


def targets() -> set[str]:
    """The targets of the Makefile."""
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def wrong(command: str) -> str:
    """What is wrong with a command, or nothing."""
    words = words_of(command)
    program, rest = words[0], words[1:]
    if program == "headroom":
        return refused(rest)
    if program == "make":
        missing = {word for word in rest if "=" not in word} - targets()
        return f"no target {', '.join(sorted(missing))}" if missing else ""
    if program == "python":
        scripts = [word for word in rest if word.endswith(".py") and not word.endswith(DRAFT)]
        missing = {script for script in scripts if not (ROOT / script).is_file()}
        return f"no script {', '.join(sorted(missing))}" if missing else ""
    return "" if program in OTHERS else f"what is {program}?"


@each_page
def test_every_command_is_one_that_there_is(page: Path) -> None:
    """Subcommands, options, targets of make, and scripts."""
    faults = [f"{command}: {fault}" for command in typed(page) if (fault := wrong(command))]
    partial = [f"{command}: {fault}" for command in named(page) if (fault := wrong(command)) and LEFT_OUT not in fault]
    assert [*faults, *partial] == []


def test_commands_are_found_and_held_to() -> None:
    """There are many, and a misspelt one of each kind is noticed."""
    found = [command for page in PAGES for command in (*typed(page), *named(page))]
    assert len(found) > 60
    assert {"make check", "headroom changes --against origin/main", "headroom check --fix"} <= set(found)
    for command in (
        "headroom chek",
        "headroom check --fxi",
        "headroom changes",
        "make tset",
        "python tests/x.py",
        "rm x",
    ):
        assert wrong(command), command
    for command in ("headroom verdict [CLAIM…]", "PIP_EXTRA_INDEX_URL=INDEX make test TORCH=a", "git status"):
        assert not wrong(command), command


@each_page
def test_every_path_is_one_that_there_is(page: Path) -> None:
    """A path of this repository that stands as code, unless it has a gap to fill in."""
    paths = [each for each in code(page) if each.startswith(tuple(f"{top}/" for top in TOPS)) and " " not in each]
    real = [path for path in paths if not re.search(r"[<>*…{]|[A-Z]{3,}|my[-_]", path.replace("CODEOWNERS", ""))]
    assert [path for path in real if not (ROOT / path).exists()] == []


MARK = re.compile(r"(?<![;-])-+8<-+[ \t]+\[[ \t]*(?:start|end)\b|8<.*8<")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_no_line_of_a_page_is_taken_for_the_mark_of_a_region(page: Path) -> None:
    """The site drops such a line without a word, unless a `;` stands before its mark, which it must then hold once."""
    assert [line for line in page.read_text("utf-8").splitlines() if MARK.search(line)] == []


def links(page: Path) -> Iterator[str]:
    """The files that a page links to, beside it."""
    for target in re.findall(r"\]\(([^)\s:#]+)(?:#[^)]*)?\)", without_fences(page.read_text("utf-8"))):
        if not target.startswith("http"):
            yield target


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", ROOT / "README.md"], ids=lambda path: path.name)
def test_pages_that_no_builder_sees_link_to_what_there_is(page: Path) -> None:
    """The site checks its own; these two stand outside of it."""
    found = list(links(page))
    assert found
    assert [target for target in found if not (page.parent / target).exists()] == []


def test_every_page_of_contributing_is_linked_from_its_door() -> None:
    """CONTRIBUTING.md leads to each page but the references, which those pages lead to."""
    linked = set(links(ROOT / "CONTRIBUTING.md"))
    references = {"records.md", "statistics.md", "comparisons.md", "ageing.md"}
    wanted = {f"docs/contribute/{page.name}" for page in (ROOT / "docs/contribute").glob("*.md")}
    assert wanted - linked == {f"docs/contribute/{name}" for name in references}


def messages(page: Path) -> Iterator[str]:
    """What the tables under "What goes wrong" say that a command says."""
    rows = re.findall(
        r"^\| (`[^|]+) \| [^|]+ \|$", page.read_text("utf-8").partition("## What goes wrong")[2], re.MULTILINE
    )
    for row in rows:
        for quoted in CODE.findall(row):
            yield from (part.strip() for part in quoted.split("…") if part.strip())


HELD = [page for page in PAGES if "## What goes wrong" in page.read_text("utf-8")]


@pytest.mark.parametrize("page", HELD, ids=lambda path: path.name)
def test_every_message_is_one_that_the_code_says(page: Path) -> None:
    """Word for word, its names left out: whoever searches for what is on the screen finds the page."""
    sources = [*sorted((ROOT / "checks/headroom").rglob("*.py")), ROOT / "Makefile"]
    source = "\n".join(path.read_text("utf-8") for path in sources)
    found = list(messages(page))
    assert len(found) >= 3
    assert [message for message in found if re.sub(r"^[,:; ]+|[,:; ]+$", "", message) not in source] == []


def test_messages_are_looked_for_on_the_pages_of_how_to() -> None:
    """Each page that says how to make something says what goes wrong."""
    assert {page.stem for page in HELD} == {"snippet", "benchmark", "claim", "evidence", "guide", "upgrade", "set-up"}
