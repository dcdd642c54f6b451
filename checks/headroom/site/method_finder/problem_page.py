"""The page of one problem: its choices of job and hardware, and those without content yet."""

from collections.abc import Iterator

from headroom.records.start_choices import Problem
from headroom.site.method_finder import choices
from headroom.site.method_finder.choices import HARDWARE, JOBS, PROBLEMS, Choice
from headroom.site.site_data import PageContext, SiteData


def render(site: SiteData, problem: Problem) -> str:
    """Return the page as Markdown with front matter."""
    return "\n\n".join(_parts(site, problem)) + "\n"


def _parts(site: SiteData, problem: Problem) -> Iterator[str]:
    words = PROBLEMS[problem]
    page = PageContext(choices.problem_path(problem))
    about = f"{words.title.rstrip('?')}: choose the job and the hardware."
    yield f'---\ntitle: "{words.title}"\ndescription: "{about}"\nsearch: {{boost: 0.5}}\n---'
    yield f"# {words.title}"
    yield f"{words.hint}. What do you do, and on what?"
    found = [choice for choice in choices.of_site(site) if choice.problem == problem]
    rows = [f"- [{_named(choice)}]({page.href(choice.path)}) {_count(site, choice)}" for choice in found]
    yield '<div class="choice" markdown data-search-exclude>\n\n' + "\n".join(rows) + "\n\n</div>"
    if missing := [*_missing(found)]:
        yield f"Not written yet: {', '.join(missing)}."


def _named(choice: Choice) -> str:
    title = f"{JOBS[choice.job]} on {HARDWARE[choice.hardware]}"
    return title[0].upper() + title[1:]


def _count(site: SiteData, choice: Choice) -> str:
    count = len(choice.methods(site))
    return f"{count} method{'' if count == 1 else 's'}" if count else "a guide"


def _missing(found: list[Choice]) -> Iterator[str]:
    """Yield the jobs and the hardware that no choice of the problem has."""
    yield from (title for job, title in JOBS.items() if job not in {choice.job for choice in found})
    yield from (title for kind, title in HARDWARE.items() if kind not in {choice.hardware for choice in found})
