"""Start-up logs of vLLM that people published: checks/facts/vllm-logs.yml."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from headroom.io.safe_read import read_text
from headroom.io.strict_load import load_yaml
from headroom.records.base import IsoDate, Record, Slug, Text, Url
from headroom.records.model_shapes import ShapeId

PATH = "checks/facts/vllm-logs.yml"
GiB = Annotated[float, Field(ge=-1000, le=10_000)]
Count = Annotated[int, Field(ge=0, le=2**40)]
Size = Annotated[int, Field(ge=1, le=2**40)]


class VllmLog(Record):
    """One start: its flags, and the figures that vLLM printed, verbatim. Sizes with a point are in GiB per GPU."""

    model: Text
    """The model as the log or its thread names it."""
    shape: ShapeId
    """The recorded shape of this model."""
    kv_only: bool = False
    """Whether only the KV cache has the recorded shape: the weights differ, or their format is not named."""
    url: Url | None = None
    locator: Text | None = None
    search: Text | None = None
    """The line of the log to search for in public repositories, where no address is known."""
    version: Text | None = None
    engine: Literal["v0", "v1", "v2"]
    """The engine by the files that its lines name: v0, v1, or v1 with the second model runner, here v2."""
    outcome: Literal["started", "no-memory", "too-long"] = "started"
    """``no-memory``: no memory is left for the cache; ``too-long``: one request of full length does not fit."""

    card: Text | None = None
    total: GiB | None = None
    """The card's memory as the log or nvidia-smi prints it."""
    budget: GiB | None = None
    """The product of ``total`` and ``utilization``, where the log prints it with more digits."""
    gpus: Size = 1
    """GPUs of tensor parallelism."""
    length: Size | None = None
    """``max_model_len``."""
    utilization: Annotated[float, Field(gt=0, le=1)] | None = None
    sequences: Size | None = None
    """``max_num_seqs``, or the largest captured batch where only that is printed."""
    batched: Size | None = None
    """``max_num_batched_tokens``."""
    block: Size = 16
    eager: bool = False
    dtype: Literal["bfloat16", "float32"] = "bfloat16"
    quantization: Literal["fp8", "awq", "gptq", "nf4", "mxfp4", "gguf-q8_0"] | None = None
    aligned: bool = False
    """Whether each entry of a latent cache is padded to 256 bytes, as early versions did."""

    weights: GiB | None = None
    non_torch: GiB | None = None
    activation: GiB | None = None
    graphs: GiB | None = None
    available: GiB | None = None
    """The memory for the KV cache."""
    available_bytes: Count | None = None
    blocks: Count | None = None
    tokens: Count | None = None
    cpu_blocks: Count | None = None
    """The blocks in 4 GiB of CPU memory, which show the bytes of one block."""
    concurrency: Annotated[float, Field(ge=0)] | None = None
    needed: GiB | None = None
    """The KV cache of one request of ``length`` tokens, as the error states it."""
    longest: Size | None = None
    """The longest request that fits, as the error states it."""

    @model_validator(mode="after")
    def _is_found_again(self) -> "VllmLog":
        if (self.url is None) is (self.search is None):
            raise ValueError("give either the `url` of the log or the line to `search` for")
        if self.url is not None and self.locator is None:
            raise ValueError("`locator` is missing; say where on the page the log is")
        return self

    @property
    def kept_tokens(self) -> int | None:
        """Return the tokens in the KV cache: as printed, or the blocks times the tokens of one."""
        if self.tokens is not None:
            return self.tokens
        return None if self.blocks is None else self.blocks * self.block


class VllmLogs(Record):
    """The logs, by a short id, and how they were chosen."""

    title: Text
    chosen: Text
    """Which logs are in the list."""
    retrieved: IsoDate
    left_out: dict[Slug, list[Text]]
    """The logs that were found and name too little, by the reason."""
    logs: Annotated[dict[Slug, VllmLog], Field(min_length=1)]


def read_logs(root: Path) -> VllmLogs:
    """Return the recorded logs.

    Raises:
        UnreadableError: the file cannot be read.
        ValueError: the file has a wrong field.
    """
    return VllmLogs.model_validate(load_yaml(read_text(root / PATH, root)).value)
