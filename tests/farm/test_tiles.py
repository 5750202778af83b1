"""One picture by several workers: the same bytes, with samples that are added later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.cli import main
from raytracer.farm.tiles import digest_of, tiles

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
    assert digest_of(more.film.sums) == digest_of(alone.film.sums)


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
    assert "workers: 0 is not between 1 and 1024" in capsys.readouterr().err
