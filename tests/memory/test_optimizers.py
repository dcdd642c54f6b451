"""States and temporaries of each optimizer are those of a real step."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headroom.memory.errors import EstimateError
from headroom.memory.optimizers import OPTIMIZERS, is_muon_matrix, optimizer, state_bytes, step_bytes

TRAINED = [((1000, 256), "embedding"), ((1024, 256), "linear"), ((256, 1024), "linear"), ((256,), "bias")]
# Left out: aliases; compiled steps of torchao, whose states are those of its source; paged forms, which need a GPU.
STEPS = [
    name
    for name in OPTIMIZERS
    if not name.startswith(("paged", "adamw_torch_8", "adamw_torch_4"))
    and name not in ("adamw_8bit", "rmsprop_bnb_32bit")
]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what a step of each optimizer takes, by its name and by the bytes of a trained number."""
    script = Path(__file__).parent / "step_of_optimizers.py"
    command = [sys.executable, "-W", "ignore", str(script), str(tmp_path_factory.mktemp("trainer")), *STEPS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("name", STEPS)
def test_states_and_temporaries_are_those_of_a_step(measured: dict[str, Any], name: str, width: int) -> None:
    """Temporaries to 2 percent; Adafactor's, which depend on the order of tensors, are at least the measured ones."""
    trained = [each for each in TRAINED if name != "muon" or is_muon_matrix(*each)]
    real = measured[name][str(width)]
    assert sum(optimizer(name).states(*each, width) for each in trained) == real["states"]
    step = step_bytes(name, trained, width)[0]
    assert step == pytest.approx(real["step"], rel=0.02)


@pytest.mark.parametrize(
    ("name", "states"), [("adamw_torch_8bit", 2 * (4096 + 64)), ("adamw_torch_4bit", 2 * (2048 + 128))]
)
def test_torchao_states_have_a_scale_per_block(name: str, states: int) -> None:
    assert state_bytes(name, (64, 64), "linear", 4) == states
    assert state_bytes(name, (63, 64), "linear", 4) == 2 * 4 * 63 * 64


def test_large_paged_states_may_be_in_cpu_memory() -> None:
    assert state_bytes("paged_adamw_32bit", (1000, 1000), "linear", 4) == 0
    assert state_bytes("paged_adamw_32bit", (1000, 10), "linear", 4) == 80_000


def test_unknown_optimizer_lists_the_known_ones() -> None:
    with pytest.raises(EstimateError, match="optimizer is 'adam'; use one of adamw_torch_fused"):
        optimizer("adam")
