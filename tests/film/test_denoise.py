"""Denoising and bloom: what each does to a film, and that settings reach every picture."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Film, UserError
from raytracer.config.tone_settings import ToneSettings
from raytracer.film import denoise
from raytracer.film.bloom import GLOWS, add_bloom, spread_light
from raytracer.film.denoise import denoise_film, find_guides
from raytracer.film.film import Backdrop, develop, measure
from raytracer.film.image import Image
from raytracer.rendering import pipeline
from support.films import in_front_of, natural
from support.project import to_project
from support.scenes import random_scene

has_library = pytest.mark.skipif(find_spec("pyoidn") is None, reason="pyoidn is not installed")
SETTINGS: dict[str, Any] = {"width": 64, "height": 48, "samples": 2, "integrator": "ao"}
SCENE = to_project(random_scene(7, 250))


class Filter:
    """Stands for the library: means of rows and columns; remembers what it was given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.guides: list[Any] = []
        monkeypatch.setattr(denoise, "filter_color", self)
        monkeypatch.setattr(denoise, "require_denoiser", lambda: None)

    def __call__(self, color: Any, guides: Any, *, hdr: bool, threads: int) -> Any:
        self.guides.append(guides)
        assert color.dtype == np.float32
        assert (color >= 0).all()
        return np.broadcast_to(color.mean(axis=(0, 1)), color.shape)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Filter:
    return Filter(monkeypatch)


def test_a_picture_shows_the_film_without_noise(library: Filter, tmp_path: Path) -> None:
    plain = raytracer.render(SCENE, **SETTINGS)
    image = raytracer.render(SCENE, denoise=True, **SETTINGS)
    np.testing.assert_array_equal(image.film.sums, plain.film.sums)
    assert np.ptp(image.array[..., 0]) == 0
    assert np.ptp(image.to_uint8()[..., 0]) <= 1  # dither
    assert len(library.guides) == 1, "the film is denoised once"
    assert set(image.film.aovs) == {"denoising_albedo", "denoising_normal"}
    image.tonemap(exposure=1.0).to_uint8()
    assert len(library.guides) == 1, "another exposure needs no other light"
    with pytest.raises(UserError, match="the film is denoised"):
        raytracer.render(SCENE, film=image.shown, **SETTINGS)
    more = raytracer.render(SCENE, film=image.film, **SETTINGS)
    assert more.film.samples == 4
    path = image.film.save(tmp_path / "film.npz")
    albedo, normal = find_guides(Film.load(path)) or (None, None)
    np.testing.assert_array_equal(albedo, image.film.aovs["denoising_albedo"])
    np.testing.assert_array_equal(normal, image.film.aovs["denoising_normal"])


def test_guides_are_means_of_first_hits() -> None:
    with pipeline.prepare(SCENE, SETTINGS) as job:
        film, fine = Film.blank(64, 48, (8, 6, 64, 45)), Film.blank(128, 96)
        job.find_aovs(film, ("denoising_albedo", "denoising_normal"))
        whole = pipeline.prepare(SCENE, {"width": 128, "height": 96})
        with whole:
            whole.find_aovs(fine, ("albedo", "normal"))
    for name in ("albedo", "normal"):
        means = fine.aovs[name].reshape(48, 2, 64, 2, 3).mean(axis=(1, 3))[6:45, 8:64]
        np.testing.assert_allclose(film.aovs[f"denoising_{name}"], means, atol=1e-6)


def test_without_a_background_the_coverage_is_denoised(library: Filter) -> None:
    film = natural(20, 10)
    film.sums[2, 3, 0] = np.inf
    result = denoise_film(film)
    assert library.guides == [None, None]
    assert np.isinf(result.sums[2, 3, 0])
    others = np.isfinite(film.sums).all(axis=-1)
    assert np.ptp(result.sums[others], axis=0).max() == 0
    np.testing.assert_allclose(
        result.sums[0, 0, 3], film.sums[..., 3].sum() / film.sums[..., 3].size, rtol=0.01
    )
    film.aovs = {name: np.ones((10, 20, 3), np.float32) for name in ("albedo", "normal")}
    denoise_film(film)
    assert library.guides[-1] is not None, "the pixels' centres are better than nothing"


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(denoise, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"pip install 'raytracer\[denoise\]'"):
        raytracer.render(SCENE, denoise=True, **SETTINGS)
    with pytest.raises(UserError, match=r"raytracer\[denoise\]"):
        denoise_film(natural(4, 4))


