"""Hashes of what the finder sees in the labelled sentences, so that any change of it is noticed at once.

``train.py`` writes them with the weights, which are good for nothing else than what was seen when they were made.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from headroom.comparatives import reason, windows
from headroom.comparatives.assertion import asserted
from headroom.comparatives.linear_model import features
from headroom.comparatives.pair_rules import reasons
from headroom.comparatives.tokenizer import Tags
from headroom.pages.sentences import Sentence, sentences

HERE = Path(__file__).parent
KEPT = HERE / "fingerprints.txt"
PARTS = 8
STEP = 16
"""A part is every sixteenth line, so the parts hold every other: more would take longer than they tell."""


def lines(first: int, step: int) -> list[str]:
    """Every so many of the labelled texts, in the order of their files."""
    paths = [path for path in sorted(HERE.glob("*.tsv")) if not path.stem.startswith("unseen")]
    rows = [row for path in paths for row in path.read_text("utf-8").splitlines()]
    return [row.split("\t")[-1] for row in rows[first::step]]


def found(texts: Iterable[str]) -> Iterator[tuple[Sentence, str]]:
    """Their sentences, each with the text that holds it."""
    return ((sentence, text) for text in texts for sentence in sentences(text))


def of_features(part: int) -> str:
    """The hash of all features of a part's sentences, and of all that the rules say of each."""
    seen = hashlib.sha256()
    for sentence, text in found(lines(part, STEP)):
        for window in windows(sentence, text):
            tags = Tags(window)
            rules = reasons(tags, asserted(tags))
            seen.update("\t".join([*sorted(features(window, sentence.kind)[0]), *rules, "\n"]).encode())
    return seen.hexdigest()


def of_reasons() -> str:
    """The hash of the reasons for which sentences are taken for comparisons, or not."""
    said = (f"{reason(sentence, text)}\n" for sentence, text in found(lines(0, STEP)))
    return hashlib.sha256("".join(said).encode()).hexdigest()


def kept() -> dict[str, str]:
    """The hashes as they were when the weights were made."""
    return dict(row.split() for row in KEPT.read_text("utf-8").splitlines())


def keep() -> None:
    """Write the hashes, once the weights are written."""
    hashes = {f"features-{part}": of_features(part) for part in range(PARTS)} | {"reasons": of_reasons()}
    KEPT.write_text("".join(f"{name} {value}\n" for name, value in hashes.items()), "utf-8")
