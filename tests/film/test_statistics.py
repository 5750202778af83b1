"""Statistics of films against NumPy in float64, and films at the edges of what there can be."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import Film, measure, non_finite_pixels
from raytracer.film.statistics import FIRST, LAST, compute_bin_edges
from reference.curves import WEIGHTS
from support.films import film_of, in_front_of, natural

STEP = 1.125  # the widest bin: an eighth of the digits of its lower edge


def luminances(film: Film) -> NDArray[np.float64]:
    """Straight luminance of the covered pixels that are finite."""
    sums = film.sums.astype(np.float64).reshape(-1, 4)
    good = np.isfinite(sums).all(axis=1) & (sums[:, 3] > 0)
    return np.asarray((sums[good, :3] @ WEIGHTS) / sums[good, 3])


def metered(light: NDArray[np.float64], low: float = 10.0, high: float = 95.0) -> float:
    """The exposure that a trimmed mean of log2 asks for, highlights darkened to white at most."""
    logs = np.sort(np.log2(light))
    part = logs[int(len(logs) * low / 100) : int(len(logs) * high / 100)]
    return float(max(np.log2(0.18) - part.mean(), min(0.0, np.log2(1.125) - part[-1])))


def grey(values: Any, alpha: float = 1.0) -> Film:
    sums = np.full((1, len(values), 4), alpha, np.float32)
    sums[0, :, :3] = np.array(values, np.float32)[:, None] * alpha
    return film_of(sums)


def test_numbers_are_those_of_numpy() -> None:
    film = natural(301, 201)
    found = film.statistics()
    light = luminances(film)
    lit = light[light >= 2.0**-16]
    assert found.pixels == 301 * 201
    assert found.covered == len(light)
    assert found.dark == len(light) - len(lit)
    assert found.average == pytest.approx(light.mean(), rel=1e-5)
    assert found.key == pytest.approx(2 ** np.log2(lit).mean(), rel=1e-5)
    assert found.darkest == pytest.approx(lit.min(), rel=1e-6)
    assert found.brightest == pytest.approx(lit.max(), rel=1e-6)
    for percent, value in found.percentiles.items():
        exact = np.percentile(light, float(percent))
        assert exact == 0.0 == value or 1 / STEP < value / exact < STEP, percent
    assert found.median == found.percentiles["50"]
    low, high = np.percentile(lit, (0.1, 99.9))
    assert found.stops == pytest.approx(np.log2(high / low), abs=0.3)


def test_bins_are_those_of_numpy() -> None:
    film = natural(301, 201)
    counts, _ = np.histogram(luminances(film).astype(np.float32), compute_bin_edges())
    bins = np.array(film.statistics().bins)
    assert np.abs(bins[FIRST:LAST] - counts).sum() <= 4  # pixels on an edge
    assert bins.sum() == 301 * 201


def test_clipped_and_black_are_those_of_the_picture() -> None:
    film = grey([0.0, 1e-5, 0.5, 0.999, 1.0, 1.5, 80.0, 0.25])
    found = film.statistics()
    assert (found.clipped, found.black) == (2 / 8, 2 / 8)
    assert film.statistics(exposure=2).clipped == 5 / 8  # 0.25 becomes exactly 1
    assert film.statistics(exposure=2.1).clipped == 6 / 8
    assert film.statistics(tone="reinhard", white=2.0).clipped == 1 / 8


@pytest.mark.parametrize("bounds", [(10.0, 95.0), (0.0, 100.0), (40.0, 60.0)])
@pytest.mark.parametrize("factor", [0.05, 0.3, 1.0, 4.0, 60.0])
def test_metering_is_the_trimmed_mean(bounds: tuple[float, float], factor: float) -> None:
    film = natural(211, 157)
    film.sums[..., :3] *= factor
    light = luminances(film)
    found = film.statistics(exposure="auto", meter_range=bounds)
    assert found.exposure == found.metered
    assert found.metered == pytest.approx(metered(light[light >= 2.0**-16], *bounds), abs=0.03)


def test_a_black_or_empty_background_does_not_fool_the_meter() -> None:
    ball = grey([0.5] * 10)
    for alpha in (0.0, 1.0):
        nothing = np.zeros((1, 90, 4), np.float32)
        nothing[..., 3] = alpha
        film = film_of(np.concatenate([ball.sums, nothing], axis=1))
        assert film.statistics().metered == pytest.approx(ball.statistics().metered, abs=1e-6)
        assert film.statistics(meter="all").metered > 10


BEHIND: list[Any] = [
    ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
    ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.9, 0.2, 0.1), (0.1, 0.5, 1.0)),
]


@pytest.mark.parametrize("behind", BEHIND, ids=["white", "black", "gradient"])
def test_an_opaque_background_does_not_fool_the_meter(behind: Any) -> None:
    alone = natural(301, 201, samples=16)
    film = in_front_of(alone, *behind)
    wanted, found = (each.statistics(exposure="auto") for each in (alone, film))
    assert (found.pixels, found.covered) == (wanted.pixels, wanted.covered)
    assert found.metered == pytest.approx(wanted.metered, abs=2e-3)
    assert found.average == pytest.approx(wanted.average, rel=1e-4)
    assert found.brightest == pytest.approx(wanted.brightest, rel=1e-4)
    # Sums of float32 leave rounding where black stands before white.
    assert np.abs(np.subtract(found.bins, wanted.bins)).sum() < 0.2 * found.pixels
    for percent in ("25", "50", "75", "95"):
        assert found.percentiles[percent] == pytest.approx(wanted.percentiles[percent], rel=1e-2)


@pytest.mark.parametrize("behind", BEHIND, ids=["white", "black", "gradient"])
def test_a_crop_takes_its_own_part_of_the_background_out(behind: Any) -> None:
    whole = in_front_of(natural(90, 120, samples=4), *behind)
    part = Film(whole.sums[70:110, 5:65].copy(), 4, 5, 70, 90, 120, backdrop=whole.backdrop)
    alone = film_of(natural(90, 120, samples=4).sums[70:110, 5:65].copy(), 4)
    assert part.statistics().average == pytest.approx(alone.statistics().average, rel=1e-4)


def test_the_meter_for_all_sees_the_picture_as_it_is_shown() -> None:
    film = in_front_of(natural(90, 70, samples=4), (0.9, 0.2, 0.1), (0.1, 0.5, 1.0))
    flat = film_of(film.sums.copy(), 4)
    flat.sums[..., 3] = 4.0
    found = film.statistics(exposure="auto", meter="all", tone="aces")
    assert found == flat.statistics(exposure="auto", meter="all", tone="aces")
    assert found.covered == found.pixels


def test_only_what_was_hit_is_clipped_or_black() -> None:
    ball = grey([1.5, 0.5, 0.0, 0.2])
    nothing = np.zeros((1, 4, 4), np.float32)
    alone = film_of(np.concatenate([ball.sums, nothing], axis=1))
    for light in (0.0, 1.0):
        found = in_front_of(alone, (light,) * 3, (light,) * 3).statistics(exposure=0.5)
        assert (found.clipped, found.black) == (0.25, 0.25)


def test_a_sun_does_not_fool_the_meter() -> None:
    film = natural(100, 100)
    before = film.statistics().metered
    film.sums[50:55, 50:55, :3] = 1e6 * film.samples
    found = film.statistics(exposure="auto")
    assert found.metered == pytest.approx(before, abs=0.05)
    assert found.brightest > 1e5
    codes = film.tonemap(exposure="auto", tone="agx")
    assert (codes[52, 52, :3] >= 250).all()


def test_all_black() -> None:
    film = grey([0.0] * 12)
    found = film.statistics(exposure="auto")
    assert (found.covered, found.dark, found.black) == (12, 12, 1.0)
    assert (found.average, found.key, found.median, found.stops) == (0.0, 0.0, 0.0, 0.0)
    assert (found.exposure, found.darkest, found.brightest) == (0.0, 0.0, 0.0)
    assert (film.tonemap(exposure="auto") == [0, 0, 0, 255]).all()


def test_alpha_zero_everywhere() -> None:
    film = Film.blank(9, 7)
    film.samples = 4
    found = film.statistics(exposure="auto")
    assert (found.pixels, found.covered, found.clipped, found.black) == (63, 0, 0.0, 0.0)
    assert found.metered == 0.0
    assert not film.tonemap(exposure="auto").any()


def test_what_is_not_finite_is_counted_and_nothing_else() -> None:
    film = natural(80, 60)
    good = film.statistics()
    bad = film.copy()
    bad.sums[0, 0] = bad.sums[5, 7, 2] = np.nan
    bad.sums[9, 3, 3] = np.inf
    found = bad.statistics(exposure="auto")
    was_covered = sum(bool(film.sums[place][3] > 0) for place in ((0, 0), (5, 7), (9, 3)))
    assert found.non_finite == 3
    assert found.covered == good.covered + 3 - was_covered
    assert np.isfinite(list(found.percentiles.values())).all()
    for name in ("average", "key", "median", "metered", "stops"):
        assert getattr(found, name) == pytest.approx(getattr(good, name), rel=0.02), name
    assert non_finite_pixels(bad) == (3, (0, 0))
    assert non_finite_pixels(film) is None


@pytest.mark.usefixtures("default_isa")
@pytest.mark.parametrize("behind", [None, BEHIND[2]])
def test_instruction_sets_count_alike(behind: Any) -> None:
    from raytracer import _core

    film, found = natural(200, 100), []
    if behind:
        film = in_front_of(film, *behind)
    for isa in _core.isas():
        _core.use_isa(isa)
        found.append(measure(film, ToneSettings()))
    for histogram in found[1:]:
        assert int(np.abs(histogram["bins"].astype(int) - found[0]["bins"].astype(int)).sum()) <= 8
        assert histogram["log2_sum"] == pytest.approx(found[0]["log2_sum"], rel=1e-5)
