"""Put the memory of each moment of a job together: forward pass, backward pass, optimizer step, inference."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from headroom.memory.cache import kept_tokens, numbers_per_token, token_bytes
from headroom.memory.loss import LossMemory, loss_memory
from headroom.memory.moments import END, FORWARD, START, STEP, Component, Moment
from headroom.memory.optimizers import optimizer
from headroom.memory.polynomials import Polynomial, factors, text, value, without
from headroom.memory.resident import Resident
from headroom.memory.weights import OUTSIDE, saved_input_widths
from headroom.records.memory_coefficients import LayerMemory, VariantMemory

_REDUCTION, _ALL_TENSORS = "reduction", "all trained tensors"
"""The places of moments after the reduction of the layers' gradients."""
_ALONG_THE_SEQUENCE = ({"B", "S", "h"}, {"B", "S"})


@dataclass(frozen=True, slots=True)
class _Layer:
    """The evaluated polynomials of a layer.

    Attributes:
        cached: bytes of the layer that exist until the end of the forward pass, without its KV cache.
        saved: bytes of the layer that exist until its backward pass.
        forward: bytes during its forward pass, with the formula.
        backward: bytes during its backward pass, with the formula.
        cache: bytes of its KV cache.
    """

    cached: int
    saved: int
    forward: tuple[int, str]
    backward: tuple[int, str]
    cache: int


