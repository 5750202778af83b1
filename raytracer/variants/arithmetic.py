"""Arithmetic expressions of kernel headers: whole numbers from sizes."""

import math
import re
from collections.abc import Mapping
from fractions import Fraction

from raytracer.errors import RaytracerError, suggestion

_FUNCTIONS = {"ceil": math.ceil, "floor": math.floor, "max": max, "min": min}


class ExpressionError(RaytracerError):
    """An expression cannot be evaluated."""


def whole_numbers(text: str, names: Mapping[str, int]) -> tuple[int, ...]:
    """Evaluate expressions that are separated by commas; division of sizes is exact.

    text: like "ceil(n / 128), ceil(m / 128)", of + - * / //, ceil, floor, min and max. Raises
    ExpressionError for other text, and where a value is not a whole number.
    """
    if not re.fullmatch(r"[\w\s+\-*/(),]+", text):
        raise ExpressionError(f"{text!r} is not understood here")
    for name in re.findall(r"[^\W\d]\w*", text):
        if name not in (*names, *_FUNCTIONS):
            raise ExpressionError(f"{name!r} has no value; {suggestion(name, sorted(names))}")
    known = _FUNCTIONS | {name: Fraction(value) for name, value in names.items()}
    try:
        values = [Fraction(v) for v in eval(f"({text},)", {"__builtins__": {}}, known)]
    except ZeroDivisionError:
        raise ExpressionError(f"{text!r} divides by zero") from None
    except (SyntaxError, TypeError):
        raise ExpressionError(f"{text!r} is not understood here") from None
    for value in values:
        if value.denominator != 1:
            raise ExpressionError(f"{text!r} gives {value}, not a whole number: use ceil( )")
    return tuple(map(int, values))
