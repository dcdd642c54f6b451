"""What the single-GPU guide adds up where methods are combined, and what it says of old names."""

import json
import re
import subprocess
import sys

import pytest

from headroom.records import load
from worked_problems import GIB, ROOT, answers, gib, guide, problem

PAGE = "training/single-gpu.md"
ASK = """
import dataclasses, json
from transformers import TrainingArguments
from transformers.training_args import OptimizerNames
fields = [field.name for field in dataclasses.fields(TrainingArguments)]
print(json.dumps({"arguments": fields, "optimizers": [name.value for name in OptimizerNames]}))
"""


class TestRecipes:
    def test_bytes_of_each_recipe(self) -> None:
        """Weights, gradients and states; QLoRA's scales are 8 bits a block of 64 and 32 bits 256 of these."""
        text = guide(PAGE)
        table = text.partition("{#which-recipe-fits}")[2].partition("Nothing fits?")[0]
        table = re.sub(r"\[([\d.]+ GiB)\]\(claim:[^)]*\)", r"\1", table)  # what a formula of the registry comes to
        rows = [line.strip("| ").split(" | ") for line in table.splitlines() if " GiB |" in line]
        packed = 0.5 + 1 / 64 + 4 / (64 * 256)
        recipes = [4 + 4 + 8, 4 + 4 + 2, 4 + 4, 2 + 2 + 4, 2 + 2 + 2, 2, 0.95 * packed + 0.05 * 2]
        assert [float(row[1]) for row in rows] == pytest.approx(recipes, abs=0.005)
        exempt = 10 + 6 * 128_256 * 2048 / 1_235_814_400  # the embedding's states take 8 bytes and not 2
        assert f"{exempt:.1f}\nbytes a parameter" in text
        for row, size in zip(rows, recipes, strict=True):
            assert row[2:] == [gib(billions * 1e9 * size) for billions in (1, 3, 7)], row[0]


class TestOrder:
    def test_what_fits_24_gb(self) -> None:
        """The update, the end of backward, and its start with the whole batch and with one sequence of it."""
        parameters, card = 1_235_814_400, 24e9
        embedding, inputs, logits = 4 * 128_256 * 2048, 4 * 16 * 2048 * 2048, 4 * 2048 * 128_256
        whole = 12 * parameters + 8 * (inputs + 3 * logits)
        one = 16 * parameters + inputs + 3 * logits
        assert one < card < 20 * parameters < whole
        assert answers(problem(PAGE, "Llama 3.2 1B, fp32 weights, 24 GB")) == [
            gib(card),
            gib(20 * parameters),
            gib(16 * parameters),
            gib(16 * parameters + 2 * embedding),
            gib(whole),
            gib(one),
            f"{(card - one) / GIB:.1f} GiB",
        ]


class TestOlderGuides:
    def test_what_the_runs_of_2022_said_of_checkpointing(self) -> None:
        """The share of more time that the page works out from two quoted runs."""
        claims = load(ROOT).claims
        without, checkpointed = (
            next(f.value for f in claims[f"training.folklore.{name}-run-2022"].figures if f.name == "time")
            for name in ("accumulated", "checkpointed")
        )
        text = guide(PAGE)
        assert f"without: {100 * (checkpointed / without - 1):.0f} % more time" in text


@pytest.mark.slow
class TestOldNames:
    def test_arguments_are_gone_and_their_successors_are_there(self) -> None:
        """Of the Trainer, as the table of old names has them."""
        done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
        known = json.loads(done.stdout.splitlines()[-1])
        text = guide(PAGE)
        table = text.partition("| Old | Today |")[2].partition("\n\n")[0]
        rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
        old = {name for row in rows for name in re.findall(r"`([a-z0-9_]+)(?:=[A-Za-z]*)?`", row[0])}
        new = {name for row in rows for name in re.findall(r"`([a-z0-9_]+)(?:=[A-Za-z\"_]*)?`", row[1])}
        gone = {"adamw_apex_fused", "adamw_hf", "fp16_backend", "half_precision_backend", "fp16_opt_level", "no_cuda"}
        gone |= {"group_by_length", "torchdynamo", "use_ipex", "jit_mode_eval"}
        assert gone < old
        assert not gone & {*known["arguments"], *known["optimizers"]}
        assert "gradient_checkpointing" in known["arguments"], "it is gone: say so"
        here = {"activation_checkpointing", "adamw_torch_fused", "fp16", "bf16", "train_sampling_strategy", "use_cpu"}
        here |= {"torch_compile", "torch_compile_backend"}
        assert here <= new
        assert here <= {*known["arguments"], *known["optimizers"]}
