"""What a page says, sentence by sentence, found once and kept by a cache."""

from dataclasses import astuple, dataclass

from headroom.cache import Cache
from headroom.files import sha256
from headroom.prose.comparing import Comparison, is_comparison, of_sentence
from headroom.prose.sentences import Note, Sentence, notes, sentences
from headroom.records.base import from_json, to_json


@dataclass(frozen=True, slots=True)
class Prose:
    """The sentences of a Markdown text, those of them that compare, and every note, each in order."""

    sentences: tuple[Sentence, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[Note, ...]


def prose(text: str, cache: Cache) -> Prose:
    """What a Markdown text says."""
    key = ("prose", sha256(text))
    kept = cache.get(*key)
    if kept is not None:
        return _prose(*from_json(kept))
    found = sentences(text)
    comparing = [i for i, each in enumerate(found) if is_comparison(each, text)]
    values = ([astuple(each) for each in found], comparing, [astuple(note) for note in notes(text)])
    cache.put(to_json(values), *key)
    return _prose(*values)


def _prose(found: list[tuple[object, ...]], comparing: list[int], remarks: list[tuple[object, ...]]) -> Prose:
    every = tuple(_sentence(*fields) for fields in found)
    return Prose(every, tuple(of_sentence(every[i]) for i in comparing), tuple(map(_note, remarks)))


def _sentence(*fields: object) -> Sentence:
    *plain, hrefs, remark = fields
    return Sentence(*plain, tuple(hrefs), _note(remark) if remark else None)  # type: ignore[arg-type, call-arg]


def _note(fields: object) -> Note:
    return Note(*fields)  # type: ignore[misc]
