"""`headroom plan`: which layouts, what fits, which cannot be told apart, bad input, and the command."""

import json
import re
from math import exp
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from headroom.cli import OK, USAGE, main
from headroom.cli.plan_options import SHOWN
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import estimate
from headroom.pictures.plan_bars import BAR, PARTS, seconds_of
from headroom.planner.plan import Plan, plan

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def eight() -> Plan:
    return plan("llama-3.1-8b", card="H100", gpus=8, batch=64, length=8192, root=ROOT)


def test_layouts_are_in_the_order_of_their_step_time_and_use_all_gpus(eight: Plan) -> None:
    seconds = [each.time.seconds for each in eight.layouts]
    assert seconds == sorted(seconds)
    assert {each.layout.gpus for each in eight.layouts} == {8}
    for each in eight.layouts:
        assert each.work.batch * each.work.accumulation * each.layout.data == 64
        assert each.work.accumulation >= each.layout.pipeline


def test_memory_is_that_of_the_estimator(eight: Plan) -> None:
    for each in eight.layouts[:5]:
        found = estimate(
            "llama-3.1-8b",
            root=ROOT,
            precision="bf16",
            master_weights=True,
            layout=each.layout,
            batch=each.work.batch,
            accumulation=each.work.accumulation,
            checkpointing=bool(each.work.recompute),
            length=8192,
        )
        assert (each.peak, each.needed) == (found.peak, found.needed)
        assert each.needed[0] <= eight.cluster.memory


def test_names_say_the_parallelisms(eight: Plan) -> None:
    names = {each.name for each in eight.layouts}
    assert {"FSDP 8", "ZeRO-1 8"} <= names
    assert "DDP 8" not in names, "16 bytes per parameter do not fit on 80 GB"
    assert len(names) == len(eight.layouts)


def test_layouts_are_slower_only_beyond_the_error(eight: Plan) -> None:
    accuracy = eight.accuracy
    assert accuracy.same is not None
    assert accuracy.other is not None
    fastest = eight.layouts[0].time.seconds
    assert not eight.layouts[0].slower
    for each in eight.layouts:
        if each.slower:
            assert each.time.seconds > fastest * exp(min(accuracy.same, accuracy.other))
        else:
            assert each.time.seconds <= fastest * exp(max(accuracy.same, accuracy.other))
    assert {each.slower for each in eight.layouts} == {True, False}


def test_more_gpus_never_need_more_memory_for_weights() -> None:
    def least(gpus: int) -> int:
        found = plan("llama-3.1-8b", card="H100", gpus=gpus, batch=gpus, length=2048, root=ROOT)
        return min(each.needed[0] for each in found.layouts if each.name == f"FSDP {gpus}")

    sizes = [least(gpus) for gpus in (8, 16, 32, 64)]
    assert sizes == sorted(sizes, reverse=True)


def test_sure_leaves_out_what_may_not_fit(eight: Plan) -> None:
    sure = plan("llama-3.1-8b", card="H100", gpus=8, batch=64, length=8192, sure=True, root=ROOT)
    assert {each.verdict for each in sure.layouts} == {"fits"}
    assert all(each.needed[1] <= sure.cluster.memory for each in sure.layouts)
    assert len(sure.layouts) < len(eight.layouts)


def test_one_gpu_is_a_cluster_of_one_with_an_interval() -> None:
    found = plan("llama-3.2-1b", card="RTX 3090", batch=4, length=2048, loss="chunked", root=ROOT)
    (only,) = found.layouts
    assert only.name == "one GPU"
    low, high = found.interval(only) or (0, 0)
    assert low < only.time.seconds < high
    assert not only.slower


def test_a_faster_network_never_makes_a_plan_slower() -> None:
    def seconds(network: float) -> dict[str, float]:
        found = plan("llama-3.1-8b", card="H100", gpus=32, batch=64, length=4096, network=network, root=ROOT)
        return {each.name: each.time.seconds for each in found.layouts}

    slow, fast = seconds(50), seconds(800)
    assert all(fast[name] <= slow[name] for name in slow)
    assert any(fast[name] < slow[name] for name in slow)


