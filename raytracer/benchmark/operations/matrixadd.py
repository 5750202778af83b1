"""C = A + B of two row-major matrices."""

from __future__ import annotations

from raytracer.benchmark.operations.base import (
    Arrays,
    Axes,
    Op,
    Output,
    Peer,
    Work,
    shifted,
)
from raytracer.benchmark.operations.vecadd import torch_add

SAMPLED_ROWS = 32  # of a matrix that is too large for a check of the whole


class MatrixAdd(Op):
    """Addition of two matrices: the same traffic as vecadd, in two dimensions."""

    name = "matrixadd"
    summary = "C = A + B of two row-major matrices"
    axes = {"rows": 16384, "cols": 16384}  # noqa: RUF012
    optional_axes = frozenset({"offset"})
    awkward = (
        {"rows": 1, "cols": 1},
        {"rows": 3, "cols": 1030},
        {"rows": 1027, "cols": 5},
        {"rows": 33, "cols": 65},
        {"rows": 257, "cols": 1001},
        {"rows": 91, "cols": 93, "offset": 1},
        {"rows": 5, "cols": 4096, "offset": 2},
        {"rows": 70_001, "cols": 3},
    )
    note = "Accesses coalesce if neighbouring threads are on neighbouring columns, not on rows."

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """a and b (rows, cols)."""
        return {"a": (axes["rows"], axes["cols"]), "b": (axes["rows"], axes["cols"])}

    def offsets(self, axes: Axes, dtype: str) -> dict[str, int]:
        """Return one, two and three times the offset, in float32 numbers."""
        return shifted(axes.get("offset", 0), dict.fromkeys("abc", 4))

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """c (rows, cols)."""
        return {"c": Output((axes["rows"], axes["cols"]), dtype)}

    def reference(self, inputs: Arrays) -> Arrays:
        """The sum in float64."""
        return {"c": inputs["a"].astype("f8") + inputs["b"]}

    def cpu(self, inputs: Arrays) -> Arrays:
        """The sum by NumPy."""
        return {"c": inputs["a"] + inputs["b"]}

    def work(self, axes: Axes, dtype: str) -> Work:
        """Two numbers read and one written per addition."""
        count = axes["rows"] * axes["cols"]
        return Work(count, 8 * count, 4 * count)

    peers = (Peer("PyTorch add", lambda tensors, _: torch_add(tensors)),)


OP = MatrixAdd()
