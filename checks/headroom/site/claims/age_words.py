"""Mark ageing and stale evidence: a word in the badge, and a reason after the verdict."""

from headroom.verdicts import Standing


def mark(standing: Standing) -> str:
    """Return the badge's addition for ageing or stale evidence, or nothing."""
    return f", {standing.age.word}" if standing.verdict and standing.age and standing.age.reason else ""


def sentence(standing: Standing) -> str:
    """Return the reason why evidence is ageing or stale, or nothing; the verdict does not change."""
    if not (standing.verdict and standing.age and standing.age.reason):
        return ""
    return f" {standing.age.word.capitalize()}: {standing.age.reason}."
