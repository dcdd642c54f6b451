"""The error of an estimate that cannot be made: it names the field and what is allowed."""


class EstimateError(ValueError):
    """A model, job or layout that cannot be estimated.

    Attributes:
        field: the name of the field, such as ``num_attention_heads`` or ``--batch``.
    """

    def __init__(self, field: str, fault: str, allowed: str) -> None:
        space = " " if fault.startswith(("is ", "has ")) else ": "
        super().__init__(f"{field}{space}{fault}; {allowed}")
        self.field = field


def whole(field: str, number: object, least: int = 1, most: int = 1 << 40) -> int:
    """Return a whole number from a field.

    Raises:
        EstimateError: it is not a whole number from ``least`` to ``most``.
    """
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise EstimateError(field, f"is {number!r}", f"give a whole number from {least} to {most:,}")
    return number


def one_of(field: str, word: object, allowed: tuple[str, ...]) -> None:
    """Check that a word is allowed.

    Raises:
        EstimateError: it is not.
    """
    if word not in allowed:
        raise EstimateError(field, f"is {word!r}", f"use one of {', '.join(allowed)}")
