# /// script
# requires-python = ">=3.11"
# dependencies = ["datasets>=5.2", "numpy"]
#
# [tool.headroom]
# ablation = { "keep_in_memory=False" = "keep_in_memory=True" }
# ///
"""A data set of Arrow files is mapped into memory: a row brings in the pages around it, and the rest stays on the disk."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
from datasets import Dataset, load_from_disk

ROWS, LENGTH = 4_096, 2_048
data = np.random.default_rng(0).integers(
    50_000, size=(ROWS, LENGTH), dtype=np.uint16
)
Dataset.from_dict({"ids": data}).save_to_disk("tokens")
del data


def resident_bytes(folder):
    """Return the bytes of the files in a folder that this process has in its mappings."""
    total, counts = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if line[:1].isdigit() or line[:1] in "abcdef":
            counts = f"/{folder}/" in line
        elif counts and line.startswith("Rss:"):
            total += 1024 * int(line.split()[1])
    return total


def own_bytes():
    """Return the bytes of this process that belong to no file."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("RssAnon:")[1].split()[0])


before = own_bytes()
# --8<-- [start:enable]
rows = load_from_disk("tokens", keep_in_memory=False).with_format("numpy")
row = rows[1_000]["ids"]
# --8<-- [end:enable]

size = sum(path.stat().st_size for path in Path("tokens").glob("*.arrow"))
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
print(f"the files have {size / 2**20:.0f} MiB")
print(f"one row brought in {resident_bytes('tokens') / 2**20:.1f} MiB of them")
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

assert row.shape == (LENGTH,), row.shape
assert size >= 2 * ROWS * LENGTH, f"the files have {size} bytes, less than the rows"
one = resident_bytes("tokens")
assert 0 < one < size / 20, f"{one} of {size} bytes are resident after one row"
grown = own_bytes() - before
assert shown[0] == "the files have 16 MiB", shown
assert shown[1] == f"one row brought in {one / 2**20:.1f} MiB of them", shown
assert grown < size / 2, (
    f"the process took {grown} bytes of its own for {size} bytes of files"
)

# Reading all rows makes all pages resident, and they belong to the page cache and not to the process.
total = sum(int(batch["ids"].sum()) for batch in rows.iter(256))
everything = resident_bytes("tokens")
assert total > 0, "no row was read"
assert everything > 0.9 * size, f"{everything} of {size} bytes are resident"
