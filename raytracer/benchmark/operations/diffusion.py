"""The stiffness operator of spectral elements: gradient, geometric factors, transposed gradient."""

from __future__ import annotations

from typing import Any

from raytracer.benchmark.operations._elements import FieldOp, along, block, size_of
from raytracer.benchmark.operations.base import Arrays, Axes, Work

# Row and column of each of the six factors in the symmetric 3 x 3 matrix of a point.
FACTORS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class Diffusion(FieldOp):
    """v = sum over a, b of D_a^T (g_ab D_b u), D_a being d along axis a: CEED's BK5."""

    name = "diffusion"
    summary = "stiffness of (n, n, n) elements, fused: gradient, six factors, transposed gradient"
    note = (
        "CEED's bake-off kernel BK5, with equal points of solution and quadrature. u and six "
        "factors per point are read, v is written: 8 numbers per point. The chain of three kernels "
        "moves 20; rates count 8, so that they are comparable."
    )

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """u (elements, n, n, n), g (elements, 6, n, n, n) and d (n, n)."""
        n = axes["n"]
        return {"u": block(axes), "g": (axes["elements"], 6, n, n, n), "d": (n, n)}

    def cpu(self, inputs: Arrays) -> Arrays:
        """Compute by matrix products of NumPy."""
        u, g, d = inputs["u"], inputs["g"], inputs["d"]
        gradient = [along(d, u, axis) for axis in range(3)]
        flux: list[Any] = [0, 0, 0]
        for factor, (row, column) in enumerate(FACTORS):
            flux[row] = flux[row] + g[:, factor] * gradient[column]
            if row != column:
                flux[column] = flux[column] + g[:, factor] * gradient[row]
        transposed = d.T.copy()
        return {"v": sum(along(transposed, each, axis) for axis, each in enumerate(flux))}

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Allow for two successive sums of n products."""
        return 2 * super().tolerance(axes, dtype)

    def work(self, axes: Axes, dtype: str) -> Work:
        """Six contractions and 15 operations per point; u, g and d read, v written."""
        size, n = size_of(dtype), axes["n"]
        points = axes["elements"] * n**3
        return Work((6 * 2 * n + 15) * points, size * (7 * points + n * n), size * points)


OP = Diffusion()
