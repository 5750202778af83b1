"""The gradient of spectral elements: an operator along each axis of an (n, n, n) block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError
from raytracer.ops.base import Arrays, Axes, Op, Output, Peer, Work, draw

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS = (*range(2, 17), 20)  # n for which the kernels are written
TYPES = {"float32": "float", "float64": "double"}


class Contraction(Op):
    """gx[e,i,j,k] = sum over l of d[i,l] u[e,l,j,k]; gy and gz the same along j and k."""

    name = "contraction"
    summary = "gradient of (n, n, n) elements: an (n, n) operator along each axis"
    axes = {"elements": 100_000, "n": 8}  # noqa: RUF012
    # Every way a kernel cuts elements: pairs, odd and prime n, whole and broken groups of elements.
    awkward = (
        {"elements": 1, "n": 8},
        {"elements": 2_003, "n": 8},
        {"elements": 1_001, "n": 2},
        {"elements": 101, "n": 3},
        {"elements": 53, "n": 5},
        {"elements": 37, "n": 7},
        {"elements": 7, "n": 16},
        {"elements": 3, "n": 20},
    )
    dtypes = ("float32", "float64")
    note = (
        "u is read once and three outputs are written. Tables that circulate count one pass and "
        "one contraction instead: 0.2048 GB and 0.819 GFLOP for 100,000 elements of n = 8 in "
        "float32, where the whole gradient is 0.8192 GB and 2.458 GFLOP."
    )

    def resolve(self, given: Axes) -> dict[str, int]:
        """The sizes; raises UserError for an n without kernels."""
        sizes = super().resolve(given)
        if sizes["n"] not in POINTS:
            raise UserError(
                f"contraction: n = {sizes['n']}: give 2 to {POINTS[-2]}, or {POINTS[-1]}"
            )
        return sizes

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """elements and n from u (elements, n, n, n)."""
        elements, n, _, _ = inputs["u"].shape
        return {"elements": elements, "n": n}

    def macros(self, axes: Axes, dtype: str) -> dict[str, str]:
        """n and the type, so that every loop has a known length."""
        return {"RT_N": str(axes["n"]), "RT_T": TYPES[dtype]}

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        """elements alone: n is a macro."""
        return (axes["elements"],)

    def inputs(self, axes: Axes, dtype: str, distribution: str, seed: int) -> Arrays:
        """u (elements, n, n, n) and d (n, n)."""
        n = axes["n"]
        return {
            "u": draw((axes["elements"], n, n, n), dtype, distribution, seed),
            "d": draw((n, n), dtype, distribution, seed + 1),
        }

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """gx, gy and gz (elements, n, n, n)."""
        n = axes["n"]
        return {name: Output((axes["elements"], n, n, n), dtype) for name in ("gx", "gy", "gz")}

    def reference(self, inputs: Arrays) -> Arrays:
        """The gradient in float64."""
        return gradient(inputs["u"].astype("f8"), inputs["d"].astype("f8"))

    def cpu(self, inputs: Arrays) -> Arrays:
        """NumPy's matrix products."""
        return gradient(inputs["u"], inputs["d"])

    def work(self, axes: Axes, dtype: str) -> Work:
        """Three contractions of n multiply-adds a point; u and d read, three outputs written."""
        size = 4 if dtype == "float32" else 8
        n, points = axes["n"], axes["elements"] * axes["n"] ** 3
        return Work(3 * 2 * n * points, size * (points + n * n), 3 * size * points)

    peers = (Peer("PyTorch einsum", lambda tensors, _: torch_einsum(tensors)),)


def gradient(u: Any, d: Any) -> Arrays:
    """The operator d (n, n) along the three axes of u (elements, n, n, n), in their type."""
    elements, n, _, _ = u.shape
    return {
        "gx": (d @ u.reshape(elements, n, n * n)).reshape(u.shape),
        "gy": d @ u,
        "gz": u @ d.T,
    }


def torch_einsum(tensors: dict[str, Any]) -> Callable[[], Any]:
    """Three einsums, which allocate their results."""
    import torch

    u, d = tensors["u"], tensors["d"]
    return lambda: (
        torch.einsum("il,eljk->eijk", d, u),
        torch.einsum("jl,eilk->eijk", d, u),
        torch.einsum("kl,eijl->eijk", d, u),
    )


OP = Contraction()
