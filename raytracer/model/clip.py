"""Clipping planes."""

import ast
from dataclasses import dataclass
from math import hypot, isfinite
from typing import Any

import numpy as np

from raytracer.config.errors import SceneError, quote
from raytracer.config.field_types import Text
from raytracer.config.fields import Defined, setting
from raytracer.model.views import Vector

MAX_PLANES = 6  # the kernels' `kMaxClipPlanes`

HELP = 'write conditions on x, y and z such as "z < 2", "0 < x < 5 and y > 1" or "x + y < 3"'

Plane = tuple["Vector", float]  # normal and offset of the points p with normal . p <= offset


@dataclass(frozen=True, repr=False, eq=False)
class Clip(Defined, place="clip"):
    """Clipping by planes; cut spheres show a flat face in their colour.

    A condition compares linear expressions in x, y and z, in scene units; `and` joins several,
    which bound a convex region by at most six planes. Give either `keep` or `remove`.

    Args:
        keep: Condition on what is shown: "0 < z < 5", "x + y < 3".
        remove: Condition on what is cut away: "x > 0 and y > 0 and z > 0".

    Raises:
        SceneError: no condition, both, or one with a mistake.
    """

    keep: str | None = setting(None, Text())
    remove: str | None = setting(None, Text())

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.keep is None) == (self.remove is None):
            problem = "give either `keep` or `remove`"
            raise SceneError(f"clip.{'keep' if self.keep is None else 'remove'}: {problem}; {HELP}")
        self.planes()

    def planes(self) -> list[Plane]:
        """Return the half-spaces, with unit normals, whose intersection is kept or removed.

        Raises:
            SceneError: a condition has a mistake.
        """
        name = "keep" if self.remove is None else "remove"
        condition = self.keep if self.remove is None else self.remove
        assert condition is not None
        try:
            planes = parse_half_spaces(condition)
        except ValueError as error:
            raise SceneError(f"clip.{name}: '{quote(condition)}': {error}; {HELP}") from None
        if len(planes) > MAX_PLANES:
            raise SceneError(
                f"clip.{name}: {len(planes)} planes; leave some out, at most {MAX_PLANES} "
                "are possible"
            )
        return planes


def parse_half_spaces(condition: str) -> list[Plane]:
    """Return the half-spaces, with unit normals, of a condition. Raises ValueError."""
    if len(condition) > 1000:
        raise ValueError("is too long")
    try:
        tree = ast.parse(condition.strip(), mode="eval").body
        with np.errstate(all="ignore"):  # infinity is refused
            return [plane for part in _split_conjunction(tree) for plane in _parse_comparison(part)]
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError("is not a condition") from None


def _split_conjunction(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in _split_conjunction(value)]
    return [tree]


def _parse_comparison(tree: ast.expr) -> list[Plane]:
    if not isinstance(tree, ast.Compare):
        raise ValueError("has no comparison with < or >")
    sides = [_linear_coefficients(side) for side in (tree.left, *tree.comparators)]
    planes = []
    for operator, left, right in zip(tree.ops, sides, sides[1:], strict=False):
        if isinstance(operator, (ast.Gt, ast.GtE)):
            left, right = right, left
        elif not isinstance(operator, (ast.Lt, ast.LtE)):
            raise ValueError("has an operator other than < and >")
        *normal, offset = (left - right).tolist()
        length = hypot(*normal)
        if not isfinite(length) or not isfinite(offset):
            raise ValueError("holds a number that is too large")
        if length == 0.0:
            raise ValueError("compares only numbers")
        x, y, z = (part / length for part in normal)
        planes.append(((x, y, z), -offset / length))
    return planes


def _linear_coefficients(tree: ast.expr) -> Any:
    """Return the coefficients of x, y and z, and the constant, of a linear form, float64 (4,)."""
    match tree:
        case ast.Name(id="x" | "y" | "z" as name):
            return np.eye(4)["xyz".index(name)]
        case ast.Constant(value=bool()):
            raise ValueError("has true or false instead of a number")
        case ast.Constant(value=int() | float() as number):
            try:
                return np.array([0.0, 0.0, 0.0, float(number)])
            except OverflowError:
                raise ValueError("holds a number that is too large") from None
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            return (
                -_linear_coefficients(operand)
                if isinstance(sign, ast.USub)
                else _linear_coefficients(operand)
            )
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            a, b = _linear_coefficients(left), _linear_coefficients(right)
            return a - b if isinstance(sign, ast.Sub) else a + b
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            factor, form = sorted(
                (_linear_coefficients(left), _linear_coefficients(right)),
                key=lambda each: each[:3].any(),
            )
            if factor[:3].any():
                raise ValueError("is not linear in x, y and z")
            return form * factor[3]
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            form, factor = _linear_coefficients(left), _linear_coefficients(right)
            if factor[:3].any() or factor[3] == 0.0:
                raise ValueError("divides by something other than a nonzero number")
            return form * (1.0 / factor[3])
    raise ValueError("contains something other than sums and multiples of x, y and z")
