"""Rule `pictures`: each picture of a page exists, and each picture can be drawn."""

from collections.abc import Iterator

from headroom.io.strict_load import Document
from headroom.pictures import canvas, gallery
from headroom.pictures.canvas import Picture
from headroom.records import Problem
from headroom.records.pictures import Answer, Decision
from headroom.rules.context import Context, at

_SCHEME = "picture:"


def pictures(context: Context) -> Iterator[Problem]:
    """Report unknown pictures, links inside a paragraph, and pictures that cannot be drawn or link missing sections."""
    known = context.tree.pictures
    for page in context.pages:
        rows = page.markdown.split("\n")
        for link in page.links:
            if not link.href.startswith(_SCHEME):
                continue
            name = link.href.removeprefix(_SCHEME)
            if name not in known:
                remedy = f"name one of: {', '.join(sorted(known))}" if known else "add it under checks/pictures/"
                yield at(page, link, "pictures", f"there is no picture `{name}`", remedy)
            elif rows[link.line - 1].strip() != f"![{link.text}]({link.href})":
                message = f"the picture `{name}` is not alone on its line"
                yield at(page, link, "pictures", message, f"write `![Caption.](picture:{name})` on a line of its own")
    for name in known:
        yield from _drawn(context, name)


def _drawn(context: Context, name: str) -> Iterator[Problem]:
    path = f"checks/pictures/{name}.yml"
    try:
        found = gallery.picture(name, context.tree, context.board)
        if isinstance(found, Picture):
            canvas.svg(found)
        else:
            yield from _links(context, path, found)
    except (LookupError, ValueError) as error:
        message = f"the picture cannot be drawn: {error.args[0]}"
        yield Problem(path, 1, "pictures", "", message, "correct its data, or record the snippet again")


def _links(context: Context, path: str, found: Decision) -> Iterator[Problem]:
    """Report answers whose page or anchor does not exist."""
    pages = {page.path.removeprefix("docs/"): page for page in context.pages}
    document = context.tree.documents[path]
    answers: list[tuple[tuple[str | int, ...], Answer]] = [
        (("questions", number, "yes", "section"), each.yes) for number, each in enumerate(found.questions)
    ]
    for place, answer in [*answers, (("otherwise", "section"), found.otherwise)]:
        target, _, anchor = (answer.section or "").partition("#")
        page = pages.get(target)
        if answer.section and (page is None or (anchor and anchor not in page.anchors)):
            message = f"there is no section `{answer.section}`"
            yield Problem(
                path, _line(document, place), "pictures", "", message, "name a page below docs/ and its anchor"
            )


def _line(document: Document, place: tuple[str | int, ...]) -> int | None:
    return document.line(place)
