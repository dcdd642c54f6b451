"""The theme's page, with its scripts out of the way of its text."""

NAME = "main.html"
_DEFERRED = "{% block BLOCK %}{{ super() | replace('<script src=', '<script defer src=') }}{% endblock %}"


def template() -> str:
    """The page as a template of the theme: scripts are fetched beside it, and run in their order once it stands."""
    return '{% extends "base.html" %}' + "".join(_DEFERRED.replace("BLOCK", block) for block in ("libs", "scripts"))
