"""Parsing of sizes: `n=1e6`, `n=2^20`, `n=1024,2048`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

from raytracer.benchmark.operations.base import Op
from raytracer.errors import UserError, suggestion

_POWER = re.compile(r"(\d{1,20})(?:\^|\*\*)(\d{1,4})")


def parse_size(text: str) -> int:
    """Parse a whole number: 4096, 1e6, 2^28, 2**28, 1_000; raise UserError for other text."""
    word = text.strip().replace("_", "")
    if match := _POWER.fullmatch(word):
        base, exponent = int(match[1]), int(match[2])
        if exponent <= 62 and base**exponent < 2**62:
            return int(base**exponent)
    elif word.isdecimal() and len(word) < 19:
        return int(word)
    else:
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        if value == value and abs(value) < 2**62 and value == int(value):
            return int(value)
    raise UserError(f"size {text!r}: write a whole number like 4096, 1e6 or 2^20")


def parse_axes(words: list[str]) -> dict[str, list[int]]:
    """Parse words like "n=1e6,1e7" into sizes by axis; raise UserError for other words."""
    axes: dict[str, list[int]] = {}
    for word in words:
        name, equals, sizes = word.partition("=")
        if not equals or not name.strip():
            raise UserError(f"axis {word!r}: write NAME=SIZE, for instance n=1e6")
        axes[name.strip()] = [parse_size(size) for size in sizes.split(",")]
    return axes


def points(op: Op, sizes: Sequence[int], axes: Mapping[str, list[int]]) -> list[dict[str, int]]:
    """Return every combination of sizes, each with all axes.

    sizes: of all axes whose default size is the largest.

    Raises:
        UserError: an axis is unknown, or a size is below 1.
    """
    largest = [name for name, size in op.axes.items() if size == max(op.axes.values())]
    bases = [dict.fromkeys(largest, size) for size in sizes] or [{}]
    sweeps = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [op.resolve({**base_axes, **swept_axes}) for base_axes in bases for swept_axes in sweeps]


def picture_size(
    name: str, axes: Mapping[str, list[int]], default: tuple[int, int]
) -> tuple[int, int]:
    """Return width and height of the timed pictures; raise UserError for other axes and sizes."""
    for axis, values in axes.items():
        if axis not in ("width", "height"):
            raise UserError(f"{name} has no axis {axis!r}; {suggestion(axis, ['width', 'height'])}")
        if len(values) != 1 or not 1 <= values[0] <= 1 << 14:
            raise UserError(f"{name}: {axis}: give one size from 1 to 16384")
    return axes.get("width", [default[0]])[0], axes.get("height", [default[1]])[0]
