"""The lexicon of comparative words, by family. After a change, run ``tests/comparisons/train.py`` to train new weights.

A family is a list of words and phrases, separated by commas and sorted. ``*`` adds the endings of a regular verb.
``pair_rules.py`` says which families make a comparison; ``exclusions.py`` has the words that prevent one.
"""

from typing import Final

from headroom.comparatives.lexicon.effect_verbs import EFFECTS
from headroom.comparatives.lexicon.measurable_nouns import THINGS
from headroom.comparatives.lexicon.merit_words import MERITS

COMPARED: Final = {**THINGS, **EFFECTS, **MERITS}
