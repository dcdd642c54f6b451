"""First drafts of what people write: files that already pass but for what only their author knows, which is marked.

The templates lie beside this module. Each is what a reader would see, with ``$name`` where something is filled in.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files as beside
from string import Template
from typing import Any, get_args

from headroom.io import atomic_write, python_source, safe_read
from headroom.io.todo_markers import gap
from headroom.pages.source import load_pages
from headroom.records import Tree, paths
from headroom.records.base import ClaimId, Name, PagePath, Slug, SnippetId, Value
from headroom.records.metrics import METRICS


class ScaffoldError(ValueError):
    """Nothing was written; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A file to be written, and what comes after it."""

    path: str
    text: str
    following: tuple[str, ...]
    """What to do next, a step each, in order."""


def write(tree: Tree, draft: Draft) -> None:
    """Write a draft into its place.

    Raises:
        ScaffoldError: something is there already.
        UnwritableError: it cannot be written.
    """
    path = tree.root / draft.path
    if path.exists() or path.is_symlink():
        raise ScaffoldError(f"{draft.path} is there already, and is left as it is; choose another name, or edit it")
    atomic_write.add(path, draft.text)


def benchmark(_: Tree, name: str) -> Draft:
    """A benchmark of two arms, which runs in a moment."""
    _fits(name, Name, "a benchmark", "gpt2_padding")
    path = f"checks/benchmarks/{name}.py"
    return Draft(
        path,
        _filled("benchmark.py"),
        (
            f"write the arms, and run the script by hand: python {path}",
            f"say what it shows: headroom new claim TOPIC.METHOD.METRIC --benchmark {name} --method METHOD",
        ),
    )


def claim(tree: Tree, name: str, *, benchmark: str, method: str, guide: str | None, metric: str) -> Draft:
    """A measured claim on the first two arms of a benchmark, the second one said to be better than the first."""
    _fits(name, ClaimId, "a claim", "training.padding-free.peak-memory")
    _known(benchmark, tree.benchmarks, "benchmark")
    _known(method, tree.methods, "method")
    if metric not in METRICS:
        raise ScaffoldError(f"there is no metric `{metric}`; metrics are: {', '.join(METRICS)}")
    guide = guide or tree.methods[method].section.partition("#")[0]
    _page(tree, guide)
    path = paths.claim_path(name)
    source = safe_read.read_text(tree.root / f"checks/benchmarks/{benchmark}.py", tree.root)
    arms = (*python_source.arms_of(source), gap("an arm"), gap("another arm"))
    at = ", ".join(f'{each}: "{gap("its value")}"' for each in python_source.parameters_of(source))
    text = _filled(
        "claim.yml",
        id=name,
        method=method,
        guide=guide,
        benchmark=benchmark,
        baseline=_quoted(arms[0]),
        subject=_quoted(arms[1]),
        metric=metric,
        blocks=10 if METRICS[metric].exact else 20,
        fixed=json.dumps(_fixed(tree, benchmark), ensure_ascii=False),
        at=f"  at: {{{at}}}\n" if at else "",
        hardware=", ".join(_hardware(tree, guide)),
    )
    return Draft(
        path,
        text,
        (
            f"use it: link it in docs/{guide}, or list it in checks/methods/{method}.yml",
            f"measure it: headroom measure {name}",
        ),
    )


def snippet(_: Tree, name: str) -> Draft:
    """A script with a technique, its proof and its ablation, which runs in a moment."""
    _fits(name, SnippetId, "a snippet", "training/padding_free")
    path = f"snippets/{name}.py"
    return Draft(
        path,
        _filled("snippet.py"),
        (
            "write the technique, the proof, and the text that takes the technique out",
            f"show its regions on a page, as `{path}:enable`",
            f"run it with and without the technique: headroom snippets run {name} --record",
        ),
    )


def method(tree: Tree, name: str, *, guide: str) -> Draft:
    """A method, with its section on a page."""
    _fits(name, Slug, "a method", "padding-free")
    _page(tree, guide)
    following = (
        f"write its section on docs/{guide}, with a heading that ends in {{#{name}}}",
        f"say what it does: headroom new claim TOPIC.{name}.METRIC --benchmark BENCHMARK --method {name}",
    )
    return Draft(f"checks/methods/{name}.yml", _filled("method.yml", id=name, guide=guide), following)


def guide(tree: Tree, name: str, *, method: str | None, snippet: str | None) -> Draft:
    """A page with one section, in the order of the other guides."""
    _fits(name, PagePath, "a guide", "training/single-gpu", ends=".md")
    code = {"enable": gap("the code, a region of a snippet"), "proof": gap("the code that shows it, as above")}
    if snippet:
        _known(snippet, tree.snippets, "snippet")
        regions = [*tree.snippets[snippet].regions]
        fences = [f'```python\n--8<-- "snippets/{snippet}.py:{region}"\n```' for region in regions]
        code = {"enable": "\n\n".join(fences[:1]) or code["enable"], "proof": "\n\n".join(fences[1:]) or code["proof"]}
    section = method or name.rpartition("/")[2].replace("_", "-").lower()
    text = _filled("guide.md", hardware=", ".join(_hardware(tree, None)), method=section, **code)
    following = (
        f"name {name}.md in the `nav` of mkdocs.yml",
        f"describe the method: headroom new method {section} --guide {name}.md",
    )
    return Draft(f"docs/{name}.md", text, following)


def _filled(template: str, **values: object) -> str:
    text = (beside("headroom.scaffolds") / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(values) if values else text


def _fits(name: str, kind: Any, what: str, example: str, *, ends: str = "") -> None:
    """Hold a name to the form that the records of its kind want."""
    (constraints,) = (each for each in get_args(kind) if hasattr(each, "pattern"))
    if not re.fullmatch(constraints.pattern, name + ends) or len(name + ends) > constraints.max_length:
        raise ScaffoldError(f"`{name}` is no name for {what}; write one like `{example}`")


def _known(name: str, names: Collection[str], what: str) -> None:
    if name not in names:
        close = get_close_matches(name, names, n=3)
        meant = f"did you mean {' or '.join(close)}?" if close else f"`headroom new {what}` makes one"
        raise ScaffoldError(f"there is no {what} `{name}`; {meant}")


def _page(tree: Tree, guide: str) -> None:
    pages = [page.path.removeprefix("docs/") for page in load_pages(tree.root)[0]]
    _known(guide, pages, "guide")


def _fixed(tree: Tree, benchmark: str) -> dict[str, Value]:
    """What other claims of a benchmark say that it holds fixed, or a gap."""
    fixed = {name: value for c in tree.measured() if c.benchmark == benchmark for name, value in c.scope.fixed.items()}
    return fixed or {"model": gap("what the benchmark holds fixed, as its model")}


def _hardware(tree: Tree, guide: str | None) -> Iterator[str]:
    """The classes that a page is about; where it does not say, or there is none, those of CPUs."""
    pages, _ = load_pages(tree.root)
    named = next((page.hardware for page in pages if page.path == f"docs/{guide}"), ())
    yield from named or (name for name, known in tree.classes.items() if known.device == "cpu")


def _quoted(text: str) -> str:
    """A text as YAML takes it for one."""
    return text if text.isidentifier() else json.dumps(text)
