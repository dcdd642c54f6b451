"""The answers of the single-GPU guide's worked problems on memory, optimizers, batches and losses, computed."""

import re

import numpy as np

from headroom.records import load
from headroom.verdicts import judge_all
from worked_problems import GIB, ROOT, answers, gib, guide, problem


def bf16(value: float) -> float:
    """A number rounded to bf16, to nearest and ties to even: the upper half of its fp32 form."""
    bits = int(np.float32(value).view(np.uint32))
    bits += 0x7FFF + (bits >> 16 & 1)
    return float(np.uint32(bits & 0xFFFF0000).view(np.float32))


class TestSingleGpu:
    def test_does_a_billion_parameters_fit(self) -> None:
        """Three moments of a step against what is free: the step, the end of backward and its start."""
        parameters, free = 1_235_814_400, 22 * GIB
        layers, width, tokens, vocabulary = 16, 2048, 2048, 128_256
        embedding, logits = vocabulary * width * 4, tokens * vocabulary * 4
        inputs = layers * tokens * width * 4

        def start(sequences: int) -> int:
            return 12 * parameters + sequences * (inputs + 3 * logits)

        assert answers(problem("training/single-gpu.md", "1.24 billion parameters")) == [
            gib(20 * parameters),
            gib(16 * parameters),
            gib(16 * parameters + 2 * embedding),
            gib(12 * parameters),
            gib(inputs, 2),
            gib(logits, 2),
            gib(start(2)),
            gib(start(3)),
        ]
        assert 16 * parameters + 2 * embedding < free < 20 * parameters
        assert start(2) < free < start(3)

    def test_rule_holds_for_the_measured_peaks(self) -> None:
        """12 bytes a parameter and the larger of A and B are the measured peak, to within a MiB."""
        standings = judge_all(load(ROOT)).standings
        width, layers, vocabulary, positions = 768, 4, 50_257 // 3, 1024
        parameters = (vocabulary + positions) * width + layers * (12 * width * width + 13 * width) + 2 * width
        head = vocabulary * width * 4
        foreach, fused = max(8 * parameters, 4 * parameters + 2 * head), 4 * parameters + 2 * head

        def figure(claim: str, arm: str, **where: int) -> float:
            point = standings[f"training.{claim}"]["cpu-avx512-bf16"].at(where)
            assert point, claim
            return float(getattr(point, arm)[0])

        def activations(sequences: int) -> float:
            kept = figure("activation-checkpointing.saved-memory", "baseline", batch_size=sequences)
            return kept + max(2 * sequences * 256 * vocabulary * 4, head)

        def peak(a: float, b: float) -> float:
            return 12 * parameters + max(a, b)

        for sequences in (1, 2, 4):
            measured = figure("activation-checkpointing.peak-memory", "baseline", batch_size=sequences)
            assert abs(peak(activations(sequences), foreach) - measured) < 2**20, sequences
        assert activations(1) < activations(2) < foreach < activations(4)
        assert activations(1) < fused
        measured = figure("optimizer.fused-peak-memory", "subject")
        assert abs(peak(activations(1), fused) - measured) < 2**20
        measured = figure("optimizer.in-backward-peak-memory", "subject")
        assert abs(12 * parameters + activations(1) - measured) < 2**20

    def test_parameters_of_llama_3_2_1b(self) -> None:
        """The number of parameters that the problem starts from follows from the published shape."""
        width, inner, layers, heads, kv_heads, vocabulary = 2048, 8192, 16, 32, 8, 128_256
        head = width // heads
        attention = 2 * width * width + 2 * width * kv_heads * head
        block = attention + 3 * width * inner + 2 * width
        assert vocabulary * width + layers * block + width == 1_235_814_400

    def test_first_lines_of_the_answer(self) -> None:
        """What the measuring script prints for GPT-2 follows from its shape."""
        width, layers, vocabulary, positions = 768, 12, 50_257, 1024
        block = 12 * width * width + 13 * width
        parameters = (vocabulary + positions) * width + layers * block + 2 * width
        text = guide("training/single-gpu.md")
        assert f"{parameters:,} parameters" in text
        for name, size in (("weights", 4), ("gradients", 4), ("optimizer states", 8), ("B, foreach", 8)):
            assert f"{name:>18}: {size * parameters / 2**20:8.1f} MiB\n" in text
        fused = 4 * parameters + 2 * 4 * vocabulary * width
        assert f"{'B, fused':>18}: {fused / 2**20:8.1f} MiB\n" in text

    def test_which_update_is_lost_in_bf16(self) -> None:
        """Next to 1, bf16 cannot hold a change of a thousandth, and fp32 can."""
        step = 2.0**-7
        assert bf16(1 + step) == 1 + step
        assert bf16(1 + 0.49 * step) == 1.0
        lost, kept = bf16(1 + 0.001), float(np.float32(1 + 0.001))
        assert lost == 1.0
        found = answers(problem("training/single-gpu.md", "which update is lost"))
        assert found == [str(1 + step), "nothing", str(step / 2), f"{kept:.3f}"]


