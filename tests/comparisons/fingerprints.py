"""Hash the labelled sentences and the features that the finder extracts from them.

``train.py`` writes the hashes with the weights, which are valid only for these labels and features. The source code is
not hashed: renaming a module needs no new weights.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from headroom.comparatives import reason, windows
from headroom.comparatives.linear_model import features
from headroom.pages.sentences import Sentence, sentences

HERE = Path(__file__).parent
KEPT = HERE / "fingerprints.txt"
STEP = 8
"""Hash every eighth sentence, to save time."""


def labelled() -> list[str]:
    """Return the lines of the labelled files, without the unseen sets."""
    paths = [path for path in sorted(HERE.glob("*.tsv")) if not path.stem.startswith("unseen")]
    return [row for path in paths for row in path.read_text("utf-8").splitlines()]


def found(rows: Iterable[str]) -> Iterator[tuple[Sentence, str]]:
    """Yield the sentences of some lines, each with the text of its line."""
    texts = (row.split("\t")[-1] for row in rows)
    return ((sentence, text) for text in texts for sentence in sentences(text))


def hashes() -> dict[str, str]:
    """Return the hash of all labels, and of some sentences' features and reasons."""
    rows = labelled()
    seen = hashlib.sha256()
    for sentence, text in found(rows[::STEP]):
        for window in windows(sentence, text):
            names, rule = features(window, sentence.kind)
            seen.update("\t".join([*sorted(names), rule, reason(sentence, text), "\n"]).encode())
    return {"labels": hashlib.sha256("\n".join(rows).encode()).hexdigest(), "features": seen.hexdigest()}


def kept() -> dict[str, str]:
    """Return the hashes from the time of training."""
    return dict(row.split() for row in KEPT.read_text("utf-8").splitlines())


def keep() -> None:
    """Write the present hashes."""
    KEPT.write_text("".join(f"{name} {value}\n" for name, value in hashes().items()), "utf-8")
