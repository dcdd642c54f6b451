"""Read the recorded memory polynomials of an architecture family, and find the ones of a job."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from headroom.io.safe_read import MAX_JSON_BYTES, UnreadableError, read_text
from headroom.io.strict_load import load_json
from headroom.memory.errors import EstimateError
from headroom.records.memory_coefficients import MemoryCoefficients, VariantMemory

FOLDER = "checks/coefficients"
_NEAREST = 4
_UNTRACEABLE = {"longformer": "its code reads the values of a tensor, which a trace does not have"}
"""Why an architecture cannot be traced either."""
ATTENTIONS = ("sdpa", "flash", "eager")
_FAMILY = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")


def read_coefficients(family: str, root: Path) -> MemoryCoefficients:
    """Return the memory polynomials of a family.

    Args:
        family: the ``model_type`` of the configuration.
        root: the project's folder.

    Raises:
        EstimateError: there is no file for this family, or it is damaged.
    """
    path = root / FOLDER / f"{family}.json"
    if family in _UNTRACEABLE:
        fault = f"the architecture `{family}` has no memory coefficients and cannot be traced: {_UNTRACEABLE[family]}"
        raise EstimateError("model_type", fault, "run a step on a GPU and read torch.cuda.max_memory_allocated()")
    if not _FAMILY.fullmatch(family) or not path.is_file():
        known = ", ".join(sorted(each.stem for each in (root / FOLDER).glob("*.json"))) or "none"
        remedy = f"trace the job instead: `headroom trace MODEL --job …`; architectures with coefficients: {known}"
        raise EstimateError("model_type", f"the architecture `{family}` has no memory coefficients", remedy)
    try:
        return _parsed(read_text(path, root, limit=MAX_JSON_BYTES))
    except UnreadableError as error:
        raise EstimateError(path.name, error.message, error.remedy) from error
    except ValueError as error:  # pydantic's, whose lines are the count, the field and the fault
        where, fault = (*str(error).splitlines()[1:3], "", "")[:2]
        raise EstimateError(f"{path.name}: {where}", fault.strip(), "trace the family again") from error


@lru_cache(maxsize=64)  # more than there are families; the models of a family share a file
def _parsed(text: str) -> MemoryCoefficients:
    load_json(text)
    return MemoryCoefficients.model_validate_json(text)


def variant(
    coefficients: MemoryCoefficients, name: str, *, tied: bool, grouped: bool = True
) -> tuple[VariantMemory, bool]:
    """Return the polynomials of a job, and whether they were traced with tied embeddings.

    Args:
        coefficients: the polynomials of the family.
        name: precision, attention and job.
        tied: whether the model's LM head is its embedding; polynomials of such a model are preferred.
        grouped: whether the model has fewer key-value heads than heads; likewise.

    Raises:
        EstimateError: the family was not traced with this job, precision, attention and checkpointing.
    """
    embedded = f"{name} {'tied' if tied else 'untied'}"
    special = embedded in coefficients.variants
    name = embedded if special else name
    if not grouped and f"{name} ungrouped" in coefficients.variants:
        name = f"{name} ungrouped"
    if name not in coefficients.variants:
        known = "; ".join(get_close_matches(name, coefficients.variants, n=_NEAREST, cutoff=0))
        fault = f"{coefficients.family} has no coefficients for `{name}`"
        raise EstimateError("job", fault, f"trace it, or use one of the nearest: {known}")
    found = coefficients.variants[name]
    if found.refused:
        raise EstimateError(
            "job", f"transformers or peft refuses `{name}` for this family: {found.refused}", "change it"
        )
    return found, tied if special else coefficients.tied


def attention_of(coefficients: MemoryCoefficients, key: str) -> str:
    """Return the first attention implementation that was traced with a job whose key has a blank for it."""
    known = [name for name in ATTENTIONS if key.format(name) in coefficients.variants] or [ATTENTIONS[0]]
    traced = (name for name in known if not coefficients.variants.get(key.format(name), VariantMemory()).refused)
    return next(traced, known[0])


def stale(versions: Mapping[str, str], installed: Mapping[str, str]) -> list[str]:
    """Return a sentence for each library whose installed version differs from the traced one.

    Args:
        versions: the version of each traced library.
        installed: the version of each installed library.
    """
    return [
        f"{name} {installed[name]} is installed, {traced} was traced"
        for name, traced in versions.items()
        if name in installed and installed[name].partition("+")[0] != traced.partition("+")[0]
    ]
