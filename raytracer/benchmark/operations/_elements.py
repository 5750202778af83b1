"""Base classes of operations on spectral elements of (n, n, n) points."""

from __future__ import annotations

from typing import Any

from raytracer.benchmark.operations.base import Arrays, Axes, Op, Output
from raytracer.errors import UserError

POINTS = (*range(2, 17), 20)  # supported n
SAMPLED_ELEMENTS = 64  # of operations that are too large for a reference of the whole
TYPES = {"float32": "float", "float64": "double"}
# Every n, since each has its own partition, with numbers of elements that do not fill a group, and
# more elements than fit on the device at once, for kernels with a loop over elements.
FEW = tuple((2_000 // n**2, n) for n in POINTS if n > 3 and n != 8)
AWKWARD = ((1, 8), (2_003, 8), (1_001, 2), (101, 3), (9_001, 8), *FEW)


class ElementOp(Op):
    """An operation on elements; n and the type are macros, so that loops have constant length."""

    axes = {"elements": 100_000, "n": 8}  # noqa: RUF012
    awkward = tuple({"elements": elements, "n": n} for elements, n in AWKWARD)
    dtypes = ("float32", "float64")
    macro_sizes = {"n": POINTS}  # noqa: RUF012

    def resolve(self, axes: Axes) -> dict[str, int]:
        """Return all sizes; raise UserError for an unsupported n."""
        sizes = super().resolve(axes)
        if sizes["n"] not in POINTS:
            raise UserError(
                f"{self.name}: n = {sizes['n']}: give 2 to {POINTS[-2]}, or {POINTS[-1]}"
            )
        return sizes

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """Return elements and n from the shape of u (elements, n, n, n)."""
        elements, n, _, _ = inputs["u"].shape
        return {"elements": elements, "n": n}

    def macros(self, axes: Axes, dtype: str) -> dict[str, str]:
        """Return n and the type."""
        return {"RT_N": str(axes["n"]), "RT_T": TYPES[dtype]}

    def launch_names(self, axes: Axes, dtype: str) -> dict[str, int]:
        """Return the axes and `bytes`, those of a number."""
        return {**axes, "bytes": size_of(dtype)}

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        """Return the number of elements alone; n is a macro."""
        return (axes["elements"],)


class FieldOp(ElementOp):
    """An operation with one output v per point, whose NumPy implementation accepts any type."""

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """v (elements, n, n, n)."""
        return {"v": Output(block(axes), dtype)}

    def reference(self, inputs: Arrays) -> Arrays:
        """Return the NumPy implementation in float64."""
        outputs = self.cpu({name: array.astype("f8") for name, array in inputs.items()})
        assert outputs is not None
        return outputs


def size_of(dtype: str) -> int:
    """Return the bytes of a number."""
    return 4 if dtype == "float32" else 8


def block(axes: Axes) -> tuple[int, ...]:
    """Return the shape of an array with one value per point."""
    return (axes["elements"], *(axes["n"],) * 3)


def along(d: Any, u: Any, axis: int) -> Any:
    """Apply the operator d (n, n) along axis 0, 1 or 2 of u (elements, n, n, n), in their type."""
    if axis == 0:
        elements, n = u.shape[:2]
        return (d @ u.reshape(elements, n, n * n)).reshape(u.shape)
    return d @ u if axis == 1 else u @ d.T
