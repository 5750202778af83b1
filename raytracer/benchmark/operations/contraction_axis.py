"""One contraction: an operator along one axis of (n, n, n) elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.benchmark.operations._elements import FieldOp, along, block, size_of
from raytracer.benchmark.operations.base import Arrays, Axes, Peer, Work

if TYPE_CHECKING:
    from collections.abc import Callable

EINSUM = ("il,eljk->eijk", "jl,eilk->eijk", "kl,eijl->eijk")


class ContractionAxis(FieldOp):
    """v[e,i,j,k] = sum over l of d[i,l] u[e,l,j,k] for x; along j for y, along k for z."""

    note = "The count of published tables: one pass and one contraction."

    def __init__(self, axis: int) -> None:
        """Create the operation along axis 0, 1 or 2."""
        self.axis = axis
        self.name = f"contraction_{'xyz'[axis]}"
        self.summary = f"an (n, n) operator along {'xyz'[axis]} of (n, n, n) elements"
        self.peers = (Peer("PyTorch einsum", self._torch),)

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """u (elements, n, n, n) and d (n, n)."""
        n = axes["n"]
        return {"u": block(axes), "d": (n, n)}

    def cpu(self, inputs: Arrays) -> Arrays:
        """Compute by matrix products of NumPy."""
        return {"v": along(inputs["d"], inputs["u"], self.axis)}

    def work(self, axes: Axes, dtype: str) -> Work:
        """n multiply-adds per point; u and d read, v written."""
        size, n = size_of(dtype), axes["n"]
        points = axes["elements"] * n**3
        return Work(2 * n * points, size * (points + n * n), size * points)

    def _torch(self, tensors: dict[str, Any], _: Axes) -> Callable[[], Any]:
        """Return an einsum of PyTorch, which allocates its result."""
        import torch

        return lambda: torch.einsum(EINSUM[self.axis], tensors["d"], tensors["u"])


OPS = tuple(ContractionAxis(axis) for axis in range(3))
