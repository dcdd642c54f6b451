"""The refusal of a text: where the text cannot be read, why, and what to do."""

from typing import Final

from headroom.topology.wording import fill

_MOST: Final = 80
"""So many characters of a cell are quoted."""


def _short(value: object) -> object:
    """Return a value, cut if it is a long text."""
    return f"{value[:_MOST]}…" if isinstance(value, str) and len(value) > _MOST else value


class TopologyError(ValueError):
    """A text that cannot be read, with the place, the reason, a remedy, and what the rows before the place show."""

    def __init__(self, key: str, line: int, column: int, **values: object) -> None:
        """Take the reason by its key in ``wording.REFUSALS``; lines and columns count from 1."""
        self.key, self.line, self.column = key, line, column
        values = {name: _short(value) for name, value in values.items()}
        self.problem = fill(f"refused.{key}", **values)
        self.remedy = fill(f"remedy.{key}", **values)
        self.seen: tuple[str, ...] = ()
        super().__init__(key)

    def __str__(self) -> str:
        """Return the place, the reason and the remedy in one line."""
        return f"line {self.line}, column {self.column}: {self.problem}. {self.remedy}"

    def to_dict(self) -> dict[str, object]:
        """Return the refusal as JSON values."""
        return {
            "line": self.line,
            "column": self.column,
            "problem": self.problem,
            "remedy": self.remedy,
            "seen": list(self.seen),
        }
