"""Arithmetic expressions of kernel headers: whole numbers from sizes."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction

from raytracer.errors import RaytracerError, suggestion

_FUNCTIONS: dict[str, Callable[..., Fraction | int]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "max": max,
    "min": min,
}
_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction | int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


class ExpressionError(RaytracerError):
    """An expression cannot be evaluated."""


def whole_numbers(text: str, names: Mapping[str, int]) -> tuple[int, ...]:
    """Evaluate expressions that are separated by commas; division is exact.

    text: like "ceil(n / 128), ceil(m / 128)", of + - * / //, ceil, floor, min and max. Raises
    ExpressionError for other text, and where a value is not a whole number.
    """
    try:
        tree = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        raise ExpressionError(f"{text!r} is not arithmetic") from None
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    if not parts:
        raise ExpressionError("an empty expression is not understood here")
    values = [_value(part, names) for part in parts]
    for value in values:
        if value.denominator != 1:
            raise ExpressionError(f"{text!r} gives {value}, not a whole number: use ceil( )")
    return tuple(int(value) for value in values)


def _value(node: ast.expr, names: Mapping[str, int]) -> Fraction:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int(value)):
            return Fraction(value)
        case ast.Name(id=name) if name in names:
            return Fraction(names[name])
        case ast.Name(id=name):
            raise ExpressionError(f"{name!r} has no value; {suggestion(name, sorted(names))}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            try:
                return Fraction(_OPERATORS[type(op)](_value(left, names), _value(right, names)))
            except ZeroDivisionError:
                raise ExpressionError(f"{ast.unparse(node)} divides by zero") from None
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as args, keywords=[]) if (
            name in _FUNCTIONS and (len(args) == 1) == (name in ("ceil", "floor"))
        ):
            return Fraction(_FUNCTIONS[name](*(_value(argument, names) for argument in args)))
    raise ExpressionError(f"{ast.unparse(node)!r} is not understood here")
