# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy>=2.0"]
#
# [tool.headroom]
# ablation = { "start = max(now, free[slot])" = "start = now" }
# ///
"""Little's law in a simulated queue: requests in the system = arrival rate × mean latency. It gives the sequences, and so the KV cache, that a rate needs; near full load, the latency grows without a limit, and the requests within a target become fewer."""

import numpy as np


# --8<-- [start:queue]
def simulate(rate: float, slots: int, seconds: float, service: float):
    """Poisson arrivals, `slots` sequences at a time. Return all arrivals and departures."""
    draw, now, free = np.random.default_rng(0), 0.0, [0.0] * slots
    visits = []
    while (now := now + draw.exponential(1 / rate)) < seconds:
        slot = min(range(slots), key=free.__getitem__)
        start = max(now, free[slot])
        leave = start + service
        free[slot] = leave
        visits.append((now, leave))
    return visits


# --8<-- [end:queue]
def in_system(visits, seconds: float, step: float = 0.25) -> float:
    """Return the mean number of requests in the system, counted at fixed times."""
    times = [step * (number + 0.5) for number in range(int(seconds / step))]
    changes = sorted([(a, 1) for a, _ in visits] + [(b, -1) for _, b in visits])
    total = now = at = 0
    for time in times:
        while at < len(changes) and changes[at][0] <= time:
            now += changes[at][1]
            at += 1
        total += now
    return total / len(times)


slots, service, seconds = 16, 4.0, 20_000.0  # so at most 4 requests per second
means, goodput = {}, {}
TARGET = 8.0  # seconds
for percent in (50, 60, 70, 80, 85, 90, 95, 97, 99):
    visits = simulate(percent / 100 * slots / service, slots, seconds, service)
    latencies = sorted(leave - arrive for arrive, leave in visits)
    mean = means[percent] = sum(latencies) / len(latencies)
    print(f"mean: {percent} {mean:.2f}")
    print(f"p99: {percent} {latencies[int(0.99 * len(latencies))]:.2f}")
    # The proof: counting agrees with rate × latency, and the latency includes the service of each request.
    counted, law = in_system(visits, seconds), len(visits) / seconds * mean
    assert abs(counted / law - 1) < 0.02, (counted, law)
    assert latencies[0] >= service - 1e-6, latencies[0]
    good = sum(latency <= TARGET for latency in latencies)
    goodput[percent] = good / seconds
    if percent in (50, 90, 99):
        print(
            f"within {TARGET:.0f} s: {goodput[percent]:.2f} of {len(visits) / seconds:.2f} per second"
        )
        print(f"{counted:.1f} in the system, rate × mean latency is {law:.1f}")

# The page's figures: mean latencies, and requests per second within the target.
assert [round(means[percent], 2) for percent in (90, 99)] == [4.75, 18.35], means
found = [round(goodput[percent], 2) for percent in (90, 99)]
assert found == [3.53, 1.12], goodput

# The wait grows faster than the load: from 90 to 99 % much more than from 50 to 90 %.
assert means[99] - means[90] > 5 * (means[90] - means[50]) > 0, means
# Goodput falls beyond the knee, while the server answers more requests.
assert goodput[90] > 0.9 * 0.9 * slots / service, goodput
assert goodput[99] < goodput[50] < goodput[90], goodput
