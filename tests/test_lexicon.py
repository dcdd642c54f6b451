"""What the finder of comparative sentences sees in them: the weights hold for that and for nothing else."""

from math import fsum

import pytest

from comparisons import fingerprints
from headroom.comparatives import windows
from headroom.comparatives.lexicon import COMPARED
from headroom.comparatives.lexicon.exclusions import EXCLUDED
from headroom.comparatives.lexicon.word_senses import SENSES
from headroom.comparatives.linear_model import BIAS, WEIGHTS, features, weigh
from headroom.comparatives.tokenizer import Tags, tokens

REMEDY = "the finder sees something else than when its weights were made: run `python tests/comparisons/train.py`"
FAMILIES = {**COMPARED, **EXCLUDED, **SENSES}
VERBS = """
    degrade degrades degraded degrading amplify amplifies amplified amplifying crush crushes crushed crushing boosts
    suppresses taxes
""".split()  # noqa: SIM905
# What no text can hold as it is written there: the tokeniser takes a figure with its unit, a name with its dot.
NEVER_MET = {
    "capacity": {"24 gb cards", "on 8 gb", "one 24 gb card"},
    "shortage": {"resource _ exhausted"},
    "contrast": {"->"},
    "lead-in": {"e.g"},
    "name": {"much less than 100 %", "one second to", "the first 10 %", "the first 30 %"},
    "resource": {"i/o"},
    "slight": {"a few percent", "within one percent"},
}


@pytest.mark.parametrize("part", range(fingerprints.PARTS))
def test_the_features_are_those_that_the_weights_were_made_of(part: int) -> None:
    """Of every other labelled sentence: a new word, rule or reading of a sentence needs new weights."""
    assert fingerprints.of_features(part) == fingerprints.kept()[f"features-{part}"], REMEDY


def test_the_reasons_are_those_that_these_weights_gave() -> None:
    """What makes a sentence comparative, or that nothing does, follows from features and weights alone."""
    assert fingerprints.of_reasons() == fingerprints.kept()["reasons"], REMEDY


def test_families_without_a_weight_need_not_be_looked_at() -> None:
    """Weighing passes over pairs that have no weight: the score is that of all features."""
    rows = (row.rsplit(" ", 1) for row in WEIGHTS.read_text("utf-8").splitlines()[1:])
    weights = {name: float(weight) for name, weight in rows}
    for sentence, text in fingerprints.found(fingerprints.lines(0, fingerprints.STEP)):
        for window in windows(sentence, text):
            every, rule = features(window, sentence.kind)
            assert weigh(window, sentence.kind) == (fsum(weights.get(name, 0) for name in [BIAS, *every]), rule)


def test_each_word_of_a_family_is_found_as_one_of_it() -> None:
    """Also those that no labelled sentence holds: from its first token to its last."""
    missed = {family: {word for word in words(text) if not is_found(word, family)} for family, text in FAMILIES.items()}
    assert {family: unmet for family, unmet in missed.items() if unmet} == NEVER_MET


@pytest.mark.parametrize("verb", VERBS)
def test_a_starred_verb_is_found_in_each_of_its_forms(verb: str) -> None:
    """The regular ones, as English spells them."""
    assert is_found(verb, "change")


def words(table: str) -> set[str]:
    """The words and phrases of a family, without the stars of verbs."""
    return {word.strip().replace("*", "") for word in " ".join(table.split()).split(",")}


def is_found(word: str, family: str) -> bool:
    """Whether a text that is nothing but this is tagged as a whole."""
    read = list(tokens(word))
    return (0, len(read)) in Tags(read).of(family)
