"""The page "Will it fit?", and the forms on the start page and the method finder that lead to it."""

from headroom.site.memory_form import PAGE
from headroom.site.memory_tool import browser_data, recipes
from headroom.site.memory_tool.models import known_models
from headroom.site.method_finder import choices
from headroom.site.site_data import SiteData

STYLE = "assets/memory.css"
_ESTIMATOR = ("assets/memory-data.js", "assets/memory-estimate.js")
_RECIPES = ("assets/memory-recipes-data.js", "assets/memory-recipes.js")


def files(site: SiteData) -> dict[str, str]:
    """Return the generated scripts with the data of the estimator, by path; none without models."""
    models = known_models(site.tree)
    if not models:
        return {}
    return {_ESTIMATOR[0]: browser_data.script(site.tree, models), _RECIPES[0]: recipes.script(site.tree, models)}


def scripts(site: SiteData) -> dict[str, tuple[str, ...]]:
    """Return the scripts of each page that has an estimator or a form, by the page's path below docs/."""
    if not known_models(site.tree):
        return {}
    ranked = [choice.path for choice in choices.of_site(site) if choice.fills_one_gpu]
    return {PAGE: _ESTIMATOR, **dict.fromkeys(["index.md", *ranked], _RECIPES)}
