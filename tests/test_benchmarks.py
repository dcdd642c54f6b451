"""Test the scripts of checks/benchmarks, and what one benchmark run measures."""

import ast
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import headroom
import small_steps
from headroom import records
from headroom.environment import observe
from headroom.execution.isolation import ForkServer
from headroom.records import MeasuredClaim, Tree

ROOT = Path(__file__).parents[1]
BENCHMARKS = sorted((ROOT / "checks/benchmarks").glob("*.py"), key=lambda path: path.stem)
NAMES = [path.stem for path in BENCHMARKS]
LLAMA = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "vocab_size": 512,
}
# The constants that make a benchmark's step fast in the tests, for benchmarks that do not define SMALL.
SHRUNK: dict[str, dict[str, Any]] = {
    "collective_bytes": {"NUMBERS": 4096},
    "gpt2_attention": {"SCALE": 12},
    "gpt2_batch_and_loss": {"SCALE": 12, "TOKENS": 16, "CHUNK": 7},
    "gpt2_checkpointing_variants": {"SCALE": 12, "TOKENS": 16},
    "gpt2_compiled_step": {"SCALE": 12, "TOKENS": 16, "COMPILER": "eager"},
    "gpt2_evaluation": {"SCALE": 12, "TOKENS": 16},
    "gpt2_low_memory_optimizers": {"SCALE": 12, "TOKENS": 16},
    "gpt2_optimizer_step": {"SCALE": 12, "TOKENS": 16},
    "gpt2_padding": {"SCALE": 12, "TOKENS": 16},
    "gpt2_precision": {"SCALE": 12, "TOKENS": 16},
    "gpt2_step_against_itself": {"TOKENS": 16},
    "gpt2_step_by_tokens": {"SCALE": 12},
    "gpt2_training_step": {"SCALE": 12, "TOKENS": 16},
    "gpt2_vocabulary": {"TOKENS": 16, "SHAPE": {"n_layer": 2, "n_head": 2, "n_embd": 64}},
    "llama_adapters": {"TOKENS": 16, "SHAPE": {**LLAMA, "tie_word_embeddings": True}},
    "llama_attention": {"SHAPE": LLAMA},
    "llama_caches": {"SHAPE": LLAMA},
    # On a CPU with AVX-512 BF16, bitsandbytes packs NF4 weights whose outputs are a multiple of 32.
    "llama_decode": {"SHAPE": {**LLAMA, "num_key_value_heads": 2}},
    "llama_inference": {"SHAPE": LLAMA},
    "llama_texts": {"SHAPE": LLAMA},
    "llama_training_step": {
        "TOKENS": 32,
        "CHUNK": 13,
        "COMPILER": "eager",
        "SHAPE": {**LLAMA, "tie_word_embeddings": True},
    },
    "moe_training_step": {
        "TOKENS": 16,
        "SHAPE": {
            "hidden_size": 64,
            "intermediate_size": 96,
            "num_hidden_layers": 1,
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "vocab_size": 512,
            "num_local_experts": 8,
            "num_experts_per_tok": 2,
        },
    },
}


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    """Start a fork server with the libraries, so that the benchmarks share their imports."""
    with ForkServer({"OMP_NUM_THREADS": "1"}) as found:
        yield found


@pytest.fixture(scope="module")
def tree() -> Tree:
    """Load the project's tree."""
    return records.load(ROOT)


def claims_of(tree: Tree, benchmark: str) -> list[MeasuredClaim]:
    """Return the claims that a script measures."""
    return [claim for claim in tree.measured() if claim.benchmark == benchmark]


class Script:
    """A benchmark script, parsed but not run."""

    def __init__(self, name: str) -> None:
        self.name = name
        source = (ROOT / f"checks/benchmarks/{name}.py").read_text(encoding="utf-8")
        self.infers = "inference_mode" in source or "set_grad_enabled" in source
        body = ast.parse(source).body
        self.functions = {node.name: node.args for node in body if isinstance(node, ast.FunctionDef)}
        self.constants = {
            node.targets[0].id: node.value
            for node in body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }

    @property
    def arms(self) -> tuple[str, ...]:
        """The literal ARMS."""
        found: tuple[str, ...] = ast.literal_eval(self.constants["ARMS"])
        return found

    @property
    def small(self) -> dict[str, Any]:
        """The constants that make a step fast."""
        found: dict[str, Any] = SHRUNK.get(self.name) or ast.literal_eval(self.constants["SMALL"])
        return found

    def keywords(self, function: str) -> Mapping[str, bool]:
        """Return the keyword arguments of a function, and whether each is required."""
        given = self.functions[function]
        return {a.arg: d is None for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)}


