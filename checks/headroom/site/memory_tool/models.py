"""The published models that can be estimated: recorded shapes whose family has memory coefficients."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from headroom.memory.architecture import Architecture, configured_architecture
from headroom.memory.coefficients import FOLDER, read_coefficients
from headroom.memory.errors import EstimateError
from headroom.records.memory_coefficients import MemoryCoefficients
from headroom.records.model_shapes import ModelShape
from headroom.records.tree import Tree


def known_models(tree: Tree) -> dict[str, Architecture]:
    """Return the models that can be estimated, by the id of their shape, in the order of their titles."""
    found = {shape.id: each for shape in tree.shapes.values() if (each := _architecture(shape, tree.root))}
    return dict(sorted(found.items(), key=lambda pair: natural(tree.shapes[pair[0]].title)))


def natural(title: str) -> list[tuple[int, float, str]]:
    """Return a sorting key by which 8B comes before 70B."""
    return list(_parts(title.lower()))


def _parts(title: str) -> Iterator[tuple[int, float, str]]:
    for word in title.replace("-", " ").split():
        number = "".join(each for each in word if each.isdigit() or each == ".").strip(".")
        unit = {"m": 1e-3}.get(word[-1], 1.0)
        yield (0, float(number) * unit, word) if number.count(".") < 2 and number else (1, 0.0, word)  # noqa: PLR2004 - a number has one point


def _architecture(shape: ModelShape, root: Path) -> Architecture | None:
    path = root / FOLDER / f"{shape.config['model_type']}.json"
    if not path.is_file():
        return None
    coefficients = _coefficients(path.stem, root, path.stat().st_mtime_ns)
    if coefficients is None:
        return None
    try:
        return configured_architecture(shape.title, shape.config, coefficients)
    except EstimateError:  # a switch of the configuration was traced with another value only
        return None


@lru_cache(maxsize=100)
def _coefficients(family: str, root: Path, _changed: int) -> MemoryCoefficients | None:
    try:
        return read_coefficients(family, root)
    except EstimateError:
        return None
