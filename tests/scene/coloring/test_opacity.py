"""Opacity by columns, and particles that are faded because a condition does not choose them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.cli import main
from support.particle_files import write

TABLE = "x,y,z,share\n0,0,0,0\n1,0,0,0.25\n2,0,0,0.5\n3,0,0,1\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "a.csv", TABLE)


def opacity(scene: raytracer.Scene) -> list[float]:
    found: Any = scene.spheres[0].opacity
    return np.asarray(found).tolist()  # type: ignore[no-any-return]


def test_opacity_follows_an_expression(table: Path) -> None:
    scene = raytracer.load(table)
    assert opacity(scene.styled(opacity="share / 2")) == [0.0, 0.125, 0.25, 0.5]
    assert opacity(scene.styled(opacity="share", select="x > 1")) == [0.5, 1.0]


def test_file_argument_and_option_say_the_same(table: Path, tmp_path: Path) -> None:
    text = (
        '[[spheres]]\nfile = "a.csv"\nselect = "x < 2"\nrest = 0.5\nopacity = "0.5 + share / 2"\n'
    )
    scene = raytracer.load(
        write(
            tmp_path / "a.toml",
            text + '[render]\nlook = "soft"\nao_samples = 4\nbrightness = "auto"\n'
            "[camera]\nelevation = 35\nvertical_fov = 30\n",
        )
    )
    assert opacity(scene) == [0.5, 0.625, 0.375, 0.5]
    small: Any = {"width": 48, "height": 32, "samples": 2}
    said: dict[str, Any] = {"select": "x < 2", "rest": 0.5, "opacity": "0.5 + share / 2"}
    said["background"] = "white"
    image = raytracer.render(table, **small, **said)
    assert np.array_equal(raytracer.render(scene, **small).array, image.array)
    options = [f"--{name}={value}" for name, value in said.items()]
    film, picture = tmp_path / "a.npz", tmp_path / "a.png"
    words = ["render", str(table), *options, "--size", "48x32", "--samples", "2", "-q"]
    assert main([*words, "-o", str(picture), "--film", str(film)]) == 0
    assert np.array_equal(raytracer.Film.load(film).sums, image.film.sums)
