"""Parse the old addresses (`was`) in the front matter of a page."""

from pydantic import TypeAdapter, ValidationError

from headroom.records.base import OldAddress

_WAS: TypeAdapter[dict[str, list[OldAddress]]] = TypeAdapter(dict[str, list[OldAddress]])


def old_addresses_by_place(value: object) -> dict[str, list[OldAddress]]:
    """Return the old addresses that redirect to each place of a page.

    Raises:
        ValueError: the value is not a mapping of places to lists of addresses.
    """
    try:
        return _WAS.validate_python(value, strict=True)
    except ValidationError as error:
        raise ValueError("not a mapping of places to lists of old addresses") from error