class TestScripts:
    """Benchmarks and their claims agree, without running a benchmark."""

    @pytest.mark.parametrize("name", NAMES)
    def test_arms_are_unique_and_prepare_takes_arm_device_and_seed(self, name: str) -> None:
        script = Script(name)
        assert len(script.arms) == len(set(script.arms)) >= 2
        assert all(arm.strip() == arm != "" for arm in script.arms)
        assert [arg.arg for arg in script.functions["prepare"].args] == ["arm"]
        assert {"device": False, "seed": False}.items() <= script.keywords("prepare").items()

    @pytest.mark.parametrize("name", NAMES)
    def test_arms_and_points_of_every_claim_fit_the_script(self, tree: Tree, name: str) -> None:
        script = Script(name)
        claims = claims_of(tree, name)
        assert claims, f"no claim is measured with {name}"
        needed = {key for key, must in script.keywords("prepare").items() if must}
        taken = set(script.keywords("prepare")) - {"device", "seed"}
        for claim in claims:
            assert {claim.subject, claim.baseline} <= set(script.arms), claim.id
            for point in claim.scope.points:
                assert needed <= set(point) <= taken, claim.id
                if claim.metric.name == "throughput":
                    assert set(script.keywords("tokens")) == set(point), claim.id

    def test_every_claim_has_a_script_and_every_script_has_small_constants(self, tree: Tree) -> None:
        assert {claim.benchmark for claim in tree.measured()} <= set(NAMES)
        assert set(SHRUNK) <= set(NAMES)
        assert all(Script(name).small for name in NAMES)


@pytest.mark.slow
class TestSteps:
    """Every arm runs its steps on a CPU, at a small size."""

    @pytest.mark.parametrize("name", NAMES)
    def test_first_loss_of_every_arm_equals_that_of_its_baseline(
        self, tree: Tree, server: ForkServer, tmp_path: Path, name: str
    ) -> None:
        """Equal within the claim's tolerance, repeatable for one seed, and different for another seed."""
        if name == "gpt2_low_memory_optimizers" and "avx512_bf16" not in observe("cpu").instruction_sets:
            pytest.skip("Muon multiplies in bf16, which takes this CPU minutes per step")
        points = claims_of(tree, name)[0].scope.points
        point = dict(min(points, key=lambda point: math.prod(n for n in point.values() if isinstance(n, int) and n)))
        script, result = str(ROOT / f"checks/benchmarks/{name}.py"), tmp_path / "losses.json"
        arguments = (script, Script(name).small, point, str(result))
        take = small_steps.take_in_ranks if "ranks" in point else small_steps.take
        outcome = server.run(take, *arguments, timeout=180, memory_limit=1 << 34, cwd=tmp_path)
        if "network namespaces need root" in outcome.stderr:
            pytest.skip("network namespaces need root, `ip` and `tc`")
        assert outcome.exit_code == 0, outcome.stderr[-3000:]
        found = json.loads(result.read_text("utf-8"))
        losses: dict[str, list[float]] = found["losses"]
        assert tuple(losses) == Script(name).arms
        assert all(0 < loss < 20 for pair in losses.values() for loss in pair)
        for arm, (first, second) in losses.items():
            assert (second == first) == Script(name).infers, f"{arm}: only a step that trains changes the model"
        for claim in claims_of(tree, name):
            first, baseline = losses[claim.subject][0], losses[claim.baseline][0]
            assert first == pytest.approx(baseline, rel=claim.allowed), claim.id
        assert found["other"] != losses[Script(name).arms[0]][0]


def driven(program: str, arguments: list[str], folder: Path) -> Any:
    """Run a program in a separate process, so that this one imports no torch, and return the JSON that it prints."""
    package = str(Path(headroom.__file__).resolve().parents[1])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": package}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


