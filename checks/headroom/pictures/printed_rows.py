"""Read the rows that a snippet printed for a picture: lines that begin with a name."""


def rows_of(output: str, name: str) -> list[list[str]]:
    """Return the words of each line that begins with ``name:``.

    Raises:
        LookupError: there is no such line.
    """
    found = [line.split(":", 1)[1].split() for line in output.split("\n") if line.startswith(f"{name}:")]
    if not found:
        raise LookupError(f"the recorded output has no line that begins with `{name}:`")
    return found
