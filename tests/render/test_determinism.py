"""The same bytes whatever the threads, tiles and crops, and from samples in two goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from support.pictures import Bench
from support.project import shoot, to_project
from support.scenes import random_scene

SCENE = random_scene(41, 300, mirror=True)
SIZE = (97, 61)
MANY: dict[str, Any] = {"samples": 3, "filter": "gaussian", "seed": 5}


@pytest.mark.parametrize("threads", [2, 7])
def test_threads(pictures: Bench, threads: int) -> None:
    one = shoot(SCENE, *SIZE, threads=1, **MANY)
    pictures.agree(one, shoot(SCENE, *SIZE, threads=threads, **MANY), what=f"{threads} threads")


@pytest.mark.parametrize("tile", [8, 13, 32, 64])
def test_tiles(pictures: Bench, tile: int) -> None:
    from raytracer import _core

    plain = shoot(SCENE, *SIZE, **MANY)
    before = _core.tile()
    _core.set_tile(tile)
    try:
        pictures.agree(plain, shoot(SCENE, *SIZE, **MANY), what=f"tiles of {tile}")
    finally:
        _core.set_tile(before)


@pytest.mark.parametrize(
    "crop", [(0, 0, 97, 61), (13, 7, 14, 8), (0, 0, 1, 61), (31, 17, 83, 60), (96, 60, 97, 61)]
)
def test_crop_is_a_part_of_the_full_picture(
    backend: str, pictures: Bench, crop: tuple[int, int, int, int]
) -> None:
    x0, y0, x1, y1 = crop
    full = shoot(SCENE, *SIZE, backend=backend, **MANY)
    part = shoot(SCENE, *SIZE, backend=backend, crop=crop, **MANY)
    pictures.agree(full[y0:y1, x0:x1], part, what=f"crop {crop}")


@pytest.mark.parametrize("filter_name", ["point", "box", "tent", "gaussian"])
@pytest.mark.parametrize(("first", "more"), [(1, 1), (3, 4), (5, 70)])
def test_samples_in_two_goes(backend: str, first: int, more: int, filter_name: str) -> None:
    scene = to_project(SCENE)
    common: dict[str, Any] = {
        "backend": backend,
        "width": 33,
        "height": 21,
        "filter": filter_name,
        "seed": 9,
    }
    start = raytracer.render(scene, samples=first, **common)
    both = raytracer.render(scene, samples=more, first_sample=first, film=start.film, **common)
    whole = raytracer.render(scene, samples=first + more, **common)
    assert both.film.samples == whole.film.samples == first + more
    np.testing.assert_array_equal(both.film.sums, whole.film.sums)


def test_the_caller_keeps_its_floating_point_mode(backend: str) -> None:
    """Flushing tiny numbers to zero is the kernels' own business."""
    shoot(SCENE, *SIZE, backend=backend)
    tiny = np.array([1e-310])
    assert (tiny * 1.0)[0] > 0


def test_twice_the_same(backend: str, pictures: Bench) -> None:
    pictures.agree(
        shoot(SCENE, *SIZE, backend=backend, **MANY), shoot(SCENE, *SIZE, backend=backend, **MANY)
    )


def test_seeds_differ_and_the_centre_of_a_pixel_has_none(backend: str) -> None:
    a, b = (shoot(SCENE, *SIZE, backend=backend, **{**MANY, "seed": s}) for s in (1, 2))
    assert np.abs(a - b).max() > 0.01
    a, b = (shoot(SCENE, *SIZE, backend=backend, seed=s) for s in (1, 2))
    np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("default_isa")
class TestInstructionSets:
    """Every instruction set that this machine has."""

    def picture(self, isa: str, **settings: Any) -> NDArray[np.float32]:
        """A picture by one instruction set."""
        from raytracer import _core

        if isa not in _core.isas():
            pytest.skip(f"this machine has no {isa}")
        _core.use_isa(isa)
        assert _core.isa() == isa
        return shoot(SCENE, *SIZE, **settings)

    @pytest.mark.parametrize("settings", [{}, MANY], ids=["centre", "filtered"])
    def test_avx2_and_avx512_give_the_same_bits(
        self, pictures: Bench, settings: dict[str, Any]
    ) -> None:
        a, b = (self.picture(isa, **settings) for isa in ("avx2", "avx512"))
        pictures.agree(a, b, what="avx2 and avx512")

    def test_portable_differs_by_rounding_only(self, pictures: Bench) -> None:
        from raytracer import _core

        best = self.picture(_core.isas()[0])
        # Without fused multiply-add an edge may fall on the other side of a pixel's centre.
        pictures.agree(best, self.picture("portable"), tolerance=1e-4, share=2e-3, mean=1e-4)
