# /// script
# dependencies = []
#
# [tool.headroom]
# no_ablation = "it has nothing to take out"
# ///
"""A snippet whose region is half a loop."""

# --8<-- [start:all]
for number in range(2):
    # --8<-- [end:all]
    assert number >= 0
