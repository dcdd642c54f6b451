"""The words that make a sentence comparative, by what they do in it. Whoever misses one adds it to one of three tables.

Whoever changes one makes the weights again (``model.py``).

A category holds words and phrases with commas between them, in the order of the alphabet. A ``*`` stands for the
endings of a regular verb. Which categories make a comparison, alone or near one another, ``pairing.py`` says.
``exclusions.py`` has what unmakes one.
"""

from typing import Final

from headroom.comparatives.lexicon.effect_verbs import EFFECTS
from headroom.comparatives.lexicon.measurable_nouns import THINGS
from headroom.comparatives.lexicon.merit_words import MERITS

COMPARED: Final = {**THINGS, **EFFECTS, **MERITS}
