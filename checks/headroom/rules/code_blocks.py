"""Rules `fences`, `shown` and `runs`: Python on pages comes from snippets that have run, and every snippet is shown."""

import re
from collections.abc import Iterator

from headroom.io.safe_read import UnreadableError, checked_path
from headroom.pages.markdown_syntax import without_fences
from headroom.pages.source import Fence, Include, Page
from headroom.records import Problem, Tree
from headroom.rules.context import Context

_INCLUDED = re.compile(r"[ \t]*-+8<-+")  # the site replaces any line that begins so with a file
PYTHON = ("python", "py", "python3", "py3", "pycon", "ipython")


def fences(context: Context) -> Iterator[Problem]:
    """Report Python fences that do not show exactly one region of a snippet, and includes outside of fences."""
    for page in context.pages:
        for fence in page.fences:
            yield from _fence(context, page, fence)
        for number, row in enumerate(without_fences(page.markdown).split("\n"), 1):
            if _INCLUDED.match(row):
                message = "an include outside of a code fence is not checked"
                remedy = "write the text on the page, or include the file in a fence"
                yield Problem(page.path, number, "fences", "", message, remedy)


def _fence(context: Context, page: Page, fence: Fence) -> Iterator[Problem]:
    includes = fence.includes()
    if not fence.closed:
        yield Problem(page.path, fence.line, "fences", "", "the fence never ends", "add its closing line")
    for include in includes:
        if fault := _include_fault(context.tree, include):
            yield Problem(page.path, include.line, "fences", "", *fault)
    rows = [row for row in fence.body if row.strip()]
    from_snippets = len(includes) == len(rows) == 1 and includes[0].path.startswith("snippets/")
    if fence.language in PYTHON and not fence.reason and not from_snippets:
        remedy = "show a region of a snippet, or say why it is not run: <!-- not-run: … --> on the line above"
        yield Problem(page.path, fence.line, "fences", "", "Python that no test runs", remedy)


def _include_fault(tree: Tree, include: Include) -> tuple[str, str] | None:
    """Return what is wrong with an included file or region and what to do, or None."""
    if not include.path.startswith("snippets/"):
        try:
            checked_path(tree.root / include.path, tree.root)
        except UnreadableError as error:
            return f"`{include.path}`: {error.message}", error.remedy
        return None
    snippet = tree.snippets.get(include.path.removeprefix("snippets/").removesuffix(".py"))
    if snippet is None or snippet.path != include.path:
        return f"there is no snippet `{include.path}`", "correct the path"
    if include.region and include.region not in snippet.regions:
        regions = ", ".join(snippet.regions)
        remedy = f"use one of: {regions}" if regions else "show the whole file, which has no regions"
        return f"there is no region `{include.region}`", remedy
    return None


def shown(context: Context) -> Iterator[Problem]:
    """Report snippets and regions that no page shows."""
    seen = {(include.path, include.region) for p in context.pages for f in p.fences for include in f.includes()}
    paths = {path for path, _ in seen}
    for snippet in context.tree.snippets.values():
        if snippet.path not in paths:
            yield Problem(snippet.path, 1, "shown", "", "no page shows the snippet", "show it on a page, or delete it")
            continue
        for region, (line, _) in snippet.regions.items():
            if (snippet.path, region) not in seen:
                message, remedy = (
                    f"no page shows the region `{region}`",
                    "include it in a fence of a page, or remove its two `--8<--` lines",
                )
                yield Problem(snippet.path, line, "shown", "", message, remedy)


def runs(context: Context) -> Iterator[Problem]:
    """Report snippets for CPUs without a recorded run of their present version, and run records without a snippet."""
    tree = context.tree
    for (name, hardware_class), run in tree.runs.items():
        path = f"checks/runs/{name}/{hardware_class}.json"
        if name not in tree.snippets:
            yield Problem(path, None, "runs", "/snippet", f"there is no snippet `{name}`", "delete the record")
        if hardware_class not in tree.classes:
            message = f"unknown hardware class `{run.hardware_class}`"
            yield Problem(path, None, "runs", "/hardware_class", message, f"use one of: {', '.join(tree.classes)}")
    on_cpu = {name for name, found in tree.classes.items() if found.device == "cpu"}
    ran = {(name, run.sha256) for (name, hardware_class), run in tree.runs.items() if hardware_class in on_cpu}
    for name, snippet in tree.snippets.items():
        needs_gpu = any(need.startswith("cuda") for need in snippet.header.needs)
        if not needs_gpu and (name, snippet.sha256) not in ran:
            remedy = f"run `headroom snippets run {name} --record`, and commit the record"
            yield Problem(snippet.path, 1, "runs", "", "no recorded run of this version", remedy)
