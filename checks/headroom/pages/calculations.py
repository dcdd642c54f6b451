"""Evaluate the figures that a page calculates and predicts: its lets, ``calc:`` links and ``estimate:`` links.

``<!-- let: P = 1235814400 parameter; card = 24 GB -->`` gives names their values, and ``[23.0 GiB](calc:20*P)`` is a
figure that is calculated from them. A name is valid from its let to the end of the let's fold, or of the page.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from headroom.io.safe_read import UnreadableError
from headroom.maths.expressions import Expression, parse
from headroom.maths.quantities import Powers, Quantity
from headroom.pages.estimate_targets import SCHEME as ESTIMATE
from headroom.pages.estimate_targets import TABLE, parse_table
from headroom.pages.markdown_syntax import comments, inline_code, masked, without_fences
from headroom.pages.source import Link

SCHEME: Final = "calc:"
_LET = re.compile(r"<!--\s*let:(?P<body>.*?)-->", re.DOTALL)
_GIVEN = re.compile(r"\s*(?P<name>[^=]*?)\s*=\s*(?P<value>.*?)\s*", re.DOTALL)
_NUMBER = re.compile(r"(?P<number>-?(?:\d[\d_]*)?\.?\d+(?:e-?\d{1,3})?)(?:[ \t]+(?P<unit>[A-Za-zµ%×][\w/*]*))?")
_FOLD = re.compile(r"(?P<indent>[ ]*)\?\?\?\+?(?:[ ]|$)")
_LOOKED_UP = ("fact:", "claim:", ESTIMATE)
_BINDING = ("B", "s", "FLOP")
"""Base units in which additions, comparisons and texts must agree; other units only say what is counted."""
Source = Callable[[str], Quantity]
"""Returns the value of a ``fact:``, ``claim:`` or ``estimate:`` address.

Raises:
    LookupError, ValueError: the figure does not exist; the message says why.
"""


@dataclass(frozen=True, slots=True)
class Let:
    """A name and its value as written, valid from ``start`` to ``end`` in the page's Markdown."""

    name: str
    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Calculation:
    """A link to a formula or an estimate, with its result."""

    link: Link
    formula: str
    quantity: Quantity
    shown: str
    """The formula that a reader sees; ``names`` has the values of its names."""
    names: "Names"


Names = dict[str, tuple[Let, Quantity]]
"""The names of an expression, each with its let and its value."""


def formula_of(href: str) -> str | None:
    """Return the formula of a link's address, or None for any other link."""
    href = href.removeprefix("<").removesuffix(">") if href.startswith(f"<{SCHEME}") else href
    return href.removeprefix(SCHEME).strip() if href.startswith(SCHEME) else None


class Calculations:
    """The lets and the calculated figures of a page, with their faults.

    Args:
        markdown: the page's text.
        links: its links.
        source: looks up facts and the figures of claims.
    """

    def __init__(self, markdown: str, links: Iterable[Link], source: Source) -> None:
        self.found: list[Calculation] = []
        self.faults: list[UnreadableError] = []
        self._source = source
        self._lets: dict[str, list[Let]] = {}
        self._values: dict[Let, Quantity | None] = {}
        self._parts: dict[Let, Names] = {}
        self._used: set[Let] = set()
        for let in self._unshadowed(lets(markdown)):
            self._values[let] = None
            with self._collecting_faults(let.line):
                self._values[let] = self._value(let)
        for link in links:
            with self._collecting_faults(link.line):
                if (formula := formula_of(link.href)) is not None:
                    self.found += self._calculation(link, formula)
                elif link.href.startswith(ESTIMATE):
                    self.found.append(Calculation(link, link.href, self._predicted(link.href), link.href, {}))
                elif link.href.startswith(TABLE):
                    self._check_table(link)
        for let, value in self._values.items():
            if value is not None and let not in self._used:
                self.faults.append(UnreadableError(f"`{let.name}` is never used", "use it, or remove it", let.line))

    @contextmanager
    def _collecting_faults(self, line: int) -> Iterator[None]:
        """Collect the fault of a let or a link, with its line."""
        try:
            yield
        except UnreadableError as error:
            self.faults.append(UnreadableError(error.message, error.remedy, line))

    def _unshadowed(self, found: Iterable[Let | UnreadableError]) -> Iterator[Let]:
        """Yield the lets that can be parsed and whose name has no other value there."""
        for let in found:
            if isinstance(let, UnreadableError):
                self.faults.append(let)
            elif other := self._at(let.name, let.start):
                message = f"`{let.name}` already has a value here, from line {other.line}"
                self.faults.append(UnreadableError(message, "use that value, or choose another name", let.line))
            else:
                self._lets.setdefault(let.name, []).append(let)
                yield let

    def _at(self, name: str, position: int) -> Let | None:
        """Return the let of a name that is valid at a position. Lets of one name never overlap."""
        known = self._lets.get(name, [])
        number = bisect_left(known, position, key=lambda let: let.start) - 1
        return known[number] if number >= 0 and position < known[number].end else None

    def _value(self, let: Let) -> Quantity | None:
        """Return the value of a let: a number, a fact, a claim's figure, or the result of an expression."""
        try:
            if let.text.startswith(_LOOKED_UP):
                return _bound(self._source(let.text))
            if given := given_number(let.text):
                return _bound(Quantity.of(float(given[0]), given[1]))
        except (LookupError, ValueError) as error:
            message = f"`{let.name} = {let.text}`: {error.args[0]}"
            raise UnreadableError(message, "correct the address, the number or its unit") from error
        found = self._evaluated(let.text, let.start)
        if found is None:
            return None
        value, self._parts[let] = found
        return value

    def _predicted(self, address: str) -> Quantity:
        """Return the figure of an ``estimate:`` address.

        Raises:
            UnreadableError: it cannot be estimated.
        """
        try:
            return self._source(address)
        except (LookupError, ValueError) as error:
            message, _, remedy = str(error.args[0]).partition("; ")
            raise UnreadableError(f"`{address}`: {message}", remedy) from error

    def _check_table(self, link: Link) -> None:
        """Check that every figure of an ``estimate-table:`` link can be estimated.

        Raises:
            UnreadableError: the address has another form, or a figure cannot be estimated.
        """
        try:
            table = parse_table(link.href, link.text)
        except ValueError as error:
            message, _, remedy = str(error.args[0]).partition("; ")
            raise UnreadableError(message, remedy) from error
        for _, cells in table.rows:
            for cell in cells:
                self._predicted(cell)

    def _calculation(self, link: Link, formula: str) -> Iterator[Calculation]:
        """Yield the result of a link's formula; if it is only a name, show the formula of its let."""
        found = self._evaluated(formula, link.start)
        if found:
            quantity, names = found
            shown = formula
            while shown in names and (let := names[shown][0]) in self._parts:
                shown, names = let.text, self._parts[let]
            yield Calculation(link, formula, quantity, shown, names)

    def _evaluated(self, text: str, position: int) -> tuple[Quantity, Names] | None:
        """Return the result of an expression with its names, or None if a name has a fault of its own.

        Raises:
            UnreadableError: it cannot be parsed, a name has no value there, or its units do not fit.
        """
        expression = _parsed(text)
        names = {name: self._named(name, text, position) for name in sorted(expression.names)}
        self._used.update(names.values())
        values = {name: value for name, let in names.items() if (value := self._values.get(let)) is not None}
        if len(values) < len(names):
            return None
        try:
            return expression.evaluate(values), {name: (names[name], values[name]) for name in names}
        except ValueError as error:
            remedy = "correct the formula, or the units of its names"
            raise UnreadableError(f"`{text}`: {error.args[0]}", remedy) from error

    def _named(self, name: str, text: str, position: int) -> Let:
        """Return the let of a name in an expression.

        Raises:
            UnreadableError: no let is valid at the position.
        """
        if let := self._at(name, position):
            return let
        if name in self._lets:
            elsewhere = self._lets[name][0].line
            remedy = "move the let above this line, out of its fold, or repeat it here"
            raise UnreadableError(f"`{text}`: the let of `{name}` on line {elsewhere} is not valid here", remedy)
        remedy = f"write `<!-- let: {name} = NUMBER UNIT -->` above, or correct the name"
        raise UnreadableError(f"`{text}`: no let gives `{name}` a value", remedy)


