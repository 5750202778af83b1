"""Bloom: no light is lost, it spreads as Gaussians do, and settings reach every picture."""

import numpy as np
import pytest

from raytracer import Film
from raytracer.film.bloom import GLOWS, bloomed, spread
from raytracer.film.film import Backdrop, measure, measure_and_develop
from raytracer.film.image import Image
from raytracer.film.tone_settings import ToneSettings
from support.films import in_front_of, natural


@pytest.mark.parametrize(("shape", "height"), [((33, 20), 33), ((50, 71), 720), ((61, 47), 2900)])
def test_no_light_is_lost(shape: tuple[int, int], height: int) -> None:
    """Also beside an edge, and at a size that is no whole number of steps."""
    light = np.zeros((*shape, 3), np.float32)
    light[1, 2] = 5.0, 0.0, 1e4
    light[-1, -1] = 1.0
    glow = spread(light, height)
    np.testing.assert_allclose(glow.sum(axis=(0, 1)), light.sum(axis=(0, 1)), rtol=1e-5)
    assert glow.min() >= 0
    assert glow[1, 2, 0] < 5


def test_a_point_becomes_the_sum_of_gaussians() -> None:
    side = 401
    light = np.zeros((side, side, 1), np.float32)
    light[200, 200] = 1.0
    glow = spread(light, 720)[..., 0]
    y, x = np.mgrid[:side, :side] - 200.0
    wanted = np.zeros((side, side))
    for sigma, weight in GLOWS[:-1]:  # the widest one meets the edges
        s2 = (sigma * 720) ** 2
        wanted += weight * np.exp(-(x**2 + y**2) / (2 * s2)) / (2 * np.pi * s2)
    inside = np.hypot(x, y) < 60
    sigma, weight = GLOWS[-1]
    widest = weight / (2 * np.pi * (sigma * 720) ** 2)
    assert np.abs(glow - wanted)[inside].max() < 1.2 * widest + 1e-5


def test_steps_of_a_large_picture_show_nowhere() -> None:
    """A picture of twice the size is the same, but for what two pixels hold."""
    rng = np.random.default_rng(4)
    small = rng.random((90, 120, 1), np.float32) ** 20 * 50
    large = np.repeat(np.repeat(small, 2, axis=0), 2, axis=1)
    one, two = spread(small, 720), spread(large, 1440)
    reduced = two.reshape(90, 2, 120, 2, 1).mean(axis=(1, 3))
    assert np.abs(reduced - one).max() < 0.15 * one.max()
    assert np.corrcoef(reduced.ravel(), one.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("opaque", [False, True])
def test_bloom_of_a_film(opaque: bool) -> None:
    film = natural(40, 30)
    if opaque:
        film = in_front_of(film, (0.1, 0.2, 0.3), (0.5, 0.4, 0.3))
    film.sums[3, 4, 1] = np.nan
    before = film.sums.copy()
    result = bloomed(film, 0.2)
    np.testing.assert_array_equal(film.sums, before)
    assert np.isnan(result.sums[3, 4]).tolist() == [False, True, False, False]
    others = np.isfinite(film.sums).all(axis=-1)
    assert np.isfinite(result.sums[others]).all()
    if opaque:
        np.testing.assert_array_equal(result.sums[..., 3], film.sums[..., 3])
    else:
        assert (result.sums[..., 3] >= np.float32(0.999) * film.sums[..., 3])[others].all()
        assert result.samples == film.samples
    assert bloomed(film, 0.0) is film


def test_every_picture_has_bloom() -> None:
    sums = np.zeros((24, 32, 4), np.float32)
    sums[12, 16] = 40.0, 30.0, 20.0, 1.0
    film = Film(sums, 1, 0, 0, 1280, 720, backdrop=Backdrop((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    settings = ToneSettings(bloom=0.5, dither=False)
    pixels, histogram = measure_and_develop(film, settings)
    assert pixels[12, 18, 0] > 10
    assert film.tonemap()[12, 18, 0] == 0
    np.testing.assert_array_equal(film.tonemap(bloom=0.5, dither=False), pixels)
    image = Image(film).tonemap(bloom=0.5, dither=False)
    np.testing.assert_array_equal(image.to_uint8(), pixels[..., :3])
    assert image.statistics == film.statistics(bloom=0.5, dither=False)
    np.testing.assert_array_equal(measure(film, settings)["bins"], histogram["bins"])
