"""The recorded memory polynomials of one architecture family: checks/coefficients/FAMILY.json."""

from typing import Annotated

from pydantic import Field, StringConstraints

from headroom.records.base import IsoDate, Record, Text

_Symbol = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=20)]
_Size = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_ +*/()-]+$", max_length=60)]
_Monomial = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9_]+(\*[A-Za-z0-9_]+)*)?$", max_length=80)]
_Bytes = Annotated[int, Field(ge=-(2**40), le=2**40)]
Polynomial = dict[_Monomial, _Bytes]


class CoefficientTensor(Record):
    """A weight of a layer, or one outside of the layers."""

    name: Text
    shape: tuple[_Size | int, ...]
    """The sizes as expressions of the symbols."""
    kind: Text
    """linear, embedding, head, norm, bias, router, expert or other."""


class LayerMemory(Record):
    """The memory polynomials of one kind of layer."""

    cache: Polynomial = Field(default_factory=dict)
    """The KV cache that a decoding step finds."""
    cached: Polynomial = Field(default_factory=dict)
    saved: Polynomial = Field(default_factory=dict)
    forward: tuple[Polynomial, ...] = ()
    backward: tuple[Polynomial, ...] = ()
    backward_accumulated: tuple[Polynomial, ...] = ()


class HeadMemory(Record):
    """The memory polynomials of the last norm, the LM head and the loss."""

    saved: Polynomial = Field(default_factory=dict)
    forward: tuple[Polynomial, ...] = ()
    backward: tuple[Polynomial, ...] = ()
    backward_accumulated: tuple[Polynomial, ...] = ()


class EndMemory(Record):
    """The memory polynomials of the end of the backward pass, below the first layer."""

    backward: tuple[Polynomial, ...] = ()
    backward_accumulated: tuple[Polynomial, ...] = ()


class VariantMemory(Record):
    """The memory polynomials of one job in one precision with one attention."""

    refused: str | None = None
    """Why transformers or peft refuses the job."""
    before: Polynomial = Field(default_factory=dict)
    layers: dict[Text, LayerMemory] = Field(default_factory=dict)
    head: HeadMemory = HeadMemory()
    head_chunked: HeadMemory | None = None
    """The head of a chunked loss, with K tokens per sequence in a chunk."""
    end: EndMemory = EndMemory()
    trainable: dict[Text, Polynomial] = Field(default_factory=dict)
    """The trained elements of each kind of layer, and those ``outside`` of the layers."""


class MemoryCoefficients(Record):
    """The memory polynomials of one architecture family, with the versions that were traced."""

    family: Text
    versions: dict[Text, Text]
    traced: IsoDate
    symbols: dict[_Symbol, tuple[_Size, ...]]
    """Per symbol the configuration fields that give it, in order; the last may be an expression of symbols."""
    derived: dict[_Symbol, _Size] = Field(default_factory=dict)
    assumes: dict[Text, bool | Text] = Field(default_factory=dict)
    """Fields of the configuration that were traced with this value alone."""
    dropouts: dict[Text, bool] = Field(default_factory=dict)
    """The dropout rates of the configuration, and whether each was above 0 in the trace."""
    tied: bool = False
    """Whether the LM head was the embedding in the variants whose name does not end in ``tied`` or ``untied``."""
    kinds: tuple[Text, ...]
    kind_rule: dict[Text, Text] = Field(default_factory=dict)
    """Which kind of layer is where, see headroom.memory.layer_kinds."""
    weights: dict[Text, tuple[CoefficientTensor, ...]]
    """Per kind of layer its tensors, and those ``outside`` of the layers."""
    variants: dict[Text, VariantMemory]
