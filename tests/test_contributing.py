"""The commands, paths and messages on pages for contributors exist."""

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
# Programs of others that pages may call.
OTHERS = {"git", "nvidia-smi", "brew", "source", "bash", "pip"}
DRAFT = "mlp_checkpointing.py"  # the newcomer's first draft; tests/test_folder_walk.py writes it
INCOMPLETE = "the following arguments are required"
each_page = pytest.mark.parametrize("page", [*PAGES, *TEMPLATES], ids=lambda path: path.name)


def code(page: Path) -> Iterator[str]:
    """Yield the inline code of a page, each on one line."""
    return (" ".join(match[1].split()) for match in CODE.finditer(without_fences(page.read_text("utf-8"))))


def typed(page: Path) -> Iterator[str]:
    """Yield the lines after a prompt, which contributors type unchanged."""
    return (line.partition(" #")[0].strip() for line in PROMPTED.findall(page.read_text("utf-8")))


def named(page: Path) -> Iterator[str]:
    """Yield inline code that begins with a command of this project; its arguments may be missing."""
    return (each for each in code(page) if re.match(r"(headroom|make|python|bash) [a-z.-]", each))


def words_of(command: str) -> list[str]:
    """Return a command's words, without environment settings and the folder of its program."""
    words = shlex.split(command.replace("…", ""))
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    return [words[0].removeprefix(".venv/bin/"), *words[1:]] if words else []


def refused(words: list[str]) -> str:
    """Return the parser's error for these words, or an empty text; names in capitals are placeholders."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            _parser().parse_args([word for word in words if word[:1] != "["])
        except SystemExit as stop:
            return errors.getvalue().splitlines()[-1] if stop.code else ""
    return ""


def targets() -> set[str]:
    """Return the targets of the Makefile."""
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def wrong(command: str) -> str:
    """Return what is wrong with a command, or an empty text."""
    words = words_of(command)
    program, rest = words[0], words[1:]
    if program == "headroom":
        return refused(rest)
    if program == "make":
        missing = {word for word in rest if "=" not in word} - targets()
        return f"no target {', '.join(sorted(missing))}" if missing else ""
    if program in ("python", "torchrun"):
        scripts = [word for word in rest if word.endswith(".py") and not word.endswith(DRAFT)]
        missing = {script for script in scripts if not (ROOT / script).is_file()}
        return f"no script {', '.join(sorted(missing))}" if missing else ""
    return "" if program in OTHERS else f"what is {program}?"


@each_page
def test_every_command_exists(page: Path) -> None:
    """Subcommands, options, make targets and scripts."""
    faults = [f"{command}: {fault}" for command in typed(page) if (fault := wrong(command))]
    partial = [
        f"{command}: {fault}" for command in named(page) if (fault := wrong(command)) and INCOMPLETE not in fault
    ]
    assert [*faults, *partial] == []


def test_misspelt_commands_are_reported() -> None:
    """The search finds many commands, and reports a misspelt one of each kind."""
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
def test_every_path_exists(page: Path) -> None:
    """Paths of this repository in inline code, except those with a placeholder."""
    paths = [each for each in code(page) if each.startswith(tuple(f"{top}/" for top in TOPS)) and " " not in each]
    real = [path for path in paths if not re.search(r"[<>*…{]|[A-Z]{3,}|my[-_]", path.replace("CODEOWNERS", ""))]
    assert [path for path in real if not (ROOT / path).exists()] == []


MARK = re.compile(r"(?<![;-])-+8<-+[ \t]+\[[ \t]*(?:start|end)\b|8<.*8<")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_no_line_of_a_page_looks_like_the_mark_of_a_region(page: Path) -> None:
    """The site silently drops such a line, unless it has one mark with a `;` before it."""
    assert [line for line in page.read_text("utf-8").splitlines() if MARK.search(line)] == []


def links(page: Path) -> Iterator[str]:
    """Yield the local files that a page links."""
    for target in re.findall(r"\]\(([^)\s:#]+)(?:#[^)]*)?\)", without_fences(page.read_text("utf-8"))):
        if not target.startswith("http"):
            yield target


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", ROOT / "README.md"], ids=lambda path: path.name)
def test_links_of_pages_outside_the_site_exist(page: Path) -> None:
    """The site build checks its own pages; these two are outside of it."""
    found = list(links(page))
    assert found
    assert [target for target in found if not (page.parent / target).exists()] == []


def test_contributing_md_links_every_page() -> None:
    """CONTRIBUTING.md links each page except the references, which the other pages link."""
    linked = set(links(ROOT / "CONTRIBUTING.md"))
    references = {"records.md", "statistics.md", "comparisons.md", "ageing.md"}
    wanted = {f"docs/contribute/{page.name}" for page in (ROOT / "docs/contribute").glob("*.md")}
    assert wanted - linked == {f"docs/contribute/{name}" for name in references}


def messages(page: Path) -> Iterator[str]:
    """Yield the messages quoted in the tables under "What goes wrong"."""
    rows = re.findall(
        r"^\| (`[^|]+) \| [^|]+ \|$", page.read_text("utf-8").partition("## What goes wrong")[2], re.MULTILINE
    )
    for row in rows:
        for quoted in CODE.findall(row):
            yield from (part.strip() for part in quoted.split("…") if part.strip())


HELD = [page for page in PAGES if "## What goes wrong" in page.read_text("utf-8")]


@pytest.mark.parametrize("page", HELD, ids=lambda path: path.name)
def test_every_quoted_message_is_in_the_code(page: Path) -> None:
    """Messages are quoted word for word, without names, so that a search for them finds the page."""
    sources = [*sorted((ROOT / "checks/headroom").rglob("*.py")), ROOT / "Makefile"]
    source = "\n".join(path.read_text("utf-8") for path in sources)
    found = list(messages(page))
    assert len(found) >= 3
    assert [message for message in found if re.sub(r"^[,:; ]+|[,:; ]+$", "", message) not in source] == []


def test_every_how_to_page_quotes_messages() -> None:
    """Each how-to page has a table under "What goes wrong"."""
    assert {page.stem for page in HELD} == {
        *("snippet", "benchmark", "claim", "evidence", "reported", "guide"),
        *("pictures", "upgrade", "set-up", "lend-a-gpu", "fleet"),
    }
