"""Pictures of several GPUs: steps of DDP and FSDP, traffic, links and meshes agree with formulas and with torch."""

import json
import re
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import ValidationError

from headroom.pictures import (
    causal_balance,
    device_mesh,
    log_curves,
    parallelism,
    ring_traffic,
    step_timeline,
)
from headroom.pictures.canvas import NARROW, WIDE, Canvas, svg
from headroom.records.parallel_pictures import DeviceMesh, Parallelism, StepTimeline
from headroom.records.pictures import Curves


def none(address: str) -> object:
    """Look up no fact and no claim."""
    raise LookupError(address)


def timeline(tokens: float, strategy: step_timeline.Strategy = "fsdp") -> list[step_timeline.Span]:
    """Simulate four layers of a tenth of a second per message and a microsecond of forward pass per token."""
    times = step_timeline.Times(gather=0.1, reduce=0.1, forward=1e-6 * tokens, backward=2e-6 * tokens)
    return step_timeline.simulate(strategy, times, 4)


@pytest.mark.parametrize("tokens", [1_000, 1_000_000])
def test_fsdp_gathers_each_layer_twice_and_scatters_it_once(tokens: int) -> None:
    """A layer runs only after its gather, and messages never share the link."""
    spans = timeline(tokens)
    assert sorted(span.layer for span in spans if span.kind == "gather") == [0, 0, 1, 1, 2, 2, 3, 3]
    assert sorted(span.layer for span in spans if span.kind == "reduce") == [0, 1, 2, 3]
    sent = sorted((span.start, span.end) for span in spans if span.kind in ("gather", "reduce"))
    assert all(a[1] <= b[0] for a, b in pairwise(sent))
    for kind, number in (("forward", 0), ("backward", 1)):
        for layer in range(4):
            gathers = [span for span in spans if span.kind == "gather" and span.layer == layer]
            run = next(span for span in spans if span.kind == kind and span.layer == layer)
            assert gathers[number].end <= run.start
    assert max(held for _, held in step_timeline.unsharded(spans)) == 2
    assert step_timeline.unsharded(spans)[-1][1] == 0


def test_fsdp_with_many_tokens_waits_only_for_the_messages_at_the_ends() -> None:
    """What is exposed is the first gather, the one between the passes and the last scatter."""
    spans = timeline(1_000_000)
    assert step_timeline.length(spans) == pytest.approx(4 * 1 + 4 * 2 + 3 * 0.1)
    assert step_timeline.waiting(spans) == pytest.approx(0.3 / 12.3)


def test_fsdp_with_few_tokens_takes_as_long_as_its_messages() -> None:
    """Twelve messages of a tenth of a second follow each other."""
    spans = timeline(1)
    assert step_timeline.length(spans) == pytest.approx(1.2, rel=1e-3)
    assert step_timeline.waiting(spans) > 0.99


@pytest.mark.parametrize(("tokens", "exposed"), [(0.05e6, 0.1), (0.5e6, 0.1), (0.025e6, 0.1 + 3 * 0.05)])
def test_ddp_hides_all_but_the_last_message_from_some_tokens_on(tokens: float, exposed: float) -> None:
    """At the threshold, a layer runs backward for as long as its message takes; with fewer tokens, each is exposed."""
    spans = timeline(tokens, "ddp")
    assert sorted(span.layer for span in spans if span.kind == "reduce") == [0, 1, 2, 3]
    assert not [span for span in spans if span.kind == "gather"]
    assert step_timeline.length(spans) == pytest.approx(4 * 3e-6 * tokens + exposed)


def test_the_timeline_evaluates_its_formulas_for_each_panel() -> None:
    """The text alternative says how long each panel's step is."""
    data = StepTimeline.model_validate(
        {
            "kind": "step-timeline",
            "strategy": "fsdp",
            "title": "A step",
            "let": {"B": 10},
            "panels": {"many": {"T": 1}, "few": {"T": 0.001}},
            "layers": 4,
            **dict.fromkeys(("gather", "reduce"), "1/B"),
            "forward": "T",
            "backward": "2*T",
        }
    )
    words = step_timeline.picture("step", data, none).description  # type: ignore[arg-type]
    assert "many: 12,300 ms, the GPU waits 2% of it" in words
    assert "few: 1,20" in words