def _parsed(text: str) -> Expression:
    try:
        return parse(text, capitals=True)
    except ValueError as error:
        message, _, remedy = error.args[0].partition("; ")
        raise UnreadableError(f"`{text}`: {message}", remedy) from error


def binding(powers: Powers) -> Powers:
    """Return a unit without the parts that only say what is counted."""
    return tuple((base, power) for base, power in powers if base in _BINDING)


def _bound(quantity: Quantity) -> Quantity:
    return replace(quantity, powers=binding(quantity.powers))


def given_number(text: str) -> tuple[str, str] | None:
    """Return the number and the unit of a let's value, or None if it is an address or an expression."""
    match = _NUMBER.fullmatch(text)
    return (match["number"], match["unit"] or "1") if match else None


def lets(markdown: str) -> Iterator[Let | UnreadableError]:
    """Yield every let of a text in order, or its fault; lets in code are ignored."""
    if "let:" not in markdown:
        return
    prose = without_fences(markdown)
    folds = deque(sorted(_folds(masked(prose, inline_code(prose)))))
    around: list[int] = []  # the ends of the folds around a let
    line, counted = 1, 0
    for start, end in comments(prose):
        if match := _LET.fullmatch(prose, start, end):
            line, counted = line + prose.count("\n", counted, start), start
            while folds and folds[0][0] <= start:
                around.append(folds.popleft()[1])
            while around and around[-1] <= start:
                around.pop()
            yield from _given(match["body"], line, start, around[-1] if around else len(markdown))


def _given(body: str, line: int, start: int, end: int) -> Iterator[Let | UnreadableError]:
    for number, part in enumerate(body.split(";")):
        match = _GIVEN.fullmatch(part)
        if match is None or not match["value"] or not _is_name(match["name"]):
            message = f"`{part.strip()}` gives no name a value"
            remedy = "write `<!-- let: NAME = NUMBER UNIT -->`, the name in letters, digits and `_`"
            yield UnreadableError(message, remedy, line)
        else:
            yield Let(match["name"], match["value"], line, start + number, end)


def _is_name(text: str) -> bool:
    try:
        return parse(text, capitals=True).names == {text}
    except ValueError:
        return False


def _folds(prose: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each fold, which ends at the next text with a smaller indent than its content."""
    opened: list[tuple[int, int]] = []  # the column of its content, and its start
    place = 0
    for row in prose.split("\n"):
        column = len(row) - len(row.lstrip(" "))
        while row.strip() and opened and column < opened[-1][0]:
            yield opened.pop()[1], place
        if fold := _FOLD.match(row):
            opened.append((len(fold["indent"]) + 4, place))
        place += len(row) + 1
    yield from ((start, len(prose)) for _, start in opened)
