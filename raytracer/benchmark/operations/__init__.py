"""The operations of the bench: one module each, found by listing this folder."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from raytracer.benchmark.operations.base import Op
from raytracer.errors import UserError, suggestion


@cache
def modules() -> dict[str, Op]:
    """Return all operations by name, sorted: `OP`, or each of `OPS`, of every module."""
    names = (module.name for module in pkgutil.iter_modules(__path__))
    loaded = [import_module(f"{__name__}.{name}") for name in names if name != "base"]
    every: list[Op] = [module.OP for module in loaded if hasattr(module, "OP")]
    every += [op for module in loaded for op in getattr(module, "OPS", ())]
    return {op.name: op for op in sorted(every, key=lambda op: op.name)}


def names() -> list[str]:
    """Return the names of the operations, sorted."""
    return list(modules())


def find(name: str) -> Op:
    """Return an operation by name; raise UserError for an unknown one."""
    try:
        return modules()[name]
    except KeyError:
        hint = suggestion(name, names())
        raise UserError(f"there is no operation {name!r} to bench; {hint}") from None
