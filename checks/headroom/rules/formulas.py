"""Rule `models`: formulas of modelled claims can be evaluated; and checks of links to modelled claims."""

from collections.abc import Iterator

from headroom.pages.source import Link, Page
from headroom.records import MeasuredClaim, ModelledClaim, Problem
from headroom.rules.context import Context, at

_REMEDY = "correct it; docs/contribute/records.md describes modelled claims"


def models(context: Context) -> Iterator[Problem]:
    """Report formulas that do not yield their predicted unit, or are validated on data that they were fitted on."""
    tree = context.tree
    for claim_id, computed in context.board.models.items():
        for field, fault in computed.faults:
            path = tree.claim_paths[claim_id]
            steps = tuple(int(step) if step.isdigit() else step for step in field.split("."))
            yield Problem(path, tree.documents[path].line(steps), "models", field, fault, _REMEDY)


def sound(context: Context, claim_id: str) -> bool:
    """Return whether a claim's record has no fault; its faults are reported at the record only."""
    return claim_id not in context.board.models or not context.board.models[claim_id].faults


def titled(context: Context, page: Page, link: Link, claim: ModelledClaim) -> Iterator[Problem]:
    """Report a link whose title differs from the status; a link without a title asserts that the formula holds."""
    status = context.board.status(claim, "")
    if sound(context, claim.id) and (status != (link.title or "modelled") or link.title == "modelled"):
        asserted = f'"{link.title}"' if link.title else "that the formula holds"
        title = "remove the title" if status == "modelled" else f'write the title "{status}"'
        reason = context.board.models[claim.id].reason
        message = f"the link says {asserted}, but the claim is {status}: {reason}"
        yield at(page, link, "verdicts", message, f"{title}, and make the sentence say so")


def from_elsewhere(context: Context, page: Page, link: Link, claim: ModelledClaim) -> Iterator[Problem]:
    """Report a formula that uses CPU times on a page about GPUs, or the reverse."""
    tree = context.tree
    about = {tree.classes[name].device for name in page.hardware if name in tree.classes}
    for figure in claim.figures():
        source, measured_on = tree.claims.get(figure.claim), tree.classes.get(figure.hardware)
        stays = isinstance(source, MeasuredClaim) and not source.metric.carries_over
        if stays and measured_on and about - {measured_on.device}:
            message = (
                f"`{claim.id}` depends on `{figure.claim}`, measured on `{figure.hardware}`, but the page is about "
            )
            message += ", ".join(page.hardware)
            yield at(page, link, "hardware", message, "move it to a page about that hardware")
            return


def factors(context: Context, claim: ModelledClaim) -> list[float]:
    """Return the result of a formula if it is dimensionless, to compare with words such as `halves`."""
    result = context.board.models[claim.id].result
    return [result.value] if result and not result.powers else []


def words_of(claim: ModelledClaim) -> str:
    """Return all texts and values of a modelled claim, to find the numbers of a link's text in them."""
    values = [
        f"{variable.meaning} {variable.value:.12g} {variable.value:,.12g}"
        for variable in claim.variables.values()
        if variable.value
    ]
    return " ".join([claim.statement, claim.formula, claim.validity.words, claim.predicts.name, *values])


def holds_on(context: Context, claim: ModelledClaim) -> set[str]:
    """Return the hardware classes on which a formula was compared with a measurement."""
    return {check.validation.hardware for check in context.board.models[claim.id].known}
