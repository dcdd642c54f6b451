"""Modelled claims: that their formulas can be evaluated, and what a link to one says."""

from collections.abc import Iterator

from headroom.pages.source import Link, Page
from headroom.records import MeasuredClaim, ModelledClaim, Problem
from headroom.rules.context import Context, at

_REMEDY = "correct it; docs/contribute/records.md says what a modelled claim holds"


def models(context: Context) -> Iterator[Problem]:
    """A formula can be evaluated in the unit that it predicts, and is held to evidence that it was not fitted on."""
    tree = context.tree
    for claim_id, computed in context.board.models.items():
        for field, fault in computed.faults:
            path = tree.claim_paths[claim_id]
            steps = tuple(int(step) if step.isdigit() else step for step in field.split("."))
            yield Problem(path, tree.documents[path].line(steps), "models", field, fault, _REMEDY)


def sound(context: Context, claim_id: str) -> bool:
    """Whether a claim's record is not itself at fault, which is said at the record and nowhere else."""
    return claim_id not in context.board.models or not context.board.models[claim_id].faults


def titled(context: Context, page: Page, link: Link, claim: ModelledClaim) -> Iterator[Problem]:
    """A link without a title asserts that the evidence bears the formula out; a title says that it does not."""
    status = context.board.status(claim, "")
    if sound(context, claim.id) and (status != (link.title or "modelled") or link.title == "modelled"):
        said = f'"{link.title}"' if link.title else "that the formula holds"
        title = "remove the title" if status == "modelled" else f'write the title "{status}"'
        reason = context.board.models[claim.id].reason
        message = f"the link says {said}; the claim is {status}: {reason}"
        yield at(page, link, "verdicts", message, f"{title}, and make the sentence say so")


def from_elsewhere(context: Context, page: Page, link: Link, claim: ModelledClaim) -> Iterator[Problem]:
    """A formula that leans on a time of a CPU says nothing on a page about GPUs, and the other way round."""
    tree = context.tree
    about = {tree.classes[name].device for name in page.hardware if name in tree.classes}
    for figure in claim.figures():
        source, measured_on = tree.claims.get(figure.claim), tree.classes.get(figure.hardware)
        stays = isinstance(source, MeasuredClaim) and not source.metric.carries_over
        if stays and measured_on and about - {measured_on.device}:
            message = f"`{claim.id}` leans on `{figure.claim}` of `{figure.hardware}`"
            message += f", on a page about {', '.join(page.hardware)}"
            yield at(page, link, "hardware", message, "move it to a page about that hardware")
            return


def factors(context: Context, claim: ModelledClaim) -> list[float]:
    """What a word of degree may be held to: the number that a formula comes to, where it counts nothing."""
    result = context.board.models[claim.id].result
    return [result.value] if result and not result.powers else []


def words_of(claim: ModelledClaim) -> str:
    """Everything that a modelled claim says, for a number in the words of a link."""
    values = [
        f"{variable.meaning} {variable.value:.12g} {variable.value:,.12g}"
        for variable in claim.variables.values()
        if variable.value
    ]
    return " ".join([claim.statement, claim.formula, claim.validity.words, claim.predicts.name, *values])


def holds_on(context: Context, claim: ModelledClaim) -> set[str]:
    """The hardware classes on which a formula was held to a measurement."""
    return {check.validation.hardware for check in context.board.models[claim.id].known}
