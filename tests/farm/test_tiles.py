"""One picture by several workers: the same bytes, with samples that are added later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.backends.group import BAND_HEIGHT
from raytracer.cli import main
from raytracer.farm.choice import crew_of
from raytracer.farm.tiles import TileCrew, TileOrder, spread_bands, tiles
from raytracer.film.film import Film
from raytracer.pipeline import prepare

SMALL: dict[str, Any] = {"width": 150, "height": 100, "samples": 2, "backend": "cpu"}


@pytest.mark.parametrize(("crop", "workers"), [((0, 0, 150, 100), 2), ((7, 3, 8, 4), 3),
                                               ((5, 0, 3000, 2000), 2)])  # fmt: skip
def test_tiles_cover_each_pixel_once(crop: tuple[int, int, int, int], workers: int) -> None:
    seen = np.zeros((crop[3], crop[2]), np.int32)
    for x0, y0, x1, y1 in tiles(crop, workers):
        assert x0 < x1
        assert y0 < y1
        seen[y0:y1, x0:x1] += 1
    assert (seen[crop[1] :, crop[0] :] == 1).all()
    assert seen.sum() == (crop[2] - crop[0]) * (crop[3] - crop[1])


def test_workers_make_the_film_of_one_process(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    scene = raytracer.Scene.from_arrays(rng.normal(size=(200, 3)), 0.2, "gold")
    options = SMALL | {"integrator": "ao", "workers": 2}
    one = raytracer.render(scene, **options)
    more = raytracer.render(scene, **options, film=one.film, crop=None)
    alone = raytracer.render(scene, **options | {"samples": 4, "workers": None})
    assert more.film.samples == 4
    np.testing.assert_array_equal(more.film.sums, alone.film.sums)
    np.testing.assert_array_equal(more.to_uint8(), alone.to_uint8())
    assert more.metadata["workers"]["count"] == 2


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["render", "three_balls", "--size", "150x100", "--samples", "2", "--noise", "0.05",
                 "--backend", "cpu", "--quiet", "--film"]  # fmt: skip
    for name, more in (("a", ["--workers", "2"]), ("b", [])):
        path = str(tmp_path / name)
        assert main([*arguments, f"{path}.npz", "-o", f"{path}.png", *more]) == 0
    films = [raytracer.Film.load(tmp_path / f"{name}.npz") for name in "ab"]
    np.testing.assert_array_equal(films[0].sums, films[1].sums)
    assert main(["render", "three_balls", "--only", "1,1,0", "--workers", "2"]) == 2
    assert "leave out" in capsys.readouterr().err
    assert main(["render", "three_balls", "--workers", "0", "-o", str(tmp_path / "c.png")]) == 2
    assert "workers: must be at least 1, not 0" in capsys.readouterr().err


WHOLE, WIDE, HIGH, DOT = (0, 0, 3840, 2160), (5, 7, 640, 100), (0, 0, 9, 20_000), (3, 3, 4, 4)


@pytest.mark.parametrize(("crop", "workers"), [(WHOLE, 2), (WIDE, 3), (HIGH, 2), (DOT, 4)])
def test_bands_cover_each_row_once_and_are_spread(
    crop: tuple[int, int, int, int], workers: int
) -> None:
    x0, y0, x1, y1 = crop
    rows = np.zeros(y1 - y0, np.int32)
    found = spread_bands(crop, workers)
    assert len(found) <= workers
    for part in found:
        from_middle = [abs(top + bottom - y0 - y1) for _, top, _, bottom in part]
        assert from_middle == sorted(from_middle)
        for left, top, right, bottom in part:
            assert (left, right) == (x0, x1)
            assert (top - part[0][1]) % BAND_HEIGHT == 0
            rows[top - y0 : bottom - y0] += 1
    assert (rows == 1).all()
    if len(found[0]) > 16:  # the mean of their rows is that of the picture
        middle = np.mean([(top + bottom) / 2 for _, top, _, bottom in found[0]])
        assert middle == pytest.approx((y0 + y1) / 2, rel=0.05)
        assert len(found[0]) - len(found[-1]) <= 1


def test_parts_of_bands_make_the_same_film(tmp_path: Path) -> None:
    """A worker without a GPU that gets bands renders one after another."""
    scene = raytracer.Scene.from_arrays([[0.0, 0.0, 0.0], [1.0, 0.5, 0.0]], 0.5)
    size = {"width": 150, "height": 90, "samples": 2}
    with prepare(scene, size, backend="cpu", keep=True) as job:
        assert job.kept is not None
        order = TileOrder(job.kept[1], job.view, "cpu", 1, bands=True)
        with crew_of(1, None, "cpu", 1) as crew, job.film(Film.blank(150, 90)) as film:
            seen: list[float] = []
            helpers = TileCrew(crew, order)
            helpers.add(film, 1, seen.append, None)
            helpers.add(film, 1, None, None)
            sums = film.to_host().sums.copy()
        with job.film(Film.blank(150, 90)) as film:
            film.add(job.scene, job.view, 2)
            np.testing.assert_array_equal(sums, film.to_host().sums)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
