"""The histogram of bytes, and that of numbers with any number of bins."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.benchmark.operations.base import (
    DISTRIBUTIONS,
    Array,
    Arrays,
    Axes,
    Op,
    Peer,
    draw,
    sizes_of,
)
from raytracer.errors import UserError

BINS = 256
PIECE = 1 << 22  # keys that are counted at once, because bincount widens every key
TYPES = {"float32": "float", "uint32": "unsigned int", "uint16": "unsigned short"}
# How far float32 edges may be from even ones, because numbers and sums of widths are rounded.
EDGE_ROUNDING, UNEVEN = 2e-7, 0.01  # of the greatest edge, of a bin
RANGE = (-3.0, 3.0)  # of the bins of float32 values, which are normal by default


class Histogram(Op):
    """An operation whose output counts."""

    def output_arrays(self, axes: Axes, dtype: str) -> dict[str, Array]:
        return super().output_arrays(axes, "uint32")


class HistogramBins(Histogram):
    """Even bins between the first and the last edge; values outside are not counted."""

    def values(self, axes: Axes, dtype: str, distribution: str, seed: int) -> Arrays:
        """Draw keys (n,) and edges (bins + 1,), both of `dtype`; keys reach beyond the edges."""
        n, bins = axes["n"], axes["bins"]
        if dtype == "float32":
            keys = draw((n,), dtype, distribution, seed)
            return {"keys": keys, "edges": np.linspace(*RANGE, bins + 1, dtype=np.float32)}
        largest = int(np.iinfo(dtype).max)
        width = max(1, (largest if bins < 1 << 15 else bins) * 3 // 4 // bins)
        lower = (largest - width * bins) // 2 if bins < largest else 0
        even = lower + width * np.arange(bins + 1, dtype=np.int64)
        edges = even.clip(0, largest).astype(dtype)
        return {"keys": _integers(n, dtype, distribution, seed, edges), "edges": edges}

    def check(self, inputs: Arrays) -> None:
        """Raise UserError for edges that are not evenly spaced: the kernels divide by the width."""
        edges = inputs["edges"]
        if not 0 < float(edges[-1]) - float(edges[0]) < float(np.finfo(np.float32).max):
            raise UserError("histogram_bins: edges: give finite numbers that ascend")
        even, allowed = _even(edges)
        far = ~(np.abs(edges.astype(np.float64) - even) <= allowed)  # NaN is far, too
        if far.any():
            at = int(far.argmax())
            raise UserError(
                f"histogram_bins: edges[{at}] is {edges[at]} and would be {even[at]:.9g} if all "
                "bins were as wide: only even bins are counted"
            )


def count_bytes(arrays: Arrays) -> Arrays:
    """Count byte values, uint32 (256,)."""
    keys, total = arrays["keys"], np.zeros(BINS, np.int64)
    for begin in range(0, len(keys), PIECE):
        total += np.bincount(keys[begin : begin + PIECE], minlength=BINS)
    return {"bins": total.astype(np.uint32)}


def count_bins(arrays: Arrays) -> Arrays:
    """Count values between the edges, uint32 (bins,), by the arithmetic of the kernels."""
    keys, edges = arrays["keys"], arrays["edges"]
    bins, total = len(edges) - 1, np.zeros(len(edges) - 1, np.int64)
    lower, upper = edges[0], edges[-1]
    for begin in range(0, len(keys), PIECE):
        part = keys[begin : begin + PIECE]
        if keys.dtype == np.float32:
            inside = part[(part >= lower) & (part < upper)]
            scale = np.float32(bins) / (upper - lower)
            bin_of = np.minimum(((inside - lower) * scale).astype(np.int64), bins - 1)
        else:
            width = max((int(upper) - int(lower)) // bins, 1)
            bin_of = (part.astype(np.int64) - int(lower)) // width
            bin_of = bin_of[(bin_of >= 0) & (bin_of < bins)]
        total += np.bincount(bin_of, minlength=bins)
    return {"counts": total.astype(np.uint32)}


def _even(edges: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Return the edges that the kernels count by, and how far given ones may be from them."""
    numbers = np.arange(len(edges))
    lower, upper, bins = float(edges[0]), float(edges[-1]), len(edges) - 1
    if edges.dtype == np.float32:
        width = (upper - lower) / bins
        allowed = EDGE_ROUNDING * max(abs(lower), abs(upper)) + UNEVEN * width
        return lower + width * numbers, allowed
    width = max((upper - lower) // bins, 1)
    return (lower + width * numbers).clip(max=np.iinfo(edges.dtype).max), 0.0


def _integers(
    n: int, dtype: str, distribution: str, seed: int, edges: NDArray[Any]
) -> NDArray[Any]:
    """Draw integers about the middle of the edges; normal: sigma a sixth of their range."""
    first, last = float(edges[0]), float(edges[-1])
    values = draw((n,), "float32", distribution, seed).astype(np.float64)
    values *= (last - first) / (6 if distribution in ("normal", "sorted") else 2)
    return (values + (first + last) / 2).clip(0, np.iinfo(dtype).max).astype(dtype)


def torch_bincount(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return bincount of PyTorch, which allocates its result."""
    return partial(torch.bincount, of["keys"], minlength=BINS)


def torch_histc(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return histc of PyTorch, which allocates its result."""
    edges = of["edges"]
    return partial(torch.histc, of["keys"], len(edges) - 1, float(edges[0]), float(edges[-1]))


OPS = (
    Histogram(
        name="histogram",
        summary="256 bins of bytes",
        axes={"n": 1 << 30},
        inputs={"keys": "n"},  # normal: mean 110, sigma 25
        outputs={"bins": "256"},
        compute=count_bytes,
        is_exact=True,
        clears=True,
        has_offset=True,
        # Around 16 bytes (a load) and 16 KiB (an iteration of a block), and several iterations.
        awkward=sizes_of(
            "n offset", "1, 15, 17, 255, 4099, 3 9, 16400 1, 16385, 1000003, 20000033"
        ),  # 3 9: all keys before the first aligned address
        dtypes=("uint8",),
        distributions=DISTRIBUTIONS,
        peers=(Peer("PyTorch bincount", torch_bincount),),
        note="The time includes clearing the 256 bins; there are no floating-point operations.",
    ),
    HistogramBins(
        name="histogram_bins",
        summary="any number of even bins of float32 values, or of 16-bit or 32-bit integers",
        axes={"n": 1 << 24, "bins": 1000},
        inputs={"keys": "n", "edges": "bins+1"},
        outputs={"counts": "bins"},
        compute=count_bins,
        is_exact=True,
        clears=True,
        has_offset=True,
        awkward=sizes_of(
            "n bins offset",
            # 2 3 1: all keys before the first aligned address; 65535 bins: three slices.
            "1 1, 15 2, 4099 257, 8193 1000, 2 3 1, 8200 1000 1, 1000003 16385, 300007 65535,"
            "100003 500000, 5000011 100",
        ),
        dtypes=tuple(TYPES),
        distributions=DISTRIBUTIONS,
        macros=lambda _, dtype: {"RT_KEY": TYPES[dtype]},
        peers=(Peer("PyTorch histc", torch_histc, dtypes=("float32",)),),
        note=(
            "Bins are even: of the edges the first and the last are read, the last is outside. The "
            "bins of integers have whole widths. The time includes clearing the counts."
        ),
    ),
)