def test_experts_are_divided_and_their_order_is_hardly_told() -> None:
    found = plan("qwen3-30b-a3b", card="B200", gpus=8, batch=64, length=4096, root=ROOT)
    assert any("EP 8" in each.name for each in found.layouts)
    assert found.accuracy.low is not None
    assert found.accuracy.low > 1
    assert sum(not each.slower for each in found.layouts) > len(found.layouts) / 2
    assert any(note.startswith("experts:") for note in found.notes)


def test_a_card_without_a_link_is_assumed_to_have_pcie() -> None:
    found = plan("llama-3.2-1b", card="RTX 4090", gpus=2, batch=8, length=2048, root=ROOT)
    assert any("PCIe 4 x16" in note for note in found.notes)
    assert found.cluster.cluster.link == 25e9


@pytest.mark.parametrize(
    ("name", "accelerator"),
    [
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb"),
        ("NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"),
    ],
)
def test_a_card_for_a_slot_has_not_the_rates_and_links_of_a_module(name: str, accelerator: str) -> None:
    found = plan("llama-3.2-1b", card=name, gpus=2, batch=8, length=2048, root=ROOT)
    assert found.cluster.cluster.accelerator == accelerator
    assert found.cluster.cluster.link == 25e9


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"card": "H1000"}, "card"),
        ({"card": "RTX 4070"}, "card"),
        ({"gpus": 0}, "gpus"),
        ({"gpus": 12}, "gpus"),
        ({"gpus_per_node": 0}, "gpus_per_node"),
        ({"batch": 0}, "batch"),
        ({"batch": 3, "gpus": 64}, "batch"),
        ({"length": -1}, "length"),
        ({"network": 0.0}, "network"),
        ({"network": float("nan")}, "network"),
        ({"link": -5.0}, "link"),
        ({"precision": "fp4"}, "precision"),
        ({"card": "A100 80GB", "precision": "fp8"}, "precision"),
        ({"kernels": "slow"}, "kernels"),
        ({"loss": "square"}, "loss"),
        ({"optimizer": "adam-9"}, "optimizer"),
        ({"model": "no-such-model"}, "model"),
        ({"model": "pythia-1b"}, "model"),
    ],
)
def test_bad_input_names_the_field_and_a_remedy(options: dict[str, object], field: str) -> None:
    given = {"card": "H100", "gpus": 8, "batch": 8, "length": 2048, "root": ROOT, **options}
    with pytest.raises(EstimateError) as raised:
        plan(given.pop("model", "llama-3.2-1b"), **given)  # type: ignore[arg-type]
    assert raised.value.field == field, str(raised.value)
    assert "; " in str(raised.value)


def run(*arguments: str) -> int:
    return main(["plan", "--root", str(ROOT), *arguments])


ARGUMENTS = ("llama-3.1-8b", "--card", "H100", "--gpus", "8", "--batch", "64", "--length", "8192")


def test_text_has_the_layouts_the_judgement_and_what_is_left_out(
    eight: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*ARGUMENTS) == OK
    printed = capsys.readouterr().out
    assert printed.startswith("Llama 3.1 8B on 8 × H100 (80 GB): 64 sequences of 8,192 tokens per step\n")
    assert f"Layouts that fit: {len(eight.layouts)}. Layouts that do not fit: {eight.without_room}." in printed
    assert [each.name in printed for each in eight.layouts[:10]] == [True] * 10
    assert f"cannot tell from the fastest ({sum(not each.slower for each in eight.layouts)} layouts)" in printed
    assert "Not counted:" in printed
    assert "unequal load of experts" in printed


def test_json_has_every_layout_with_parts_that_add_up(eight: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*ARGUMENTS, "--json") == OK
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found["layouts"]] == [each.name for each in eight.layouts]
    for each in found["layouts"]:
        assert sum(each["parts"].values()) == pytest.approx(each["seconds"])
        assert each["interval"][0] < each["seconds"] < each["interval"][1]
    assert found["left_out"]


def test_table_is_markdown_with_ten_rows_or_all(eight: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*ARGUMENTS, "--table") == OK
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12
    assert {line.count("|") for line in lines} == {lines[0].count("|")}
    assert run(*ARGUMENTS, "--table", "--all") == OK
    assert len(capsys.readouterr().out.splitlines()) == len(eight.layouts) + 2


