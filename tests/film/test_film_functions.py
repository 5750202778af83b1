"""What makes a picture of a film, as functions: curves, sRGB, dither, codes, histogram bins."""

import numpy as np
import pytest

from raytracer.config.tone_settings import CURVES
from raytracer.film.statistics import BLACK, FIRST, LAST, NON_FINITE, UNCOVERED, compute_bin_edges
from raytracer.system.layout import enum_value
from reference.curves import REFERENCES, WEIGHTS, srgb_encode
from support.probe import Floats, Probe

COUNT = 10_000


def colors(low: float, high: float) -> Floats:
    """Linear RGB from 2**low to 2**high."""
    rng = np.random.default_rng(1)
    return np.exp2(rng.uniform(low, high, (COUNT, 3))).astype(np.float32)


@pytest.mark.parametrize("curve", CURVES)
def test_curves_are_those_of_their_sources(probe: Probe, curve: str) -> None:
    """To 1e-5 of the code value: a hundredth of a step of 8 bits, a step of 16."""
    light = colors(-9, 15)
    found = probe("tone_curve", light, integer=enum_value("ToneCurve", curve), number=4.0)
    wanted = REFERENCES[curve](light.astype(np.float64))
    assert np.abs(srgb_encode(found) - srgb_encode(wanted)).max() < 1e-5


def test_srgb(probe: Probe) -> None:
    x = np.concatenate([np.linspace(0, 1, COUNT), np.exp2(np.linspace(-20, 0, COUNT))])
    x = x.astype(np.float32)
    found = probe("srgb_encode", x)[:, 0]
    assert np.abs(found - srgb_encode(x)).max() < 1e-6
    ends = probe("srgb_encode", [-1.0, 2.0, np.nan, np.inf])[:, 0]
    np.testing.assert_allclose(ends, [0, 1, 0, 1], atol=1e-6)


def bayer(levels: int) -> np.ndarray:
    """Bayer's matrix (1973) of 2**levels on a side, by doubling."""
    matrix = np.zeros((1, 1), np.int64)
    for _ in range(levels):
        matrix = np.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
    return matrix


def test_dither_thresholds_are_those_of_bayers_matrix(probe: Probe) -> None:
    """In equal steps, with the middle of all at one half."""
    y, x = np.mgrid[0:16, 0:24].astype(np.uint32)
    found = probe("dither_threshold", x.ravel(), y.ravel())[:, 0].reshape(16, 24)
    np.testing.assert_array_equal(found[:8, :8], found[8:, 16:])
    step = (1 - 2 / 32) / 64
    wanted = 1 / 32 + step * (bayer(3) + 0.5)
    np.testing.assert_allclose(found[:8, :8], wanted, atol=1e-7)


@pytest.mark.parametrize("bits", [8, 16])
def test_code_values(probe: Probe, bits: int) -> None:
    """Sums of four samples at another exposure: each code is next to the exact value."""
    levels = 2**bits - 1
    rng = np.random.default_rng(2)
    coverage = rng.integers(0, 5, COUNT).astype(np.float32)
    light = colors(-9, 1)
    near = np.linspace(0.99, 1.01, 400)[:, None] * 2**0.5  # of what counts as black and as clipped
    light[:400], light[400:800] = near * 0.5 / (12.92 * 255), near
    sums = light * coverage[:, None]
    tone = {"samples": 4, "bits": bits, "exposure": -0.5, "white": 4.0}
    place = np.zeros((COUNT, 2), np.uint32)
    found = probe("tone_map_pixel", sums, coverage, place, tone=tone)
    codes = found[:, :4].copy().view(np.uint32).astype(np.float64)
    straight = sums / np.maximum(coverage, 1)[:, None].astype(np.float64) * 2.0**-0.5
    slack = 0.5 + levels * 2e-6
    assert np.abs(codes[:, :3] - levels * srgb_encode(straight)).max() <= slack
    assert np.abs(codes[:, 3] - levels * coverage / 4).max() <= slack
    covered = coverage > 0
    top = straight.max(axis=1)
    sure = np.abs(top - 1) > 1e-5
    np.testing.assert_array_equal((found[:, 4] == 1)[sure], (covered & (top > 1))[sure])
    dark = np.abs(top * 12.92 * 255 - 0.5) > 1e-4
    np.testing.assert_array_equal(
        (found[:, 5] == 1)[dark], (covered & (top * 12.92 * 255 < 0.5))[dark]
    )


def test_bins_of_the_histogram(probe: Probe) -> None:
    light = colors(-18, 17)
    coverage = np.full(COUNT, 2.0, np.float32)
    found = probe("pixel_light", light * 2, coverage)
    luminance = light.astype(np.float64) @ WEIGHTS
    lit = luminance >= 2.0**-16
    sure = np.abs(luminance * 2.0**16 - 1) > 1e-5
    np.testing.assert_array_equal((found[:, 2] == 1)[sure], lit[sure])
    np.testing.assert_allclose(found[:, 1], luminance, rtol=1e-6)
    bins = found[:, 0].copy().view(np.uint32)
    wanted = FIRST + np.searchsorted(compute_bin_edges(), luminance, side="right") - 1
    near = np.abs(luminance[:, None] / compute_bin_edges() - 1).min(axis=1) < 1e-5
    np.testing.assert_array_equal(
        bins[lit & ~near], np.minimum(wanted, LAST)[lit & ~near].astype(np.uint32)
    )
    assert (bins[~lit & sure] == BLACK).all()


def test_bins_of_their_own(probe: Probe) -> None:
    sums = np.array([[0, 0, 0], [np.nan, 1, 1], [1, np.inf, 1], [0, 0, 0]])
    found = probe("pixel_light", sums, [0.0, 1.0, 1.0, 1.0])
    bins = found[:, 0].copy().view(np.uint32)
    assert bins.tolist() == [UNCOVERED, NON_FINITE, NON_FINITE, BLACK]
    assert (found[:, 1:] == 0).all()
