"""The operations of the bench: a table of `Op` in each module of this folder."""

from __future__ import annotations

from raytracer.benchmark.operations import elements, elementwise, histograms, products
from raytracer.benchmark.operations.base import Op
from raytracer.errors import UserError, suggestion

EVERY = sorted(
    (*elementwise.OPS, *elements.OPS, *histograms.OPS, *products.OPS), key=lambda op: op.name
)
OPERATIONS: dict[str, Op] = {op.name: op for op in EVERY}
"""All operations by name, sorted."""


def names() -> list[str]:
    """Return the names of the operations, sorted."""
    return list(OPERATIONS)


def find(name: str) -> Op:
    """Return an operation by name; raise UserError for an unknown one."""
    if name not in OPERATIONS:
        raise UserError(f"there is no operation {name!r} to bench; {suggestion(name, names())}")
    return OPERATIONS[name]
