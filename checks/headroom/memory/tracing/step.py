"""Run training steps, prefill or decoding under fake tensors, and log their storages."""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from headroom.memory.tracing.audio import mel_features
from headroom.memory.tracing.cuda_choices import any_grouped_matmul, cuda_choices, unpacked_batches
from headroom.memory.tracing.images import image_inputs
from headroom.memory.tracing.live_storages import Log, StorageTracker
from headroom.memory.tracing.models import TraceSettings, build, has_audio, layers_of
from headroom.memory.tracing.optimizers import make_optimizer, state_tensors
from headroom.memory.tracing.real_integers import RealIntegers


def owners(model: nn.Module) -> dict[int, str]:
    """Return the region that each parameter belongs to, by the parameter's id: a layer or ``outside``."""
    inside = {
        id(parameter): f"layer {number}"
        for number, layer in enumerate(layers_of(model))
        for parameter in layer.parameters()
    }
    return {id(parameter): inside.get(id(parameter), "outside") for parameter in model.parameters()}


def _first_tensor(values: Any) -> torch.Tensor | None:
    """Return the hidden states among the arguments or the results of a layer."""
    for value in values if isinstance(values, tuple | list) else (values,):
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value
    return None


class _Regions:
    """Hooks that tell the tracker which layer an operation of the forward or the backward pass belongs to."""

    def __init__(self, tracker: StorageTracker, model: nn.Module) -> None:
        self.tracker, self.handles = tracker, list[Any]()
        layers = layers_of(model)
        classes = [type(layer) for layer in layers]
        for number, layer in enumerate(layers):
            first_of_stack = number > 0 and classes[number - 1] is not classes[number]
            self.handles.append(
                layer.register_forward_pre_hook(self._entered(number, first_of_stack), with_kwargs=True)
            )
            self.handles.append(layer.register_forward_hook(self._left(number)))

    def _backward(self, tensor: torch.Tensor | None, region: str) -> None:
        """Change the region when the backward pass reaches a tensor."""
        if tensor is not None and tensor.requires_grad and torch.is_grad_enabled():
            tensor.register_hook(lambda _: self.tracker.mark(self.tracker.phase, region))

    def _entered(self, number: int, first_of_stack: bool) -> Callable[..., None]:
        def hook(_: nn.Module, args: Any, kwargs: Any) -> None:
            if not self.tracker.phase.startswith("backward"):
                self.tracker.mark(self.tracker.phase, f"layer {number}")
                below = "end" if number == 0 else f"layer {number - 1}"
                if not first_of_stack:
                    self._backward(_first_tensor(args) if args else kwargs.get("hidden_states"), below)

        return hook

    def _left(self, number: int) -> Callable[..., None]:
        def hook(_: nn.Module, __: Any, output: Any) -> None:
            if not self.tracker.phase.startswith("backward"):
                self._backward(_first_tensor(output), f"layer {number}")
                self.tracker.mark(self.tracker.phase, "head")

        return hook

    def remove(self) -> None:
        """Remove all hooks."""
        for handle in self.handles:
            handle.remove()


def _inputs(config: Any, settings: TraceSettings) -> dict[str, torch.Tensor]:
    """Return a batch of tokens without padding, with labels if the job trains or evaluates."""
    length = 1 if settings.job == "decode" else settings.length
    ids = torch.zeros(settings.batch, length, dtype=torch.long)
    if settings.images:
        batch = image_inputs(config, settings, ids)
    else:
        batch = {"input_features": mel_features(config, settings)} if has_audio(config) else {"input_ids": ids}
    if settings.trains or settings.job == "evaluate":
        batch["labels"] = ids
    elif config.is_encoder_decoder:
        batch["decoder_input_ids"] = ids[:, :1]
    return batch


def device_of(batch: Mapping[str, torch.Tensor]) -> str:
    """Return the type of the device on which a batch is."""
    device: str = next(iter(batch.values())).device.type
    return device


