"""What pixels of a picture show, against the output variable of their numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer

SMALL: dict[str, Any] = {"width": 24, "height": 18, "samples": 1}


def _mixed() -> raytracer.Scene:
    """Spheres of two sets, capsules and an ellipsoid, on a ground."""
    rng = np.random.default_rng(2)
    columns = {
        "mass": np.arange(30), "name": np.array(["a", "b", "c"] * 10), "force": rng.random((30, 3)),
        "other": np.array([{}] * 30, object),
    }  # fmt: skip
    return raytracer.Scene(
        [
            raytracer.SphereSet(
                rng.uniform(-1, 1, (30, 3)), 0.25, columns=columns, velocity="force"
            ),
            raytracer.SphereSet([[0.0, 1.5, 0.0]], 0.4, "red"),
        ],
        capsules=[raytracer.CapsuleSet([[-1, -1, 1]], [[1, 1, 1]], 0.15)],
        ellipsoids=[raytracer.EllipsoidSet([[1.5, 0, 0]], [0.4, 0.8, 0.4])],
        ground=raytracer.Ground(),
    )


@pytest.mark.filterwarnings("ignore:with 1 sample, moving")
@pytest.mark.parametrize("crop", [None, (5, 3, 20, 17)])
def test_each_pixel_shows_what_its_number_says(crop: Any, backend: str) -> None:
    scene = _mixed()
    settings = SMALL | {"backend": backend, "crop": crop, "shutter": 0.1}
    image = raytracer.render(scene, aovs=("id",), **settings)
    numbers = image.film.aovs["id"]
    x0, y0, x1, y1 = image.film.crop
    nouns = set()
    for y in range(y0, y1):
        for x in range(x0, x1):
            picked, number = image.pick(x, y), int(numbers[y - y0, x - x0])
            if number == 2**32 - 1:
                assert picked is None
                continue
            assert picked is not None
            assert picked == scene.describe(number)
            nouns.add(picked.noun)
    assert nouns == {"sphere", "capsule", "ellipsoid"}
    assert image.tonemap(exposure=1).pick(x0, y0) == image.pick(x0, y0)


def test_values_are_those_of_the_particle() -> None:
    described = _mixed().describe(7)
    assert described.values["mass"] == 7
    assert described.values["name"] == "b"
    force = described.values["force"]
    assert isinstance(force, tuple)
    assert len(force) == 3
    assert "other" not in described.values
    assert "mass 7" in described.lines()


def test_a_selection_keeps_the_rows_of_the_file(tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    table.write_text("x,y,z,charge\n0,0,0,5\n9,9,9,6\n0,0,0,7\n")
    image = raytracer.render(table, select="charge > 6", **SMALL, backend="cpu")
    picked = image.pick(12, 9)
    assert picked is not None
    assert (picked.id, picked.row, picked.values["charge"]) == (0, 2, 7)
    table.write_text("x,y,z,charge\n0,0,0,5\n9,9,9,6\n1,0,0,7\n")
    later = image.pick(12, 9)  # the scene was loaded before, and values are read now
    assert later is not None
    assert later.position == picked.position
    assert later.note.endswith("has changed since it was loaded")
    image = raytracer.render(table, radius=0.3, **SMALL, backend="cpu")
    table.write_text("x,y,z,charge\n0,0,0,5\n9,9,9,6\n0,0,0,7\n")
    with pytest.raises(raytracer.UserError, match="pick: the scene or its file has changed"):
        image.pick(12, 9)


def test_the_light_that_is_measured_is_measured_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    image = raytracer.render(rng.uniform(0, 1, (2000, 3)), width=64, height=48, backend="cpu")
    assert image.metadata["settings"]["brightness"] != 1.0
    assert image.pick(32, 24) is not None


def test_what_cannot_be_picked_is_refused(tmp_path: Path) -> None:
    image = raytracer.render(_mixed(), **SMALL, backend="cpu")
    for place in ((-1, 0), (0, 18), (24, 0)):
        with pytest.raises(raytracer.UserError, match="it has 0,0 to 23,17"):
            image.pick(*place)
    with pytest.raises(raytracer.UserError, match=r"x: 0\.5 is not a whole number"):
        image.pick(0.5, 1)  # type: ignore[arg-type]
    with pytest.raises(raytracer.UserError, match="the scene of this picture is unknown"):
        raytracer.Image(image.film).pick(0, 0)
