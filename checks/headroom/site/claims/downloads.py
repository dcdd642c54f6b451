"""Where a claim's page leads whoever wants it as data: files, record, a badge for a README, and how to cite it."""

from collections.abc import Iterator

from headroom.records import Claim, MeasuredClaim
from headroom.site.claims import citation, readme_badge
from headroom.site.markdown_blocks import bullets, folded, heading
from headroom.site.site_data import PageContext, SiteData, beside


def section(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    """The last section of a claim's page."""
    yield heading("Data, badge and citation")
    yield bullets(_files(claim, site, page))
    yield folded("example", "A badge for a README", "\n\n".join(_badge(claim, site, page)))
    yield from citation.folded_entry(claim, site)
    if described := citation.json_ld(claim, site):
        yield described


def _files(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    standings = site.board.standings[claim.id].values()
    if isinstance(claim, MeasuredClaim) and any(standing.verdict for standing in standings):
        yield f"Samples of every session that counts: [CSV]({page.href(beside(claim.id, '.csv'))})"
    schema = page.href("schemas/one-claim-file.json")
    yield f"Verdicts, intervals and history: [JSON]({page.href(beside(claim.id, '.json'))}), by this [schema]({schema})"
    if site.repository:
        record = site.tree.claim_paths[claim.id]
        yield f"What was written down: [the record]({site.repository.rstrip('/')}/blob/main/{record})"


def _badge(claim: Claim, site: SiteData, page: PageContext) -> Iterator[str]:
    """The badge as it looks, and what to paste for it and for that of each class."""
    badges = readme_badge.of_claim(claim, site)
    yield f"![The badge of this claim]({page.href(badges[0].path)})"
    lines = (readme_badge.pasted(claim, badge, site.address) for badge in badges)
    yield "```markdown\n" + "\n".join(lines) + "\n```"
    if len(badges) > 1:
        yield "The first is of the claim as a whole, each other one of a hardware class."
    if not site.address:
        yield f"`{readme_badge.PLACEHOLDER}` stands for the address of this site, which the build was not told."
