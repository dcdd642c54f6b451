"""The page of all symptoms, with links to the methods for each."""

from collections import defaultdict
from collections.abc import Mapping

from headroom.io.markdown_escape import text
from headroom.site.markdown_blocks import table
from headroom.site.site_data import PageContext, SiteData

PAGE = "find/symptoms.md"


def render(site: SiteData) -> str:
    """Return the page as Markdown with front matter."""
    rows = [[text(symptom), ", ".join(links)] for symptom, links in by_symptom(site, PageContext(PAGE)).items()]
    head = '---\ntitle: All symptoms\ndescription: "Every message and symptom, and the method that it leads to"\n---'
    tables = table(("you see", "go to"), rows)
    return f"{head}\n\n# All symptoms\n\n## What you see {{ data-search-exclude }}\n\n{tables}\n"


def by_symptom(site: SiteData, page: PageContext) -> Mapping[str, list[str]]:
    """Return the links to the methods of each symptom, sorted by symptom."""
    found: dict[str, list[str]] = defaultdict(list)
    for method in sorted(site.tree.methods.values(), key=lambda each: each.name.lower()):
        for symptom in method.symptoms:
            found[symptom].append(f"[{text(method.name)}]({page.href(method.section)})")
    return {symptom: found[symptom] for symptom in sorted(found, key=str.lower)}
