"""Read the files of checks/facts/accelerators/."""

from headroom.io.safe_read import Found
from headroom.records.accelerators import FOLDER, Family, sources_of
from headroom.records.loader import Reader


def read_families(reader: Reader) -> dict[str, Family]:
    """Return the families by the name of their file, after reporting the problems of their files."""
    found: dict[str, Family] = {}
    for file in reader.each(FOLDER, ".yml", "facts"):
        if family := family_of(reader, file):
            _check_names(reader, file, family, found)
            found[file.stem] = family
    return found


def family_of(reader: Reader, file: Found) -> Family | None:
    """Return the family of a file, or None after reporting its problems."""
    family = reader.yaml(file, "facts", Family.model_validate_json)
    if family is None:
        return None
    if family.id != file.stem:
        message = f"the id `{family.id}` differs from the file name"
        reader.report(file.name, "facts", message, f"rename the file to {family.id}.yml, or correct the id")
    for name, accelerator in family.accelerators.items():
        for place, cell in accelerator.cells():
            for source in sources_of(cell):
                if source not in family.sources:
                    line = reader.line(file, ("accelerators", name, *place))
                    message = f"the source `{source}` of {name} is not in `sources`"
                    reader.report(file.name, "facts", message, "add it to `sources`, or correct the name", line)
    return family


def _check_names(reader: Reader, file: Found, family: Family, others: dict[str, Family]) -> None:
    """Report accelerators that another family has."""
    for other in others.values():
        for name in family.accelerators.keys() & other.accelerators.keys():
            line = reader.line(file, ("accelerators", name))
            message = f"{FOLDER}/{other.id}.yml already has the accelerator `{name}`"
            reader.report(file.name, "facts", message, "remove one of the two, or rename it", line)
