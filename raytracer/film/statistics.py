"""Statistics of a film, from the histogram of its luminance."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp2, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.tone_settings import ToneSettings
from raytracer.system.layout import kernel_constant

# Bins of kernels/film/histogram.h: three special ones, then eight a stop from 2**-16 to 2**15.
UNCOVERED, NON_FINITE, BLACK = map(kernel_constant, ("kBinUncovered", "kBinNonFinite", "kBinBlack"))
FIRST, LAST, OFFSET = map(kernel_constant, ("kFirstBin", "kLastBin", "kBinOffset"))
PERCENTILES = (1, 5, 25, 50, 75, 95, 99)
# The dynamic range lies between these percentiles, so that single pixels do not decide it.
RANGE = (0.1, 99.9)


def compute_bin_edges() -> NDArray[np.float32]:
    """Return the lower edges of the luminance bins from FIRST on, float32 (249,)."""
    return ((np.arange(FIRST, LAST + 1, dtype=np.uint32) + np.uint32(OFFSET)) << 20).view("f4")


@dataclass(frozen=True)
class Statistics:
    """Statistics of a film's luminance, and of its picture.

    Luminance is that of linear sRGB (ITU-R BT.709) before exposure, of the spheres alone: at their
    edges, the background's share of a pixel is removed. With the meter "all" an opaque background
    counts too, so all pixels are covered. Percentiles are taken from bins of an eighth of a stop;
    other values are exact.

    Args:
        pixels: number of pixels.
        covered: pixels in which a camera ray hit a sphere.
        non_finite: covered pixels with a NaN or an infinity, which count nowhere else.
        dark: covered pixels below a luminance of 2**-16, the lower end of the bins.
        average: mean luminance of covered pixels.
        key: 2 to the mean of log2 of the luminance of covered pixels that are not dark.
        median: median luminance of covered pixels.
        percentiles: luminance of covered pixels by percentile, "1" to "99".
        darkest: minimum luminance of pixels that are not dark.
        brightest: maximum luminance of a pixel.
        stops: dynamic range, from the 0.1st to the 99.9th percentile of pixels that are not dark.
        exposure: exposure of the picture, in stops.
        metered: automatic exposure of the film, in stops.
        clipped: share of the covered pixels with a channel that the picture clips.
        black: share of the covered pixels with no channel above code value 1 (of 255).
        bins: number of pixels in each bin of the histogram.
    """

    pixels: int
    covered: int
    non_finite: int
    dark: int
    average: float
    key: float
    median: float
    percentiles: dict[str, float]
    darkest: float
    brightest: float
    stops: float
    exposure: float
    metered: float
    clipped: float
    black: float
    bins: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as a dictionary of JSON types."""
        # `asdict` would copy each of the bins.
        return vars(self) | {"percentiles": dict(self.percentiles), "bins": list(self.bins)}

    def lines(self) -> list[str]:
        """Return the statistics as lines of text."""
        low, high = self.percentiles["5"], self.percentiles["95"]
        return [
            f"pixels      {self.pixels:,}, covered {self.covered:,}"
            + (f", not finite {self.non_finite:,}" if self.non_finite else ""),
            f"luminance   average {self.average:.4g}, key {self.key:.4g}, median {self.median:.4g}",
            f"            5% below {low:.4g}, 5% above {high:.4g}, "
            f"darkest {self.darkest:.4g}, brightest {self.brightest:.4g}",
            f"range       {self.stops:.1f} stops",
            f"exposure    {self.exposure:+.2f} stops (metered {self.metered:+.2f})",
            f"picture     {self.clipped:.2%} clipped, {self.black:.2%} black",
        ]


def compute_statistics(histogram: NDArray[np.void], settings: ToneSettings) -> Statistics:
    """Return the statistics from a FilmHistogram, structured (1,), of a picture."""
    record = histogram[0]
    bins = record["bins"].astype(np.int64)
    lit = int(bins[FIRST:].sum())
    dark, bad, empty = (int(bins[i]) for i in (BLACK, NON_FINITE, UNCOVERED))
    finite, covered = lit + dark, lit + dark + bad
    ends = (float(record["darkest"]), float(record["brightest"])) if lit else (0.0, 0.0)
    shares = percentiles(bins, ends, PERCENTILES, with_dark=True)
    low, high = percentiles(bins, ends, RANGE)
    return Statistics(
        pixels=covered + empty,
        covered=covered,
        non_finite=bad,
        dark=dark,
        average=float(record["luminance_sum"]) / finite if finite else 0.0,
        key=exp2(float(record["log2_sum"]) / lit) if lit else 0.0,
        median=percentiles(bins, ends, (50,), with_dark=True)[0],
        percentiles={f"{p:g}": value for p, value in zip(PERCENTILES, shares, strict=True)},
        darkest=ends[0],
        brightest=ends[1],
        stops=log2(high / low) if lit else 0.0,
        exposure=settings.stops(histogram),
        metered=float(record["exposure"]),
        clipped=int(record["clipped"]) / max(covered, 1),
        black=int(record["black"]) / max(covered, 1),
        bins=tuple(int(count) for count in bins),
    )


def percentiles(
    bins: NDArray[np.int64], ends: tuple[float, float], percents: Sequence[float],
    with_dark: bool = False,
) -> list[float]:  # fmt: skip
    """Return percentiles (0 to 100) of the luminance; 0 if there are no pixels.

    Within a bin, the logarithm of luminance is taken as uniform. bins: counts, int64 (256,). ends:
    darkest and brightest luminance. with_dark: count pixels below the bins too, with luminance 0.
    """
    counts = bins[FIRST : LAST + 1]
    below = int(bins[BLACK]) if with_dark else 0
    total = int(counts.sum()) + below
    if total == below:
        return [0.0] * len(percents)
    filled = counts > 0
    darkest, brightest = np.array(ends, np.float32)
    counts, low = counts[filled], compute_bin_edges()[filled].clip(darkest, brightest)
    high = np.append(compute_bin_edges()[1:], brightest)[filled].clip(low, brightest)
    ranks = np.array(percents) / 100.0 * total
    sums = below + np.cumsum(counts)
    at = np.searchsorted(sums, ranks)
    part = np.clip((ranks - (sums - counts)[at]) / counts[at], 0.0, 1.0)
    values = low[at] * np.exp2(np.log2(high / low)[at] * part)
    is_dark = (ranks < below) | ((below > 0) & (ranks == 0))
    return [float(value) for value in np.where(is_dark, 0.0, values)]
