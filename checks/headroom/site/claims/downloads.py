"""The last section of a claim's page: data files, its record, a README badge and a citation."""

from collections.abc import Iterator

from headroom.records import Claim, MeasuredClaim
from headroom.site.claims import citation, readme_badge
from headroom.site.markdown_blocks import bullets, folded, heading
from headroom.site.site_data import PageContext, SiteData, claim_file


def section(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the section."""
    yield heading("Data, badge and citation")
    yield bullets(_files(claim, site, page))
    yield folded("example", "A badge for a README", "\n\n".join(_badge(claim, site, page)))
    yield from citation.folded_entry(claim, site)
    if described := citation.json_ld(claim, site):
        yield described


def _files(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    standings = site.board.standings[claim.id].values()
    if isinstance(claim, MeasuredClaim) and any(standing.verdict for standing in standings):
        yield f"Samples of every session that counts: [CSV]({page.href(claim_file(claim.id, '.csv'))})"
    schema = page.href("schemas/one-claim-file.json")
    record = page.href(claim_file(claim.id, ".json"))
    yield f"Verdicts, intervals and history: [JSON]({record}), by this [schema]({schema})"
    if site.repository:
        source = site.tree.claim_paths[claim.id]
        yield f"The claim as written: [its record]({site.repository.rstrip('/')}/blob/main/{source})"


def _badge(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the badge, and the Markdown that shows it in a README, overall and per class."""
    badges = readme_badge.of_claim(claim, site)
    yield f"![The badge of this claim]({page.href(badges[0].path)})"
    lines = (readme_badge.markdown(claim, badge, site.address) for badge in badges)
    yield "```markdown\n" + "\n".join(lines) + "\n```"
    if len(badges) > 1:
        yield "The first badge covers the whole claim; each other badge covers one hardware class."
    if not site.address:
        yield f"Replace `{readme_badge.PLACEHOLDER}` with this site's address, which was not set when it was built."
