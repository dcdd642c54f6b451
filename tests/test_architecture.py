"""The architecture page matches the code: layers, sizes, docstrings, the folder tree, and no machine-specific paths."""

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

from headroom import rules

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "checks" / "headroom"
PAGE = ROOT / "docs" / "contribute" / "architecture.md"
# Layer of each package: a module imports only from lower layers or its own package. Packages of layer 0 are one.
LAYERS = {
    **dict.fromkeys(("io", "maths", "environment"), 0),
    "records": 1,
    **dict.fromkeys(("verdicts", "execution", "memory", "topology"), 2),
    **dict.fromkeys(("pages", "comparatives", "pictures", "planner"), 3),
    **dict.fromkeys(("site", "rules", "scaffolds", "changes"), 4),
    **dict.fromkeys(("cli", "mkdocs_plugin", "pytest_plugin"), 5),
}
# The only packages that may import each optional or replaceable library.
IMPORTED_IN = {
    "numpy": {"maths", "memory"},
    "pydantic": {"records"},
    "yaml": {"io", "rules"},
    "torch": {"execution", "memory"},
    "transformers": {"execution", "memory"},
    "datasets": {"execution"},
    "tokenizers": {"execution"},
    "psutil": {"execution"},
    "nbclient": {"execution"},
    "nbformat": {"execution"},
    "jupyter_client": {"execution"},
    "tqdm": {"cli"},
    "markdown": {"site"},
    "mkdocs": {"mkdocs_plugin"},
    "pytest": {"pytest_plugin"},
}
LINES_OF_A_FILE, LINES_OF_A_FUNCTION = 300, 60
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Module:
    """One module of the package."""

    path: Path

    @property
    def name(self) -> str:
        """The dotted name below `headroom`; empty for `headroom` itself."""
        return ".".join(self.path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")

    @property
    def package(self) -> str:
        """The top-level package, or the single module, that it belongs to."""
        return self.name.partition(".")[0]

    @property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.path.read_text("utf-8"))

    def imports(self) -> Iterator[str]:
        """Yield every imported module: at the top, in functions and for types only."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.path}:{node.lineno}: a relative import hides its layer"
                for alias in node.names:
                    below = f"{node.module}.{alias.name}"
                    yield below if below.removeprefix("headroom.") in NAMES else str(node.module)

    def of_the_package(self) -> set[str]:
        """Return the imported modules of `headroom`, by their names below it."""
        return {name.removeprefix("headroom.") for name in self.imports() if name.startswith("headroom.")}


MODULES = [Module(path) for path in sorted(PACKAGE.rglob("*.py"))]
NAMES = {module.name for module in MODULES}
INSIDE = [module for module in MODULES if module.name]
each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name or "headroom")


def definitions(node: ast.AST) -> Iterator[Definition]:
    """Yield functions, classes and methods, except those nested in functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
                yield from definitions(child)
        elif not isinstance(child, ast.expr):
            yield from definitions(child)


