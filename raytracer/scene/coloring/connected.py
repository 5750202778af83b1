"""Conditions on bonds: `connected to (...)` and `bonded to (...)`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CALL = re.compile(r"(connected|bonded)\s+to\s*")
_TOKEN = re.compile(
    r"""'[^']*'|"[^"]*"|`[^`]*`|\b(?:connected|bonded)\s+to\b\s*|[()\[\],]|\b(?:and|or)\b|.""",
    re.DOTALL,
)


def with_calls(text: str) -> str:
    """Rewrite `connected to ...` and `bonded to ...` as calls.

    The operand ends at `and`, `or`, a comma or a closing parenthesis: `connected to type == 'O' and
    z > 3` becomes `connected(type == 'O') and z > 3`.
    """
    parts: list[str] = []
    depth, open_calls = 0, []
    for token in _TOKEN.findall(text):
        if call := _CALL.fullmatch(token):
            parts.append(f"{call[1]}(")
            open_calls.append(depth)
            continue
        while token in (")", "]", ",", "and", "or") and open_calls[-1:] == [depth]:
            parts.append(")")
            open_calls.pop()
        depth += (token in ("(", "[")) - (token in (")", "]"))
        parts.append(token)
    return "".join(parts) + ")" * len(open_calls)


def neighbours(chosen: NDArray[np.bool_], pairs: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which particles are bonded to a chosen one, bool (N,); bonds are (M, 2)."""
    reached = np.zeros_like(chosen)
    for one, other in (pairs.T, pairs.T[::-1]):
        reached[other[chosen[one]]] = True
    return reached


def connected(
    chosen: NDArray[np.bool_], pairs: NDArray[Any], most: int | None = None
) -> NDArray[np.bool_]:
    """Return the chosen particles and all within `most` bonds (M, 2) of them."""
    if most is None:
        part = parts_of(len(chosen), pairs)
        has = np.zeros(len(chosen), np.bool_)
        has[part[chosen]] = True
        result: NDArray[np.bool_] = has[part]
        return result
    reached = chosen
    for _ in range(most):
        before, reached = reached, reached | neighbours(reached, pairs)
        if (before == reached).all():
            break
    return reached


def parts_of(count: int, pairs: NDArray[Any]) -> NDArray[np.int64]:
    """Label connected components: the lowest index in each particle's component, int64 (N,).

    Pointer jumping (union by minimum, then path compression) takes about log(N) rounds, even for
    long chains.
    """
    part = np.arange(count)
    first, second = pairs[:, 0], pairs[:, 1]
    while True:
        one, other = part[first], part[second]
        differ = one != other
        if not differ.any():
            return part
        first, second = first[differ], second[differ]
        low, high = np.minimum(one, other)[differ], np.maximum(one, other)[differ]
        np.minimum.at(part, high, low)
        while not np.array_equal(flat := part[part], part):
            part = flat
