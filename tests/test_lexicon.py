"""The finder's features: the weights are valid only for the features that they were trained on."""

from math import fsum

from comparisons import fingerprints
from headroom.comparatives import windows
from headroom.comparatives.linear_model import BIAS, WEIGHTS, features, score


def test_labels_and_features_are_those_of_the_weights() -> None:
    """A new label, word, rule or change of the parser needs new weights."""
    remedy = "labels or features have changed: run `python tests/comparisons/train.py`"
    assert fingerprints.hashes() == fingerprints.kept(), remedy


def test_score_is_the_sum_over_all_features() -> None:
    """The finder skips pairs of families without a weight, which does not change the score."""
    rows = (row.rsplit(" ", 1) for row in WEIGHTS.read_text("utf-8").splitlines())
    weights = {name: float(weight) for name, weight in rows}
    for sentence, text in fingerprints.found(fingerprints.labelled()[:: 2 * fingerprints.STEP]):
        for window in windows(sentence, text):
            every, rule = features(window, sentence.kind)
            assert score(window, sentence.kind) == (fsum(weights.get(name, 0) for name in [BIAS, *every]), rule)