def test_nothing_fits_is_said_with_what_to_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("llama-3.1-70b", "--card", "H100", "--gpus", "1") == OK
    printed = capsys.readouterr().out
    assert "Layouts that fit: 0. Layouts that do not fit: 1." in printed
    assert "Use more GPUs, a larger card, a shorter length, or --loss chunked." in printed
    found = plan("llama-3.1-70b", card="H100", root=ROOT)
    assert found.least is not None
    name, (low, high) = found.least
    assert f"The least is {low / 2**30:,.1f} to {high / 2**30:,.1f} GiB per GPU, with {name}; the card has" in printed
    assert found.cluster.memory < low < high
    assert run("llama-3.1-70b", "--card", "H100", "--gpus", "1", "--loss", "chunked") == OK
    assert "Use more GPUs, a larger card, a shorter length.\n" in capsys.readouterr().out


def test_a_fastest_layout_without_ties_is_said_to_be_faster(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("llama-3.1-70b", "--card", "H100 PCIe", "--gpus", "16", "--batch", "64")
    found = plan("llama-3.1-70b", card="H100 PCIe", gpus=16, batch=64, root=ROOT)
    assert found.tied == 1 < len(found.layouts)
    assert run(*arguments) == OK
    printed = capsys.readouterr().out
    assert "The first is faster than all others by more than the median error" in printed
    assert "=" not in printed


def test_one_layout_is_not_compared_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("llama-3.2-1b", "--card", "H100", "--batch", "8") == OK
    printed = capsys.readouterr().out
    assert "cannot tell" not in printed
    assert "one GPU" in printed


def test_wrong_card_is_wrong_usage_with_close_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("llama-3.1-8b", "--card", "H10") == USAGE
    assert "headroom: card is `H10`; use a recorded card: h100" in capsys.readouterr().err


def bars(drawn: ET.Element, layout: str) -> list[list[tuple[str, float]]]:
    """Return the parts of each bar of a layout of the drawing, from the left: the fill and the width."""
    (canvas,) = [each for each in drawn if each.get("class") == layout]
    rows: dict[float, list[tuple[str, float]]] = {}
    for path in canvas.iter(f"{SVG}path"):
        place = re.fullmatch(rf"M([\d.]+) ([\d.]+)h([\d.]+)v{BAR}h-\3z", path.get("d", ""))
        if place:
            rows.setdefault(float(place[2]), []).append((path.get("class", ""), float(place[3])))
    return list(rows.values())


@pytest.mark.parametrize("layout", ["narrow", "wide"])
def test_widths_of_the_drawn_bars_are_the_printed_seconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], layout: str
) -> None:
    """The drawing is well-formed XML without a reference to another file, and has the rows of the printed table."""
    file = tmp_path / "plan.svg"
    job = ["--card", "H100", "--gpus", "8", "--batch", "64", "--length", "8192", "--json"]
    assert main(["plan", "--root", str(ROOT), "llama-3.1-8b", *job, "--svg", str(file)]) == OK
    printed = json.loads(capsys.readouterr().out)["layouts"][:SHOWN]
    drawn = ET.fromstring(file.read_text("utf-8"))  # noqa: S314 - the command wrote it
    assert drawn.tag == f"{SVG}svg"
    assert not re.search(r"href|url\((?!#)", file.read_text("utf-8"))
    found = bars(drawn, layout)
    assert len(found) == len(printed) == SHOWN
    scale = max(sum(width for _, width in bar) for bar in found) / max(each["seconds"] for each in printed)
    words = " ".join("".join(each.itertext()) for each in drawn if each.get("class") == layout)
    for bar, each in zip(found, printed, strict=True):
        parts = each["parts"]
        seconds = [parts["compute"], parts["exposed_communication"], parts["bubble"]]
        wanted = [*seconds, parts["optimizer"] + parts["straggling"]]
        fills = [f"p-{fill}" for fill, size in zip(PARTS.values(), wanted, strict=True) if size]
        assert [fill for fill, _ in bar] == fills
        assert [width for _, width in bar] == pytest.approx([scale * size for size in wanted if size], abs=0.2)
        assert each["name"] in words
        assert f"{seconds_of(each['seconds'])} s" in words


def test_without_a_layout_there_is_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plan.svg"
    assert main(["plan", "--root", str(ROOT), "llama-3.1-70b", "--card", "RTX 4090", "--svg", str(file)]) == OK
    assert "no layout fits, so no picture was written" in capsys.readouterr().err
    assert not file.exists()
