"""Checks of arguments: each returns a value of a built-in type, or raises SceneError with its name.

Words of a command line pass the same checks; see `raytracer.config.field_types`.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from math import inf
from typing import Any

from raytracer.config.errors import SceneError, quote, quote_value, suggest, type_name

MAX_ITEMS = 1 << 20  # of a list that is not an array: numbers of a vector, lights, sets of spheres
MAX_WHOLE = 2**63  # whole numbers are below this, because kernels and arrays count in 64 bits


def _to_python(value: Any) -> Any:
    """Return a NumPy scalar or an array without axes as a number of Python, but no quantity of
    unyt and no masked value: `item` drops unit and mask."""
    is_number = getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    is_plain = not any(hasattr(value, name) for name in ("units", "mask"))
    return value.item() if is_number and is_plain else value


def check_real(
    value: Any, name: str, low: float = -inf, high: float = inf, above: bool = False
) -> float:
    """Return a finite number of low..high; with `above`, low itself is refused."""
    value = _to_python(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SceneError(f"{name}: {quote_value(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not abs(number) < inf:
        raise SceneError(f"{name}: must be a finite number, not {number:g}")
    if number < low or (above and number == low):
        limit = "above" if above else "at least"
        raise SceneError(f"{name}: must be {limit} {low:g}, not {number:g}")
    if number > high:
        raise SceneError(f"{name}: must be at most {high:g}, not {number:g}")
    return number


def check_whole(value: Any, name: str, low: int = -MAX_WHOLE, high: int = MAX_WHOLE) -> int:
    value = _to_python(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise SceneError(f"{name}: {quote_value(value)} is not a whole number")
    if not low <= value <= high:
        limit = f"at least {low}" if value < low else f"at most {high}"
        raise SceneError(f"{name}: must be {limit}, not {quote_value(value)}")
    return int(value)


def check_truth(value: Any, name: str) -> bool:
    value = _to_python(value)
    if not isinstance(value, int) or value not in (0, 1):
        raise SceneError(f"{name}: {quote_value(value)} is neither true nor false")
    return bool(value)


def check_word(value: Any, name: str, known: Iterable[str], what: str = "choice") -> str:
    """Return one of a few words; the message names the nearest one."""
    words = list(known)
    if not isinstance(value, str):
        raise SceneError(f"{name}: {quote_value(value)} is not text; known are {', '.join(words)}")
    if value not in words:
        raise SceneError(f"{name}: there is no {what} '{quote(value)}'; {suggest(value, words)}")
    return as_text(value)


def as_text(value: str) -> str:
    """Return a text as Python's own type; `str` gives the name of an enum of texts."""
    return str.__str__(value)


def check_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise SceneError(f"{name}: {quote_value(value)} is not text")
    return as_text(value)


def check_kind(value: Any, name: str, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(k.__name__ for k in kinds)
        raise SceneError(f"{name}: must be {names}, not {type_name(value)}")
    return value


def check_items(value: Any, name: str) -> list[Any]:
    """Return the items of a sequence or another iterable, except a text, a set or a mapping."""
    try:
        if isinstance(value, (str, bytes, bytearray, memoryview, set, Mapping)):
            raise TypeError
        result = list(islice(value, MAX_ITEMS + 1))
    except TypeError:
        raise SceneError(f"{name}: {quote_value(value)} is not a list") from None
    if len(result) > MAX_ITEMS:  # perhaps infinite
        raise SceneError(f"{name}: has more than {MAX_ITEMS:,} items")
    return result


def check_mapping(value: Any, name: str) -> Mapping[str, Any]:
    """Return a dictionary whose keys are texts."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise SceneError(f"{name}: {quote_value(value)} is not a dictionary with text keys")
    return value


def check_part_names(value: Any, name: str = "names") -> dict[str, str]:
    """Return the names in messages of parts, {} for None."""
    names = {} if value is None else check_mapping(value, name)
    return {key: check_text(each, name) for key, each in names.items()}


def check_function(value: Any, name: str) -> Callable[..., Any] | None:
    if value is not None and not callable(value):
        raise SceneError(f"{name}: {quote_value(value)} is not a function")
    result: Callable[..., Any] | None = value
    return result
