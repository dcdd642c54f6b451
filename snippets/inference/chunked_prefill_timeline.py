# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.headroom]
# ablation = { "chunked = timeline(512)" = "chunked = timeline(4096)" }
# ///
"""A computed schedule: a prompt of 4,096 tokens arrives while other requests decode. Whole, it holds up their next token for its prefill; in chunks of 512, for a chunk, and its own first token comes later."""

BANDWIDTH, FLOPS = 3.35e12, 989e12  # H100 SXM, printed rates
MATMUL = 7_504_924_672  # parameters of Llama 3.1 8B in matmuls, 2 bytes each
PROMPT, OTHERS, BEFORE, AFTER = 4096, 8, 4, 5


# --8<-- [start:step]
def step_ms(tokens: int) -> float:
    """Return the least time of a step: reading the weights, or computing the tokens."""
    return 1e3 * max(2 * MATMUL / BANDWIDTH, 2 * MATMUL * tokens / FLOPS)


# --8<-- [end:step]


def timeline(chunk: int) -> list[tuple[float, float, int, bool]]:
    """Return start, end, prompt tokens and whether the new request gets a token, of each step."""
    now, left, steps, decoded = 0.0, PROMPT, [], 0
    while decoded < BEFORE + AFTER:
        prompt = min(chunk, left) if decoded >= BEFORE else 0
        new = decoded >= BEFORE and left - prompt == 0
        end = now + step_ms(OTHERS + prompt + (new and not prompt))
        steps.append((now, end, prompt, new))
        now, left = end, left - prompt
        decoded += left == 0 or decoded < BEFORE
    return steps


TARGET = 10.0  # ms between two tokens


def report(name: str, steps: list) -> tuple[float, float]:
    """Print the stretches of the picture; return the longest gap and the new request's TTFT."""
    for start, end, prompt, _ in steps:
        print(
            f"{name} {'prompt' if prompt else 'decode'}: {start:.2f} {end - 0.3:.2f}"
        )
        if end - start > TARGET:
            print(f"{name} late: {start + TARGET:.2f} {end:.2f}")
    if all(end - start <= TARGET for start, end, *_ in steps):
        print(f"{name} late: -")
    gap = max(end - start for start, end, *_ in steps)
    arrival = next(start for start, _, prompt, _ in steps if prompt)
    first = next(end for _, end, _, new in steps if new)
    print(f"longest gap {gap:.1f} ms, TTFT {first - arrival:.1f} ms")
    return gap, first - arrival


whole = timeline(4096)
chunked = timeline(512)
whole_gap, whole_ttft = report("whole", whole)
gap, ttft = report("chunked", chunked)

# The proof, first part: a parameter has 2 bytes and takes 2 FLOPs per token, so a step reads and computes
# equally long at FLOPS / BANDWIDTH tokens. Fewer tokens take no less time, twice as many take twice as long.
reading, even = 2 * MATMUL / BANDWIDTH * 1e3, FLOPS / BANDWIDTH
for tokens, expected in ((1, 1), (even / 2, 1), (even, 1), (2 * even, 2)):
    assert abs(step_ms(tokens) - expected * reading) < 1e-9, f"{tokens:.0f} tokens"

# Second part: every schedule computes the whole prompt; chunks bound the gap and delay the first token.
for steps in (whole, chunked):
    assert sum(prompt for _, _, prompt, _ in steps) == PROMPT
assert abs(whole_gap - step_ms(OTHERS + PROMPT)) < 1e-9, f"{whole_gap:.1f} ms"
chunks = [prompt for _, _, prompt, _ in chunked if prompt]
assert chunks == 8 * [512], chunks
assert abs(gap - step_ms(512 + OTHERS)) < 1e-9, f"{gap:.1f} ms"
assert gap < TARGET < whole_gap
# The first token comes slightly later: in each step, the others add their tokens.
assert whole_ttft < ttft < 1.05 * whole_ttft, (whole_ttft, ttft)
