"""Pages that help readers find a method by problem, job and hardware."""

from headroom.site.method_finder import choices, problem_page, ranked_page, symptoms_page
from headroom.site.site_data import SiteData


def pages(site: SiteData) -> dict[str, str]:
    """Return every page of the method finder, by its path below docs/."""
    found = {choices.problem_path(problem): problem_page.render(site, problem) for problem in choices.problems(site)}
    lists = {choice.path: ranked_page.render(site, choice) for choice in choices.of_site(site)}
    return {symptoms_page.PAGE: symptoms_page.render(site), **found, **lists}
