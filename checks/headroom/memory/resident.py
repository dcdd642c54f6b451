"""Bytes that are on a GPU throughout a job: weights, optimizer states, and gradients per layer."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from headroom.memory.architecture import Architecture
from headroom.memory.job import Job
from headroom.memory.optimizers import optimizer, state_bytes, step_bytes
from headroom.memory.weight_formats import allocated, temporary_bytes
from headroom.memory.weights import OUTSIDE, Tensor, adapter_tensors, base_tensors

_TOKEN_BYTES = 16
"""Token ids and labels, 8 bytes each."""


@dataclass(frozen=True)
class Resident:
    """The tensors of one pipeline stage on one GPU, with their bytes.

    Attributes:
        architecture: the model's shape.
        job: the job.
        symbols: the symbols of one GPU.
        kinds: the kind of each layer of the stage.
        first: whether the stage has the embedding.
        last: whether the stage has the LM head.
    """

    architecture: Architecture
    job: Job
    symbols: Mapping[str, int]
    kinds: tuple[str, ...]
    first: bool
    last: bool

    @cached_property
    def base(self) -> Mapping[str, tuple[Tensor, ...]]:
        """The base weights of each kind of layer, and those outside of the layers."""
        found = {
            kind: base_tensors(self.architecture, self.symbols, self.job, kind) for kind in dict.fromkeys(self.kinds)
        }
        outside = base_tensors(self.architecture, self.symbols, self.job, OUTSIDE)
        found[OUTSIDE] = tuple(each for each in outside if self._has(each))
        return found

    def _has(self, tensor: Tensor) -> bool:
        """Return whether the stage has a tensor outside of the layers; with tied weights both ends have it."""
        if tensor.kind == "embedding":
            return self.first or (self.last and self.architecture.tied)
        return self.last

    @cached_property
    def adapters(self) -> Mapping[str, tuple[Tensor, ...]]:
        """The adapters of each kind of layer."""
        return {
            kind: adapter_tensors(self.base[kind], self.job, self.architecture.coefficients.family)
            for kind in self.counts
        }

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of layers of each kind, and one for the tensors outside."""
        return Counter([*self.kinds, OUTSIDE])

    @cached_property
    def trained(self) -> Mapping[str, tuple[Tensor, ...]]:
        """The trained tensors of each kind of layer."""
        if not self.job.training:
            return dict.fromkeys(self.counts, ())
        if self.job.adapted:
            return {**self.adapters, OUTSIDE: ()}
        return self.base

    def _total(self, groups: Mapping[str, Sequence[Tensor]], shards: int) -> int:
        """Return the bytes of one GPU's shards of all tensors."""
        each = [(count, tensor) for kind, count in self.counts.items() for tensor in groups.get(kind, ())]
        return self._divided([(count * tensor.bytes, tensor) for count, tensor in each], shards)

    def _divided(self, sizes: Iterable[tuple[int, Tensor]], shards: int) -> int:
        """Return the sum of sizes, divided by the GPUs that share each tensor."""
        found: Counter[int] = Counter()
        for size, tensor in sizes:
            found[self.job.layout.expert_shards(shards) if tensor.kind == "expert" else shards] += size
        return sum(-(-size // by) for by, size in found.items())

    @property
    def _offloaded(self) -> bool:
        return self.job.layout.offload == "all"

    @cached_property
    def weights(self) -> int:
        """The bytes of the base weights."""
        return 0 if self._offloaded else self._total(self.base, self.job.layout.weight_shards)

    @cached_property
    def adapter_weights(self) -> int:
        """The bytes of the adapters."""
        return 0 if self._offloaded else self._total(self.adapters, self.job.layout.weight_shards)

    @cached_property
    def gathered(self) -> int:
        """The bytes of gathered weights: the tensors outside of the layers, and two layers because of prefetching."""
        if self.job.layout.weight_shards == 1:
            return 0
        sizes = {kind: self._gathered(kind) for kind in self.counts}
        layers = sorted((size for kind, size in sizes.items() if kind != OUTSIDE), reverse=True)
        second = layers[0] if self.counts[max(sizes, key=lambda kind: sizes[kind] * (kind != OUTSIDE))] > 1 else 0
        return sizes[OUTSIDE] + layers[0] + (layers[1] if not second and len(layers) > 1 else second)

    @property
    def gathered_at_the_end(self) -> int:
        """The bytes of gathered weights below the first layer: the tensors outside of the layers."""
        return self._gathered(OUTSIDE) if self.reduces_groups else self.gathered

    def _gathered(self, kind: str) -> int:
        base = _bytes(self._exchanged(self.base[kind])) * self.job.compute_width // self.job.width
        return base + _bytes(self.adapters[kind])

    def _exchanged(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Return the tensors that data-parallel GPUs exchange: no experts, if no other GPU has the same ones."""
        layout = self.job.layout
        alone = layout.expert_shards(layout.weight_shards) == 1
        return [each for each in tensors if not (alone and each.kind == "expert")]

    @property
    def reduces_groups(self) -> bool:
        """Whether FSDP2 reduces the gradients of a layer, or of the tensors outside of the layers, at once."""
        return self.job.layout.strategy in ("fsdp", "hsdp") and self.job.layout.gradient_shards > 1

    def reduce_input(self, kind: str) -> int:
        """Return the bytes of FSDP2's copy of a group's gradients, which it reduces.

        FSDP2 frees the copy when it reduces the next group: ``FSDPParamGroup.post_backward`` in torch.
        """
        return self._reduce_inputs[kind] if self.reduces_groups else 0

    @cached_property
    def _reduce_inputs(self) -> dict[str, int]:
        width = self.job.trainable_width
        return {
            kind: width * sum(each.elements for each in self._exchanged(tensors))
            for kind, tensors in self.trained.items()
        }

    @property
    def unreduced_head(self) -> int:
        """The bytes of the LM head's gradient, which FSDP2 reduces with the embedding's, after all layers."""
        tensors = [each for each in self.trained[OUTSIDE] if each.kind != "embedding"]
        return self._unreduced(tensors) if self.reduces_groups else 0

    @property
    def unreduced_outside(self) -> int:
        """The bytes of the gradients of all tensors outside of the layers before their reduction."""
        return self._unreduced(self.trained[OUTSIDE]) if self.reduces_groups else 0

    def _unreduced(self, tensors: Sequence[Tensor]) -> int:
        width = min(self.job.trainable_width, self.job.compute_width)
        return sum(allocated(width * each.elements) for each in tensors)

    @cached_property
    def states(self) -> int:
        """The bytes of the optimizer states, and of an fp32 copy of the weights if the job has one."""
        layout, job = self.job.layout, self.job
        if layout.offload != "none":
            return 0
        each = [(count, tensor) for kind, count in self.counts.items() for tensor in self.trained[kind]]
        sizes = [(count * self._states_of(tensor), tensor) for count, tensor in each]
        return self._divided(sizes, layout.state_shards if job.training else 1)

    def _states_of(self, tensor: Tensor) -> int:
        width = 4 if self.job.master_weights else self.job.trainable_width
        copy = 4 if self.job.master_weights else 0
        states = allocated(state_bytes(self.job.optimizer, tensor.shape, tensor.kind, width))
        return states + allocated(copy * tensor.elements)

    @property
    def paged_states(self) -> bool:
        """Whether the optimizer's states are in unified memory."""
        return self.job.training and optimizer(self.job.optimizer).paged

    def gradients(self, kind: str) -> int:
        """Return the bytes of the reduced gradients of one layer, or of the tensors outside of the layers."""
        return 0 if self._offloaded else self._reduced_gradients[kind]

    @cached_property
    def _reduced_gradients(self) -> dict[str, int]:
        return {kind: self._reduced(tensors) for kind, tensors in self.trained.items()}

    def _reduced(self, tensors: Sequence[Tensor]) -> int:
        sizes = [(allocated(self.job.trainable_width * each.elements), each) for each in tensors]
        return self._divided(sizes, self.job.layout.gradient_shards)

    @cached_property
    def head_gradients(self) -> int:
        """The bytes of the reduced gradients after the LM head's backward pass: all outside but the embedding's."""
        tensors = [each for each in self.trained[OUTSIDE] if each.kind != "embedding"]
        return 0 if self._offloaded or self.reduces_groups else self._reduced(tensors)

    @cached_property
    def all_gradients(self) -> int:
        """The bytes of all gradients."""
        return sum(count * self.gradients(kind) for kind, count in self.counts.items())

    @cached_property
    def whole_gradients(self) -> int:
        """The bytes of all gradients before any reduction, which a GPU has until the last micro-batch."""
        width = self.job.trainable_width
        return sum(
            count * sum(allocated(width * each.elements) for each in self.trained[kind])
            for kind, count in self.counts.items()
        )

    @property
    def accumulates(self) -> bool:
        """Whether a layer's backward pass adds to gradients, tensor by tensor; FSDP2 adds reduced ones, if it does."""
        in_place = self.job.no_sync and not self.casts_gradients
        return self.job.gradients_persist and (in_place or not self.reduces_groups)

    @property
    def casts_gradients(self) -> bool:
        """Whether FSDP2 adds the gradients of a group, once they all exist, to whole ones of a larger type."""
        return self.job.no_sync and self.job.compute_width < self.job.trainable_width

    def exchanged(self, unreduced: int, copy: int) -> int:
        """Return the bytes of gradients in addition to the reduced ones, or to the whole ones.

        Args:
            unreduced: the gradients outside of the layers, before they are reduced or added to whole ones.
            copy: the copy of a group's gradients that is being reduced; whole gradients are freed once they are copied.
        """
        if self.job.no_sync:
            return unreduced if self.casts_gradients else 0
        return unreduced + copy

    def quantized_temporaries(self, kind: str) -> int:
        """Return the temporary bytes of a quantized layer in inference; the polynomials of training contain them."""
        form, symbols = self.job.weight_format, self.symbols
        if form is None or self.job.training:
            return 0
        shapes = [each.shape for each in self.base[kind] if each.kind == "linear"]
        return temporary_bytes(shapes, symbols["B"] * symbols["S"], self.job.compute_width, form)

    @cached_property
    def pending_tied_gradient(self) -> int:
        """The bytes of the LM head's gradient, which waits for the embedding's if both share a weight."""
        if not (self.architecture.tied and self.last and self.first):
            return 0
        tied = [each for each in self.trained[OUTSIDE] if each.kind == "embedding"]
        return allocated(self.job.trainable_width * max((each.elements for each in tied), default=0))

    @cached_property
    def buckets(self) -> int:
        """The bytes of DDP's communication buckets that are no gradients."""
        layout = self.job.layout
        copies = layout.strategy == "ddp" and layout.data > 1 and not layout.gradient_as_bucket_view
        return self.all_gradients if copies else 0

    @cached_property
    def step(self) -> tuple[int, str]:
        """The bytes that the optimizer step allocates for a moment, with the formula."""
        job = self.job
        if not job.training or job.layout.offload != "none":
            return 0, "the optimizer step runs on the CPU" if job.training else "none"
        width = 4 if job.master_weights else job.trainable_width
        tensors = [
            (each.shape, each.kind)
            for kind, count in self.counts.items()
            for each in self.trained[kind]
            for _ in range(count)
        ]
        return step_bytes(job.optimizer, tensors, width, job.layout.state_shards)

    @cached_property
    def batch(self) -> int:
        """The bytes of token ids and labels."""
        return allocated(_TOKEN_BYTES * self.symbols["B"] * self.symbols["S"])


def _bytes(tensors: Sequence[Tensor]) -> int:
    return sum(each.bytes for each in tensors)