def test_curves_are_evaluated_at_each_place() -> None:
    """With C = 40, 40/X is 4 at 10 and 0.4 at 100, and each value stands at its mark."""
    places = {"slow": 10, "fast": 100}
    words = {"kind": "curves", "title": "T", "x": "bytes", "y": "tokens"}
    data = Curves.model_validate({**words, "let": {"C": 40}, "places": places, "curves": {"DDP": "C/X"}})
    picture = log_curves.picture("curves", data, none)  # type: ignore[arg-type]
    assert "slow: tokens 4 with DDP" in picture.description
    assert "fast: tokens 0.4 with DDP" in picture.description
    drawn = svg(picture)
    assert drawn.count(">0.4<") == drawn.count(">4<") == 2
    heights = {value: y for y, value in re.findall(r'y="([\d.]+)"[^>]*>([\d.]+)<', drawn)}
    assert float(heights["0.4"]) > float(heights["4"])


def scheme(**changes: object) -> Parallelism:
    """Return the description of HSDP, changed."""
    sent = {"what": "x", "when": "backward", "fill": "gradients", "of": "gradients", "per": "step"}
    base = {
        "kind": "parallelism",
        "title": "HSDP",
        "idea": "Two groups of two GPUs.",
        "gpus": 4,
        "shard": 2,
        "holds": [
            {"name": "weights", "fill": "weights", "held": "own", "bytes": 2},
            {"name": "states", "fill": "optimizer states", "held": "all", "bytes": 12},
        ],
        "sends": [
            {"by": "all-gather", "among": "shards", "times": 2, **sent, "of": "weights"},
            {"by": "reduce-scatter", "among": "shards", **sent},
            {"by": "all-reduce", "among": "copies", **sent},
        ],
    }
    return Parallelism.model_validate({**base, **changes})


def test_parallelism_counts_bytes_held_and_sent() -> None:
    """HSDP of 2 by 2: a half for each gather and scatter, and an all-reduce of half of the gradients over two."""
    data = scheme()
    assert ring_traffic.bytes_per_parameter(data) == 2 / 2 + 12
    assert [ring_traffic.share(data, each) for each in data.sends] == [Fraction(1, 2)] * 3
    assert list(ring_traffic.totals(data)) == ["Each GPU sends per step: 1 × weights + 1 × gradients"]
    assert [ring_traffic.groups(data, each) for each in data.sends] == [[[0, 1], [2, 3]]] * 2 + [[[0, 2], [1, 3]]]
    assert [ring_traffic.formula(each) for each in data.sends] == ["(S−1)/S", "(S−1)/S", "2(R−1)/(RS)"]


@pytest.mark.parametrize(
    ("kind", "factor", "slots"),
    [
        ("all-reduce", Fraction(3, 2), ("1111", "ΣΣΣΣ")),
        ("all-gather", Fraction(3, 4), (" 1  ", "0123")),
        ("reduce-scatter", Fraction(3, 4), ("1111", " Σ  ")),
        ("all-to-all", Fraction(3, 4), ("1111", "0123")),
    ],
)
def test_collectives_of_four_gpus(kind: str, factor: Fraction, slots: tuple[str, str]) -> None:
    """A ring all-reduce sends twice what a reduce-scatter does; the slots are those of GPU 1."""
    sent = {"by": kind, "what": "x", "when": "w", "fill": "gradients", "of": "gradients", "per": "step"}
    data = scheme(shard=None, sends=[sent])
    assert ring_traffic.share(data, data.sends[0]) == factor
    assert ring_traffic.slots(data, data.sends[0], 1) == slots


