"""The answers of the single-GPU guide's worked problems on adapters and mixtures of experts, computed."""

from worked_problems import answers, gib, guide, problem

PAGE = "training/single-gpu.md"
FOUR_BITS = 0.5 + 1 / 64 + 4 / (64 * 256)


class TestAdapters:
    def test_which_method_fits_24_gb(self) -> None:
        """Full fine-tuning, LoRA and QLoRA of Llama 3.1 8B, from its shape."""
        width, inner, layers, kv, vocabulary = 4096, 14_336, 32, 1024, 128_256
        shapes = [
            (width, width),
            (width, kv),
            (width, kv),
            (width, width),
            (width, inner),
            (width, inner),
            (inner, width),
        ]
        linear = layers * sum(i * o for i, o in shapes)
        embeddings, norms = 2 * vocabulary * width, (2 * layers + 1) * width
        parameters = linear + embeddings + norms
        adapters = layers * 16 * sum(i + o for i, o in shapes)
        lora = 2 * parameters + 16 * adapters
        rest = 2 * (embeddings + norms)
        text = problem(PAGE, "8 billion parameters, 24 GB")
        assert f"{parameters:,} parameters" in text
        assert f"32 × 16 × {sum(i + o for i, o in shapes):,}" in text
        assert f"bf16 weights: {gib(2 * parameters)} and" in text
        page = " ".join(guide(PAGE).split())
        qlora = FOUR_BITS * linear + rest + 16 * adapters
        sizes = f"takes {gib(16 * parameters)}, LoRA on bf16 weights {gib(lora)} and QLoRA {gib(qlora)}"
        assert sizes in page
        assert answers(text) == [
            gib(16 * parameters),
            f"{adapters:,}",
            gib(16 * adapters),
            gib(lora),
            gib(24e9 - lora),
            gib(FOUR_BITS * linear),
            gib(rest),
            gib(qlora),
            gib(8 * embeddings),
        ]

    def test_bytes_of_a_weight_in_4_bits(self) -> None:
        """With scales that are themselves quantized, and without."""
        words = " ".join(guide(PAGE).split())
        assert f"0.5 + 1/64 + 4/(64 × 256) = {FOUR_BITS:.3f} bytes" in words
        assert f"0.5 + 4/64 = {0.5 + 4 / 64}" in words


class TestMixtureOfExperts:
    def test_olmoe_against_its_active_size(self) -> None:
        """All parameters are held, and the active ones are what a token meets."""
        width, inner, layers, experts, active, vocabulary = 2048, 1024, 16, 64, 8, 50_304
        expert = 3 * width * inner
        shared = layers * (4 * width * width + experts * width + 4 * width) + 2 * vocabulary * width + width
        held = layers * experts * expert
        parameters, met = held + shared, layers * active * expert + shared
        assert answers(problem(PAGE, "OLMoE has 1.3 billion")) == [
            f"{held:,}",
            f"{parameters:,}",
            f"{met:,}",
            gib(16 * met),
            gib(16 * parameters),
            gib(2 * parameters),
            gib(2 * held),
            gib(2048 * active * expert * 2, 0),
        ]
        assert f"copy {2048 * active:,} experts a block" in guide(PAGE)