SCRIPT = """
import time

import torch

ARMS = ("plain", "kept", "no-op", "taller", "compiled", "forward alone", "late")


def tokens(arm, *, width):
    return 7 * width


def prepare(arm, *, width, device="cpu", seed=0):
    torch.manual_seed(seed)
    weight = torch.randn(width, width, requires_grad=True, device=device)
    inputs = torch.randn(33 if arm == "taller" else 32, width, device=device)
    product = torch.compile(torch.matmul, backend="aot_eager") if arm == "compiled" else torch.matmul
    waits = [0.2] if arm == "late" else []

    def step():
        if waits:
            time.sleep(waits.pop())
        hidden = product(inputs, weight)
        copies = [hidden.clone() for _ in range(3)] if arm == "kept" else []
        loss = (hidden * hidden).sum()
        if arm == "forward alone":
            return loss.item()
        loss.backward()
        weight.grad = None
        return loss.item()

    return step
"""
DRIVER = """
import json, sys
from headroom.execution.benchmark_run import run
script, requests = sys.argv[1], json.loads(sys.argv[2])
for i, request in enumerate(requests):
    run(script, request, f"{i}.json")
print(json.dumps([json.load(open(f"{i}.json")) for i in range(len(requests))]))
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Reports of nine runs: with memory, without inspection, compiled, without backward, with a slow first step."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "script.py").write_text(SCRIPT)
    base = {"point": {"width": 64}, "seed": 5, "device": "cpu", "timed_steps": 3, "inspect": True}
    metrics = ["peak_allocated", "saved_for_backward", "step_time"]
    requests = [{**base, "arm": arm, "metrics": metrics} for arm in ("plain", "kept", "no-op", "taller")]
    requests.append({**base, "arm": "plain", "metrics": ["throughput"], "seed": 6, "timed_steps": 5})
    requests.append({**base, "arm": "compiled", "metrics": ["step_time"]})
    requests.append({**base, "arm": "forward alone", "metrics": ["peak_allocated", "saved_for_backward"]})
    requests.append({**base, "arm": "plain", "metrics": ["step_time"], "inspect": False})
    requests.append({**base, "arm": "late", "metrics": ["first_step_time", "step_time"]})
    found: list[dict[str, Any]] = driven(DRIVER, [str(folder / "script.py"), json.dumps(requests)], folder)
    return found


class TestRealRun:
    """Steps of a script, measured with torch in a separate process."""

    def test_step_times_have_the_requested_count_and_give_throughput(self, reports: list[dict[str, Any]]) -> None:
        assert [len(report["samples"]["step_time"]) for report in reports[:6]] == [3, 3, 3, 3, 5, 3]
        assert all(sample > 0 for report in reports[:6] for sample in report["samples"]["step_time"])
        found = reports[4]["samples"]
        assert found["throughput"] == pytest.approx([7 * 64 / seconds for seconds in found["step_time"]])
        assert set(found) == {"step_time", "throughput"}

    def test_first_step_time_includes_one_time_work(self, reports: list[dict[str, Any]]) -> None:
        """The first step sleeps."""
        first, later = (reports[8]["samples"][name] for name in ("first_step_time", "step_time"))
        assert len(first) == 1
        assert first[0] >= 0.2 > min(later)
        assert all("first_step_time" not in report["samples"] for report in reports[:8])

    def test_memory_is_exact_to_the_byte(self, reports: list[dict[str, Any]]) -> None:
        """Hidden states of 32 × 64 floats, three copies of them in one arm, and the loss."""
        hidden, loss, weight = 32 * 64 * 4, 4, 64 * 64 * 4
        plain, kept = (report["samples"] for report in reports[:2])
        assert plain["saved_for_backward"] == [hidden + loss]
        assert kept["saved_for_backward"] == [4 * hidden + loss]
        assert kept["peak_allocated"][0] - plain["peak_allocated"][0] == 3 * hidden
        assert plain["peak_allocated"][0] >= weight + 3 * hidden + loss
        assert plain["peak_allocated"][0] <= 2 * weight + 5 * hidden + 100

    def test_run_without_inspection_has_no_hash_and_no_flops(self, reports: list[dict[str, Any]]) -> None:
        assert (reports[7]["work_sha256"], reports[7]["flops"]) == (None, None)
        assert reports[7]["output"] == reports[0]["output"]

    def test_step_without_backward_has_only_a_peak(self, reports: list[dict[str, Any]]) -> None:
        hidden, loss, weight = 32 * 64 * 4, 4, 64 * 64 * 4
        assert set(reports[6]["samples"]) == {"peak_allocated"}
        assert weight + 2 * hidden <= reports[6]["samples"]["peak_allocated"][0] <= weight + 3 * hidden + loss
        assert reports[6]["flops"] == 2.0 * 32 * 64 * 64

    def test_equal_operations_have_equal_hashes(self, reports: list[dict[str, Any]]) -> None:
        """Another shape, an extra operation or compilation changes the hash; values do not."""
        plain, kept, same, taller, again, compiled = (report["work_sha256"] for report in reports[:6])
        assert plain == same == again
        assert len({plain, kept, taller, compiled}) == 4

    def test_flops_are_those_of_the_matmuls(self, reports: list[dict[str, Any]]) -> None:
        """One forward matmul, and one for the weight gradient."""
        assert [report["flops"] for report in reports[:6]] == [
            4.0 * rows * 64 * 64 for rows in (32, 32, 32, 33, 32, 32)
        ]

    def test_output_depends_on_the_seed_and_not_on_the_arm(self, reports: list[dict[str, Any]]) -> None:
        plain, kept, same, _, again, compiled = (report["output"] for report in reports[:6])
        assert plain == kept == same == compiled
        assert plain != again
        assert 1e4 < plain < 1e6