def test_pictures_of_parallelism_name_what_is_held_and_sent() -> None:
    """The text alternative has both, and the drawing has a column per GPU in each layout."""
    picture = parallelism.picture("hsdp", scheme())
    assert "weights: 1/2, states: all" in picture.description
    assert "Each GPU holds 13 bytes per parameter." in picture.description
    drawn = svg(picture)
    assert all(drawn.count(f">GPU {rank}<") == 2 for rank in range(4))


def test_gpus_that_are_not_whole_copies_are_refused() -> None:
    """Three GPUs cannot be copies of two."""
    with pytest.raises(ValidationError, match="3 GPUs are not whole copies of 2"):
        scheme(gpus=3)


@pytest.mark.parametrize("gpus", [2, 3, 4])
def test_zigzag_chunks_balance_causal_attention(gpus: int) -> None:
    """Both splits compute every score once; zigzag gives each GPU as many, contiguous gives 1, 3, 5 and so on."""
    works = {}
    for order in ("contiguous", "zigzag"):
        found = causal_balance.chunks(order, gpus)
        assert sorted(chunk for pair in found for chunk in pair) == list(range(2 * gpus))
        works[order] = [causal_balance.work(pair) for pair in found]
        assert sum(works[order]) == (2 * gpus) ** 2 / 2
    assert len(set(works["zigzag"])) == 1
    assert [each / works["contiguous"][0] for each in works["contiguous"]] == [2 * rank + 1 for rank in range(gpus)]


def mesh(*sizes: int, gpus_per_node: int = 8) -> DeviceMesh:
    """Return a mesh of these sizes."""
    axes = [{"name": f"a{i}", "size": size, "sends": "collective", "says": "Says."} for i, size in enumerate(sizes)]
    fields = {"kind": "device-mesh", "title": "Mesh", "gpus_per_node": gpus_per_node, "axes": axes}
    return DeviceMesh.model_validate(fields)


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_a_mesh_has_the_group_of_each_axis(width: int) -> None:
    """GPUs are numbered from the innermost axis, as ``init_device_mesh`` does."""
    data = mesh(2, 4, 8)
    found = [device_mesh.ranks(data, number) for number in range(3)]
    assert found == [[0, 32], [0, 8, 16, 24], list(range(8))]
    canvas = Canvas("mesh", width)
    picture = device_mesh.picture("mesh", data)
    assert picture.description.startswith("64 GPUs in 8 nodes of 8.")
    picture.draw(canvas)
    assert sum(">node " in part for part in canvas.parts) == 8


def test_a_mesh_whose_inner_axis_leaves_the_node_is_refused() -> None:
    """The drawing shows that axis inside a node."""
    with pytest.raises(ValidationError, match="the last axis has 4 GPUs and a node 8"):
        mesh(2, 4)


def test_a_mesh_with_too_many_nodes_in_a_row_is_refused() -> None:
    """Five nodes do not fit a phone."""
    with pytest.raises(ValueError, match="draw at most 4"):
        device_mesh.picture("mesh", mesh(5, 8))


def test_the_groups_of_a_mesh_are_those_of_torch(tmp_path: Path) -> None:
    """``init_device_mesh`` of the same shape puts rank 0 into the same groups."""
    code = (
        "import os, json, torch.distributed as dist\n"
        "from torch.testing._internal.distributed.fake_pg import FakeStore\n"
        "dist.init_process_group('fake', store=FakeStore(), rank=0, world_size=64)\n"
        "from torch.distributed.device_mesh import init_device_mesh\n"
        "mesh = init_device_mesh('cpu', (2, 4, 8), mesh_dim_names=('a', 'b', 'c'))\n"
        "print(json.dumps([mesh[name].mesh.tolist() for name in 'abc']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    data = mesh(2, 4, 8)
    assert json.loads(done.stdout.splitlines()[-1]) == [device_mesh.ranks(data, number) for number in range(3)]