def kept() -> list[str]:
    """Return the files that are tracked or not ignored by git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return sorted({name for name in listed if name and (ROOT / name).is_file()})


class TestLayers:
    """Which packages may import which."""

    def test_table_has_every_package(self) -> None:
        """A new package needs a layer, and a deleted one has none."""
        assert {module.package for module in INSIDE} == set(LAYERS)

    def test_table_matches_the_page(self) -> None:
        """Contributors read the layers that are tested."""
        rows = re.findall(r"^\| (\d) \| (`[^|]+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
        drawn = {
            package.removesuffix("/").removesuffix(".py"): int(layer)
            for layer, packages in rows
            for package in re.findall(r"`([^`]+)`", packages)
        }
        assert drawn == LAYERS

    @each_module
    def test_imports_come_from_lower_layers_or_the_same_package(self, module: Module) -> None:
        """No module imports from another package of its own layer, or from a higher layer."""
        layer = LAYERS.get(module.package, 6)  # `headroom` itself offers functions of every layer
        packages = {name.partition(".")[0] for name in module.of_the_package()}
        allowed = {
            package
            for package in packages
            if LAYERS[package] < layer or package == module.package or LAYERS[package] == layer in (0, 3)
        }
        assert packages - allowed == set()

    def test_has_no_import_cycle(self) -> None:
        """Modules of one package have no cycle either."""
        graph = {module.name: module.of_the_package() for module in INSIDE}
        order = list(TopologicalSorter(graph).static_order())
        assert order.index("io.safe_read") < order.index("records.tree") < order.index("cli.check")

    @each_module
    def test_libraries_are_imported_in_one_package(self, module: Module) -> None:
        """A library that may be missing or be replaced is imported in one package only."""
        libraries = {name.partition(".")[0] for name in module.imports()} & IMPORTED_IN.keys()
        assert {name for name in libraries if module.package not in IMPORTED_IN[name]} == set()


class TestSize:
    """Sizes of files and functions, and docstrings."""

    @each_module
    def test_of_a_file(self, module: Module) -> None:
        """A file that is too long holds two concepts."""
        assert len(module.path.read_text("utf-8").splitlines()) <= LINES_OF_A_FILE

    @each_module
    def test_of_a_function(self, module: Module) -> None:
        """A function that is too long is several."""
        functions = (node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
        assert {name: length for name, length in lengths.items() if length > LINES_OF_A_FUNCTION} == {}

    @each_module
    def test_everything_public_has_a_docstring(self, module: Module) -> None:
        """Every module, public class, function and method has one."""
        public = [node for node in definitions(module.tree) if not node.name.startswith("_")]
        assert [node.name for node in public if not ast.get_docstring(node)] == []
        # An empty __init__ needs none.
        assert ast.get_docstring(module.tree) or not module.path.read_text("utf-8").strip()


def drawn() -> list[str]:
    """Return the paths of the folder tree on the page; folders end in a slash."""
    (block,) = re.findall(r"^```text\n(mkdocs\.yml.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    found: list[str] = []
    above: list[str] = []
    for row in block.splitlines():
        if row.startswith(" " * 20):  # the description of the row above goes on
            continue
        depth, odd = divmod(len(row) - len(row.lstrip(" ")), 2)
        assert not odd, f"indent by two spaces: {row}"
        assert depth <= len(above), f"indented below nothing: {row}"
        name = row.split()[0]
        above[depth:] = [name] if name.endswith("/") else []
        found.append("".join([*above[:depth], name]))
    return found


class TestFolders:
    """The folder tree in docs/contribute/architecture.md."""

    def test_drawn_paths_exist(self) -> None:
        """Every path of the drawing exists in the repository."""
        files = kept()
        missing = [
            path
            for path in drawn()
            if not (any(f.startswith(path) for f in files) if path[-1] == "/" else path in files)
        ]
        assert missing == []

    def test_existing_folders_are_drawn(self) -> None:
        """Every entry of the top, every folder of checks/ and every package is in the drawing."""
        paths = [Path(name) for name in kept()]
        folders = {f"{parent.as_posix()}/" for path in paths for parent in path.parents[:-1]}
        top = {path.name for path in paths if len(path.parts) == 1}
        deep = {f for f in folders if f.count("/") == 1 or re.fullmatch(r"checks/(headroom/)?\w+/", f)}
        assert sorted({*top, *deep} - set(drawn())) == []

    def test_no_code_is_ignored(self) -> None:
        """No line of .gitignore excludes a source file."""
        there = {path for folder in ("checks", "docs", "snippets", "tests") for path in (ROOT / folder).rglob("*.py")}
        assert {path.relative_to(ROOT).as_posix() for path in there} - set(kept()) == set()


# Written in pieces, so that this file does not hold them.
PRIVATE = tuple("".join(parts) for parts in (("/wo", "rk/"), ("/ro", "ot/"), ("../sh", "ared")))
REGISTRIES = tuple(
    "".join(parts)
    for parts in (("py", "pi.org"), ("files.python", "hosted.org"), ("registry.np", "mjs.org"), ("deb.deb", "ian.org"))
)


class TestNoMachineSpecificText:
    """No file depends on one machine."""

    @pytest.mark.parametrize("words", [*PRIVATE, *REGISTRIES])
    def test_no_file_names(self, words: str) -> None:
        """No file contains a folder of a development machine or the host of a package registry."""
        naming = [name for name in kept() if words.encode() in (ROOT / name).read_bytes()]
        assert naming == []

    def test_looks_at_every_file(self) -> None:
        """Code, pages, records and workflows are among the searched files."""
        files = set(kept())
        wanted = {
            "README.md",
            "pyproject.toml",
            "docs/contribute/architecture.md",
            "checks/headroom/site/claim_links.py",
        }
        assert wanted <= files
        assert any(name.startswith(".github/workflows/") for name in files)
        assert any(name.startswith("checks/registry/") for name in files)


def test_every_rule_is_in_the_table() -> None:
    """In the order in which they run, with the rules of loading below the table."""
    text = PAGE.read_text(encoding="utf-8").partition("## What must hold")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z]+)` \|", text, re.MULTILINE) == list(rules.RULES)
    below = text.rpartition("Reading itself")[2]
    assert re.findall(r"`([a-z]+)`", below) == list(rules.READING)


def test_ci_calls_existing_make_targets() -> None:
    """Without an argument the test command of the README; the weekly workflow, targets of the Makefile."""
    make = (ROOT / "Makefile").read_text("utf-8")
    assert (ROOT / ".ci/run").read_text("utf-8").splitlines()[-1] == "exec make test"
    assert "make test" in (ROOT / "README.md").read_text("utf-8")
    workflow = yaml.safe_load((ROOT / ".github/workflows/scheduled.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    assert job["steps"][-1] == {"run": 'bash .ci/run "deep-$PART"', "env": {"PART": "${{ matrix.part }}"}}
    for part in job["strategy"]["matrix"]["part"]:
        assert f"\ndeep-{part}:" in make, part
