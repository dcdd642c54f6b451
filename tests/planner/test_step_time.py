"""The step-time model: more bandwidth is never slower, the bubble's formula, known bytes, and monotone costs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headroom.memory.layouts import Layout
from headroom.planner.cluster import Cluster
from headroom.planner.decoder import Decoder
from headroom.planner.step_time import Constants, Work, bubble_fraction, step_time

LLAMA_8B = Decoder(
    hidden=4096,
    layers=32,
    heads=32,
    key_value_heads=8,
    head=128,
    intermediate=14336,
    mlp_matmuls=3,
    vocabulary=128256,
)
CONSTANTS = Constants(
    matmul=0.9,
    attention=0.4,
    eager=60,
    fused=40,
    link=0.8,
    overlap=0.5,
    tensor_overlap=0.5,
    straggling=0.01,
)


def cluster(**changes: object) -> Cluster:
    found = Cluster(
        accelerator="made-up",
        gpus=64,
        gpus_per_node=8,
        peaks={"bf16": 1e15, "fp8": 2e15},
        rates={"bf16": 8e14, "fp8": 1.4e15},
        memory=3e12,
        link=4.5e11,
        network=5e10,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


@st.composite
def made_layouts(draw: st.DrawFn) -> Layout:
    """Return a layout over 64 GPUs."""
    tensor, pipeline, context = (draw(st.sampled_from([1, 2, 4])) for _ in range(3))
    data = 64 // (tensor * pipeline * context)
    strategy = draw(st.sampled_from(["ddp", "zero1", "fsdp"]))
    return Layout(strategy=strategy, data=data, tensor=tensor, pipeline=pipeline, context=context)


@given(
    layout=made_layouts(),
    name=st.sampled_from(["link", "network", "memory"]),
    factor=st.floats(1, 10),
    overlap=st.booleans(),
)
def test_more_bandwidth_is_never_slower(layout: Layout, name: str, factor: float, *, overlap: bool) -> None:
    work = Work(length=4096, batch=2, accumulation=8, tensor_overlap=overlap)
    before, faster = cluster(), cluster(**{name: getattr(cluster(), name) * factor})
    slow, fast = (step_time(LLAMA_8B, work, layout, each, CONSTANTS).seconds for each in (before, faster))
    assert fast <= slow * (1 + 1e-12)


@given(made_layouts(), st.floats(0, 1), st.integers(1, 8))
def test_every_part_is_positive_and_they_add_up(layout: Layout, recompute: float, accumulation: int) -> None:
    work = Work(length=8192, batch=1, accumulation=accumulation, recompute=recompute)
    time = step_time(LLAMA_8B, work, layout, cluster(), CONSTANTS)
    parts = (time.matmul, time.attention, time.elementwise, time.data, time.tensor, time.bubble, time.optimizer)
    assert min(parts) >= 0
    assert time.seconds == pytest.approx(sum(parts) + time.straggling)
    assert time.rate * time.seconds * 64 == pytest.approx(8192 * accumulation * layout.data)


@pytest.mark.parametrize(
    ("stages", "micro_batches", "chunks", "expected"),
    [(1, 4, 1, 0), (4, 4, 1, 0.75), (4, 8, 1, 0.375), (8, 32, 2, 7 / 64)],
)
def test_bubble_is_stages_less_one_over_chunks_times_micro_batches(
    stages: int, micro_batches: int, chunks: int, expected: float
) -> None:
    assert bubble_fraction(stages, micro_batches, chunks) == expected


def test_bubble_is_the_fraction_of_compute_and_tensor_communication() -> None:
    work, layout = Work(length=4096, accumulation=8), Layout(strategy="ddp", data=4, tensor=4, pipeline=4)
    time = step_time(LLAMA_8B, work, layout, cluster(), CONSTANTS)
    assert time.bubble == pytest.approx(3 / 8 * (time.compute + time.tensor))


def test_one_gpu_sends_nothing_and_waits_for_nobody() -> None:
    time = step_time(LLAMA_8B, Work(length=2048, batch=4), Layout(), cluster(gpus=1, gpus_per_node=1), CONSTANTS)
    assert (time.sent, time.communication, time.bubble, time.straggling) == (0, 0, 0, 0)
    assert time.compute > 0 < time.optimizer


@pytest.mark.parametrize(("strategy", "per_parameter"), [("ddp", 8), ("zero1", 6), ("fsdp", 8)])
def test_data_parallelism_sends_the_textbook_bytes(strategy: str, per_parameter: int) -> None:
    """DDP reduces and returns fp32 gradients; ZeRO-1 returns bf16 weights; FSDP gathers weights twice."""
    layout = Layout(strategy=strategy, data=64)
    sent = step_time(LLAMA_8B, Work(length=2048), layout, cluster(), CONSTANTS).sent
    assert sent == pytest.approx(per_parameter * LLAMA_8B.parameters * 63 / 64)


def test_fsdp_sends_again_with_each_micro_batch_and_zero_1_does_not() -> None:
    def sent(strategy: str, accumulation: int) -> float:
        layout = Layout(strategy=strategy, data=64)
        return step_time(LLAMA_8B, Work(length=2048, accumulation=accumulation), layout, cluster(), CONSTANTS).sent

    assert sent("fsdp", 4) == pytest.approx(4 * sent("fsdp", 1))
    assert sent("zero1", 4) == pytest.approx(sent("zero1", 1))


def test_tensor_parallelism_sends_eight_activations_per_layer() -> None:
    """Forward and backward have four all-reduces per layer, of twice the activations each."""
    work, layout = Work(length=2048, batch=2), Layout(tensor=8)
    sent = step_time(LLAMA_8B, work, layout, cluster(gpus=8), CONSTANTS).sent
    assert sent == pytest.approx(8 * 7 / 8 * 32 * 2 * 2048 * 2 * 4096)


def test_a_ring_leaves_a_node_once() -> None:
    """Data parallelism over whole nodes shares the network cards of the node; with TP 8, each rank has its own."""
    assert cluster().bandwidth(64, 1) == pytest.approx(4e11)
    assert cluster().bandwidth(8, 8) == pytest.approx(5e10)
    assert cluster().bandwidth(8, 1) == pytest.approx(4.5e11)


def test_overlap_hides_no_more_than_the_compute() -> None:
    slow = cluster(network=1e8)
    time = step_time(LLAMA_8B, Work(length=128), Layout(strategy="fsdp", data=64), slow, CONSTANTS)
    sent_seconds = time.sent / slow.bandwidth(64, 1) / CONSTANTS.link
    assert time.data == pytest.approx(sent_seconds - time.compute)


def test_fp8_shortens_layers_and_not_the_lm_head_or_attention() -> None:
    layout = Layout()
    bf16, fp8 = (
        step_time(LLAMA_8B, Work(length=4096, precision=name), layout, cluster(gpus=1), CONSTANTS)
        for name in ("bf16", "fp8")
    )
    assert fp8.matmul < bf16.matmul < 2 * fp8.matmul
    assert (fp8.attention, fp8.elementwise) == (bf16.attention, bf16.elementwise)


def test_recomputation_runs_the_forward_pass_again() -> None:
    none, full = (
        step_time(LLAMA_8B, Work(length=4096, recompute=part), Layout(), cluster(gpus=1), CONSTANTS)
        for part in (0.0, 1.0)
    )
    assert full.attention == pytest.approx(none.attention * 4 / 3)


@given(st.sampled_from([2, 4, 8]))
def test_experts_over_more_gpus_are_fewer_parameters_to_update_and_more_to_send(expert: int) -> None:
    decoder = replace(LLAMA_8B, experts=64, active=2, intermediate=1024)
    one, several = (
        step_time(decoder, Work(length=2048), Layout(strategy="ddp", data=64, expert=each), cluster(), CONSTANTS)
        for each in (1, expert)
    )
    assert several.optimizer < one.optimizer
    assert several.tensor > one.tensor == 0
