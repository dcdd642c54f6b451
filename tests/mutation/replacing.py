"""Puts the code of a changed module in the place of a function's, wherever the function is referred to."""

import functools
import gc
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeAlias

Functions: TypeAlias = dict[tuple[str, str, int], list[FunctionType]]


def functions(paths: Iterable[Path]) -> Functions:
    """Every function of these files that there is in this process, by file, qualified name and first line."""
    wanted = {str(path) for path in paths}
    found: Functions = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and (code := thing.__code__).co_filename in wanted:
            found.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(thing)
    return found


def swap(known: Functions, changed: CodeType, name: str | None) -> int:
    """Give the functions of this name, or all, the code of a changed module; returns how many that were."""
    count = 0
    for code in _codes(changed):
        if name in (None, code.co_qualname):
            for function in known.get((code.co_filename, code.co_qualname, code.co_firstlineno), ()):
                function.__code__ = code
                count += 1
    return count


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def caches(paths: Iterable[str]) -> list[Any]:
    """The caches of the functions of these files."""
    found = [thing for thing in gc.get_objects() if isinstance(thing, functools._lru_cache_wrapper)]
    return [cache for cache in found if cache.__wrapped__.__code__.co_filename in paths]
