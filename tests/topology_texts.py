"""Published topology texts, and texts made from them by small seeded changes."""

import random
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent / "topology"
TEXTS = {path.stem: path.read_text("utf-8") for path in sorted((FOLDER / "texts").glob("*.txt"))}
"""What commands printed, by name; `topology/sources.yml` has the address of each."""
WORDS = ("NV12", "NV1", "SYS", "X", "OK", "GNS", "PIX", "GPU0", "GPU9", "NIC0", "mlx5_0", "N/A", "0-23", "XGMI", "-1")
CHARACTERS = " \t\n\r=:[]()X0NV,-/é\u00a0\x1b[4m\U0001f600GPU"


def mutations(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield names and texts with one to three random changes."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    names = sorted(TEXTS)
    for number in range(count):
        name = draw.choice(names)
        text = TEXTS[name]
        for _ in range(draw.randint(1, 3)):
            text = draw.choice(CHANGES)(text, draw)
        yield f"{name} {number}", text


def _cut(text: str, draw: random.Random) -> str:
    return text[: draw.randrange(len(text) + 1)]


def _without_start(text: str, draw: random.Random) -> str:
    return text[draw.randrange(len(text) + 1) :]


def _without_character(text: str, draw: random.Random) -> str:
    place = draw.randrange(len(text) + 1)
    return text[:place] + text[place + 1 :]


def _other_character(text: str, draw: random.Random) -> str:
    place = draw.randrange(len(text) + 1)
    return text[:place] + draw.choice(CHARACTERS) + text[place + draw.randint(0, 1) :]


def _lines(text: str, draw: random.Random) -> str:
    """Drop, repeat or swap lines."""
    lines = text.split("\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    if draw.random() < 1 / 3:
        del lines[one]
    elif draw.random() < 1 / 2:
        lines.insert(one, lines[other])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return "\n".join(lines)


def _word(text: str, draw: random.Random) -> str:
    """Replace a word by another one."""
    words = text.split(" ")
    words[draw.randrange(len(words))] = draw.choice(WORDS)
    return " ".join(words)


def _without_blanks(text: str, draw: random.Random) -> str:
    """Drop the blanks between two words."""
    places = [place for place, character in enumerate(text) if character in " \t"]
    if not places:
        return text
    place = draw.choice(places)
    return text[:place] + text[place:].lstrip(" \t")


def _wrapped(text: str, draw: random.Random) -> str:
    """Break long lines, as a narrow terminal does."""
    width = draw.randint(20, 90)
    return "\n".join(
        "\n".join(row[at : at + width] for at in range(0, len(row) or 1, width)) for row in text.split("\n")
    )


def _tabs(text: str, draw: random.Random) -> str:
    """Exchange tabs and blanks."""
    return text.replace("\t", " " * draw.randint(1, 8)) if "\t" in text else text.replace("    ", "\t")


def _twice(text: str, _draw: random.Random) -> str:
    return f"{text}\n{text}"


CHANGES = (
    _cut,
    _without_start,
    _without_character,
    _other_character,
    _lines,
    _word,
    _without_blanks,
    _wrapped,
    _tabs,
    _twice,
)