class TestFacts:
    def test_largest_half(self) -> None:
        """The largest fp16 number of the fact sheet is the one that the format has."""
        sheet = load(ROOT).facts["number-formats"]
        assert sheet.figures["fp16_max"].value == float(np.finfo(np.float16).max)


class TestOptimizers:
    def test_which_optimizer_fits_16_gb(self) -> None:
        """With a tied embedding, 12 bytes a parameter do not fit 16 GB, and Adafactor's 8 do."""
        parameters, card = 1_235_814_400, 14.5 * GIB
        width, inner, layers, kv, vocabulary = 2048, 8192, 16, 512, 128_256
        embedding = 4 * vocabulary * width
        matrices = [(vocabulary, width)]
        matrices += layers * [(width, width), (kv, width), (kv, width), (width, width)]
        matrices += layers * [(inner, width), (inner, width), (width, inner)]
        norms = (2 * layers + 1) * width
        assert sum(rows * columns for rows, columns in matrices) + norms == parameters
        states = 4 * (sum(rows + columns for rows, columns in matrices) + norms)
        sgd = 12 * parameters + 2 * embedding
        in_backward = 12 * parameters + 3 * embedding
        adafactor = 8 * parameters + states + 2 * embedding
        assert adafactor < card < sgd < in_backward
        assert answers(problem("training/single-gpu.md", "16 GB, 1.24 billion parameters")) == [
            gib(16 * parameters),
            gib(12 * parameters),
            gib(embedding, 2),
            gib(sgd),
            gib(in_backward),
            gib(8 * parameters),
            f"{states / 2**20:.1f} MiB",
            gib(adafactor),
            gib(card - 4 * parameters - states),
        ]

    def test_bytes_a_parameter_of_the_measured_model(self) -> None:
        """Where the end of backward is the peak, two more copies of the tied embedding come on top."""
        width, layers, vocabulary, positions = 768, 4, 50_257 // 3, 1024
        block = 12 * width * width + 13 * width
        parameters = (vocabulary + positions) * width + layers * block + 2 * width
        more = 8 * vocabulary * width / parameters
        text = guide("training/single-gpu.md")
        assert f"It has {parameters:,} parameters." in text
        for name, size in (("AdamW, for-loop", 16), ("AdamW, fused", 16), ("SGD with momentum", 12)):
            assert re.search(rf"\| {name} \| \[.*\]\(.*\) \| {size + more:.2f} \|", text), name
        standings = judge_all(load(ROOT)).standings
        rows = re.findall(r"\]\(claim:(training\.optimizer\.\S+)#(subject|baseline)@(\S+)\) \| (\d+\.\d\d) \|", text)
        assert len(rows) == 6
        for claim, arm, hardware_class, printed in rows:
            point = standings[claim][hardware_class].at({})
            assert point
            assert f"{getattr(point, arm)[0] / parameters:.2f}" == printed, claim


class TestGradientAccumulation:
    def test_first_fits_and_second_does_not(self) -> None:
        """Two sequences fit beside 12 bytes a parameter and not beside 16; one fits beside both."""
        parameters, card = 1_235_814_400, 22 * 2**30
        layers, width, tokens, vocabulary = 16, 2048, 2048, 128_256
        sequence = 4 * tokens * (layers * width + 3 * vocabulary)
        first, second = card - 12 * parameters, card - 16 * parameters
        assert sequence < second < 2 * sequence < first
        assert answers(problem("training/single-gpu.md", "the first micro-batch fits")) == [
            gib(sequence, 2),
            gib(2 * sequence),
            gib(first),
            gib(second),
        ]

    def test_mean_of_means(self) -> None:
        """Means of unequal micro-batches are averaged with the wrong weights."""
        labels, losses = (10, 990), (4, 2)
        step = sum(n * loss for n, loss in zip(labels, losses, strict=True)) / sum(labels)
        found = answers(problem("training/single-gpu.md", "two micro-batches have 10 and 990"))
        assert found == [f"{step:.2f}", f"{sum(losses) / 2:g}", f"{labels[1] / labels[0]:g}"]


class TestChunkedLoss:
    def test_what_chunks_save(self) -> None:
        """Three times the logits, against three times the head's gradient; equal at as many tokens as the width."""
        vocabulary, width, tokens, chunk = 128_256, 2048, 8 * 2048, 1024
        logits, part, head = (4 * rows * vocabulary for rows in (tokens, chunk, width))
        needed = max(3 * part, 3 * head)
        one_sequence = 3 * 4 * 2048 * vocabulary
        assert answers(problem("training/single-gpu.md", "Llama 3.2's vocabulary")) == [
            gib(logits),
            gib(3 * logits),
            gib(3 * part),
            gib(head, 2),
            gib(3 * head),
            gib(3 * logits - needed),
            gib(one_sequence - needed),
        ]
