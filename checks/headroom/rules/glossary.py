"""Rule `glossary`: each term is defined once, in at most two sentences without comparisons, and is used."""

from collections.abc import Iterator

from headroom.pages.analysis import prose
from headroom.pages.glossary_terms import key, pattern, spellings
from headroom.records import Problem
from headroom.records.terms import Term
from headroom.rules.context import Context

_MOST = 2
"""The largest number of sentences in a definition."""


def glossary(context: Context) -> Iterator[Problem]:
    """Report terms that are ambiguous or unused, definitions that are too long or compare, and missing places."""
    terms = context.tree.glossary
    owner: dict[str, str] = {}
    used = _used_keys(context)
    unread = any(problem.rule == "pages" for problem in context.problems)  # an unreadable page may use any word
    for name, term in terms.items():
        for spelling in spellings(term):
            first = owner.setdefault(key(spelling), name)
            if first != name:
                message = f"`{spelling}` is already a spelling of `{first}`"
                yield _at(context, name, "also", message, "remove it from one of the two terms")
        if not (term.was or unread) and not any(key(spelling) in used for spelling in spellings(term)):
            yield _at(context, name, "name", "no page uses the word", "delete it, or add the spelling that pages use")
        yield from _definition(context, name, term)
        yield from _places(context, name, term)


def _used_keys(context: Context) -> set[str]:
    """Return keys of words that definitions and pages use, at least one for each term that is used."""
    terms = context.tree.glossary.values()
    if not terms:
        return set()
    words = pattern(terms)
    keys = [{key(spelling) for spelling in spellings(term)} for term in terms]
    used: set[str] = set()
    for term, own in zip(terms, keys, strict=True):
        used |= {key(match[0]) for match in words.finditer(term.means)} - own
    for page in context.pages:
        text = " ".join(page.markdown.lower().split())
        if any(each in text for own in keys if own.isdisjoint(used) for each in own):  # the pattern is slow
            used |= {key(match[0]) for match in words.finditer(page.markdown)}
    return used


def _definition(context: Context, name: str, term: Term) -> Iterator[Problem]:
    definition = prose(term.means)
    if len(definition.sentences) > _MOST:
        message = f"the definition has {len(definition.sentences)} sentences"
        yield _at(context, name, "means", message, f"shorten it to {_MOST}, and move the rest to a page")
    for each in definition.comparisons:
        message = f'"{each.text}" makes a comparison, and a definition cannot link a claim'
        yield _at(context, name, "means", message, "only say what the word means, and compare on a page")


def _places(context: Context, name: str, term: Term) -> Iterator[Problem]:
    anchors = {page.path.removeprefix("docs/"): page.anchors for page in context.pages}
    for section in term.see:
        page, _, place = section.partition("#")
        if page not in anchors or (place and place not in anchors[page]):
            message = f"there is no page or anchor `docs/{section}`"
            yield _at(context, name, "see", message, "correct the path or the anchor")


def _at(context: Context, name: str, field: str, message: str, remedy: str) -> Problem:
    path = context.tree.term_paths[name]
    line = context.tree.documents[path].line((name, field)) or context.tree.documents[path].line((name,))
    return Problem(path, line or 1, "glossary", f"{name}.{field}", message, remedy)
