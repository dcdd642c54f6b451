"""The words of the glossary: each means one thing, briefly, and is used."""

from collections.abc import Iterator

from headroom.pages.analysis import prose
from headroom.pages.glossary_terms import key, pattern, spellings
from headroom.records import Problem
from headroom.records.terms import Term
from headroom.rules.context import Context

_MOST = 2
"""How many sentences a definition may have."""


def glossary(context: Context) -> Iterator[Problem]:
    """A word stands in the glossary once, is used somewhere, and is defined in two sentences that compare nothing."""
    terms = context.tree.glossary
    owner: dict[str, str] = {}
    met = _met(context)
    unread = any(problem.rule == "pages" for problem in context.problems)  # what cannot be read may use any word
    for name, term in terms.items():
        for spelling in spellings(term):
            first = owner.setdefault(key(spelling), name)
            if first != name:
                yield _at(context, name, "also", f"`{spelling}` is `{first}` as well", "take it out of one of the two")
        if not (term.was or unread) and not any(key(spelling) in met for spelling in spellings(term)):
            yield _at(context, name, "name", "no page uses the word", "delete it, or add the spelling that pages use")
        yield from _definition(context, name, term)
        yield from _places(context, name, term)


def _met(context: Context) -> set[str]:
    """Return the keys of words that definitions and pages use, at least one of each term that is used."""
    terms = context.tree.glossary.values()
    if not terms:
        return set()
    words = pattern(terms)
    keys = [{key(spelling) for spelling in spellings(term)} for term in terms]
    met: set[str] = set()
    for term, own in zip(terms, keys, strict=True):
        met |= {key(match[0]) for match in words.finditer(term.means)} - own
    for page in context.pages:
        text = " ".join(page.markdown.lower().split())
        if any(each in text for own in keys if own.isdisjoint(met) for each in own):  # the pattern is slow
            met |= {key(match[0]) for match in words.finditer(page.markdown)}
    return met


def _definition(context: Context, name: str, term: Term) -> Iterator[Problem]:
    said = prose(term.means)
    if len(said.sentences) > _MOST:
        message = f"{len(said.sentences)} sentences"
        yield _at(context, name, "means", message, "say what it means in two; the rest belongs on a page")
    for each in said.comparisons:
        message = f'"{each.text}" compares, and a definition stands on no claim'
        yield _at(context, name, "means", message, "say what the word means, and compare on a page")


def _places(context: Context, name: str, term: Term) -> Iterator[Problem]:
    anchors = {page.path.removeprefix("docs/"): page.anchors for page in context.pages}
    for section in term.see:
        page, _, place = section.partition("#")
        if page not in anchors or (place and place not in anchors[page]):
            yield _at(context, name, "see", f"there is no place `docs/{section}`", "correct the path or the anchor")


def _at(context: Context, name: str, field: str, message: str, remedy: str) -> Problem:
    path = context.tree.term_paths[name]
    line = context.tree.documents[path].line((name, field)) or context.tree.documents[path].line((name,))
    return Problem(path, line or 1, "glossary", f"{name}.{field}", message, remedy)
