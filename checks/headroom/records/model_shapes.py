"""Shapes of published models, with their sources: the files of checks/facts/models/."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints, ValidationInfo, field_validator

from headroom.io.safe_read import Found
from headroom.records.base import HubName, Name, Record, Slug, Text
from headroom.records.facts import FactCell, FactSource
from headroom.records.loader import Reader

FOLDER = "checks/facts/models"
ShapeId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$", max_length=60)]
ConfigValue = bool | Annotated[int | float, Field(ge=-(2**24), le=2**24)] | Text | list[Text] | None


class ShapeError(ValueError):
    """A shape that cannot be read: the name is unknown, or a file of the folder is invalid."""


class ParameterCount(FactCell):
    """A published number of parameters. A tied LM head counts once, and buffers do not count."""

    rounded_to: int = Field(default=1, ge=1)
    """The step of the last printed digit: 1 for an exact number, 10000000 for "8.03B"."""

    def agrees(self, counted: int) -> bool:
        """Return whether a counted number of parameters rounds to the published one."""
        return 2 * abs(counted - self.value) <= (self.rounded_to if self.rounded_to > 1 else 0)


class ModelShape(Record):
    """The shape of one published model: what its config.json says of the sizes of its tensors."""

    id: ShapeId
    title: Text
    names: Annotated[tuple[HubName, ...], Field(min_length=1)]
    """The names of checkpoints with this shape on the Hugging Face Hub."""
    architecture: Text
    """The transformers class whose parameters ``parameters`` counts."""
    sources: dict[Slug, FactSource]
    config: dict[Name, ConfigValue]
    """The fields of config.json that decide shapes, as transformers names them."""
    config_source: Slug
    """A key of ``sources``."""
    parameters: ParameterCount

    @field_validator("config")
    @classmethod
    def _typed(cls, config: dict[str, Any]) -> dict[str, Any]:
        if not str(config.get("model_type") or ""):
            raise ValueError("no `model_type`; add the one of the model's config.json, such as llama")
        return config

    @field_validator("config_source")
    @classmethod
    def _sourced(cls, source: str, info: ValidationInfo) -> str:
        return _known(source, info)

    @field_validator("parameters")
    @classmethod
    def _counted(cls, parameters: ParameterCount, info: ValidationInfo) -> ParameterCount:
        if parameters.unit != "parameter":
            raise ValueError(f"the unit is `{parameters.unit}`; write parameter")
        _known(parameters.source, info)
        return parameters


def _known(source: str, info: ValidationInfo) -> str:
    """Return the key of a source.

    Raises:
        ValueError: the record's sources lack it.
    """
    if source not in info.data.get("sources", {source: None}):
        raise ValueError(f"`{source}` is not in `sources`; add it, or correct the name")
    return source


def shape_of(reader: Reader, file: Found) -> ModelShape | None:
    """Return the shape in a file, or None after reporting its problems."""
    shape = reader.yaml(file, "facts", ModelShape.model_validate_json)
    if shape is not None and file.name != f"{FOLDER}/{shape.id}.yml":
        message, remedy = (
            f"the id `{shape.id}` differs from the file name",
            f"rename the file to {shape.id}.yml, or correct the id",
        )
        reader.report(file.name, "facts", message, remedy, reader.line(file, ("id",)))
    return shape


def check_names(reader: Reader, shapes: Mapping[str, ModelShape]) -> None:
    """Report each name that two shapes share, whatever its case."""
    owners: dict[str, str] = {}
    for shape in shapes.values():
        for name in _names(shape):
            if (owner := owners.setdefault(name, shape.id)) != shape.id:
                path = f"{FOLDER}/{shape.id}.yml"
                line = reader.documents[path].line(("names",))
                reader.report(path, "facts", f"`{name}` already names {owner}", "remove it from one of the two", line)


def read_shape(name: str, root: Path | str) -> ModelShape:
    """Return the shape with this id, or of the checkpoint with this name on the hub, in any case of letters.

    Only the files of checks/facts/models/ whose text has the name are parsed.

    Args:
        name: such as ``llama-3.1-8b`` or ``meta-llama/Llama-3.1-8B``.
        root: the folder of ``mkdocs.yml``.

    Raises:
        ShapeError: no shape has this name, with the nearest names; or a file that has the name is invalid.
    """
    wanted = name.strip().lower()
    reader = Reader(Path(root))
    for shape in _shapes(reader, wanted):
        if wanted in _names(shape):
            return shape
    if reader.problems:
        raise ShapeError(str(reader.problems[0]))
    known = sorted({name for shape in _shapes(reader, "") for name in _names(shape)})
    close = get_close_matches(wanted, known, n=3)
    hint = f"; did you mean {', '.join(close)}?" if close else f"; {FOLDER} has the shapes that are known"
    raise ShapeError(f"model: no shape is recorded for `{name}`{hint}")


def _shapes(reader: Reader, wanted: str) -> Iterator[ModelShape]:
    """Yield the shapes whose file has this text in its content or its name."""
    for file in reader.each(FOLDER, ".yml", "facts"):
        text = reader.text(file, "facts")
        if text is not None and wanted in text.lower() and (shape := shape_of(reader, file)):
            yield shape


def _names(shape: ModelShape) -> Iterator[str]:
    """Return the id and the names of a shape, in small letters and each once."""
    return iter(dict.fromkeys([shape.id, *(name.lower() for name in shape.names)]))
