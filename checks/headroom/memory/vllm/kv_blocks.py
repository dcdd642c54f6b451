"""The blocks of vLLM's KV cache: bytes per block, groups of layers, tokens, concurrency, and the longest request.

Source: https://github.com/vllm-project/vllm/blob/001cabc1be16a59a70d720ed61a13b678c060a18/vllm/v1/core/
kv_cache_utils.py, ``_get_kv_cache_groups_uniform_page_size``, ``_max_memory_usage_bytes_from_groups``,
``_estimate_max_model_len_from_groups`` and ``get_max_concurrency_for_kv_cache_config``.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from headroom.memory.architecture import Architecture
from headroom.memory.cache import numbers_per_token, window_of
from headroom.memory.errors import EstimateError
from headroom.memory.families import FAMILIES
from headroom.memory.layouts import Layout, local_symbols
from headroom.memory.vllm.settings import EngineSettings

_ALIGNMENT, _PADDING_LIMIT = 256, 1.5


@dataclass(frozen=True, slots=True)
class KvGroup:
    """Layers that share one table of blocks.

    Attributes:
        window: the tokens of their sliding window; None for full attention.
        layers: how many layers there are, without padding.
    """

    window: int | None
    layers: int


@dataclass(frozen=True, slots=True)
class KvLayout:
    """How one GPU stores the keys and values of all layers.

    Attributes:
        page: bytes of one block of one layer.
        block: tokens of one block.
        size: layers of each group, with padding: a block takes ``size`` pages.
        groups: the groups of layers.
    """

    page: int
    block: int
    size: int
    groups: tuple[KvGroup, ...]

    @property
    def block_bytes(self) -> int:
        """Return the bytes of one block of one group."""
        return self.page * self.size

    def blocks(self, available: int) -> int:
        """Return the blocks in some bytes."""
        return max(0, available // self.block_bytes)

    def blocks_of(self, length: int, in_flight: int) -> int:
        """Return the blocks that one request of some tokens takes at most.

        Args:
            length: the tokens of the request.
            in_flight: tokens that are scheduled and not yet settled; a sliding window holds them too.
        """
        return sum(_group_blocks(each, length, in_flight, self.block) for each in self.groups)

    def needed(self, length: int, in_flight: int) -> int:
        """Return the bytes that one request of some tokens takes at most."""
        return self.blocks_of(length, in_flight) * self.block_bytes

    def longest(self, available: int, most: int, in_flight: int) -> int:
        """Return the tokens of the longest request that fits, at most ``most``; 0 if none does."""
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            if self.needed(middle, in_flight) <= available:
                low = middle
            else:
                high = middle - 1
        return low

    def concurrency(self, blocks: int, length: int, in_flight: int) -> float:
        """Return how many requests of some tokens fit at once."""
        return blocks / self.blocks_of(length, in_flight)

    def tokens_of_blocks(self, blocks: int) -> int:
        """Return the tokens that vLLM up to 0.20.0 prints: each group gets the same part of the blocks."""
        return blocks // len(self.groups) * self.block


def _group_blocks(group: KvGroup, length: int, in_flight: int, block: int) -> int:
    if group.window is None:
        return -(-length // block)
    return -(-min(group.window - 1 + in_flight, length) // block) + 1  # a window may start inside of a block


def gpu_symbols(architecture: Architecture, tensor: int) -> dict[str, int]:
    """Return the symbols of one GPU's part of each layer; the vocabulary is divided too.

    Raises:
        EstimateError: the GPUs do not divide the heads or an intermediate size.
    """
    layout = Layout(tensor=tensor, loss_parallel=tensor > 1)
    return architecture.with_derived(local_symbols({**architecture.symbols, "B": 1, "S": 1, "K": 1}, layout))


def kv_layout(architecture: Architecture, settings: EngineSettings) -> KvLayout:
    """Return how one GPU stores keys and values.

    Raises:
        EstimateError: the model has no KV cache, or the GPUs do not divide its heads.
    """
    symbols = gpu_symbols(architecture, settings.tensor)
    page = token_bytes(architecture, symbols, settings) * settings.block
    if settings.engine == "v0":  # every layer is cached as if it had full attention
        return KvLayout(page, settings.block, len(architecture.kinds), (KvGroup(None, len(architecture.kinds)),))
    counts = Counter(window_of(architecture, layer) for layer in range(len(architecture.kinds)))
    size = _group_size(list(counts.values()))
    groups = tuple(
        KvGroup(window, min(size, count - start)) for window, count in counts.items() for start in range(0, count, size)
    )
    return KvLayout(page, settings.block, size, groups)


def token_bytes(architecture: Architecture, symbols: Mapping[str, int], settings: EngineSettings) -> int:
    """Return the bytes per token and layer on one GPU."""
    family = FAMILIES.get(str(architecture.config.get("model_type")))
    if family is not None and not family.cached:
        raise EstimateError("model", "has no decoder-only KV cache", "give a decoder-only language model")
    size = numbers_per_token(architecture, symbols) * settings.kv_bytes
    latent = architecture.config.get("kv_lora_rank") is not None
    return -(-size // _ALIGNMENT) * _ALIGNMENT if latent and settings.aligned else size


def _group_size(counts: list[int]) -> int:
    """Return the layers of a group: the fewest of a kind, or the most where that adds little padding."""
    return max(counts) if max(counts) < min(counts) * _PADDING_LIMIT else min(counts)
