"""Drafts: their ambient occlusion is filtered, on both devices; nothing else of them is."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import _core
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import Film, develop
from raytracer.model.settings import RenderSettings
from raytracer.packing.view import View
from raytracer.viewer.loaded_scene import LoadedScene
from support.films import film_of

SIZE = 93, 61  # no multiple of a tile, a block, or the lanes of a vector
SOFT = RenderSettings(look="soft")


def packed(count: int = 600, **scene: Any) -> raytracer.Scene:
    """Spheres that touch and hide each other."""
    random = np.random.default_rng(5)
    settings: dict[str, Any] = {"radius": 0.06, "colors": "peru", "render": SOFT} | scene
    return raytracer.Scene.from_arrays(random.random((count, 3)), **settings)


SCENES: dict[str, tuple[Any, dict[str, Any]]] = {
    "spheres": (packed(), {}),
    "orthographic": (packed(), {"ortho": True}),
    "few": (packed(12, radius=0.3), {}),
    "of a few pixels": (packed(5_000, radius=0.03), {}),
    "ground": (packed(), {"ground": True}),
    "bonds": (packed(), {"bonds": 0.1, "style": "ball-and-stick"}),
    "faint": (packed(), {"opacity": 0.8}),
    "wide lights": (packed(), {"look": "studio"}),
}

LIMITS = {"bonds": 0.7, "wide lights": 0.9, "faint": 1.0}
"""Of the error beside that of one ray: sticks are thin; soft shadows, and whether a faint sphere is
there, are not filtered."""


class Sums:
    """Films of a scene's own view.

    Args:
        name: of SCENES.
        backend: "cpu" or "cuda".
    """

    def __init__(self, name: str, backend: str = "cpu", **overrides: Any) -> None:
        scene, more = SCENES[name]
        settings = {"width": SIZE[0], "height": SIZE[1], "ao_samples": 1} | more | overrides
        self.loaded_scene = LoadedScene.load(scene, settings, backend, threads=2)
        self.view = self.loaded_scene.buffers.view.with_size(*SIZE)

    def of(self, view: View, samples: int = 1) -> NDArray[np.float64]:
        job = self.loaded_scene.job
        with job.device.film(Film.blank(*SIZE)) as film:
            film.add(job.scene, view, samples)
            return film.to_host().sums.astype(float) / samples

    def draft(self) -> NDArray[np.float64]:
        return self.of(self.view.as_draft())


def error(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.square(one - two).mean()))


@pytest.mark.parametrize("name", SCENES)
def test_a_draft_is_nearer_to_the_mean_of_many_rays_than_one_ray(name: str) -> None:
    sums = Sums(name)
    centers = sums.view.through_centers()
    truth = sums.of(centers, 64)
    assert error(sums.draft(), truth) < LIMITS.get(name, 0.6) * error(sums.of(centers), truth)


def test_where_all_of_the_sky_is_open_it_is_all_seen() -> None:
    sums = Sums("few")
    one = raytracer.Scene.from_arrays(np.zeros((1, 3)), radius=1.0, colors="peru", render=SOFT)
    sums.loaded_scene = LoadedScene.load(one, {"width": SIZE[0], "height": SIZE[1]}, "cpu")
    sums.view = sums.loaded_scene.buffers.view.with_size(*SIZE)
    plain = sums.of(sums.view.through_centers(), 1)
    np.testing.assert_allclose(sums.draft(), plain, rtol=2e-3)
    assert plain[..., 3].sum() > 500


@pytest.mark.parametrize("name", ["spheres", "bonds", "wide lights"])
def test_a_draft_is_the_same_whatever_computes_it(name: str, default_isa: None) -> None:
    sums = Sums(name)
    expected = sums.draft()
    for isa in _core.isas():
        _core.use_isa(isa)
        np.testing.assert_allclose(sums.draft(), expected, rtol=1e-3, err_msg=isa)


def test_a_film_after_a_draft_is_that_of_any_picture() -> None:
    sums = Sums("spheres")
    job = sums.loaded_scene.job
    with job.device.film(Film.blank(*SIZE)) as film:
        for _ in range(2):
            film.clear()
            film.add(job.scene, sums.view.as_draft(), 1)
        film.clear()
        film.add(job.scene, sums.view, 2)
        assert (film.to_host().sums / 2).tobytes() == sums.of(sums.view, 2).astype("f4").tobytes()


def test_without_ambient_occlusion_a_draft_is_one_sample_of_each_centre() -> None:
    sums = Sums("spheres", integrator="direct")
    assert not sums.view.as_draft().draft
    assert sums.draft().tobytes() == sums.of(sums.view.through_centers()).tobytes()


@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (1, 5), (3, 17), (61, 93), (70, 501)])
def test_smoothing_gives_a_pixel_a_part_of_its_neighbours(
    shape: tuple[int, int], default_isa: None
) -> None:
    height, width = shape
    sums = np.random.default_rng(4).random((height, width, 4), np.float32)
    around = np.pad(sums, ((1, 1), (1, 1), (0, 0)), mode="edge")
    smooth = np.zeros_like(sums)
    for (dy, one), (dx, other) in product(enumerate([0.3, 1.0, 0.3]), repeat=2):
        smooth += np.float32(one * other / 1.6**2) * around[dy : dy + height, dx : dx + width]
    settings = ToneSettings(dither=False)
    expected = develop(film_of(smooth), settings, bits=16)[0]
    for isa in _core.isas():
        _core.use_isa(isa)
        found = develop(film_of(sums), settings, bits=16, neighbor_weight=0.3)[0]
        assert np.abs(found.astype(int) - expected).max() <= 1


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", SCENES)
def test_a_draft_of_a_gpu_is_that_of_the_cpu(name: str) -> None:
    cpu, gpu = Sums(name).draft(), Sums(name, "cuda").draft()
    apart = np.abs(cpu - gpu).max(-1)
    assert apart.mean() < 1e-3
    assert np.mean(apart > 0.02) < 0.01, "single rays meet other spheres at their edges"
