# /// script
# requires-python = ">=3.11"
# dependencies = ["datasets>=5.2"]
#
# [tool.headroom]
# ablation = { "split_dataset_by_node(data, rank=rank, world_size=ranks)" = "data" }
# ///
"""split_dataset_by_node gives each rank its own shards if their number divides by the ranks; else every rank reads all of them."""

from unittest.mock import patch

from datasets import IterableDataset
from datasets.distributed import split_dataset_by_node

opened, asked = [], []


def rows(shards):
    """Yield 10 rows of each shard, and note which shard is opened."""
    for shard in shards:
        opened.append(shard)
        yield from ({"row": 10 * shard + index} for index in range(10))


def read_by(rank, ranks, shards):
    """Return the rows and the shards that a rank reads."""
    opened.clear()
    asked.append((rank, shards))
    # --8<-- [start:enable]
    data = IterableDataset.from_generator(
        rows, gen_kwargs={"shards": list(range(shards))}
    )
    mine = split_dataset_by_node(data, rank=rank, world_size=ranks)
    # --8<-- [end:enable]
    return [example["row"] for example in mine], list(opened)


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
for shards in (4, 3):
    files = [len(read_by(rank, 2, shards)[1]) for rank in (0, 1)]
    print(
        f"{shards} shards, 2 ranks: the ranks open {files[0]} and {files[1]} of them"
    )
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list if not call.kwargs]

assert asked == [(0, 4), (1, 4), (0, 3), (1, 3)], f"read were {asked}"
assert shown == [
    "4 shards, 2 ranks: the ranks open 2 and 2 of them",
    "3 shards, 2 ranks: the ranks open 3 and 3 of them",
], f"printed was {shown}"
for shards, each in ((4, 2), (3, 3)):
    parts = [read_by(rank, 2, shards) for rank in (0, 1)]
    together = sorted(row for part, _ in parts for row in part)
    assert together == list(range(10 * shards)), (
        f"{shards} shards: {len(together)} rows, not each once"
    )
    for part, files in parts:
        assert len(part) == 5 * shards, f"a rank has {len(part)} rows"
        assert len({*files}) == len(files) == each, (
            f"with {shards} shards, a rank opened {files}"
        )

# strategy="shards" reads each file once, and a rank gets one file more, with its rows.
data = IterableDataset.from_generator(rows, gen_kwargs={"shards": [0, 1, 2]})
apart = []
for rank in (0, 1):
    opened.clear()
    mine = split_dataset_by_node(data, rank=rank, world_size=2, strategy="shards")
    apart.append((sum(1 for _ in mine), [*opened]))
assert sorted(len(files) for _, files in apart) == [1, 2], apart
assert all(count == 10 * len(files) for count, files in apart), apart
assert sorted(file for _, files in apart for file in files) == [0, 1, 2], apart
