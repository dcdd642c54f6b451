"""What the site says of old evidence: a word in the badge, and the reason behind the verdict."""

from headroom.verdicts import Standing


def mark(standing: Standing) -> str:
    """What a badge adds: the word where evidence is ageing or stale, and else nothing."""
    return f", {standing.age.word}" if standing.verdict and standing.age and standing.age.reason else ""


def sentence(standing: Standing) -> str:
    """What stands behind a verdict: the word and why, or else nothing. The verdict is the one that it was."""
    if not (standing.verdict and standing.age and standing.age.reason):
        return ""
    return f" {standing.age.word.capitalize()}: {standing.age.reason}."
