"""A decision as HTML: questions from top to bottom, each with its answer and a link to what to do."""

from collections.abc import Callable
from xml.etree.ElementTree import Element, SubElement

from headroom.pictures.canvas import sentences
from headroom.records.pictures import Answer, Decision


def description(data: Decision) -> str:
    """Return the questions and their answers in words."""
    asked = (f"{each.ask} Yes: {_words(each.yes)}" for each in data.questions)
    return sentences([data.start, *asked, f"Otherwise: {_words(data.otherwise)}", *([data.note] if data.note else [])])


def _words(answer: Answer) -> str:
    return f"{answer.text.rstrip('.')}. {answer.why or ''}".strip()


def element(data: Decision, href: Callable[[str], str]) -> Element:
    """Return the decision as HTML.

    Args:
        data: the questions.
        href: returns the link to a section below docs/.
    """
    found = Element("div", {"class": "flow", "role": "group", "aria-label": data.title})
    _cell(found, "q start").text = data.start
    for question in data.questions:
        _cell(found, "q").text = question.ask
        SubElement(_cell(found, "yes"), "span").text = "yes"
        _answer(found, question.yes, href)
    _cell(found, "q last").text = "None of these"
    _cell(found, "yes")
    _answer(found, data.otherwise, href)
    if data.note:
        _cell(found, "note").text = data.note
    return found


def _cell(parent: Element, cls: str) -> Element:
    return SubElement(parent, "div", {"class": cls})


def _answer(parent: Element, answer: Answer, href: Callable[[str], str]) -> None:
    cell = _cell(parent, "a")
    named = SubElement(cell, "a", {"href": href(answer.section)}) if answer.section else SubElement(cell, "b")
    named.text = answer.text
    if answer.why:
        SubElement(cell, "small").text = answer.why
