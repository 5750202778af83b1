"""Arithmetic expressions of kernel headers: whole numbers from sizes."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from fractions import Fraction

from raytracer.errors import RaytracerError, suggestion

_FUNCTIONS = {"ceil": math.ceil, "floor": math.floor, "max": max, "min": min}
_PARTS = (
    ast.Expression, ast.Tuple, ast.Load, ast.Name, ast.Constant, ast.UnaryOp, ast.USub, ast.BinOp,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Call,
)  # fmt: skip


class ExpressionError(RaytracerError):
    """An expression cannot be evaluated."""


def whole_numbers(text: str, names: Mapping[str, int]) -> tuple[int, ...]:
    """Evaluate expressions that are separated by commas; division of sizes is exact.

    text: like "ceil(n / 128), ceil(m / 128)", of + - * / //, ceil, floor, min and max. Raises
    ExpressionError for other text, and where a value is not a whole number.
    """
    try:
        tree = ast.parse(f"({text})", mode="eval")
    except SyntaxError:
        raise ExpressionError(f"{text!r} is not arithmetic") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in (*names, *_FUNCTIONS):
            hint = suggestion(node.id, sorted(names))
            raise ExpressionError(f"{node.id!r} has no value; {hint}")
        is_number = not isinstance(node, ast.Constant) or type(node.value) is int
        if not isinstance(node, _PARTS) or not is_number:
            raise ExpressionError(f"{text!r} is not understood here")
    known = _FUNCTIONS | {name: Fraction(value) for name, value in names.items()}
    try:
        found = eval(compile(tree, text, "eval"), {"__builtins__": {}}, known)
        values = [Fraction(each) for each in (found if isinstance(found, tuple) else (found,))]
    except ZeroDivisionError:
        raise ExpressionError(f"{text!r} divides by zero") from None
    except TypeError:
        values = []
    for value in values:
        if value.denominator != 1:
            raise ExpressionError(f"{text!r} gives {value}, not a whole number: use ceil( )")
    if not values:
        raise ExpressionError(f"{text!r} is not understood here")
    return tuple(map(int, values))
