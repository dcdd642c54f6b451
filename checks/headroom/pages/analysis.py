"""Collect the sentences, comparative sentences and notes of a page in one pass."""

from dataclasses import dataclass

from headroom.comparatives import ComparativeSentence, is_comparison, of_sentence
from headroom.pages.sentences import Note, Sentence, notes, sentences


@dataclass(frozen=True, slots=True)
class Prose:
    """The sentences, comparative sentences and notes of a Markdown text, each in order."""

    sentences: tuple[Sentence, ...]
    comparisons: tuple[ComparativeSentence, ...]
    notes: tuple[Note, ...]


def prose(text: str, *, compare: bool = True) -> Prose:
    """Return the sentences, notes and, if wanted, the comparative sentences of a Markdown text."""
    found = sentences(text)
    comparing = tuple(of_sentence(each) for each in found if compare and is_comparison(each, text))
    return Prose(found, comparing, notes(text))
