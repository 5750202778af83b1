"""The mass operator of spectral elements: interpolation, weights, transposed interpolation."""

from __future__ import annotations

from raytracer.benchmark.operations._elements import FieldOp, along, block, size_of
from raytracer.benchmark.operations.base import Arrays, Axes, Work


class Mass(FieldOp):
    """v = B^T (w B u), B being b along all three axes: CEED's BK1, n quadrature points a side."""

    name = "mass"
    summary = "mass of (n, n, n) elements, fused: interpolate, weigh, interpolate back"
    note = (
        "CEED's bake-off kernel BK1 with as many quadrature points as points. u and w are read, v "
        "is written: 3 numbers per point. The chain of three kernels moves 7; rates count 3."
    )

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """u and w (elements, n, n, n), b (n, n) with quadrature points as rows."""
        n = axes["n"]
        return {"u": block(axes), "w": block(axes), "b": (n, n)}

    def cpu(self, inputs: Arrays) -> Arrays:
        """Compute by matrix products of NumPy."""
        v, b = inputs["u"], inputs["b"]
        for axis in range(3):
            v = along(b, v, axis)
        v = inputs["w"] * v
        for axis in range(3):
            v = along(b.T.copy(), v, axis)
        return {"v": v}

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Allow for six successive sums of n products."""
        return 3 * super().tolerance(axes, dtype)

    def work(self, axes: Axes, dtype: str) -> Work:
        """Six contractions and one product per point; u, w and b read, v written."""
        size, n = size_of(dtype), axes["n"]
        points = axes["elements"] * n**3
        return Work((6 * 2 * n + 1) * points, size * (2 * points + n * n), size * points)


OP = Mass()
