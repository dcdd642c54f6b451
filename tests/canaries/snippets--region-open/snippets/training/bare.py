# /// script
# dependencies = []
#
# [tool.headroom]
# no_ablation = "it has nothing to take out"
# ///
"""A snippet with half a region."""

# --8<-- [start:all]
assert True
