"""Paths and names: links, pipes, folders, and names that hide a file or leave the tree."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from headroom import rules
from headroom.records import MeasuredClaim, Problem
from headroom.records.facts import StandIns
from headroom.records.methods import Method
from headroom.records.snippets import SnippetRun
from hostile.loaders import CLEAN, LOADERS

READ = {name: loader for name, loader in LOADERS.items() if not loader.alone}
Place = Callable[[Path, str], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a clean tree to change."""
    return Path(shutil.copytree(CLEAN, tmp_path / "tree"))


def found(root: Path, name: str = "") -> list[Problem]:
    """Return the problems of a tree, or of one file."""
    return [problem for problem in rules.check(rules.Context.of(root)) if not name or problem.path == name]


def linked(target: str) -> Place:
    """Return a function that makes a link to this target."""
    return lambda path, _: path.symlink_to(target)


def link_inside(path: Path, clean: str) -> None:
    """Link to a valid file of the tree."""
    other = path.with_name("aside.txt")
    other.write_text(clean, "utf-8")
    path.symlink_to(other.name)


def linked_folder(path: Path, clean: str) -> None:
    """Link to a folder of the tree with such a file."""
    other = path.parents[len(path.parts) - 1 - path.parts.index("tree")] / "tree" / "elsewhere"
    other.mkdir(exist_ok=True)
    (other / path.name).write_text(clean, "utf-8")
    path.symlink_to(os.path.relpath(other, path.parent), target_is_directory=True)


def loop_above(path: Path, _: str) -> None:
    """Link to the folder above."""
    path.symlink_to("..", target_is_directory=True)


