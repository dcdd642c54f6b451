"""Makes the weights of the finder of comparative sentences from the labelled sentences of this folder.

``python tests/comparisons/train.py`` writes them, and hashes of what the finder sees in these sentences, and prints how
models do on the pages of an author whom they do not know. Logistic regression with an elastic net, by accelerated
proximal gradient steps: no chance in it.
"""

import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from headroom.comparatives import windows
from headroom.comparatives.linear_model import BIAS, RULE, WEIGHTS, features
from headroom.pages.sentences import sentences

HERE = Path(__file__).parent
AUTHORS = ("running-a", "running-b")
"""Two who wrote, and labelled, without knowing the finder."""
SEEN = "seen"
FILES = (SEEN, *AUTHORS, *(f"running-{name}" for name in "cdefghij"), "running-own")
PAGES = 4
"""A feature counts that stands on so many pages."""
LASSO, RIDGE = 0.3, 6.0
STEPS = 300
TRUST = 1.0
"""What the verdict of the rules weighs beyond what is learned: real pages are plainer than composed ones."""
PRECISION = 0.90
"""What the threshold reaches where a model of some authors' pages meets those of another."""
_A_PAGE = 20
"""The seen sentences are of no page: so many count as one."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """A labelled sentence."""

    file: str
    page: str
    compares: bool
    features: frozenset[str]


@dataclass(frozen=True)
class Matrix:
    """Which features stand in which rows."""

    rows: Ints
    columns: Ints
    height: int
    width: int

    def times(self, weights: Floats) -> Floats:
        """The sum of the weights of each row."""
        return np.bincount(self.rows, weights=weights[self.columns], minlength=self.height)

    def transposed_times(self, values: Floats) -> Floats:
        """The sum of the values of each feature's rows."""
        return np.bincount(self.columns, weights=values[self.rows], minlength=self.width)


@dataclass(frozen=True)
class Model:
    """A weight a feature, and a bias."""

    features: list[str]
    weights: Floats
    bias: float

    def scores(self, rows: list[Row]) -> Floats:
        """What it says of each row: above 0 it rather compares."""
        return _matrix(rows, self.features).times(self.weights) + self.bias

    def trusting(self) -> "Model":
        """The same, with more trust in the rules."""
        return Model(
            self.features, self.weights + TRUST * np.array([name == RULE for name in self.features]), self.bias
        )


def labelled(name: str) -> list[Row]:
    """The sentences of a file that may compare at all. On the seen ones the rules were made: there they are mute."""
    found = []
    for i, line in enumerate((HERE / f"{name}.tsv").read_text("utf-8").splitlines()):
        *page, label, text = line.split("\t")
        seen = {
            feature
            for sentence in sentences(text)
            for window in windows(sentence, text)
            for feature in features(window, sentence.kind)[0]
        }
        if name == SEEN:
            seen = {feature for feature in seen if not feature.startswith(RULE)}
        if seen:
            found.append(Row(name, f"{name} {page[0] if page else i // _A_PAGE}", label == "1", frozenset(seen)))
    return found


def fitted(rows: list[Row], lasso: float = LASSO, ridge: float = RIDGE, pages: int = PAGES) -> Model:
    """The model of these rows that minimises the logistic loss and the two penalties."""
    known = _known(rows, pages)
    matrix = _matrix(rows, known)
    labels = np.array([row.compares for row in rows], dtype=float)
    step = 1 / (_steepness(matrix) + ridge)
    weights, ahead = np.zeros(len(known)), np.zeros(len(known))
    bias, bias_ahead, momentum = 0.0, 0.0, 1.0
    for _ in range(STEPS):
        error = 1 / (1 + np.exp(-(matrix.times(ahead) + bias_ahead))) - labels
        moved = ahead - step * (matrix.transposed_times(error) + ridge * ahead)
        moved = np.sign(moved) * np.maximum(np.abs(moved) - step * lasso, 0)
        moved_bias = bias_ahead - step * error.sum()
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        pull = (momentum - 1) / following
        ahead, bias_ahead = moved + pull * (moved - weights), moved_bias + pull * (moved_bias - bias)
        weights, bias, momentum = moved, moved_bias, following
    return Model(known, weights, float(bias))


def crossed(rows: list[Row], **settings: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """What models without one author's pages say of these; and what is so."""
    scores, labels = [], []
    for author in AUTHORS:
        theirs = [row for row in rows if row.file == author]
        model = fitted([row for row in rows if row.file != author], **settings)  # type: ignore[arg-type]
        scores.append(model.trusting().scores(theirs))
        labels.append(np.array([row.compares for row in theirs]))
    return np.concatenate(scores), np.concatenate(labels)


def threshold(scores: Floats, labels: npt.NDArray[np.bool_], precision: float = PRECISION) -> tuple[float, float]:
    """The lowest score from which on so many are right, and which share of the comparative sentences it finds."""
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(labels[order])
    last = np.flatnonzero(right / np.arange(1, len(order) + 1) >= precision)[-1]
    return float(scores[order][last]), float(right[last] / labels.sum())


def text_of(model: Model, above: float) -> str:
    """The weights as they are committed, for a threshold of 0."""
    kept = sorted((name, f"{weight:.2f}") for name, weight in zip(model.features, model.weights, strict=True))
    lines = [f"{name} {weight}" for name, weight in kept if float(weight)]
    return "\n".join([f"# {source()}", f"{BIAS} {model.bias - above:.2f}", *lines]) + "\n"


def source() -> str:
    """The hash of the sentences, of this script, and of the finder's words and rules."""
    paths = [Path(__file__), *(HERE / f"{name}.tsv" for name in FILES), *sorted(WEIGHTS.parent.glob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def made() -> tuple[str, float]:
    """The weights, made again, and which share of the other author's comparative sentences is found."""
    rows = [row for name in FILES for row in labelled(name)]
    above, recall = threshold(*crossed(rows))
    return text_of(fitted(rows).trusting(), above), recall


def _known(rows: list[Row], pages: int) -> list[str]:
    where = defaultdict(set)
    for row in rows:
        for feature in row.features:
            where[feature].add(row.page)
    return sorted(feature for feature, found in where.items() if len(found) >= pages)


def _matrix(rows: Iterable[Row], known: list[str]) -> Matrix:
    places = {feature: i for i, feature in enumerate(known)}
    found = [sorted(places[feature] for feature in row.features if feature in places) for row in rows]
    lengths = [len(each) for each in found]
    columns = np.array([place for each in found for place in each], dtype=np.int64)
    return Matrix(np.repeat(np.arange(len(found)), lengths), columns, len(found), len(known))


def _steepness(matrix: Matrix) -> float:
    """An upper bound of the loss's second derivative, by power iteration."""
    direction, norm = np.ones(matrix.width), 1.0
    for _ in range(30):
        direction = matrix.transposed_times(matrix.times(direction / norm))
        norm = float(np.linalg.norm(direction))
    return 0.25 * 1.1 * norm


if __name__ == "__main__":
    from fingerprints import keep  # it stands beside this script

    text, share = made()
    WEIGHTS.write_text(text, "utf-8")
    keep()
    sys.stdout.write(f"crossed: precision {PRECISION:.1%}, recall {share:.1%}\n")
