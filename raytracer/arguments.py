"""Checks of arguments: each returns the value in a built-in type, or raises `error` and names it.

The words of a command line come through the same checks; see `raytracer.field_types`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from math import inf
from operator import index
from typing import Any

from raytracer.errors import SceneError, UserError, shown, shown_value, suggestion, type_name

MOST_ITEMS = 1 << 20
"""Most items of a list that is no array: numbers of a vector, lights, sets of spheres."""

MOST = 2**63
"""Whole numbers are below this, because kernels and arrays count in 64 bits."""

Triple = tuple[float, float, float]


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
    """Return a finite number of low..high; with `above`, low itself is refused."""
    try:
        is_array = getattr(value, "ndim", 0) != 0
        if is_array or is_truth(value) or isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        number = as_float(value)
    except OverflowError:  # a whole number
        number = inf
    except Exception:  # whatever a foreign object raises
        raise error(f"{name}: {shown_value(value)} is not a number") from None
    if not abs(number) < inf:
        raise error(f"{name}: must be a finite number, not {number:g}")
    if number < low or (above and number == low):
        raise error(f"{name}: must be {'above' if above else 'at least'} {low:g}, not {number:g}")
    if number > high:
        raise error(f"{name}: must be at most {high:g}, not {number:g}")
    return number


def whole(
    value: Any, name: str, low: int = -MOST, high: int = MOST, error: type[UserError] = SceneError
) -> int:
    """Return a whole number of low..high; integers of NumPy become int."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = index(value)
    except Exception:
        raise error(f"{name}: {shown_value(value)} is not a whole number") from None
    if not low <= number <= high:
        limit = f"at least {low}" if number < low else f"at most {high}"
        raise error(f"{name}: must be {limit}, not {shown_value(number)}")
    return number


def truth(value: Any, name: str, error: type[UserError] = SceneError) -> bool:
    """Return True or False; 0, 1 and NumPy's booleans are accepted."""
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
    """Return one of a few words; the message names the nearest one."""
    words = list(known)
    if not isinstance(value, str):
        raise error(f"{name}: {shown_value(value)} is no text; known are {', '.join(words)}")
    if value not in words:
        raise error(f"{name}: there is no {what} '{shown(value)}'; {suggestion(value, words)}")
    return as_text(value)


def as_text(value: str) -> str:
    """Return a text as Python's own type; `str` gives the name of an enum of texts."""
    return str.__str__(value)


def vector(value: Any, name: str, error: type[UserError] = SceneError) -> Triple:
    """Return three finite floats of any sequence of three numbers."""
    try:
        numbers = items(value, name, error)
    except UserError:
        numbers = []
    if len(numbers) != 3 or isinstance(value, (set, dict)):
        raise error(f"{name}: {shown_value(value)} is not three numbers")
    x, y, z = (real(number, f"{name}[{i}]", error=error) for i, number in enumerate(numbers))
    return x, y, z


def text(value: Any, name: str, error: type[UserError] = SceneError) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise error(f"{name}: {shown_value(value)} is no text")
    return as_text(value)


def of_kind(
    value: Any, name: str, kind: type | tuple[type, ...], error: type[UserError] = SceneError
) -> Any:
    """Return an object of a class."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(k.__name__ for k in kinds)
        raise error(f"{name}: got a {type_name(value)} where a {names} belongs")
    return value


def items(value: Any, name: str, error: type[UserError] = SceneError) -> list[Any]:
    """Return the items of a list or of anything else that has items, except a text."""
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
    """Return a dictionary with texts for keys."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise error(f"{name}: {shown_value(value)} is no dictionary of names")
    return value


def function(
    value: Any, name: str, error: type[UserError] = UserError
) -> Callable[..., Any] | None:
    """Return a function or None."""
    if value is not None and not callable(value):
        raise error(f"{name}: {shown_value(value)} is no function")
    result: Callable[..., Any] | None = value
    return result