class Composition:
    """The moments of a job on one GPU.

    Args:
        resident: the tensors on the GPU.
        variant: the memory polynomials of the job.
        in_flight: the micro-batches whose activations a pipeline stage holds at once.
        traced_tied: whether the polynomials have the LM head's gradient that waits for the embedding's.
    """

    def __init__(
        self, resident: Resident, variant: VariantMemory, in_flight: int = 1, *, traced_tied: bool = False
    ) -> None:
        self.resident, self.variant, self.in_flight = resident, variant, in_flight
        self.job, self.symbols = resident.job, resident.symbols
        self.before = self._value(variant.before if resident.first else without(variant.before, "h"))
        self._pending = 0 if traced_tied else resident.pending_tied_gradient
        self._evaluated: dict[tuple[str, int], _Layer] = {}
        self.layers = [self._layer(number) for number in range(len(resident.kinds))]

    def _value(self, polynomial: Polynomial, **changed: int) -> int:
        """Return the bytes of a polynomial on one GPU; sequence parallelism divides terms of the size B·S·h.

        Context parallelism divides the queries and not the keys, so a term with S·S is divided once.
        """
        symbols, tensor, context = {**self.symbols, **changed}, self.job.layout.tensor, self.job.layout.context
        if context > 1:
            polynomial = {
                term: bytes_ * (context if factors(term).count("S") > 1 else 1) for term, bytes_ in polynomial.items()
            }
        if not self.job.layout.sequence_parallel:
            return value(polynomial, symbols)
        divided = {term: bytes_ for term, bytes_ in polynomial.items() if {*factors(term)} in _ALONG_THE_SEQUENCE}
        rest = {term: bytes_ for term, bytes_ in polynomial.items() if term not in divided}
        return value(rest, symbols) - -value(divided, symbols) // tensor

    def _largest(self, candidates: tuple[Polynomial, ...], **changed: int) -> tuple[int, str]:
        found = max(((self._value(each, **changed), each) for each in candidates), key=itemgetter(0), default=(0, {}))
        return found[0], text(found[1])

    def _layer(self, number: int) -> _Layer:
        """Return a layer of the stage; layers of one kind with the same window are evaluated once."""
        kind, tokens = self.resident.kinds[number], self._cached_tokens(number)
        if (kind, tokens) not in self._evaluated:
            self._evaluated[kind, tokens] = self._evaluate(kind, self.variant.layers[kind], tokens)
        return self._evaluated[kind, tokens]

    def _cached_tokens(self, number: int) -> int:
        """Return the tokens in a layer's KV cache; none if the job has no cache.

        A prefill holds the whole prompt in a sliding layer too: the cache keeps a view until the next token.
        """
        if self.job.job not in ("prefill", "decode"):
            return 0
        tokens = self.symbols["C" if self.job.job == "decode" else "S"]
        kept = kept_tokens(self.resident.architecture, number, tokens)
        return kept if self.job.job == "decode" else tokens

    def _saved_inputs(self, kind: str) -> int:
        """Return the bytes of the inputs that the 4-bit weights of one layer save."""
        if not self.job.saved_inputs:
            return 0
        widths = saved_input_widths(self.resident.base[kind])
        return self.job.compute_width * self.symbols["B"] * self.symbols["S"] * widths

    def _evaluate(self, kind: str, memory: LayerMemory, tokens: int) -> _Layer:
        accumulated = self.resident.accumulates and memory.backward_accumulated
        context = {"C": tokens} if self.job.job == "decode" else {}
        inputs = self._saved_inputs(kind)
        in_forward = 0 if self.job.checkpointing else inputs
        forward, backward = memory.forward, memory.backward_accumulated if accumulated else memory.backward
        return _Layer(
            cached=max(0, self._value(memory.cached, **context) - self._traced_cache(memory, tokens)) + in_forward,
            saved=self._value(memory.saved) + in_forward,
            forward=_more(self._largest(forward, **context), in_forward + self.resident.quantized_temporaries(kind)),
            backward=_more(self._largest(backward), inputs),
            cache=token_bytes(tokens, self._numbers, self.job.cache) if tokens else 0,
        )

    @property
    def _numbers(self) -> int:
        return self.symbols["B"] * numbers_per_token(self.resident.architecture, self.symbols)

    def _traced_cache(self, memory: LayerMemory, tokens: int) -> int:
        """Return the bytes of the KV cache within the recorded ``cached``, which have the type of the matmuls."""
        if self.job.job == "decode":
            return self._value(memory.cache, C=tokens)
        return self._numbers * self.symbols["S"] * self.job.compute_width if self.job.job == "prefill" else 0

    def moments(self) -> Iterator[Moment]:
        """Yield every moment of the job."""
        head, chunked = self.variant.head, self.variant.head_chunked
        loss = loss_memory(head, chunked, self.symbols, self.job) if self.resident.last else None
        yield from self._forward(loss)
        if self.job.training:
            yield from self._backward(loss)
            yield self._step()

    def _forward(self, loss: LossMemory | None) -> Iterator[Moment]:
        phase = FORWARD if self.job.training else {"evaluate": "evaluation"}.get(self.job.job, self.job.job)
        kept = self.before + self._waiting
        decoding = self.job.job == "decode"
        cache = sum(layer.cache for layer in self.layers) if decoding else 0
        for number, layer in enumerate(self.layers):
            now = self._now(f"layer {number}", *layer.forward)
            yield self._moment(phase, f"layer {number}", kept, 0, now, cache=cache - layer.cache * decoding)
            kept += layer.cached
            cache += layer.cache * (not decoding)
        if loss:
            now = self._now("LM head", loss.forward, loss.forward_formula)
            yield self._moment(phase, "LM head", kept, 0, now, cache=cache)

    def _backward(self, loss: LossMemory | None) -> Iterator[Moment]:
        resident = self.resident
        kept = self.before + self._waiting + sum(layer.saved for layer in self.layers)
        gradients, persistent = resident.head_gradients, 0
        if loss:
            yield self._moment(START, "LM head", kept, 0, self._now("LM head", loss.backward, loss.backward_formula))
        unreduced = resident.unreduced_head
        for number, layer in reversed([*enumerate(self.layers)]):
            kept -= layer.saved
            phase = START if number == len(self.layers) - 1 else END
            now = self._now(f"layer {number}", *layer.backward)
            above = resident.reduce_input(resident.kinds[number + 1]) if phase == END else 0
            exchanged = resident.exchanged(unreduced, above)
            place = f"layer {number}"
            yield self._moment(phase, place, kept + persistent, gradients + self._pending, now, unreduced=exchanged)
            gradients += resident.gradients(resident.kinds[number])
            persistent += 2 * layer.saved * self.job.inputs_persist  # the input and its gradient
        yield self._end(gradients, persistent)
        if resident.reduces_groups:
            reduced = resident.unreduced_outside + resident.reduce_input(OUTSIDE)
            now = self._now("embedding", 0, "none")
            yield self._moment(END, _REDUCTION, self._waiting, gradients, now, gathered=0, unreduced=reduced)
        if resident.casts_gradients:
            now, outside = self._now("embedding", 0, "none"), resident.unreduced_outside
            yield self._moment(END, "accumulation", self._waiting, gradients, now, gathered=0, unreduced=outside)

    def _end(self, gradients: int, persistent: int) -> Moment:
        """Return the moment below the first layer; its polynomials have the embedding's gradient."""
        resident = self.resident
        end = self.variant.end
        accumulated = self.resident.accumulates and end.backward_accumulated
        candidates = (end.backward_accumulated if accumulated else end.backward) if self.resident.first else ()
        now = self._now("embedding", *self._largest(candidates))
        gradients += 2 * self._pending
        unreduced = resident.exchanged(resident.unreduced_head, resident.reduce_input(resident.kinds[0]))
        gathered, kept = resident.gathered_at_the_end, self._waiting + persistent
        return self._moment(END, "embedding", kept, gradients, now, gathered=gathered, unreduced=unreduced)

    def _step(self) -> Moment:
        size, formula = self.resident.step
        now = Component("optimizer temporaries", size, formula)
        return self._moment(STEP, _ALL_TENSORS, 0, self.resident.all_gradients, now, gathered=0)

    @cached_property
    def _waiting(self) -> int:
        """The saved activations of other micro-batches in a pipeline."""
        return (self.in_flight - 1) * (self.before + sum(layer.saved for layer in self.layers))

    def _of_pipeline(self, phase: str) -> Component:
        """Return what a stage of PyTorch's pipelines holds beyond its layers.

        A stage has a buffer for each micro-batch that it receives, hidden states from the stage before and their
        gradients from the stage after: ``_setup_forward_recv_info`` and ``_create_grad_recv_info`` in torch. In the
        backward pass, it also holds what it sends, and the last stage holds its logits.
        """
        resident, job = self.resident, self.job
        sides = (not resident.first) + (not resident.last)
        if not job.training or not sides:
            return Component("pipeline buffers", 0, "none")
        boundary, backward = self._value({"B*S*h": job.width}), phase in (START, END)
        size = sides * (job.accumulation + backward) * boundary
        if resident.last and backward and job.loss.startswith("whole"):
            size += self._value({"B*S*V": job.compute_width})
        return Component("pipeline buffers", size, f"{job.width}·B·S·h per micro-batch and neighbouring stage + logits")

    @staticmethod
    def _now(place: str, size: int, formula: str) -> Component:
        name = "logits and loss" if place == "LM head" else "layer in progress"
        return Component(name, size, formula)

    def _moment(
        self,
        phase: str,
        place: str,
        kept: int,
        gradients: int,
        now: Component,
        *,
        gathered: int | None = None,
        unreduced: int = 0,
        cache: int = 0,
    ) -> Moment:
        """Return a moment: the resident tensors, saved activations, gradients so far, and what is in progress.

        Without ``gathered``, the weights of two layers are gathered, and of the tensors outside of the layers.
        """
        whole = self.job.no_sync and place not in (_REDUCTION, _ALL_TENSORS)
        if self.job.training and self.job.gradients_persist:
            gradients = self.resident.whole_gradients if whole else self.resident.all_gradients
        found = (
            *self._constant,
            self._gathered_weights(self.resident.gathered if gathered is None else gathered),
            Component("gradients", gradients, self._gradient_formula(whole=whole)),
            Component("unreduced gradients", unreduced, "gradients outside of the layers + those being reduced"),
            Component("KV cache", cache, f"keys and values in {self.job.cache}"),
            Component("saved activations", kept, self._saved_formula),
            self._of_pipeline(phase),
            now,
        )
        return Moment(phase, place, tuple(each for each in found if each.bytes))

    @staticmethod
    def _gathered_weights(size: int) -> Component:
        return Component("gathered weights", size, "tensors outside of the layers + 2 layers")

    @cached_property
    def _constant(self) -> tuple[Component, ...]:
        return tuple(self._throughout())

    def _throughout(self) -> Iterator[Component]:
        resident, layout, form = self.resident, self.job.layout, self.job.weight_format
        over = f" ÷ {layout.weight_shards}" if layout.weight_shards > 1 else ""
        width = f"{form} linear weights" if form else f"{self.job.width} B per parameter"
        adapters = f"{self.job.trainable_width} B per adapter parameter"
        yield Component("weights", resident.weights, f"{width}{over}")
        yield Component("adapters", resident.adapter_weights, f"{adapters}{over}")
        yield Component("optimizer states", resident.states, self._state_formula)
        yield Component("communication buckets", resident.buckets, "1 × gradients")
        yield Component("batch", resident.batch, "16·B·S")

    @cached_property
    def _state_formula(self) -> str:
        copy = " + fp32 copy of the weights" * self.job.master_weights
        over = f", ÷ {self.job.layout.state_shards}" * (self.job.layout.state_shards > 1)
        return f"{optimizer(self.job.optimizer).cost}{copy}{over}"

    def _gradient_formula(self, *, whole: bool) -> str:
        over = f" ÷ {self.job.layout.gradient_shards}" * (self.job.layout.gradient_shards > 1 and not whole)
        return f"{self.job.trainable_width} B per trained parameter{over}"

    @cached_property
    def _saved_formula(self) -> str:
        counts, layers = self.resident.counts, self.variant.layers
        name = "saved" if self.job.training else "cached"
        parts = (f"{count} × ({text(getattr(layers[kind], name))})" for kind, count in counts.items() if kind in layers)
        return " + ".join((text(self.variant.before), *parts))


def _more(found: tuple[int, str], bytes_: int) -> tuple[int, str]:
    """Return bytes and their formula with further bytes."""
    return found[0] + bytes_, f"{found[1]} + inputs or copies of quantized layers" if bytes_ else found[1]
