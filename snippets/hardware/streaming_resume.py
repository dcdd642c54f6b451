# /// script
# requires-python = ">=3.11"
# dependencies = ["datasets>=5.2"]
#
# [tool.headroom]
# ablation = { "again.load_state_dict(state)" = "again.state_dict()" }
# ///
"""The state of a streamed data set resumes at the next row, but a shuffle buffer loses the rows that it holds."""

from itertools import islice
from unittest.mock import patch

from datasets import IterableDataset


def rows(shards):
    """Yield 50 rows of each shard."""
    for shard in shards:
        yield from ({"row": 50 * shard + index} for index in range(50))


streams = []


def stream(buffer=0):
    """Return a new data set of 4 shards, shuffled in a buffer if it has a size."""
    streams.append(buffer)
    data = IterableDataset.from_generator(rows, gen_kwargs={"shards": [0, 1, 2, 3]})
    return data.shuffle(seed=7, buffer_size=buffer) if buffer else data


def interrupted(buffer):
    """Return the rows before the interruption, and those after it."""
    # --8<-- [start:enable]
    data = stream(buffer)
    seen = [example["row"] for example in islice(data, 60)]
    state = data.state_dict()  # save it with the checkpoint

    again = stream(buffer)
    again.load_state_dict(state)
    rest = [example["row"] for example in again]
    # --8<-- [end:enable]
    return seen, rest


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
for buffer in (0, 16):
    seen, rest = interrupted(buffer)
    lost = 200 - len({*seen, *rest})
    print(f"buffer of {buffer} rows: {len(seen)} + {len(rest)} rows, {lost} lost")
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list if not call.kwargs]
assert streams == [0, 0, 16, 16], "it resumes in the data set that was interrupted"

seen, rest = interrupted(0)
assert seen + rest == list(range(200)), "rows were lost or repeated"
seen, rest = interrupted(16)
assert not {*seen} & {*rest}, f"{len({*seen} & {*rest})} rows were repeated"
lost = 200 - len({*seen, *rest})
assert 0 < lost <= 16, f"the buffer of 16 rows lost {lost}"
assert len(seen) == 60, f"it was interrupted after {len(seen)} rows"
assert shown == [
    "buffer of 0 rows: 60 + 140 rows, 0 lost",
    f"buffer of 16 rows: 60 + {140 - lost} rows, {lost} lost",
], f"printed was {shown}"
whole = [example["row"] for example in stream(16)]
assert sorted(whole) == list(range(200)), "an uninterrupted stream loses rows too"
assert whole != sorted(whole), "the buffer did not shuffle"
