"""The histogram of float32 values, and of 16-bit and 32-bit integers, with any number of bins."""

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
from raytracer.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

TYPES = {"float32": "float", "uint32": "unsigned int", "uint16": "unsigned short"}
# How far float32 edges may be from even ones, because numbers and sums of widths are rounded.
EDGE_ROUNDING, UNEVEN = 2e-7, 0.01  # of the greatest edge, of a bin
RANGE = (-3.0, 3.0)  # of the bins of float32 values, which are normal by default


class HistogramBins(Op):
    """Even bins between the first and the last edge; values outside are not counted."""

    name = "histogram_bins"
    summary = "any number of even bins of float32 values, or of 16-bit or 32-bit integers"
    axes = {"n": 1 << 24, "bins": 1000}  # noqa: RUF012
    optional_axes = frozenset({"offset"})
    any_address = True
    awkward = (
        {"n": 1, "bins": 1},
        {"n": 15, "bins": 2},
        {"n": 4099, "bins": 257},
        {"n": 8193, "bins": 1000},
        {"n": 2, "bins": 3, "offset": 1},  # all keys before the first aligned address
        {"n": 8200, "bins": 1000, "offset": 1},
        {"n": 1_000_003, "bins": 16_385},
        {"n": 300_007, "bins": 65_535},  # three slices
        {"n": 100_003, "bins": 500_000},
        {"n": 5_000_011, "bins": 100},
    )
    dtypes = ("float32", "uint32", "uint16")
    distributions = ("normal", "uniform", "constant", "few", "sorted", "zeros")
    note = (
        "Bins are even: of the edges the first and the last are read, the last is outside. The "
        "bins of integers have whole widths. The time includes clearing the counts."
    )

    def inputs(self, axes: Axes, dtype: str, distribution: str, seed: int) -> Arrays:
        """keys (n,) and edges (bins + 1,), both of `dtype`; values reach beyond the edges."""
        n, bins = axes["n"], axes["bins"]
        if dtype == "float32":
            return {
                "keys": draw((n,), dtype, distribution, seed),
                "edges": _linspace(*RANGE, bins),
            }
        most = 65_535 if dtype == "uint16" else 2**32 - 1
        width = max(1, (most if bins < 1 << 15 else bins) * 3 // 4 // bins)
        lower = (most - width * bins) // 2 if bins < most else 0
        edges = _clipped(lower + width * _range(bins), most, dtype)
        return {"keys": _integers(n, dtype, distribution, seed, edges), "edges": edges}

    def input_shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """Keys (n,) and edges (bins + 1,)."""
        return {"keys": (axes["n"],), "edges": (axes["bins"] + 1,)}

    def check(self, inputs: Arrays) -> None:
        """Raise UserError for edges that are not evenly spaced: the kernels divide by the width."""
        import numpy as np

        edges = inputs["edges"]
        most = float(np.finfo(np.float32).max)
        if not 0 < float(edges[-1]) - float(edges[0]) < most:
            raise UserError("histogram_bins: edges: give finite numbers that ascend")
        even, allowed = _even(edges)
        far = ~(np.abs(edges.astype(np.float64) - even) <= allowed)  # NaN is far, too
        if far.any():
            at = int(far.argmax())
            raise UserError(
                f"histogram_bins: edges[{at}] is {edges[at]} and would be {even[at]:.9g} if all "
                "bins were as wide: only even bins are counted"
            )

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """counts (bins,) uint32, cleared before each call, because kernels add to them."""
        return {"counts": Output((axes["bins"],), "uint32", clear=True)}

    def offsets(self, axes: Axes, dtype: str) -> dict[str, int]:
        """Return the offset for the keys, and twice and three times as many edges and counts."""
        size = key_bytes(dtype)
        return shifted(axes.get("offset", 0), {"keys": size, "edges": size, "counts": 4})

    def reference(self, inputs: Arrays) -> Arrays:
        """The exact counts."""
        return {"counts": count(inputs["keys"], inputs["edges"])}

    def cpu(self, inputs: Arrays) -> Arrays:
        """Compute by bincount of NumPy."""
        return {"counts": count(inputs["keys"], inputs["edges"]).astype("u4")}

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Require equality of every count."""
        return 0.0

    def work(self, axes: Axes, dtype: str) -> Work:
        """Keys and edges read, counts written."""
        return Work(0, key_bytes(dtype) * (axes["n"] + axes["bins"] + 1), 4 * axes["bins"])

    def macros(self, axes: Axes, dtype: str) -> dict[str, str]:
        """Return the type of keys."""
        return {"RT_KEY": TYPES[dtype]}

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """n from the keys, bins from the edges."""
        return {"n": len(inputs["keys"]), "bins": len(inputs["edges"]) - 1}

    peers = (
        Peer("CUB DeviceHistogram", package="cub"),
        Peer("PyTorch histc", lambda tensors, _: torch_histc(tensors), dtypes=("float32",)),
    )


def key_bytes(dtype: str) -> int:
    """Return the bytes of a key, and of an edge."""
    return 2 if dtype == "uint16" else 4


def count(keys: NDArray[Any], edges: NDArray[Any]) -> NDArray[Any]:
    """Count values between the edges, int64 (bins,), by the arithmetic of the kernels.

    Args:
        keys: (n,) float32, uint16 or uint32.
        edges: (bins + 1,) of the same type, evenly spaced.
    """
    import numpy as np

    bins, total = len(edges) - 1, np.zeros(len(edges) - 1, np.int64)
    lower, upper = edges[0], edges[-1]
    piece = 1 << 22
    for begin in range(0, len(keys), piece):
        part = keys[begin : begin + piece]
        if keys.dtype == np.float32:
            inside = part[(part >= lower) & (part < upper)]
            scale = np.float32(bins) / (upper - lower)
            found = np.minimum(((inside - lower) * scale).astype(np.int64), bins - 1)
        else:
            width = max((int(upper) - int(lower)) // bins, 1)
            found = (part.astype(np.int64) - int(lower)) // width
            found = found[(found >= 0) & (found < bins)]
        total += np.bincount(found, minlength=bins)
    return total


def _even(edges: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Return the edges that the kernels count by, and how far given ones may be from them."""
    import numpy as np

    numbers = np.arange(len(edges))
    lower, upper, bins = float(edges[0]), float(edges[-1]), len(edges) - 1
    if edges.dtype == np.float32:
        width = (upper - lower) / bins
        allowed = EDGE_ROUNDING * max(abs(lower), abs(upper)) + UNEVEN * width
        return lower + width * numbers, allowed
    width = max((upper - lower) // bins, 1)
    return (lower + width * numbers).clip(max=np.iinfo(edges.dtype).max), 0.0


def _linspace(lower: float, upper: float, bins: int) -> NDArray[Any]:
    import numpy as np

    return np.linspace(lower, upper, bins + 1, dtype=np.float32)


def _range(bins: int) -> NDArray[Any]:
    import numpy as np

    return np.arange(bins + 1, dtype=np.int64)


def _clipped(values: NDArray[Any], most: int, dtype: str) -> NDArray[Any]:
    return values.clip(0, most).astype(dtype)


def _integers(
    n: int, dtype: str, distribution: str, seed: int, edges: NDArray[Any]
) -> NDArray[Any]:
    """Draw integers about the middle of the edges; normal: sigma a sixth of their range."""
    import numpy as np

    first, last = float(edges[0]), float(edges[-1])
    values = draw((n,), "float32", distribution, seed).astype(np.float64)
    values *= (last - first) / (6 if distribution in ("normal", "sorted") else 2)
    return (values + (first + last) / 2).clip(0, np.iinfo(dtype).max).astype(dtype)


def torch_histc(tensors: dict[str, Any]) -> Callable[[], Any]:
    """Return histc of PyTorch, which allocates its result."""
    import torch

    keys, edges = tensors["keys"], tensors["edges"]
    lower, upper, bins = float(edges[0]), float(edges[-1]), len(edges) - 1
    return lambda: torch.histc(keys, bins, lower, upper)


OP = HistogramBins()
