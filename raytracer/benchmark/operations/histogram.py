"""The histogram of bytes, with 256 bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.benchmark.operations.base import (
    Arrays,
    Axes,
    Op,
    Output,
    Peer,
    Work,
    draw,
    shifted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

BINS = 256


class Histogram(Op):
    """256 bins of bytes: bound by memory, or by conflicts on the counters."""

    name = "histogram"
    summary = "256 bins of bytes"
    axes = {"n": 1 << 30}  # noqa: RUF012
    optional_axes = frozenset({"offset"})
    any_address = True
    # Around 16 bytes (a load) and 16 KiB (an iteration of a block), and several iterations.
    awkward = (
        {"n": 1},
        {"n": 15},
        {"n": 17},
        {"n": 255},
        {"n": 4099},
        {"n": 3, "offset": 9},  # all keys before the first aligned address
        {"n": 16_400, "offset": 1},
        {"n": 16_385},
        {"n": 1_000_003},
        {"n": 20_000_033},
    )
    dtypes = ("uint8",)
    distributions = ("normal", "uniform", "constant", "few", "sorted", "zeros")
    note = "The time includes clearing the 256 bins; there are no floating-point operations."

    def inputs(self, axes: Axes, dtype: str, distribution: str, seed: int) -> Arrays:
        """keys (n,) uint8; normal: mean 110, sigma 25."""
        return {"keys": draw((axes["n"],), dtype, distribution, seed)}

    def input_shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """Keys (n,)."""
        return {"keys": (axes["n"],)}

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """bins (256,) uint32, cleared before each call, because kernels add to them."""
        return {"bins": Output((BINS,), "uint32", clear=True)}

    def offsets(self, axes: Axes, dtype: str) -> dict[str, int]:
        """Return the offset for the keys, and twice as many bins."""
        return shifted(axes.get("offset", 0), {"keys": 1, "bins": 4})

    def reference(self, inputs: Arrays) -> Arrays:
        """The exact counts."""
        return {"bins": count(inputs["keys"])}

    def cpu(self, inputs: Arrays) -> Arrays:
        """Compute by bincount of NumPy."""
        return {"bins": count(inputs["keys"]).astype("u4")}

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Require equality of every count."""
        return 0.0

    def work(self, axes: Axes, dtype: str) -> Work:
        """One byte read per key."""
        return Work(0, axes["n"], 4 * BINS)

    peers = (
        Peer("CUB DeviceHistogram", package="cub"),
        Peer("PyTorch bincount", lambda tensors, _: torch_bincount(tensors)),
        Peer("CuPy bincount", lambda arrays, _: cupy_bincount(arrays), "cupy", instead_of="torch"),
    )


def count(keys: Any) -> Any:
    """Count byte values, int64 (256,); in pieces, because bincount widens every key."""
    import numpy as np

    total = np.zeros(BINS, np.int64)
    piece = 1 << 24
    for begin in range(0, len(keys), piece):
        total += np.bincount(keys[begin : begin + piece], minlength=BINS)
    return total


def torch_bincount(tensors: dict[str, Any]) -> Callable[[], Any]:
    """Return bincount of PyTorch, which allocates its result."""
    import torch

    return lambda: torch.bincount(tensors["keys"], minlength=BINS)


def cupy_bincount(arrays: dict[str, Any]) -> Callable[[], Any]:
    """Return bincount of CuPy, which allocates its result."""
    import cupy

    return lambda: cupy.bincount(arrays["keys"], minlength=BINS)


OP = Histogram()