def a_socket(path: Path, _: str) -> None:
    """Make a socket by its short relative name, since the length of socket addresses is limited."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


PLACES: dict[str, tuple[Place, str]] = {
    "link out": (linked("/etc/passwd"), "a symbolic link"),
    "link to a device": (linked("/dev/zero"), "a symbolic link"),
    "link to nothing": (linked("nowhere"), "a symbolic link"),
    "link inside": (link_inside, "a symbolic link"),
    "link to a folder": (linked_folder, "a symbolic link"),
    "link to the folder above": (loop_above, "a symbolic link"),
    "pipe": (lambda path, _: os.mkfifo(path), "neither a file nor a folder"),
    "socket": (a_socket, "neither a file nor a folder"),
}
NAMES = {
    "blank": "a b",
    "newline": "a\nb",
    "escape": "a\x1b[2Jb",
    "override": "a\u202eb",
    "accent": "é",
    "markup": "<b>a&b",
    "quotation": "a\"b'c",
    "bytes that are no text": os.fsdecode(b"a\xffb"),
    "dots": "a.. b",
}


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("place", PLACES)
def test_links_pipes_and_folders_are_one_problem_each(name: str, place: str, root: Path) -> None:
    loader = READ[name]
    put, words = PLACES[place]
    put(root / loader.path, loader.clean)
    problems = [problem for problem in found(root) if "aside.txt" not in problem.path]
    (problem,) = [problem for problem in problems if problem.path == loader.path]
    assert problem.rule == loader.rule
    assert words in problem.message
    assert problem.remedy


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("kind", NAMES)
def test_an_unsupported_name_is_one_problem_with_escapes(name: str, kind: str, root: Path) -> None:
    loader = READ[name]
    path = (root / loader.path).with_name(NAMES[kind] + Path(loader.path).suffix)
    path.write_text(loader.clean, "utf-8")
    (problem,) = found(root, path.relative_to(root).as_posix())
    assert (problem.rule, problem.message) == (loader.rule, "an unsupported file name")
    assert str(problem).isprintable()
    assert str(problem).isascii() or kind == "accent"


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("rename", [str.upper, "{}~".format, "{}.orig".format, "{}.bak".format])
def test_a_record_with_a_suffix_that_is_not_read_is_a_problem(
    name: str, rename: Callable[[str], str], root: Path
) -> None:
    loader = READ[name]
    suffix = Path(loader.path).suffix
    path = (root / loader.path).with_name(f"hostile{rename(suffix)}")
    path.write_text(loader.clean, "utf-8")
    problems = found(root, path.relative_to(root).as_posix())
    assert len(problems) == 1
    assert problems[0].rule in (loader.rule, "orphans")


@pytest.mark.parametrize("name", [name for name, loader in READ.items() if loader.rule != "pages"])
def test_a_hidden_record_is_a_problem(name: str, root: Path) -> None:
    """Files that editors leave have another suffix or are in a hidden folder, and are ignored."""
    path = root / READ[name].path
    hidden = path.with_name(f".{path.name}")
    hidden.write_text(READ[name].clean, "utf-8")
    path.with_name(f".{path.name}.swp").write_bytes(b"\0")
    path.with_name(f".#{path.name}").symlink_to("somebody@somewhere.1234")
    (path.parent / ".ipynb_checkpoints").mkdir()
    (path.parent / ".ipynb_checkpoints" / path.name).write_text(READ[name].clean, "utf-8")
    (problem,) = found(root)
    assert problem.path == hidden.relative_to(root).as_posix()
    assert "hidden" in problem.message


@pytest.mark.parametrize("suffix", [".markdown", ".mdown", ".mkdn", ".mkd", ".MD", ".html", ".HTM", ".IPYNB"])
def test_a_page_with_an_unchecked_suffix_is_a_problem(suffix: str, root: Path) -> None:
    (root / f"docs/hostile{suffix}").write_text("# False\n\nIt is 9 times faster.\n", "utf-8")
    with (root / "mkdocs.yml").open("a", encoding="utf-8") as config:
        config.write(f"  - hostile{suffix}\n")
    (problem,) = found(root)
    assert (problem.path, problem.rule) == (f"docs/hostile{suffix}", "pages")
    assert "not checked" in problem.message


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret", "docs/../../secret", "snippets/../../secret", "x" * 5000, "docs", "linked"]
)
def test_a_page_cannot_include_a_file_outside_the_tree(path: str, root: Path) -> None:
    """Neither by an absolute path, nor by dots, nor through a link."""
    (root.parent / "secret").write_text("x")
    (root / "linked").symlink_to("../secret")
    with (root / "docs/index.md").open("a", encoding="utf-8") as page:
        page.write(f'\n```text\n--8<-- "{path}"\n```\n')
    (problem,) = found(root)
    assert (problem.path, problem.rule) == ("docs/index.md", "fences")


def test_an_asset_that_is_a_link_is_a_problem(root: Path) -> None:
    """The site copies everything below docs/, so a link would publish a file of the building machine."""
    (root / "docs/mark.svg").symlink_to("/etc/passwd")
    (problem,) = found(root)
    assert (problem.path, problem.rule, problem.message) == (
        "docs/mark.svg",
        "pages",
        "a symbolic link, or a path through one",
    )


OUTSIDE = (
    "../x",
    "/etc/passwd",
    "a/../../b",
    "a/./b",
    "..",
    "~/x",
    "C:\\x",
    "a\nb",
    "a b",
    "a?b",
    "a%2e%2e/b",
    "",
    "x" * 300,
)
FIELDS: dict[str, tuple[type[BaseModel], str]] = {
    "guide": (MeasuredClaim, ".md"),
    "section": (Method, ".md#x"),
    "same_result": (Method, ""),
    "benchmark": (MeasuredClaim, ""),
    "snippet": (SnippetRun, ""),
    "hardware_class": (SnippetRun, ""),
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_field_leads_out_of_the_tree(field: str, path: str) -> None:
    model, ending = FIELDS[field]
    with pytest.raises(ValidationError) as caught:
        model.model_validate({field: path + ending})
    assert field in {error["loc"][0] for error in caught.value.errors() if error["type"] != "missing"}


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("kind", ["models", "datasets"])
def test_no_hub_name_leads_out_of_the_cache(path: str, kind: str) -> None:
    """The local hub makes a folder of each name."""
    with pytest.raises(ValidationError) as caught:
        StandIns.model_validate({kind: {path: {}}})
    assert "[key]" in {part for error in caught.value.errors() for part in error["loc"]}
