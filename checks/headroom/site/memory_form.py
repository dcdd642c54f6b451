"""The place of a form that compares a model's recipes with a card; docs/assets/memory/recipes.js fills it."""

PAGE = "tools/will-it-fit.md"
"""The page with all settings."""


def form(link: str, kind: str = "") -> str:
    """Return the form's place with what is in it without scripts: a link to the page with all settings.

    Args:
        link: the address of that page.
        kind: ``ranked`` for a list of the method finder, ``ranked full`` without adapters, empty for the start page.
    """
    name = f"memory-form {kind}".strip()
    return f'<div class="{name}" markdown>\n\n[Will it fit?]({link}) Peak memory of a model on a card.\n\n</div>'
