# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy>=2.0"]
#
# [tool.headroom]
# ablation = { "target = prefix_aware(prompt, replicas)" = "target = replicas[number % len(replicas)]" }
# ///
"""Four simulated replicas with LRU caches of prompt blocks, and 40 system prompts: routing by cached prefix reuses more blocks than round robin, and loads the replicas less evenly."""

from collections import OrderedDict

import numpy as np

BLOCKS, CAPACITY, PROMPTS, REQUESTS = 32, 12, 40, 20_000


class Replica:
    """An engine: an LRU cache of prompt blocks, and counts of requests and reused blocks."""

    def __init__(self):
        self.cache, self.requests, self.hits = OrderedDict(), 0, 0

    def matched(self, prompt) -> int:
        """Return how many blocks from the start are cached."""
        cached = 0
        while cached < len(prompt) and prompt[cached] in self.cache:
            cached += 1
        return cached

    def serve(self, prompt) -> None:
        """Count the reused blocks, and cache the prompt."""
        self.requests += 1
        self.hits += self.matched(prompt)
        for block in reversed(prompt):  # the start of a prompt is evicted last
            self.cache[block] = True
            self.cache.move_to_end(block)
        while len(self.cache) > CAPACITY * BLOCKS:
            self.cache.popitem(last=False)


# --8<-- [start:route]
def prefix_aware(prompt, replicas):
    """Choose the replica with the longest cached prefix; among equals, the least loaded."""
    return max(replicas, key=lambda each: (each.matched(prompt), -each.requests))


# --8<-- [end:route]
def simulate(*, aware: bool) -> tuple[float, float]:
    """Return the share of reused blocks, and the busiest replica's share of the requests."""
    replicas = [Replica() for _ in range(4)]
    popularity = 1 / np.arange(1, PROMPTS + 1)
    draw = np.random.default_rng(0)
    drawn = draw.choice(PROMPTS, REQUESTS, p=popularity / popularity.sum())
    for number, system in enumerate(drawn.tolist()):
        prompt = [(system, block) for block in range(BLOCKS)]
        if aware:
            target = prefix_aware(prompt, replicas)
        else:
            target = replicas[number % len(replicas)]
        target.serve(prompt)
    hits = sum(each.hits for each in replicas) / (REQUESTS * BLOCKS)
    return hits, max(each.requests for each in replicas) / REQUESTS


plain_hits, plain_busiest = simulate(aware=False)
hits, busiest = simulate(aware=True)
print(
    f"round robin: {plain_hits:.1%} of blocks reused, busiest replica {plain_busiest:.1%}"
)
print(f"prefix-aware: {hits:.1%} of blocks reused, busiest replica {busiest:.1%}")

# The proof: all 40 prompts fit into four caches of 12, but not into one; popular prompts load one replica more.
assert CAPACITY < PROMPTS < 4 * CAPACITY
assert f"{hits:.0%}" == "97%", f"{hits:.1%} reused"
assert f"{plain_hits:.0%}" == "60%", f"{plain_hits:.1%} reused"
assert abs(plain_busiest - 0.25) < 1e-9
assert busiest > 0.3, f"{busiest:.1%} on one replica"
# The longest prefix wins over load, and among equals the fewest requests win.
prompt = [("system", block) for block in range(4)]
first, second, third = replicas = [Replica() for _ in range(3)]
for replica, cached, requests in ((first, 1, 0), (second, 3, 9), (third, 3, 8)):
    replica.cache.update(dict.fromkeys(prompt[:cached], True))
    replica.requests = requests
assert prefix_aware(prompt, replicas) is third, "not the less loaded of two equals"
third.cache.pop(prompt[0])
assert prefix_aware(prompt, replicas) is second, "not the longest prefix"
