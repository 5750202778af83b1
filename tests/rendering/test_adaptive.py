"""Adaptive sampling: tiles get samples until their noise is at most a level; passes for a time."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Film, UserError
from raytracer.backends.base import CpuDevice
from raytracer.film.noise import grade_light, measure_mean_light
from raytracer.rendering.adaptive import AdaptiveSampler, FilmAreas
from support.films import film_of, noise_of
from support.project import to_project
from support.scenes import random_scene

SCENE = to_project(random_scene(7, 250))
SMALL: dict[str, Any] = {"width": 200, "height": 64, "samples": 4, "integrator": "ao"}


def error_of(film: Film, truth: Film) -> float:
    """The noise of a film beside one with far more samples."""
    use = (truth.sums[..., 3] > 0) & (film.sums[..., 3] > 0)
    light = measure_mean_light(truth.sums, truth.pixel_counts())
    one, other = (grade_light(each.mean()[use, :3].astype(float) / light) for each in (film, truth))
    return float(np.sqrt(np.square(one - other).mean()))


@pytest.fixture(scope="module")
def image() -> raytracer.Image:
    return raytracer.render(SCENE, noise=0.05, **SMALL)


def test_a_noise_level_is_reached(image: raytracer.Image) -> None:
    """The noise that is told is near the error; tiles without spheres have the fewest samples."""
    counts = image.film.counts
    assert counts is not None
    assert counts.min() >= 4
    assert counts.max() == image.film.samples > 2 * counts.min()
    assert 0.015 < image.metadata["noise"] <= 0.05
    about = image.metadata
    assert (about["samples"], about["samples_fewest"]) == (counts.max(), counts.min())
    assert about["samples_mean"] == pytest.approx(counts.mean())
    assert f"{counts.min()} to {counts.max()} samples per pixel" in repr(image)
    truth = raytracer.render(SCENE, **SMALL | {"samples": 512, "seed": 5}).film
    assert 0.6 < error_of(image.film, truth) / image.metadata["noise"] < 1.3


@pytest.mark.parametrize("seed", range(3))
def test_the_noise_is_that_of_a_picture_at_random(seed: int) -> None:
    """The error beside many other samples is what is told, whatever light and materials are."""
    rng = np.random.default_rng(seed)
    scene = raytracer.Scene.from_arrays(
        rng.normal(size=(40, 3)), rng.uniform(0.2, 0.6, 40), rng.random((40, 3))
    )
    look = str(rng.choice(["soft", "studio", "sun", "rim"]))
    settings: dict[str, Any] = {
        "width": 64, "height": 48, "samples": 8, "look": look,
        "integrator": str(rng.choice(["ao", "path"])),
    }  # fmt: skip
    image = raytracer.render(scene, noise=0.04, **settings)
    truth = raytracer.render(scene, **settings | {"samples": 1024, "seed": 100 + seed}).film
    assert image.metadata["noise"] <= 0.04
    assert 0.6 < error_of(image.film, truth) / image.metadata["noise"] < 1.4


def test_highlights_do_not_decide() -> None:
    """Light that is white in any case counts as white, and pixels in the dark are not exact."""
    light = np.array([0.0, 1.0, 4.0, 16.0, 1e6])
    values = grade_light(light)
    assert (np.diff(values) > 0).tolist() == [True, True, True, False]
    step = 1e-4
    for at, slope in ((0.0, 7.1), (0.25, 1.9), (1.0, 1.0), (4.0, 0.25), (100.0, 0.0)):
        found = (grade_light(np.array(at + step)) - grade_light(np.array(at))) / step
        assert found == pytest.approx(slope, abs=0.06)
    assert np.isfinite(grade_light(np.array([-1.0, 1e30]))).all()
    rng = np.random.default_rng(4)
    sums = (16 * rng.uniform(0.9, 1.1, (40, 40, 4))).astype(np.float32)
    half = (sums / 2 * rng.uniform(0.9, 1.1, sums.shape)).astype(np.float32)
    even = noise_of(film_of(sums, 16), half, 8)
    sums[20, 20, :3] = 1e7  # one pixel, of which half of the samples say four times as much
    first = (sums / 2 * rng.uniform(0.9, 1.1, sums.shape)).astype(np.float32)
    first[20, 20, :3] *= 1.6
    assert noise_of(film_of(sums, 16), first, 8) < 1.3 * even


def test_a_chrome_ball_under_a_soft_light_ends() -> None:
    """Its highlight is noise of a hundred times white, which no number of samples removes."""
    scene = Path(__file__).parents[2] / "scenes" / "three_balls.toml"
    image = raytracer.render(
        scene, width=160, height=90, noise=0.05, samples=16, max_samples=1024,
        look="soft", integrator="ao",
    )  # fmt: skip
    assert image.film.samples <= 1024
    assert image.metadata["noise"] <= 0.05


def test_each_tile_is_that_of_a_plain_render(image: raytracer.Image) -> None:
    """Whatever the number of threads, and a tile has the sums of so many samples."""
    film = image.film
    again = raytracer.render(SCENE, noise=0.05, threads=1, **SMALL)
    np.testing.assert_array_equal(again.film.sums, film.sums)
    np.testing.assert_array_equal(again.film.counts, film.pixel_counts())
    for count in np.unique(film.pixel_counts()):
        plain = raytracer.render(SCENE, **SMALL | {"samples": int(count)})
        here = film.pixel_counts() == count
        np.testing.assert_array_equal(plain.film.sums[here], film.sums[here])


def test_samples_are_added_to_what_each_pixel_has(image: raytracer.Image) -> None:
    more = raytracer.render(SCENE, film=image.film, **SMALL).film
    counts = image.film.pixel_counts() + 4
    np.testing.assert_array_equal(more.counts, counts)
    plain = raytracer.render(SCENE, **SMALL | {"samples": int(counts[20, 100])})
    np.testing.assert_array_equal(plain.film.sums[20, 100], more.sums[20, 100])
    finer = raytracer.render(SCENE, film=image.film, noise=0.04, **SMALL)
    assert finer.metadata["noise"] <= 0.04
    assert (finer.film.pixel_counts() >= counts).all()


def test_films_keep_the_samples_of_pixels(image: raytracer.Image, tmp_path: Path) -> None:
    stored = Film.load(image.film.save(tmp_path / "film.npz"))
    np.testing.assert_array_equal(stored.sums, image.film.sums)
    np.testing.assert_array_equal(stored.counts, image.film.pixel_counts())
    np.testing.assert_array_equal(stored.tonemap(), image.film.tonemap())
    with_counts = raytracer.render(SCENE, film=stored, aovs=["samples"], **SMALL).film
    np.testing.assert_array_equal(with_counts.aovs["samples"], with_counts.pixel_counts())


def test_pictures_show_the_means() -> None:
    """A film of equal means has the picture of a film of equal samples."""
    rng = np.random.default_rng(3)
    mean = rng.random((8, 12, 4)).astype(np.float32)
    counts = rng.choice(np.array([2, 8, 16], np.uint32), (8, 12))
    film = film_of((mean * counts[..., None]).astype(np.float32), 16)
    film.counts = counts
    film.counts[0, 0] = 16
    film.sums[0, 0] = 16 * mean[0, 0]
    even = film_of(mean * 16, 16)
    np.testing.assert_array_equal(film.tonemap(), even.tonemap())
    np.testing.assert_array_equal(film.mean(), even.mean())
    np.testing.assert_array_equal(film.copy().evened().coverage, even.coverage)
    assert film.statistics() == even.statistics()
    film.counts = counts[:4]
    with pytest.raises(UserError, match=r"counts: .* must be uint32"):
        film.tonemap()


def test_levels_that_are_not_reached(image: raytracer.Image) -> None:
    with pytest.warns(
        raytracer.RaytracerWarning, match=r"tiles, after the 8 samples per pixel of max_samples"
    ):
        bounded = raytracer.render(SCENE, noise=1e-6, max_samples=8, **SMALL)
    assert (bounded.film.pixel_counts()[bounded.film.coverage > 0] == 8).all()
    with pytest.warns(raytracer.RaytracerWarning, match="max_samples"):  # `samples` in any case
        more = raytracer.render(SCENE, film=bounded.film, noise=1e-6, max_samples=8, **SMALL)
    np.testing.assert_array_equal(more.film.pixel_counts(), bounded.film.pixel_counts() + 4)


def test_a_level_within_a_time() -> None:
    fractions: list[float] = []
    image = raytracer.render(SCENE, noise=1e-6, time=1e-9, progress=fractions.append, **SMALL)
    assert (image.film.samples, image.film.counts) == (1, None)
    assert fractions == sorted(fractions)
    image = raytracer.render(SCENE, noise=0.1, progress=fractions.append, **SMALL)
    assert image.metadata["noise"] <= 0.1
    assert 0 < max(fractions) <= 1


def test_counts_that_differ_within_a_tile_are_refused(image: raytracer.Image) -> None:
    film = image.film.copy()
    film.counts = film.pixel_counts().copy()
    film.counts[3, 5] += 1
    film.samples = int(film.counts.max())
    for settings in (SMALL, SMALL | {"noise": 0.05}):
        with pytest.raises(UserError, match="counts: differ within tiles of 32x32 pixels"):
            raytracer.render(SCENE, film=film, **settings)


# ---- passes

QUICK: dict[str, Any] = SMALL | {"width": 48, "height": 32}


@pytest.mark.parametrize("parts", [(50, 50), (10, 90), (98, 2)])
def test_noise_of_known_samples(parts: tuple[int, int]) -> None:
    """Normal light with a standard deviation of a fifth of its mean, whichever way it is cut."""
    rng = np.random.default_rng(8)
    light = rng.normal(3.0, 0.6, (sum(parts), 40, 50, 4)).astype(np.float32)
    light[:, :20] = 0.0  # nothing was hit there
    light[..., 3] = light[..., 3] > 0
    earlier = light[: parts[0]].sum(axis=0)
    film = film_of(light.sum(axis=0, dtype=np.float32), sum(parts))
    film.sums[30, 3] = np.nan
    assert noise_of(film, earlier, parts[0]) == pytest.approx(0.2 / 10, rel=0.05)
    assert noise_of(film_of(film.sums * 0, 100), earlier * 0, 50) == 0


def test_time_of_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes double and the last one fits; a film that is begun has a first pass of one sample."""
    now, parts, fractions = 100.0, list[int](), list[float]()
    monkeypatch.setattr("raytracer.rendering.adaptive.time.perf_counter", lambda: now)

    def add(film: Any, count: int, report: Any, first: int) -> float:
        """Each sample takes a second."""
        nonlocal now
        assert first == film.samples
        parts.append(count)
        film.host.samples += count
        film.host.sums += np.float32(count)
        now += count
        report(1.0)
        return float(count)

    job: Any = SimpleNamespace(add=add, device=CpuDevice())
    on_device = job.device.film(Film.blank(2, 2))
    for seconds, expected in ((11.5, [1, 1, 2, 4, 3]), (0.5, [1])):
        areas = FilmAreas(on_device, job.add, job.device, 0)
        assert AdaptiveSampler(areas, 1, None, 100, seconds, fractions.append).run() == sum(
            expected
        )
        assert parts == expected
        assert fractions == sorted(fractions)
        parts.clear()
        fractions.clear()
    assert on_device.samples == 12
    assert (on_device.host.sums == 12).all()


def test_arguments_of_render() -> None:
    assert raytracer.render(SCENE, time=1e-9, **QUICK).film.samples == 1
    for wrong in (0, -1.0, float("nan"), "1"):
        with pytest.raises(UserError, match="time"):
            raytracer.render(SCENE, time=wrong, **QUICK)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"render.noise"):
        raytracer.render(SCENE, noise=0.0, **QUICK)
