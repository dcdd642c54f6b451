"""The hand-written rules for comparative sentences, with every word of their lists."""

import pytest

from headroom.comparatives import windows
from headroom.comparatives.assertion import asserted
from headroom.comparatives.pair_rules import reasons
from headroom.comparatives.tokenizer import Tags
from headroom.pages.sentences import sentences

DEGREES = "very quite too so rather often also still almost not as more most the a an painfully".split()  # noqa: SIM905
ARTICLES = "the a an its their your our all no both any peak gpu much most".split()  # noqa: SIM905
CUTS = ", ; : ( ) | of in for with on and to or at that".split()  # noqa: SIM905
NO_MERITS = "easier earlier friendlier fancier trickier prettier".split()  # noqa: SIM905
NO_MERITS += "carrier barrier tier modifier identifier multiplier classifier notifier".split()  # noqa: SIM905


def matches(text: str, rule: str) -> bool:
    """Return whether a rule matches a text."""
    for sentence in sentences(text):
        for window in windows(sentence, text):
            tags = Tags(window)
            if any(reason.startswith(f"{rule}:") for reason in reasons(tags, asserted(tags))):
                return True
    return False


@pytest.mark.parametrize(
    ("text", "scored"),
    [
        ("It is slow.", True),
        ("Is it slow?", False),
        ('He asked "is it slow?"', False),
        ("(is it slow?)", False),
        ("# Is it slow?", False),
        ("# Slow", False),
        ("# Training is slow", False),
        ("# The steps are very slow", False),
        ("# It is slow", False),
        ("# My model is slow", False),
        ("# Your model is slow", False),
        ("# Eager mode is slow", True),
        ("# The kernel is fast", True),
        ("# The slow kernel wins", True),
        ('!!! note "It is slow"', False),
        ('!!! note "Reducing memory"', False),
        ("| a |\n|---|\n| It is slow |", False),
        ("| a |\n|---|\n| It is fast |", True),
        ("| It is fast |\n|---|", False),
        ("# Reducing memory", False),
        ("# Reducing memory by 30 %", True),
        ("# Reducing memory 2x", True),
        ("# Choosing a kernel", False),
        ("# Caching is fast", True),
        ("Reducing memory is fast.", True),
        ("[It is fast](a.md)", False),
        ("[It is fast](claim:a.b)", True),
    ],
)
def test_which_texts_are_scored(text: str, scored: bool) -> None:  # noqa: FBT001
    """Questions, topics, headers of tables, symptoms in headings or cells, and links to other pages are not scored."""
    assert any(windows(sentence, text) for sentence in sentences(text)) == scored


@pytest.mark.parametrize("before", DEGREES)
def test_a_verdict_is_found_after_a_word_of_degree(before: str) -> None:
    """A verdict directly after the verb is found too; one after any other word is not."""
    assert matches(f"It is {before} slow.", "judged")
    assert matches("It is slow.", "judged")
    assert not matches("It is written slow.", "judged")


@pytest.mark.parametrize("article", ARTICLES)
def test_an_unknown_verb_is_found_before_an_article_and_a_dimension(article: str) -> None:
    """A verb in -s that is in no list."""
    assert matches(f"The kernel dents {article} throughput.", "verb")
    assert not matches(f"The kernel dent {article} throughput.", "verb")


@pytest.mark.parametrize("cut", CUTS)
def test_an_unknown_verb_ends_at_a_mark_or_a_preposition(cut: str) -> None:
    """The words after the mark are not the verb's object."""
    assert matches("It dents the very throughput.", "verb")
    assert not matches(f"It dents the {cut} throughput.", "verb")


@pytest.mark.parametrize("word", ["this", "less", "status", "axis", "computes"])
def test_words_in_ss_us_is_and_listed_words_are_no_verbs(word: str) -> None:
    assert not matches(f"So {word} the throughput.", "verb")


@pytest.mark.parametrize("word", NO_MERITS)
def test_a_word_in_ier_that_is_no_merit_compares_nothing(word: str) -> None:
    """Any other word in -ier compares before "than"."""
    assert not matches(f"It is {word} than that.", "than")
    assert matches("It is snappier than that.", "than")
    assert not matches("It is snappier by far.", "than")


@pytest.mark.parametrize("against", ["not", "than", "against", "was", "were", "only"])
def test_a_bare_number_is_contrasted_with_a_figure_after_some_words(against: str) -> None:
    """Only one of the two has a unit: "2 GB, not 4"."""
    assert matches(f"It takes 2 GB {against} 4 today.", "figures")
    assert not matches("It takes 2 GB at 4 today.", "figures")


@pytest.mark.parametrize("word", ["where", "whereas", "while", "instead", "versus", "vs", "unlike", "for", "what"])
@pytest.mark.parametrize("end", ["", ".", ", too.", ") of it.", " for it."])
def test_a_bare_number_at_the_end_of_a_clause_counts_with_a_word_of_contrast(word: str, end: str) -> None:
    """The clause ends at the end of the sentence, a comma, a bracket or "for"."""
    assert matches(f"It takes 2 GB {word} this takes 4{end}", "figures")
    assert not matches(f"It takes 2 GB {word} this takes 4 of them.", "figures")
    assert not matches("It takes 2 GB and this takes 4.", "figures")


@pytest.mark.parametrize("word", ["with", "without", "by", "under", "on"])
def test_two_figures_of_a_kind_count_between_two_settings(word: str) -> None:
    """Each figure has its own preposition, or the sentence says "from … to" or "against"."""
    assert matches(f"It takes 2 GB {word} this and 4 GB {word} that.", "figures")
    assert not matches("It takes 2 GB with this and 4 GB there.", "figures")
    assert matches("It goes from 2 GB here to 4 GB there.", "figures")
    assert matches("It takes 2 GB; the other 4 GB.", "figures")
    assert matches("It turns 2 GB into 4 GB.", "figures")


@pytest.mark.parametrize(("text", "holds"), [
    ("It went from 310 to 190 ms.", True),
    ("It is in the range from 310 to 190 ms.", False),
    ("It ranges from 310 to 190 ms.", False),
    ("It is one ranging from 310 to 190 ms.", False),
    ("It took 310 to 190 ms.", False),
])  # fmt: skip
def test_a_range_is_no_change(text: str, holds: bool) -> None:  # noqa: FBT001
    """Two figures are a change, unless they are the ends of a range."""
    assert matches(text, "from") == holds


@pytest.mark.parametrize(("text", "holds"), [
    ("The kernel is there and 2x of it.", True),
    ("It is 2 x 3 of them here.", False),
    ("It grew by 2 x of them here.", True),
    ("It has 8x H100 in a box.", False),
    ("It has 8x RTX in a box.", False),
    ("It has 8x GPU in a box.", False),
    ("It is 2x.", False),
    ("It is 2 times faster for us.", True),
    ("It is 2 times as much for us.", True),
    ("It is 2 times the size for us.", True),
    ("It is 2 times what we had.", True),
])  # fmt: skip
def test_a_factor_is_a_ratio(text: str, holds: bool) -> None:  # noqa: FBT001
    """Products of sizes and numbers of cards are not factors."""
    assert matches(text, "factor") == holds


@pytest.mark.parametrize("which", ["first", "last", "top"])
def test_a_share_of_the_work_is_no_share_of_a_dimension(which: str) -> None:
    """The first 20 % of the steps, or all of them, are not a comparison."""
    assert matches("It saves 20 % of it.", "change … percent")
    assert not matches(f"It saves the {which} 20 % of it.", "change … percent")
    assert not matches("It saves 100 % of it.", "change … percent")
