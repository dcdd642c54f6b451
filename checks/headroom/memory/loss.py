"""Memory of the LM head and the loss: whole logits, chunks with recomputation, and Liger's fused loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headroom.memory.job import Job
from headroom.memory.polynomials import Polynomial, factors, largest, text, value, without
from headroom.records.memory_coefficients import HeadMemory

COPIED = {"whole-upcast-copy": 4, "whole-shift-copy": 2}
"""Bytes per logit that an older loss of transformers adds to the forward pass."""
_LOGITS = "B*S*V"


@dataclass(frozen=True, slots=True)
class LossMemory:
    """Bytes of the last norm, the LM head and the loss in the forward and the backward pass, each with its formula."""

    forward: int
    forward_formula: str
    backward: int
    backward_formula: str


def loss_memory(head: HeadMemory, chunked: HeadMemory | None, symbols: Mapping[str, int], job: Job) -> LossMemory:
    """Return the bytes of the LM head and the loss.

    Args:
        head: the recorded polynomials with whole logits.
        chunked: the recorded polynomials with chunks, if they were traced.
        symbols: the symbols of one GPU.
        job: the job.
    """
    backward = head.backward_accumulated if job.gradients_persist and head.backward_accumulated else head.backward
    if job.training and job.loss == "chunked" and chunked:
        return loss_memory(chunked, None, symbols, replace(job, loss="whole"))
    if not job.training or job.loss in ("whole", *COPIED):
        forward_bytes, forward = largest(_copied(head.forward, COPIED.get(job.loss, 0)), symbols)
        backward_bytes, found = largest(backward, symbols)
        return LossMemory(forward_bytes, text(forward), backward_bytes, text(found))
    if job.loss == "chunked":
        return _chunked(head.forward, backward, symbols, job)
    return _fused(head.forward, backward, symbols, job)


def _copied(candidates: Sequence[Polynomial], more: int) -> list[Polynomial]:
    """Return the candidates of a loss that copies the fp32 logits to shift them by one token.

    In transformers 4.48.1, ``ForCausalLMLoss`` of src/transformers/loss/loss_utils.py holds ``logits.float()``, the
    contiguous shifted part of it, and the caller holds the bf16 logits. In 4.45.2, ``forward`` of the model itself
    replaces the bf16 logits by their fp32 copy, which frees 2 bytes per logit.
    """
    return [{**each, _LOGITS: each[_LOGITS] + more} if _LOGITS in each else each for each in candidates]


def _rest(candidates: Sequence[Polynomial], symbols: Mapping[str, int]) -> int:
    """Return the bytes that do not depend on the vocabulary."""
    return largest([without(each, ["V"]) for each in candidates], symbols)[0]


def _logits(candidates: Sequence[Polynomial], tokens: int, symbols: Mapping[str, int]) -> int:
    """Return the logit-sized bytes of a number of tokens."""
    scaled = {**symbols, "B": 1, "S": tokens}
    kept = [{term: size for term, size in each.items() if {"S", "V"} <= {*factors(term)}} for each in candidates]
    return max((value(each, scaled) for each in kept), default=0)


def _chunked(
    forward: Sequence[Polynomial], backward: Sequence[Polynomial], symbols: Mapping[str, int], job: Job
) -> LossMemory:
    """Return the bytes of a loss whose chunks are recomputed.

    A chunk has ``job.chunk`` tokens of each sequence, so ``batch * chunk`` tokens, as torchtune splits the sequences:
    https://github.com/pytorch/torchtune/blob/02b12d36215937b7e1671d05ca9053abb857283e/torchtune/modules/loss/
    cross_entropy_loss.py, ``LinearCrossEntropyLoss.forward``. The guide's function splits the flattened batch.

    The backward pass adds each chunk's LM-head gradient to the sum of the earlier ones, so that three exist at once.
    """
    tokens = symbols["B"] * min(job.chunk, symbols["S"])
    weight = symbols["h"] * symbols["V"]
    cast = 2 * weight if job.precision == "autocast" and job.layout.weight_shards == 1 else 0
    gradient = 0 if job.adapted else job.width * weight
    rest = _rest(forward, symbols) + cast, _rest(backward, symbols) + cast
    logits = _logits(forward, tokens, symbols), _logits(backward, tokens, symbols)
    both = max(logits[1] + gradient, 3 * gradient)
    return LossMemory(
        rest[0] + logits[0],
        f"last norm {rest[0]:,} + logits of {tokens} tokens {logits[0]:,}",
        rest[1] + both,
        f"last norm {rest[1]:,} + max(logits of {tokens} tokens + LM-head gradient, 3 LM-head gradients) {both:,}",
    )


def _fused(
    forward: Sequence[Polynomial], backward: Sequence[Polynomial], symbols: Mapping[str, int], job: Job
) -> LossMemory:
    """Return the bytes of Liger's fused linear cross-entropy, which computes both gradients in the forward pass.

    Source: https://github.com/linkedin/Liger-Kernel/blob/ead96b618e5c67bddc6a6e9bcb99bfe6b5ab661c/
    src/liger_kernel/ops/fused_linear_cross_entropy.py, ``fused_linear_cross_entropy_forward``. A chunk has the next
    power of two of tokens × hidden size ÷ vocabulary. A bf16 weight's gradient of a chunk exists in bf16 and in fp32
    beside the sum; with fp32 weights and bf16 logits it is added in place.
    """
    tokens, hidden, vocabulary = symbols["B"] * symbols["S"], symbols["h"], symbols["V"]
    chunk = liger_chunk(tokens, hidden, vocabulary)
    weight, width = hidden * vocabulary, job.compute_width
    gradient = 0 if job.adapted else job.width * weight
    temporary = 0 if job.adapted else {"bf16": 6, "mixed": 6, "autocast": 0, "fp32": 4}[job.precision] * weight
    cast = 2 * weight if job.precision == "autocast" and job.layout.weight_shards == 1 else 0
    kept = tokens * hidden * width + gradient
    rest = _rest(forward, symbols), _rest(backward, symbols)
    now = kept + temporary + cast + chunk * vocabulary * width
    return LossMemory(
        rest[0] + now,
        f"last norm {rest[0]:,} + gradients {kept:,} + {chunk:,} tokens of logits and temporaries {now - kept:,}",
        rest[1] + kept,
        f"last norm {rest[1]:,} + gradients of hidden states and LM head {kept:,}",
    )


def liger_chunk(tokens: int, hidden: int, vocabulary: int) -> int:
    """Return the tokens of a chunk of Liger's fused loss."""
    factor = -(-vocabulary // hidden)
    return min(tokens, 1 << (-(-tokens // factor) - 1).bit_length())
