"""Particles that bonds connect: `connected to (...)` and `bonded to (...)` in conditions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORDS = re.compile(r"\b(connected|bonded)\s+to\b\s*")
_NEXT = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|[()\[\],]|\b(?:and|or)\b|.""", re.DOTALL)


def with_calls(text: str) -> str:
    """Return an expression in which `connected to ...` and `bonded to ...` are calls.

    What they are connected to is what follows, up to `and`, `or`, a comma or the end of a
    parenthesis: `connected to type == 'O' and z > 3` is `connected(type == 'O') and z > 3`.
    """
    parts: list[str] = []
    place = 0
    while True:
        found = _outside_quotes(text, place)
        if found is None:
            return "".join(parts) + text[place:]
        end = _end(text, found.end())
        inner = with_calls(text[found.end() : end].rstrip())
        parts += [text[place : found.start()], f"{found[1]}({inner})"]
        place = len(text[:end].rstrip())


def _outside_quotes(text: str, start: int) -> re.Match[str] | None:
    """Return the next of the words that is no part of a text in quotes, or None."""
    quoted = [each.span() for each in re.finditer(r"""'[^']*'|"[^"]*"|`[^`]*`""", text)]
    for found in _WORDS.finditer(text, start):
        if not any(first < found.start() < last for first, last in quoted):
            return found
    return None


def _end(text: str, start: int) -> int:
    """Return where the operand ends that begins at a place."""
    depth = 0
    for each in _NEXT.finditer(text, start):
        word = each[0]
        if depth == 0 and word in (")", "]", ",", "and", "or"):
            return each.start()
        depth += (word in ("(", "[")) - (word in (")", "]"))
    return len(text)


def neighbours(chosen: NDArray[np.bool_], pairs: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which particles have a bond to a chosen one.

    Args:
        chosen: (N,).
        pairs: numbers of particles, (M, 2).
    """
    import numpy as np

    found = np.zeros_like(chosen)
    found[pairs[chosen[pairs[:, 0]], 1]] = True
    found[pairs[chosen[pairs[:, 1]], 0]] = True
    return found


def connected(
    chosen: NDArray[np.bool_], pairs: NDArray[Any], most: int | None = None
) -> NDArray[np.bool_]:
    """Return the chosen particles and all that bonds connect to them.

    Args:
        chosen: (N,).
        pairs: numbers of particles, (M, 2).
        most: number of bonds on the way; None is any.
    """
    import numpy as np

    if most is not None:
        found = chosen.copy()
        for _ in range(most):
            grown = found | neighbours(found, pairs)
            if (grown == found).all():
                break
            found = grown
        return found
    part = parts_of(len(chosen), pairs)
    has = np.zeros(len(chosen), np.bool_)
    has[part[chosen]] = True
    result: NDArray[np.bool_] = has[part]
    return result


def parts_of(count: int, pairs: NDArray[Any]) -> NDArray[np.int64]:
    """Return the least number of the particles that bonds connect to each, int64 (N,).

    Trees of numbers are joined at their roots and made flat in turns, which ends after about
    log(N) turns, also for long chains.
    """
    import numpy as np

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
