# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.headroom]
# environment = "made-up"
# models = ["openai-community/gpt2"]
# ablation = { "@cache" = "" }
# ///
"""A cached function is computed once."""

from functools import cache

calls = []


# --8<-- [start:enable]
@cache
def square(number: int) -> int:
    """The square of a number."""
    calls.append(number)
    return number * number


# --8<-- [end:enable]

# --8<-- [start:proof]
assert square(3) + square(3) == 18
assert calls == [3]
# --8<-- [end:proof]
