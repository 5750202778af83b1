"""Checks of arguments of the Python interface.

Each check returns the value in a built-in type, or raises a UserError that names the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from math import inf, isfinite
from operator import index
from typing import Any

from raytracer.errors import SceneError, UserError, shown, shown_value, suggestion, type_name

MOST_ITEMS = 1 << 20
"""Most items of a list that is no array: numbers of a vector, lights, sets of spheres."""

MOST = 2**63
"""Whole numbers are below this, because kernels and arrays count in 64 bits."""


def as_float(value: Any) -> float:
    """Return a number as float; of a complex one NumPy would take the real part, with a warning."""
    if getattr(getattr(value, "dtype", None), "kind", "") == "c":
        raise TypeError
    return float(value)


def is_truth(value: object) -> bool:
    """Whether a value is True or False, of Python or of NumPy: no number, though equal to one."""
    kind = type(value)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"))


def real(
    value: Any,
    name: str,
    low: float = -inf,
    high: float = inf,
    above: bool = False,
    error: type[UserError] = SceneError,
) -> float:
    """Return a number of low..high that is not infinite; with `above`, low itself is refused.

    Args:
        value: the argument.
        name: of the argument, for the message.
        low, high: limits.
        above: whether low itself is refused.
        error: class of the error.

    Raises:
        UserError: it is no number or out of range.
    """
    try:
        is_array = getattr(value, "ndim", 0) != 0
        if is_array or is_truth(value) or isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        number = as_float(value)
    except Exception:  # whatever a foreign object raises
        raise error(f"{name}: {shown_value(value)} is not a number") from None
    if not (low < number if above else low <= number) or not number <= high or abs(number) == inf:
        if low == -inf:
            raise error(f"{name}: {number:g} is not finite")
        limit = f"above {low:g}" if above else f"at least {low:g}"
        upper = f" and at most {high:g}" if high != inf else " and finite"
        raise error(f"{name}: {number:g} is out of range; it must be {limit}{upper}")
    return number


def whole(
    value: Any,
    name: str,
    low: int = -MOST,
    high: int = MOST,
    error: type[UserError] = SceneError,
) -> int:
    """Return a whole number of low..high; integers of NumPy become int.

    Raises:
        UserError: it is no whole number or out of range.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = index(value)
    except Exception:
        raise error(f"{name}: {shown_value(value)} is not a whole number") from None
    if not low <= number <= high:
        raise error(f"{name}: {shown_value(number)} is not between {low} and {high}")
    return number


def truth(value: Any, name: str, error: type[UserError] = SceneError) -> bool:
    """Return True or False; 0, 1 and NumPy's booleans are accepted.

    Raises:
        UserError: it is neither.
    """
    try:
        if not isinstance(value, int) and type(value).__module__ != "numpy":
            raise TypeError
        number = int(value)
    except Exception:
        number = -1
    if number not in (0, 1):
        raise error(f"{name}: {shown_value(value)} is neither true nor false")
    return bool(number)


def one_of(
    value: Any,
    name: str,
    known: Iterable[str],
    what: str = "choice",
    error: type[UserError] = SceneError,
) -> str:
    """Return one of a few words.

    Raises:
        UserError: it is none of them; the message names the nearest one.
    """
    words = list(known)
    if not isinstance(value, str):
        raise error(f"{name}: {shown_value(value)} is no text; known are {', '.join(words)}")
    if value not in words:
        raise error(f"{name}: there is no {what} '{shown(value)}'; {suggestion(value, words)}")
    return as_text(value)


def as_text(value: str) -> str:
    """Return a text as Python's own type; `str` gives the name of an enum of texts."""
    return str.__str__(value)


def vector(
    value: Any, name: str, error: type[UserError] = SceneError
) -> tuple[float, float, float]:
    """Return three finite floats.

    Args:
        value: any sequence of three numbers.
        name: of the argument, for the message.
        error: class of the error.

    Raises:
        UserError: it is not three finite numbers.
    """
    try:
        numbers = list(islice(value, 4))  # it may be infinite
        parts = [] if any(map(is_truth, numbers)) else [as_float(v) for v in numbers]
    except Exception:  # whatever a foreign object raises
        parts = []
    if len(parts) != 3 or isinstance(value, (str, bytes, bytearray, set, dict)):
        raise error(f"{name}: {shown_value(value)} is not three numbers")
    if not all(map(isfinite, parts)):
        raise error(f"{name}: {shown_value(value)} is not finite")
    return (parts[0], parts[1], parts[2])


def text(value: Any, name: str, error: type[UserError] = SceneError) -> str:
    """Return a text. Raises UserError if it is none."""
    if not isinstance(value, str):
        raise error(f"{name}: {shown_value(value)} is no text")
    return as_text(value)


def of_kind(
    value: Any, name: str, kind: type | tuple[type, ...], error: type[UserError] = SceneError
) -> Any:
    """Return an object of a class. Raises UserError if it is of another."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(k.__name__ for k in kinds)
        raise error(f"{name}: got a {type_name(value)} where a {names} belongs")
    return value


def items(value: Any, name: str, error: type[UserError] = SceneError) -> list[Any]:
    """Return the items of a list or of anything else that has items, except a text.

    Raises:
        UserError: it has none.
    """
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        result = list(islice(value, MOST_ITEMS + 1))
    except Exception:
        raise error(f"{name}: {shown_value(value)} is no list") from None
    if len(result) > MOST_ITEMS:  # perhaps infinite
        raise error(f"{name}: has more than {MOST_ITEMS:,} items")
    return result


def mapping(value: Any, name: str, error: type[UserError] = SceneError) -> Mapping[str, Any]:
    """Return a dictionary with texts for keys. Raises UserError if it is none."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise error(f"{name}: {shown_value(value)} is no dictionary of names")
    return value


def function(
    value: Any, name: str, error: type[UserError] = UserError
) -> Callable[..., Any] | None:
    """Return a function or None. Raises UserError if it is something else."""
    if value is not None and not callable(value):
        raise error(f"{name}: {shown_value(value)} is no function")
    result: Callable[..., Any] | None = value
    return result
