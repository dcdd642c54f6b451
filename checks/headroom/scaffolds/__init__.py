"""Write drafts of claims, benchmarks, snippets, guides, methods and published comparisons, with marks for the author.

The drafts pass every check except for these marks. Their templates are the ``.txt`` files next to this module, with
``$name`` for each value that is filled in.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from string import Template
from typing import Any, get_args

from headroom.io import atomic_write, python_source, safe_read
from headroom.io.todo_markers import gap
from headroom.pages.source import load_pages
from headroom.records import Tree, paths
from headroom.records.base import ClaimId, Name, PagePath, Slug, SnippetId, Value
from headroom.records.metrics import METRICS
from headroom.records.published_rows import FOLDER
from headroom.scaffolds import published_record


class ScaffoldError(ValueError):
    """No draft was written; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A file to write, and the next steps."""

    path: str
    text: str
    following: tuple[str, ...]
    """The next steps of the author, in order."""


def write(tree: Tree, draft: Draft) -> None:
    """Write a draft into the tree.

    Raises:
        ScaffoldError: the file exists already.
        UnwritableError: the file cannot be written.
    """
    path = tree.root / draft.path
    if path.exists() or path.is_symlink():
        raise ScaffoldError(f"{draft.path} exists already and is unchanged; choose another name, or edit the file")
    atomic_write.add(path, draft.text)


def benchmark(_: Tree, name: str) -> Draft:
    """Draft a benchmark of two arms that runs within seconds."""
    _check_name(name, Name, "a benchmark", "gpt2_padding")
    path = f"checks/benchmarks/{name}.py"
    return Draft(
        path,
        _fill("benchmark.py"),
        (
            f"write the arms, and run the script: python {path}",
            f"draft a claim: headroom new claim TOPIC.METHOD.METRIC --benchmark {name} --method METHOD",
        ),
    )


def claim(tree: Tree, name: str, *, benchmark: str, method: str, guide: str | None, metric: str) -> Draft:
    """Draft a measured claim that the second arm of a benchmark is better than the first."""
    _check_name(name, ClaimId, "a claim", "training.padding-free.peak-memory")
    _check_exists(benchmark, tree.benchmarks, "benchmark")
    _check_exists(method, tree.methods, "method")
    if metric not in METRICS:
        raise ScaffoldError(f"there is no metric `{metric}`; metrics are: {', '.join(METRICS)}")
    guide = guide or tree.methods[method].section.partition("#")[0]
    _check_page(tree, guide)
    path = paths.claim_path(name)
    source = safe_read.read_text(tree.root / f"checks/benchmarks/{benchmark}.py", tree.root)
    arms = (*python_source.arms_of(source), gap("an arm"), gap("another arm"))
    at = ", ".join(f'{each}: "{gap("its value")}"' for each in python_source.parameters_of(source))
    text = _fill(
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
            f"link the claim in docs/{guide}, or list it in checks/methods/{method}.yml",
            f"measure the claim: headroom measure {name}",
        ),
    )


def snippet(_: Tree, name: str) -> Draft:
    """Draft a snippet with a technique, its proof and its ablation, which runs within seconds."""
    _check_name(name, SnippetId, "a snippet", "training/padding_free")
    path = f"snippets/{name}.py"
    return Draft(
        path,
        _fill("snippet.py"),
        (
            "write the technique, the proof, and the ablation that removes the technique",
            f"show its regions on a page, such as `{path}:enable`",
            f"run it with and without the technique: headroom snippets run {name} --record",
        ),
    )


def method(tree: Tree, name: str, *, guide: str) -> Draft:
    """Draft the record of a method that has its section on a page."""
    _check_name(name, Slug, "a method", "padding-free")
    _check_page(tree, guide)
    following = (
        f"write its section on docs/{guide}, with a heading that ends in {{#{name}}}",
        f"draft a claim: headroom new claim TOPIC.{name}.METRIC --benchmark BENCHMARK --method {name}",
    )
    return Draft(f"checks/methods/{name}.yml", _fill("method.yml", id=name, guide=guide), following)


def reported(tree: Tree, name: str, *, claim: str, source: str, rows: str) -> Draft:
    """Draft the record of a published comparison from rows that were copied to checks/published/."""
    _check_name(name, Slug, "a published comparison", "fms-lora-mistral-7b")
    _check_name(claim, ClaimId, "a claim", "training.lora.throughput-mistral-7b")
    place = published_record.SOURCE.fullmatch(source)
    if place is None:
        raise ScaffoldError(f"`{source}` is no source; write OWNER/NAME@COMMIT:PATH, with the commit's 40 digits")
    table = tree.published.tables.get(rows)
    if table is None:
        raise ScaffoldError(
            f"there are no rows `{rows}`; copy them to {FOLDER}/SOURCE/FILE.csv, and name SOURCE/FILE.csv"
        )
    following = (
        "replace what the draft guesses: the arms, the metric and its unit, `raw`, the hardware, the dates, the stake",
        f"write the claim of `kind: reported`, if it does not exist: {paths.claim_path(claim)}",
        f"look at its verdict: headroom verdict {claim}",
    )
    text = _fill("reported.yml", **published_record.filled(name, claim, place, rows, table))
    return Draft(published_record.path_of(name), text, following)


def guide(tree: Tree, name: str, *, method: str | None, snippet: str | None) -> Draft:
    """Draft a guide with one section."""
    _check_name(name, PagePath, "a guide", "training/single-gpu", ends=".md")
    code = {
        "enable": gap("the code, a region of a snippet"),
        "proof": gap("a check, from the same snippet"),
    }
    if snippet:
        _check_exists(snippet, tree.snippets, "snippet")
        regions = [*tree.snippets[snippet].regions]
        fences = [f'```python\n--8<-- "snippets/{snippet}.py:{region}"\n```' for region in regions]
        code = {"enable": "\n\n".join(fences[:1]) or code["enable"], "proof": "\n\n".join(fences[1:]) or code["proof"]}
    section = method or name.rpartition("/")[2].replace("_", "-").lower()
    text = _fill("guide.md", hardware=", ".join(_hardware(tree, None)), method=section, **code)
    following = (
        f"add {name}.md to the `nav` of mkdocs.yml",
        f"draft the method: headroom new method {section} --guide {name}.md",
    )
    return Draft(f"docs/{name}.md", text, following)


def _fill(template: str, **values: object) -> str:
    text = (files("headroom.scaffolds") / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(values) if values else text


def _check_name(name: str, kind: Any, what: str, example: str, *, ends: str = "") -> None:
    """Raise a ScaffoldError if a name does not have the form of its kind."""
    (constraints,) = (each for each in get_args(kind) if hasattr(each, "pattern"))
    if not re.fullmatch(constraints.pattern, name + ends) or len(name + ends) > constraints.max_length:
        raise ScaffoldError(f"`{name}` is not a valid name of {what}; use a name like `{example}`")


def _check_exists(name: str, names: Collection[str], what: str) -> None:
    if name not in names:
        close = get_close_matches(name, names, n=3)
        meant = f"did you mean {' or '.join(close)}?" if close else f"`headroom new {what}` writes a draft"
        raise ScaffoldError(f"there is no {what} `{name}`; {meant}")


def _check_page(tree: Tree, guide: str) -> None:
    pages = [page.path.removeprefix("docs/") for page in load_pages(tree.root)[0]]
    _check_exists(guide, pages, "guide")


def _fixed(tree: Tree, benchmark: str) -> dict[str, Value]:
    """Return the fixed conditions that other claims of a benchmark state, or a TODO mark."""
    fixed = {name: value for c in tree.measured() if c.benchmark == benchmark for name, value in c.scope.fixed.items()}
    return fixed or {"model": gap("what the benchmark holds fixed, for example its model")}


def _hardware(tree: Tree, guide: str | None) -> Iterator[str]:
    """Yield the hardware classes of a page, or all CPU classes if it names none or does not exist."""
    pages, _ = load_pages(tree.root)
    named = next((page.hardware for page in pages if page.path == f"docs/{guide}"), ())
    yield from named or (name for name, known in tree.classes.items() if known.device == "cpu")


def _quoted(text: str) -> str:
    """Return a text as a YAML string."""
    return text if text.isidentifier() else json.dumps(text)
