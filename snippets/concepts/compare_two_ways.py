# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.headroom]
# ablation = { "        random.shuffle(block)" = "        block.sort(key=ways.index)", "for _ in range(blocks):  # a block at a time" = "for _ in range(1):", "times[name].append(seconds_of(way))" = "times[name] += [seconds_of(way) for _ in range(blocks)]" }
# ///
"""Time two ways of doing something in blocks, in random order, with the baseline a second time as the control. Report medians of ratios."""

# --8<-- [start:compare]
import random
from statistics import median
from time import perf_counter


def compare(baseline, subject, blocks=20, clock=perf_counter):
    """How many times as fast as the baseline the subject is, and the baseline is."""

    def seconds_of(way):
        start = clock()
        way()  # on a GPU, it ends with torch.cuda.synchronize()
        return clock() - start

    ways = [("baseline", baseline), ("subject", subject), ("control", baseline)]
    for _, way in ways:
        way()  # warm up: compile, allocate, fill caches
    times = {name: [] for name, _ in ways}
    for _ in range(blocks):  # a block at a time
        block = ways.copy()
        random.shuffle(block)
        for name, way in block:
            times[name].append(seconds_of(way))
    return {
        name: median(
            one / other
            for one, other in zip(times["baseline"], times[name], strict=True)
        )
        for name in ("subject", "control")
    }


# --8<-- [end:compare]


# The proof needs a machine whose every move is known: it slows down by 2 % with
# each thing that it does, as a warming one does, and its clock is simulated.
class Machine:
    """Does nothing, and says how long that took."""

    def __init__(self):
        self.now, self.pace, self.log = 0.0, 1.0, []

    def work(self, seconds):
        """Let time pass, and the next thing take longer."""
        self.log.append(seconds)
        self.now += seconds * self.pace
        self.pace *= 1.02
        if len(self.log) == 40:  # another program comes between, once
            self.now += 1000

    def clock(self):
        """What a clock on the wall would say, in seconds."""
        return self.now


random.seed(0)
machine = Machine()
found = compare(
    lambda: machine.work(1.0), lambda: machine.work(0.8), clock=machine.clock
)
print(f"the subject is {found['subject']:.2f} times as fast")  # truly 1.25
print(f"the control is {found['control']:.2f} times as fast")  # truly 1
assert abs(found["subject"] / 1.25 - 1) < 0.04, f"found {found['subject']:.2f}"
assert abs(found["control"] - 1) < 0.04, f"the control is at {found['control']:.2f}"

# After a warm-up of all three there are 20 blocks. Each has the subject once, and the
# order is drawn anew: the subject comes first, second and third.
assert len(machine.log) == 3 * (1 + 20), f"{len(machine.log)} things were done"
blocks = [machine.log[start : start + 3] for start in range(3, 63, 3)]
assert all(sorted(block) == [0.8, 1.0, 1.0] for block in blocks), "not in blocks"
places = {block.index(0.8) for block in blocks}
assert places == {0, 1, 2}, f"the subject comes in the places {places} of a block"

# Three blocks of known times: each ratio's median is 1, and the ratio of the medians 2/3.
now = [0.0]


def taking(*seconds):
    """Return a way that takes these times: in the warm-up, and in each block."""
    return lambda: now.append(now[-1] + seconds[(len(now) - 1) // 3])


known = compare(taking(1, 1, 2, 6), taking(1, 1, 4, 3), 3, lambda: now[-1])
assert known == {"subject": 1.0, "control": 1.0}, f"not medians of ratios: {known}"