@has_library
def test_the_library_removes_noise() -> None:
    """Of one sample it makes a picture nearer to that of many, the same with any threads."""
    scene = to_project(random_scene(7, 250).but(lights=(), ambient=(1, 1, 1)))
    size: dict[str, Any] = {"width": 128, "height": 96, "integrator": "ao"}
    truth = raytracer.render(scene, samples=128, seed=3, **size).array
    noisy = raytracer.render(scene, samples=1, denoise=True, **size)
    before, after = (np.abs(film.mean() - truth).mean() for film in (noisy.film, noisy.shown))
    assert after < 0.75 * before
    one, two = (denoise_film(noisy.film, threads).sums for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


@has_library
@pytest.mark.parametrize("size", [(96, 160), (45, 71), (3, 1)])
def test_the_edges_of_a_picture_are_denoised_like_its_middle(size: tuple[int, int]) -> None:
    height, width = size
    even = np.ones((height, width, 3), np.float32) * (0.3, 0.6, 0.9)
    noise = np.random.default_rng(1).normal(1.0, 0.1, even.shape)
    found = denoise.filter_color((even * noise).astype(np.float32), None, hdr=True)
    assert found.shape == even.shape
    error = np.abs(found / even - 1.0)
    rim = np.ones((height, width), np.bool_)
    rim[1:-1, 1:-1] = False
    assert error[rim].mean() < 0.1
    assert error[rim].max() < 0.3
    flat = denoise.filter_color(np.full_like(found, 0.5), None, hdr=True)
    assert np.abs(flat - 0.5).max() < 0.005


@pytest.mark.parametrize(("shape", "height"), [((33, 20), 33), ((50, 71), 720), ((61, 47), 2900)])
def test_no_light_is_lost(shape: tuple[int, int], height: int) -> None:
    """Also beside an edge, and at a size that is no whole number of steps."""
    light = np.zeros((*shape, 3), np.float32)
    light[1, 2] = 5.0, 0.0, 1e4
    light[-1, -1] = 1.0
    glow = spread_light(light, height)
    np.testing.assert_allclose(glow.sum(axis=(0, 1)), light.sum(axis=(0, 1)), rtol=1e-5)
    assert glow.min() >= 0
    assert glow[1, 2, 0] < 5


def test_a_point_becomes_the_sum_of_gaussians() -> None:
    side = 401
    light = np.zeros((side, side, 1), np.float32)
    light[200, 200] = 1.0
    glow = spread_light(light, 720)[..., 0]
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
    one, two = spread_light(small, 720), spread_light(large, 1440)
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
    result = add_bloom(film, 0.2)
    np.testing.assert_array_equal(film.sums, before)
    assert np.isnan(result.sums[3, 4]).tolist() == [False, True, False, False]
    others = np.isfinite(film.sums).all(axis=-1)
    assert np.isfinite(result.sums[others]).all()
    if opaque:
        np.testing.assert_array_equal(result.sums[..., 3], film.sums[..., 3])
    else:
        assert (result.sums[..., 3] >= np.float32(0.999) * film.sums[..., 3])[others].all()
        assert result.samples == film.samples


def test_every_picture_has_bloom() -> None:
    sums = np.zeros((24, 32, 4), np.float32)
    sums[12, 16] = 40.0, 30.0, 20.0, 1.0
    film = Film(sums, 1, 0, 0, 1280, 720, backdrop=Backdrop((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    settings = ToneSettings(bloom=0.5, dither=False)
    pixels, histogram = develop(film, settings)
    assert pixels[12, 18, 0] > 10
    assert film.tonemap()[12, 18, 0] == 0
    np.testing.assert_array_equal(film.tonemap(bloom=0.5, dither=False), pixels)
    image = Image(film).tonemap(bloom=0.5, dither=False)
    np.testing.assert_array_equal(image.to_uint8(), pixels[..., :3])
    assert image.statistics == film.statistics(bloom=0.5, dither=False)
    np.testing.assert_array_equal(measure(film, settings)["bins"], histogram["bins"])
