"""What the operations on spectral elements share: arrays of (n, n, n) points an element."""

from __future__ import annotations

from typing import Any

from raytracer.benchmark.operations.base import Arrays, Axes, Op, Output
from raytracer.errors import UserError

POINTS = (*range(2, 17), 20)  # n for which the kernels are written
TYPES = {"float32": "float", "float64": "double"}
# Every n, since each is cut in its own way, with numbers of elements that leave groups broken; and
# more elements than a device holds at a time, for kernels that walk over them.
FEW = tuple((2_000 // n**2, n) for n in POINTS if n > 3 and n != 8)
AWKWARD = ((1, 8), (2_003, 8), (1_001, 2), (101, 3), (9_001, 8), *FEW)


class ElementOp(Op):
    """An operation on elements; n and the type are macros: every loop has a known length."""

    axes = {"elements": 100_000, "n": 8}  # noqa: RUF012
    awkward = tuple({"elements": elements, "n": n} for elements, n in AWKWARD)
    dtypes = ("float32", "float64")

    def resolve(self, axes: Axes) -> dict[str, int]:
        """The sizes; raises UserError for an n without kernels."""
        sizes = super().resolve(axes)
        if sizes["n"] not in POINTS:
            raise UserError(
                f"{self.name}: n = {sizes['n']}: give 2 to {POINTS[-2]}, or {POINTS[-1]}"
            )
        return sizes

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """elements and n from u (elements, n, n, n)."""
        elements, n, _, _ = inputs["u"].shape
        return {"elements": elements, "n": n}

    def macros(self, axes: Axes, dtype: str) -> dict[str, str]:
        """n and the type."""
        return {"RT_N": str(axes["n"]), "RT_T": TYPES[dtype]}

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        """elements alone: n is a macro."""
        return (axes["elements"],)


class FieldOp(ElementOp):
    """One whose result is a value v a point, and whose NumPy form computes in any type."""

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """v (elements, n, n, n)."""
        return {"v": Output(block(axes), dtype)}

    def reference(self, inputs: Arrays) -> Arrays:
        """The NumPy form in float64."""
        outputs = self.cpu({name: array.astype("f8") for name, array in inputs.items()})
        assert outputs is not None
        return outputs


def size_of(dtype: str) -> int:
    """Bytes of a number."""
    return 4 if dtype == "float32" else 8


def block(axes: Axes) -> tuple[int, ...]:
    """The shape of one value a point."""
    return (axes["elements"], *(axes["n"],) * 3)


def along(d: Any, u: Any, axis: int) -> Any:
    """The operator d (n, n) along axis 0, 1 or 2 of u (elements, n, n, n), in their type."""
    if axis == 0:
        elements, n = u.shape[:2]
        return (d @ u.reshape(elements, n, n * n)).reshape(u.shape)
    return d @ u if axis == 1 else u @ d.T
