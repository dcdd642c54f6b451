"""Which choices of the start page a method or a guide answers: a problem, a job, a kind of hardware."""

from typing import Any, Literal

from pydantic import Field, ValidationError

from headroom.io.safe_read import UnreadableError
from headroom.records.base import Record

Problem = Literal["out-of-memory", "too-slow", "will-it-fit", "costs-too-much"]
Job = Literal["fine-tuning", "pretraining", "inference"]
Hardware = Literal["one-gpu", "several-gpus", "cpu"]
Place = Literal["ranked", "first", "symptom"]


class Answers(Record):
    """What somebody has chosen who is led here: one of the problems, one of the jobs, and one kind of hardware."""

    problems: tuple[Problem, ...] = Field(min_length=1)
    jobs: tuple[Job, ...] = Field(min_length=1)
    hardware: tuple[Hardware, ...] = Field(min_length=1)
    place: Place = "ranked"
    """Where it stands in a list: among the others, by its gain; before them, since it tells which of them is right; or
    beside its symptom, since it helps nobody who does not see that."""


def answers_of(value: Any) -> Answers:
    """What a page's front matter says under `answers`.

    Raises:
        UnreadableError: a choice that there is not, or one of the three that is missing.
    """
    try:
        return Answers.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, ("answers", *first["loc"])))
        raise UnreadableError(
            f"`{field}` in the front matter: {first['msg']}", "see docs/contribute/records.md", 1
        ) from error