def _chunked_loss(model: Any, batch: dict[str, torch.Tensor], size: int) -> torch.Tensor:
    """Return the loss with the LM head and the loss computed per chunk and recomputed in the backward pass."""
    base = getattr(model, "base_model", model)
    base = base.model if hasattr(base, "model") and base is not model else base
    core = base if not hasattr(base, base.base_model_prefix) else getattr(base, base.base_model_prefix)
    labels = batch["labels"]
    hidden = core(**{name: value for name, value in batch.items() if name != "labels"}).last_hidden_state
    head = model.get_output_embeddings()

    def part(states: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = head(states).float()
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")

    parts = zip(hidden.split(size, 1), labels.split(size, 1), strict=True)
    total: torch.Tensor = sum(checkpoint(part, a, b, use_reentrant=False) for a, b in parts) / labels.numel()
    return total


def batch_loss(model: Any, batch: dict[str, torch.Tensor], settings: TraceSettings) -> torch.Tensor:
    """Return the loss of a batch, computed under autocast where the settings say so."""
    with torch.autocast(device_of(batch), torch.bfloat16, enabled=settings.autocast):
        if settings.loss_chunk:
            return _chunked_loss(model, batch, settings.loss_chunk)
        loss: torch.Tensor = model(**batch).loss
        return loss


class TracedRun:
    """A model under fake tensors with the log of what it allocates."""

    def __init__(self, config: Any, settings: TraceSettings) -> None:
        self.settings = settings
        self.tracker = StorageTracker()
        self.model = build(config, settings)
        self.batch = _inputs(config, settings)
        self.trainable = [p for p in self.model.parameters() if p.requires_grad and settings.trains]
        self.owners = owners(self.model)
        self.parameter_names = {id(p): name for name, p in self.model.named_parameters()}
        self.optimizer: Any = make_optimizer(self.trainable, settings.optimizer) if settings.trains else None

    def _register_what_stands(self) -> None:
        """Log weights, buffers and the batch."""
        for parameter in self.model.parameters():
            self.tracker.add(parameter, "weights", self.owners[id(parameter)], self.parameter_names[id(parameter)])
        for buffer in [*self.model.buffers(), *self.batch.values()]:
            if not self.tracker.knows(buffer):
                self.tracker.add(buffer, "inputs", "outside")

    def _warm_up_optimizer(self) -> None:
        """Create the optimizer's states by a step with empty gradients."""
        for parameter in self.trainable:
            parameter.grad = torch.empty_like(parameter)
        self._update()

    def _update(self) -> None:
        self.optimizer.step()
        self.optimizer.zero_grad()

    def _register_states(self) -> None:
        for state in state_tensors(self.optimizer):
            if not self.tracker.knows(state):
                self.tracker.add(state, "optimizer states", "outside")

    def _keep_gradient(self, parameter: torch.Tensor) -> None:
        if parameter.grad is not None:
            self.tracker.add(parameter.grad, "gradients", self.owners[id(parameter)])

    def train(self, update: bool = True) -> Log:
        """Return the log of one training step, the second of the run, with its micro-batches and its update."""
        if update:
            self._warm_up_optimizer()
        self._register_what_stands()
        if update:
            self._register_states()
        hooks = [p.register_post_accumulate_grad_hook(self._keep_gradient) for p in self.trainable]
        regions = _Regions(self.tracker, self.model)
        for number in range(self.settings.accumulation):
            with self.tracker.running(f"forward {number}", "before"):
                loss = batch_loss(self.model, self.batch, self.settings)
            gc.collect()
            with self.tracker.running(f"backward {number}", "head"):
                loss.backward()
                del loss
        for handle in hooks:
            handle.remove()
        regions.remove()
        if update:
            with self.tracker.running("optimizer", "optimizer"):
                self._update()
        return self.tracker.log

    def infer(self) -> Log:
        """Return the log of an evaluation, a prefill or one step of decoding."""
        settings, cache = self.settings, None
        self._register_what_stands()
        regions = _Regions(self.tracker, self.model)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=settings.autocast):
            if settings.job == "decode":
                cache = self._filled_cache()
            with self.tracker.running("forward 0", "before"):
                extra = {} if settings.job == "evaluate" else {"past_key_values": cache, "logits_to_keep": 1}
                out = self.model(**self.batch, **extra)
                del out
        regions.remove()
        return self.tracker.log

    def _filled_cache(self) -> Any:
        """Return the cache after a prefill of the context, its tensors registered as the cache of their layers."""
        ids = torch.zeros(self.settings.batch, self.settings.context, dtype=torch.long)
        cache = self.model(input_ids=ids, logits_to_keep=1, use_cache=True).past_key_values
        for number, layer in enumerate(cache.layers):
            for tensor in (layer.keys, layer.values):
                self.tracker.add(tensor, "cache", f"layer {number}")
        return cache


@contextmanager
def _fake(settings: TraceSettings) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(unpacked_batches())
        if settings.device == "cuda":
            stack.enter_context(cuda_choices(settings.autocast))
        stack.enter_context(any_grouped_matmul())
        stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        if settings.images:
            stack.enter_context(RealIntegers())
        stack.enter_context(patch.object(PreTrainedModel, "initialize_weights", lambda _: None))  # some read values
        stack.enter_context(torch.device("cpu"))
        yield


def trace_log(config: Any, settings: TraceSettings, update: bool = True) -> tuple[Log, dict[str, Any]]:
    """Return the log of a job and what is known of the model: its weights by region, name and shape.

    Args:
        config: a transformers configuration.
        settings: the job, its sizes and its precision.
        update: whether the optimizer's step is traced too.
    """
    with _fake(settings):
        run = TracedRun(config, settings)
        log = run.train(update) if settings.trains else run.infer()
        weights = [
            (run.owners[id(p)], name, tuple(p.shape), p.element_size(), p.requires_grad)
            for name, p in run.model.named_parameters()
        ]
        return log, {"weights": weights, "layers": len(layers_of(run.model))}


def named_weights(config: Any) -> list[tuple[str, str, tuple[int, ...], str]]:
    """Return region, name, shape and role of each weight of a model; names are those within the region."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = build(config, TraceSettings(job="evaluate", attention="eager"))
    regions = owners(model)
    roles: dict[int, str] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            roles.setdefault(id(parameter), _role(module, name))  # the embedding comes before a head that shares it
    head = model.get_output_embeddings()
    if head is not None and head.weight is not model.get_input_embeddings().weight:
        roles[id(head.weight)] = "head"
    prefixes = {f"layer {n}": _path(model, layer) for n, layer in enumerate(layers_of(model))}
    out = []
    for name, parameter in model.named_parameters():
        region = regions[id(parameter)]
        prefix = prefixes.get(region, "")
        out.append((region, name.removeprefix(prefix), tuple(parameter.shape), roles[id(parameter)]))
    return out


def _path(model: nn.Module, layer: nn.Module) -> str:
    names = {id(module): name for name, module in model.named_modules()}
    return f"{names[id(layer)]}."


def _role(module: nn.Module, name: str) -> str:
    """Return what a weight is for: linear, embedding, norm, bias, expert or other."""
    if name == "bias" or name.endswith("_bias"):
        return "bias"
    if isinstance(module, nn.Embedding):
        return "embedding"
    if "norm" in type(module).__name__.lower():
        return "norm"
    if isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D":
        return "linear"
    experts = module.get_parameter(name).dim() > len(("rows", "columns"))
    return "expert" if experts else "other"
