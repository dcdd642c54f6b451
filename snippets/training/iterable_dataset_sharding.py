# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "if index % workers == mine:" = "if index % workers >= 0:" }
# ///
"""Every worker reads an iterable data set from its start, so each must skip the lines of the others. Then every line is read once."""

from collections import Counter
from pathlib import Path
from unittest.mock import patch

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


# --8<-- [start:enable]
class Lines(IterableDataset):
    """Each worker yields the lines of its own share."""

    def __init__(self, path):
        self.path = Path(path)

    def __iter__(self):
        info = get_worker_info()  # None in the training process
        mine, workers = (info.id, info.num_workers) if info else (0, 1)
        with self.path.open(encoding="utf-8") as lines:
            for index, line in enumerate(lines):
                if index % workers == mine:
                    yield line.rstrip("\n")


# --8<-- [end:enable]

Path("lines.txt").write_text(
    "".join(f"line {number}\n" for number in range(101)), encoding="utf-8"
)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
loader = DataLoader(Lines("lines.txt"), batch_size=None, num_workers=3)
read = Counter(loader)
print(f"{len(read)} lines, each read {set(read.values())} times")  # on: {1}
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert len(read) == 101, f"{len(read)} lines of 101 were read"
assert set(read.values()) == {1}, f"lines were read {set(read.values())} times"
assert shown == "101 lines, each read {1} times", f"printed was {shown}"
assert set(read) == {f"line {n}" for n in range(101)}, "a line was changed"
alone = list(DataLoader(Lines("lines.txt"), batch_size=None))
assert len(alone) == 101, f"without workers, {len(alone)} lines were read"


# Workers that leave nothing out read each line once each: three times.
class Whole(Lines):
    """Each worker yields all lines."""

    def __iter__(self):
        yield from self.path.read_text(encoding="utf-8").splitlines()


assert loader.num_workers == 3, f"{loader.num_workers} workers read the lines"
repeated = Counter(DataLoader(Whole("lines.txt"), batch_size=None, num_workers=3))
assert set(repeated.values()) == {3}, (
    f"lines were read {set(repeated.values())} times"
)
