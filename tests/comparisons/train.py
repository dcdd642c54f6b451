"""Train the weights of the finder of comparative sentences on the labelled sentences of this folder.

``python tests/comparisons/train.py`` writes the weights and hashes of the features, and prints the cross-validated
recall: models are tested on the pages of an author whose pages they were not trained on. The model is a logistic
regression with an elastic net, fitted by accelerated proximal gradient steps, so it is the same every time.
"""

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
AUTHORS = tuple(f"running-{name}" for name in "abcdefghij")
"""The folds of the cross-validation: one per author."""
SEEN = "seen"
FILES = (SEEN, *AUTHORS, "running-own")
PAGES = 4
"""The fewest pages on which a feature must occur."""
LASSO, RIDGE = 0.3, 3.0
STEPS = 300
TRUST = 4.0
"""Added to the learned weight of a matching rule, because real pages are plainer than composed ones."""
PRUNED = 0.1
"""The smallest weight that is kept."""
PRECISION = 0.92
"""The cross-validated precision that the threshold is chosen for."""
_A_PAGE = 20
"""The number of seen sentences, which have no page, that count as one page."""

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
    """A sparse binary matrix of features by row."""

    rows: Ints
    columns: Ints
    height: int
    width: int

    def times(self, weights: Floats) -> Floats:
        """Return the sum of the weights of each row, of shape (height,)."""
        return np.bincount(self.rows, weights=weights[self.columns], minlength=self.height)

    def transposed_times(self, values: Floats) -> Floats:
        """Return the sum of the values of each feature's rows, of shape (width,)."""
        return np.bincount(self.columns, weights=values[self.rows], minlength=self.width)


@dataclass(frozen=True)
class Model:
    """A weight per feature, and a bias."""

    features: list[str]
    weights: Floats
    bias: float

    def scores(self, rows: list[Row]) -> Floats:
        """Return a score per row, higher for a comparison."""
        return _matrix(rows, self.features).times(self.weights) + self.bias

    def pruned(self) -> "Model":
        """Return the model without its small weights."""
        kept = np.abs(self.weights) >= PRUNED
        names = [name for name, is_kept in zip(self.features, kept, strict=True) if is_kept]
        return Model(names, self.weights[kept], self.bias)

    def trusting(self) -> "Model":
        """Return the model with a larger weight of the rules."""
        return Model(
            self.features, self.weights + TRUST * np.array([name == RULE for name in self.features]), self.bias
        )


def labelled(name: str) -> list[Row]:
    """Read a file's sentences with features; the seen ones without rules, which were written for them."""
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


def fitted(rows: list[Row]) -> Model:
    """Return the model of these rows that minimises the logistic loss and the two penalties."""
    known = _known(rows)
    matrix = _matrix(rows, known)
    labels = np.array([row.compares for row in rows], dtype=float)
    step = 1 / (_steepness(matrix) + RIDGE)
    weights, ahead = np.zeros(len(known)), np.zeros(len(known))
    bias, bias_ahead, momentum = 0.0, 0.0, 1.0
    for _ in range(STEPS):
        error = 1 / (1 + np.exp(-(matrix.times(ahead) + bias_ahead))) - labels
        moved = ahead - step * (matrix.transposed_times(error) + RIDGE * ahead)
        moved = np.sign(moved) * np.maximum(np.abs(moved) - step * LASSO, 0)
        moved_bias = bias_ahead - step * error.sum()
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        pull = (momentum - 1) / following
        ahead, bias_ahead = moved + pull * (moved - weights), moved_bias + pull * (moved_bias - bias)
        weights, bias, momentum = moved, moved_bias, following
    return Model(known, weights, float(bias))


def crossed(rows: list[Row]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the scores of each author's sentences by a model trained without that author, and the labels."""
    scores, labels = [], []
    for author in AUTHORS:
        theirs = [row for row in rows if row.file == author]
        model = fitted([row for row in rows if row.file != author])
        scores.append(model.pruned().trusting().scores(theirs))
        labels.append(np.array([row.compares for row in theirs]))
    return np.concatenate(scores), np.concatenate(labels)


def threshold(scores: Floats, labels: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return the lowest score from which the precision is high enough, and the recall from there."""
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(labels[order])
    last = np.flatnonzero(right / np.arange(1, len(order) + 1) >= PRECISION)[-1]
    return float(scores[order][last]), float(right[last] / labels.sum())


def text_of(model: Model, above: float) -> str:
    """Return the weights as they are committed, with the threshold in the bias."""
    kept = sorted((name, f"{weight:.2f}") for name, weight in zip(model.features, model.weights, strict=True))
    lines = [f"{name} {weight}" for name, weight in kept if float(weight)]
    return "\n".join([f"{BIAS} {model.bias - above:.2f}", *lines]) + "\n"


def made() -> tuple[str, float]:
    """Return the weights as they are committed, and the cross-validated recall."""
    rows = [row for name in FILES for row in labelled(name)]
    above, recall = threshold(*crossed(rows))
    return text_of(fitted(rows).pruned().trusting(), above), recall


def _known(rows: list[Row]) -> list[str]:
    where = defaultdict(set)
    for row in rows:
        for feature in row.features:
            where[feature].add(row.page)
    return sorted(feature for feature, found in where.items() if len(found) >= PAGES)


def _matrix(rows: Iterable[Row], known: list[str]) -> Matrix:
    places = {feature: i for i, feature in enumerate(known)}
    found = [sorted(places[feature] for feature in row.features if feature in places) for row in rows]
    lengths = [len(each) for each in found]
    columns = np.array([place for each in found for place in each], dtype=np.int64)
    return Matrix(np.repeat(np.arange(len(found)), lengths), columns, len(found), len(known))


def _steepness(matrix: Matrix) -> float:
    """Return an upper bound of the loss's second derivative, by power iteration."""
    direction, norm = np.ones(matrix.width), 1.0
    for _ in range(30):
        direction = matrix.transposed_times(matrix.times(direction / norm))
        norm = float(np.linalg.norm(direction))
    return 0.25 * 1.1 * norm


if __name__ == "__main__":
    from fingerprints import keep  # in the folder of this script

    text, share = made()
    WEIGHTS.write_text(text, "utf-8")
    keep()
    sys.stdout.write(f"crossed: precision {PRECISION:.1%}, recall {share:.1%}\n")
