"""Linear weights in 4 or 8 bits: their bytes, and the temporary memory of a forward pass."""

from collections.abc import Sequence

FOUR_BITS, EIGHT_BITS = ("nf4-double", "nf4", "int4"), ("int8", "fp8")
FORMATS = (*FOUR_BITS, *EIGHT_BITS)
CHECKPOINTS = ("int4", "fp8")
"""Formats of stored checkpoints, which have quantized experts too."""
_ROUNDING = 512
_FOUR_BIT_BLOCK, _SCALE_BLOCK = 64, 256
_FOUR_BIT_TABLES = (64, 1024, 4)  # the 16 values of nf4, the 256 of the second quantization, and its offset
_GROUP, _TILE = 128, 128


def allocated(size: int) -> int:
    """Return bytes rounded up to the 512 of CUDA's caching allocator."""
    return -(-size // _ROUNDING) * _ROUNDING


def four_bit(elements: int, *, double: bool = True) -> int:
    """Return the bytes of a 4-bit weight of bitsandbytes: values, scales and tables.

    Source: https://github.com/bitsandbytes-foundation/bitsandbytes/blob/01327aa0119fa503ea16322dd72f69f202e4502e/
    bitsandbytes/functional.py, ``quantize_4bit``: 64 values have a scale. With ``compress_statistics``, scales have
    1 byte, and 256 of them an fp32 scale. Otherwise they have 4 bytes.

    Args:
        elements: the number of weights.
        double: whether the scales are quantized too.
    """
    scales = -(-elements // _FOUR_BIT_BLOCK)
    if not double:
        return sum(map(allocated, (-(-elements // 2), 4 * scales, _FOUR_BIT_TABLES[0])))
    sizes = (-(-elements // 2), scales, 4 * -(-scales // _SCALE_BLOCK), *_FOUR_BIT_TABLES)
    return sum(map(allocated, sizes))


def quantized_bytes(shape: Sequence[int], name: str) -> int:
    """Return the bytes of a linear weight, or of the linear weights of several experts.

    Sources, by format: for ``int8``, bitsandbytes 0.50.2, ``Int8Params``: an fp32 scale per row. For ``fp8``,
    transformers 5.23, ``FP8Linear``: an fp32 scale per block of 128 x 128. For ``int4``, checkpoints of AWQ and GPTQ:
    a scale in 16 bits and a zero point in 4 bits per 128 weights of a row.

    Args:
        shape: the sizes, of which the last two are the rows and the columns.
        name: one of ``FORMATS``.
    """
    *experts, rows, columns = shape
    count = 1
    for size in experts:
        count *= size
    return count * _linear_bytes(rows, columns, name)


def _linear_bytes(rows: int, columns: int, name: str) -> int:
    elements = rows * columns
    if name.startswith("nf4"):
        return four_bit(elements, double=name == "nf4-double")
    if name == "int4":
        groups = rows * -(-columns // _GROUP)
        return allocated(-(-elements // 2)) + allocated(2 * groups) + allocated(-(-groups // 2))
    scales = rows if name == "int8" else -(-rows // _TILE) * -(-columns // _TILE)
    return allocated(elements) + allocated(4 * scales)


def temporary_bytes(shapes: Sequence[Sequence[int]], tokens: int, width: int, name: str) -> int:
    """Return the most bytes that one quantized linear layer allocates in addition to its input and its output.

    A 4-bit layer copies its weight to the type of its input, unless a kernel for one token reads it as it is. LLM.int8
    casts its input to fp16, quantizes it, and its matmul returns int32: ``MatMul8bitLt.forward`` of bitsandbytes
    0.50.2. An fp8 layer quantizes its input.

    Args:
        shapes: rows and columns of each linear layer.
        tokens: the tokens of the input.
        width: the bytes per element of the input.
        name: one of ``FORMATS``.
    """
    if name in FOUR_BITS:
        return max((width * rows * columns for rows, columns in shapes), default=0) if tokens > 1 else 0
    if name == "fp8":
        return max((tokens * columns for _, columns in shapes), default=0)
    return max((tokens * max(columns + 4 * rows, 3 * columns) for rows, columns in shapes), default=0)
