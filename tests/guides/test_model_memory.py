"""The notebook on model memory: its counts against the allocator's trace, and its sentences against its tables."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs/concepts/model-memory.ipynb"
CELLS = {cell["id"]: cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]}
# Measure the memory of one step as the notebook does and as `headroom measure` does, and print both.
TWICE = """
import gc, json, sys
import torch
from headroom.execution.benchmark_run import MemoryMeter as Allocator

cells = {cell["id"]: "".join(cell["source"]) for cell in json.load(open(sys.argv[1]))["cells"]}
names = {}
for cell in ("scale", "parts", "models"):
    exec(cells[cell], names)
torch.set_num_threads(1)

def prepared(form):
    model = names[sys.argv[2]]()
    return model, names["sequences"](2), torch.optim.AdamW(model.parameters(), **{form: True})

for form in ("foreach", "fused"):
    with Allocator("cpu") as allocator:
        model, batch, optimizer = prepared(form)
        for weighing in (None, allocator.measuring()):
            if weighing:
                weighing.__enter__()
            loss = model(**batch, labels=batch["input_ids"]).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            loss = None
        weighing.__exit__(None, None, None)
    traced = allocator.read()
    found = names["parts"](*prepared(form))
    kept = found["kept"]["activations"] + found["kept"]["logits"]
    peak = max(held.total() for held in found.values())
    print(json.dumps([[kept, traced["saved_for_backward"]], [peak, traced["peak_allocated"]]]))
    del model, optimizer
    gc.collect()
"""


def table(cell: str) -> dict[str, list[str]]:
    """Return the rows of a cell's table, by their first column."""
    (text,) = ["".join(output["data"]["text/markdown"]) for output in CELLS[cell]["outputs"] if "data" in output]
    rows = [[part.strip(" *") for part in line.strip("|").split("|")] for line in text.splitlines()]
    return {row[0]: row[1:] for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["gpt2", "llama", "moe"])
def test_saved_activations_and_peak_equal_the_allocators_trace(model: str) -> None:
    """To a hundredth of a percent."""
    command = [sys.executable, "-W", "ignore", "-c", TWICE, str(NOTEBOOK), model]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[[")]
    assert len(rows) == 2
    for found, traced in (pair for row in rows for pair in row):
        assert found == pytest.approx(traced, rel=1e-4)


class TestSentences:
    """Sentences without figures agree with the tables above them."""

    def test_each_of_the_three_moments_is_the_peak_of_some_model(self) -> None:
        """Each column has a bold cell."""
        text = "".join(CELLS["peaks"]["outputs"][0]["data"]["text/markdown"])
        bold = {i for line in text.splitlines() for i, part in enumerate(line.split("|")) if "**" in part}
        assert bold == {2, 3, 4}

    def test_the_loss_adds_two_tensors_of_the_size_of_the_logits(self) -> None:
        """The embedding's gradient has three copies at the end of backward."""
        step = table("step")
        moment = {name: i for i, name in enumerate(step["MiB"])}
        at = moment["loss and head"]
        assert float(step["gradients of logits"][at]) == 2 * float(step["logits"][at])
        embedding = 4 * 4096 * 128 / 2**20
        assert float(step["copies of the embedding"][moment["embedding"]]) == 3 * embedding

    def test_adamw_needs_12_and_16_bytes_per_parameter(self) -> None:
        """12 at the start of backward (weights, optimizer states), 16 at the optimizer step (also gradients)."""
        weights, gradients, states, _, total = map(float, table("optimizers")["AdamW, fused"])
        assert (weights + states, weights + states + gradients, total) == (12, 16, 16)

    def test_the_published_formula_differs_only_by_the_masks(self) -> None:
        """To a tenth of a byte."""
        printed = "".join("".join(output.get("text", [])) for output in CELLS["formula-check"]["outputs"])
        masks = float(re.findall(r"[\d.]+$", printed.strip())[0])
        rows = table("formula-check")
        assert float(rows["eager attention, with dropout"][2]) == pytest.approx(masks, abs=0.1)
        assert float(rows["flash attention, without dropout"][2]) == pytest.approx(0, abs=0.2)

    def test_use_cache_saves_keys_and_values_again(self) -> None:
        """Two numbers per token and unit of hidden size."""
        rows = table("coefficients")
        for column, size in enumerate((4, 2, 2)):
            difference = float(rows["GPT-2, use_cache left on"][column]) - float(rows["GPT-2"][column])
            assert difference == pytest.approx(2 * size)
