"""The choices on the start page (problem, job, hardware) that lead to a method or a guide."""

from typing import Any, Literal

from pydantic import Field, ValidationError

from headroom.io.safe_read import UnreadableError
from headroom.records.base import Record

Problem = Literal["out-of-memory", "too-slow", "will-it-fit", "costs-too-much"]
Job = Literal["fine-tuning", "pretraining", "inference"]
Hardware = Literal["one-gpu", "several-gpus", "cpu"]
Place = Literal["ranked", "first", "symptom"]


class Answers(Record):
    """The choices that lead here: any of the problems, any of the jobs and any kind of hardware."""

    problems: tuple[Problem, ...] = Field(min_length=1)
    jobs: tuple[Job, ...] = Field(min_length=1)
    hardware: tuple[Hardware, ...] = Field(min_length=1)
    place: Place = "ranked"
    """Its place in a list: ``ranked`` by its gain; ``first``, since it tells which of the others is right; or next to
    its ``symptom``, since it helps only readers who see that symptom."""


def answers_of(value: Any) -> Answers:
    """Return the value of `answers` in a page's front matter.

    Raises:
        UnreadableError: a choice does not exist, or one of the three keys is missing.
    """
    try:
        return Answers.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, ("answers", *first["loc"])))
        raise UnreadableError(
            f"`{field}` in the front matter: {first['msg']}", "docs/contribute/records.md lists the choices", 1
        ) from error
