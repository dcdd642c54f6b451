"""What complete rows of GPUs show in a text that is refused, without its header."""

from headroom.topology.codes import is_fast, split_codes
from headroom.topology.lines import Line
from headroom.topology.wording import fill, listed

_FEWEST = 3


def seen_in_rows(lines: list[Line]) -> tuple[str, ...]:
    """Return a sentence for each GPU without NVLink among rows whose other GPUs all have it, as far as the rows go."""
    rows: list[tuple[str, list[str]]] = []
    for line in lines:
        words = [cell.text for cell in line.words()]
        if not words or words[0] != f"GPU{len(rows)}":
            break
        codes = [code for word in words[1:] for code in split_codes(word)]
        rows.append((words[0], codes))
    count = len(rows)
    square = [codes[:count] for _, codes in rows]
    if any(
        len(codes) < count or codes.index("X") != place if "X" in codes else True for place, codes in enumerate(square)
    ):
        return ()
    linked = [place for place, codes in enumerate(square) if any(map(is_fast, codes))]
    alone = [place for place in range(count) if place not in linked]
    whole = all(is_fast(square[one][other]) for one in linked for other in linked if one != other)
    if len(linked) < _FEWEST or not whole:
        return ()
    others = listed([f"GPU{place}" for place in linked])
    return tuple(fill("seen.no-nvlink", name=f"GPU{place}", others=others) for place in alone)
