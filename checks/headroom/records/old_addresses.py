"""Old addresses, as the front matter of a page names them."""

from pydantic import TypeAdapter, ValidationError

from headroom.records.base import OldAddress

_WAS: TypeAdapter[dict[str, list[OldAddress]]] = TypeAdapter(dict[str, list[OldAddress]])


def by_place(value: object) -> dict[str, list[OldAddress]]:
    """The old addresses that lead to each place of a page.

    Raises:
        ValueError: the value is no mapping of places to lists of addresses.
    """
    try:
        return _WAS.validate_python(value, strict=True)
    except ValidationError as error:
        raise ValueError("no mapping of places to old addresses") from error
