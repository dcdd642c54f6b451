# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.headroom]
# ablation = { "finish - due" = "finish - start" }
# ///
"""A server stalls for 10 s in a simulated test of 100 s. A closed loop, which waits for each answer, has one slow request; in an open loop, more than a tenth of the users wait over a second."""

STALL = (50.0, 60.0)  # the server answers nothing in these seconds
SERVICE = 0.05  # seconds per request otherwise


def answered(start: float) -> float:
    """Return when the server answers a request that it starts at this time."""
    begin = STALL[1] if STALL[0] <= start < STALL[1] else start
    return begin + SERVICE


# --8<-- [start:loops]
def closed_loop(seconds: float) -> list[float]:
    """One client: the next request is sent when the answer is there."""
    now, waits = 0.0, []
    while now < seconds:
        sent, now = now, answered(now)
        waits.append(now - sent)
    return waits


def open_loop(seconds: float, rate: float) -> list[float]:
    """Users arrive on a schedule, and each waits from the time on the schedule."""
    schedule = [number / rate for number in range(int(seconds * rate))]
    finish, waits = 0.0, []
    for due in schedule:
        start = max(due, finish)  # the server takes one at a time
        finish = answered(start)
        waits.append(finish - due)
    return waits


# --8<-- [end:loops]
def percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * len(values))]


closed, opened = closed_loop(100), open_loop(100, rate=10)
for name, waits in (("closed loop", closed), ("open loop", opened)):
    p50, p99 = (percentile(waits, share) for share in (0.5, 0.99))
    slow = sum(wait > 1 for wait in waits)
    print(
        f"{name}: {len(waits)} requests, p50 {p50:.2f} s, p99 {p99:.2f} s, {slow} over 1 s"
    )

# The proof: same server, same stall. The closed loop sends nothing while it waits, so 10 s become one request of about 1,800.
assert sum(wait > 1 for wait in closed) == 1
assert abs(percentile(closed, 0.99) - SERVICE) < 1e-6
assert abs(max(closed) - 10 - SERVICE) < 0.06
assert sum(wait > 1 for wait in opened) >= len(opened) / 10, "few users waited"
assert percentile(opened, 0.99) > 9, percentile(opened, 0.99)
# The median of both is the service time, so a mean or a median does not show the stall.
assert abs(percentile(closed, 0.5) - percentile(opened, 0.5)) < 1e-6
