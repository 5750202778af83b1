"""The gradient of spectral elements: an operator along each axis of an (n, n, n) block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.benchmark.operations._elements import ElementOp, along, block, size_of
from raytracer.benchmark.operations.base import Arrays, Axes, Count, Output, Peer, Work

if TYPE_CHECKING:
    from collections.abc import Callable


class Contraction(ElementOp):
    """gx[e,i,j,k] = sum over l of d[i,l] u[e,l,j,k]; gy and gz the same along j and k."""

    name = "contraction"
    summary = "gradient of (n, n, n) elements: an (n, n) operator along each axis"
    note = "u is read once and three outputs are written."

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """u (elements, n, n, n) and d (n, n)."""
        n = axes["n"]
        return {"u": block(axes), "d": (n, n)}

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """gx, gy and gz (elements, n, n, n)."""
        return {name: Output(block(axes), dtype) for name in ("gx", "gy", "gz")}

    def reference(self, inputs: Arrays) -> Arrays:
        """The gradient in float64."""
        return gradient(inputs["u"].astype("f8"), inputs["d"].astype("f8"))

    def cpu(self, inputs: Arrays) -> Arrays:
        """Compute by matrix products of NumPy."""
        return gradient(inputs["u"], inputs["d"])

    def work(self, axes: Axes, dtype: str) -> Work:
        """Three contractions of n multiply-adds per point; u and d read, three outputs written."""
        size = size_of(dtype)
        n, points = axes["n"], axes["elements"] * axes["n"] ** 3
        return Work(3 * 2 * n * points, size * (points + n * n), 3 * size * points)

    def count(self, axes: Axes, dtype: str) -> Count:
        """One pass over one array and one contraction; the others are not counted."""
        points = axes["elements"] * axes["n"] ** 3
        label = "one pass and one contraction"
        return Count(label, 2 * axes["n"] * points, size_of(dtype) * points)

    peers = (Peer("PyTorch einsum", lambda tensors, _: torch_einsum(tensors)),)


def gradient(u: Any, d: Any) -> Arrays:
    """Apply the operator d (n, n) along the three axes of u (elements, n, n, n)."""
    return {name: along(d, u, axis) for axis, name in enumerate(("gx", "gy", "gz"))}


def torch_einsum(tensors: dict[str, Any]) -> Callable[[], Any]:
    """Return three einsums, which allocate their results."""
    import torch

    u, d = tensors["u"], tensors["d"]
    return lambda: (
        torch.einsum("il,eljk->eijk", d, u),
        torch.einsum("jl,eilk->eijk", d, u),
        torch.einsum("kl,eijl->eijk", d, u),
    )


OP = Contraction()
