"""The advection operator of spectral elements: velocity times gradient."""

from __future__ import annotations

from raytracer.benchmark.operations._elements import FieldOp, along, block, size_of
from raytracer.benchmark.operations.base import Arrays, Axes, Work


class Advection(FieldOp):
    """v = c_0 D_0 u + c_1 D_1 u + c_2 D_2 u, D_a being d along axis a."""

    name = "advection"
    summary = "velocity times gradient of (n, n, n) elements, fused"
    note = (
        "c is the velocity in the coordinates of the element, geometric factors included. u and c "
        "are read, v is written: 5 numbers per point. The chain of two kernels moves 11; rates "
        "count 5."
    )

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """u (elements, n, n, n), c (elements, 3, n, n, n) and d (n, n)."""
        n = axes["n"]
        return {"u": block(axes), "c": (axes["elements"], 3, n, n, n), "d": (n, n)}

    def cpu(self, inputs: Arrays) -> Arrays:
        """Compute by matrix products of NumPy."""
        u, c, d = inputs["u"], inputs["c"], inputs["d"]
        return {"v": sum(c[:, axis] * along(d, u, axis) for axis in range(3))}

    def work(self, axes: Axes, dtype: str) -> Work:
        """Three contractions and 5 operations per point; u, c and d read, v written."""
        size, n = size_of(dtype), axes["n"]
        points = axes["elements"] * n**3
        return Work((3 * 2 * n + 5) * points, size * (4 * points + n * n), size * points)


OP = Advection()
