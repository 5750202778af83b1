"""c = a + b, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.benchmark.operations.base import (
    Arrays,
    Axes,
    Op,
    Output,
    Peer,
    Work,
    shifted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLED_RUNS, RUN = 64, 1024  # of a vector that is too long for a check of the whole


class VecAdd(Op):
    """Addition of two vectors: 12 bytes and one addition per element, bound by memory."""

    name = "vecadd"
    summary = "c = a + b of two vectors"
    axes = {"n": 1 << 28}  # 1 GiB per vector, far above any L2 cache  # noqa: RUF012
    optional_axes = frozenset({"offset"})
    awkward = (
        {"n": 1},
        {"n": 3},
        {"n": 255},
        {"n": 1025},
        {"n": 4099},
        {"n": 3, "offset": 2},
        {"n": 8195, "offset": 1},  # three different places in 16 bytes
        {"n": 8195, "offset": 4},
        {"n": 1_000_003},
    )
    note = "12 bytes per addition: bound by memory, or by the L2 cache for small n."

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """a and b (n,)."""
        return {"a": (axes["n"],), "b": (axes["n"],)}

    def offsets(self, axes: Axes, dtype: str) -> dict[str, int]:
        """Return one, two and three times the offset, in float32 numbers."""
        return shifted(axes.get("offset", 0), dict.fromkeys("abc", 4))

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """c (n,)."""
        return {"c": Output((axes["n"],), dtype)}

    def reference(self, inputs: Arrays) -> Arrays:
        """The sum in float64."""
        return {"c": inputs["a"].astype("f8") + inputs["b"]}

    def cpu(self, inputs: Arrays) -> Arrays:
        """The sum by NumPy."""
        return {"c": inputs["a"] + inputs["b"]}

    def work(self, axes: Axes, dtype: str) -> Work:
        """Two numbers read and one written per addition."""
        return Work(axes["n"], 8 * axes["n"], 4 * axes["n"])

    peers = (
        Peer("PyTorch add", lambda tensors, _: torch_add(tensors)),
        Peer("CuPy add", lambda arrays, _: cupy_add(arrays), "cupy", instead_of="torch"),
        Peer("CUB DeviceTransform", package="cub"),
    )


def torch_add(tensors: dict[str, Any]) -> Callable[[], Any]:
    """Return the addition of PyTorch into allocated memory."""
    import torch

    out = torch.empty_like(tensors["a"])
    return lambda: torch.add(tensors["a"], tensors["b"], out=out)


def cupy_add(arrays: dict[str, Any]) -> Callable[[], Any]:
    """Return the addition of CuPy into allocated memory."""
    import cupy

    out = cupy.empty_like(arrays["a"])
    return lambda: cupy.add(arrays["a"], arrays["b"], out=out)


OP = VecAdd()
