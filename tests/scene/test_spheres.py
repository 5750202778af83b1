"""Sphere sets: every array is checked at the door, and none is copied without need."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Scene, SphereSet
from raytracer.errors import SceneError, UserError
from raytracer.scene import arrays


class Column:
    """What a table library gives for one of its columns: an array of objects, on request."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._values, dtype or object)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_are_not_copied(kind: type) -> None:
    centers: Any = np.zeros((5, 3), kind)
    radius: Any = np.ones(5, kind)
    spheres = SphereSet(centers, radius)
    assert spheres.centers is centers
    assert spheres.radius is radius
    assert spheres.count == 5


def test_integers_and_lists() -> None:
    spheres = SphereSet([[0, 1, 2]], [3])
    assert spheres.centers.dtype == np.float64
    assert spheres.radius.tolist() == [3.0]  # type: ignore[union-attr]
    assert SphereSet([], 1.0).count == 0
    assert SphereSet(np.zeros((0, 3)), np.zeros(0)).count == 0


@pytest.mark.parametrize(
    ("color", "shape", "ids"),
    [
        (None, (1, 3), None),
        ("red", (1, 3), None),
        ((1, 0, 0), (1, 3), None),
        (np.array([255, 0, 0], np.uint8), (1, 3), None),
        (np.zeros((3, 3), np.float32), (3, 3), None),
        ([[0, 0, 0], [1, 1, 1], [0, 1, 0]], (3, 3), None),
        (["red", "blue", "red"], (2, 3), [0, 1, 0]),
        (["red", [1, 0, 0], "red"], (2, 3), [0, 1, 0]),
        (np.array(["red", "C0", "red"]), (2, 3), [0, 1, 0]),
        (Column(["red", "k", "0.5"]), (3, 3), [0, 1, 2]),
        (Column([[0, 0, 0], [1, 1, 1], [0, 1, 0]]), (3, 3), None),
        (np.ones((3, 4)), (3, 3), None),
        (np.full((3, 4), 255, np.uint8), (3, 3), None),
        ((1.0, 0.0, 0.0, 1.0), (1, 3), None),
        ([(1.0, 0.0, 0.0, 1.0)] * 3, (3, 3), None),
    ],
)
def test_forms_of_color(color: Any, shape: tuple[int, int], ids: list[int] | None) -> None:
    spheres = SphereSet(np.zeros((3, 3)), 1.0, color)
    assert spheres.color.shape == shape
    assert (None if spheres.color_id is None else spheres.color_id.tolist()) == ids


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"color": "redd"}, "color: there is no colour named 'redd'"),
        ({"color": np.zeros((2, 3))}, "color: has 2 colours for 3 spheres"),
        ({"color": [[0, 0, 0], [0, 0, 0], [0, 0, 1.5]]}, r"color: colour 2 is \(0, 0, 1.5\)"),
        (
            {"color": np.full((3, 3), 300)},
            "color: give colours from 0 to 1, or as whole numbers from 0 to 255",
        ),
        ({"color": np.full((3, 3), np.nan)}, "color: colour 0 is not finite"),
        ({"color": np.zeros((3, 5))}, r"color: has shape \(3, 5\)"),
        ({"color": "red", "color_space": "linear"}, "color: 'red' is sRGB"),
        ({"color_space": "rec709"}, "color_space: "),
        ({"color": np.zeros((2, 3)), "color_id": [0, 1, 2]}, "color_id: has an index outside"),
        ({"color": np.zeros((2, 3)), "color_id": [0, 1]}, "color_id: has shape"),
        ({"color": np.zeros((2, 3)), "color_id": [0.0, 1.0, 0.0]}, "color_id: holds float64"),
        ({"material": 3}, "material: 3 is neither"),
    ],
)
def test_refuses_colors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"^{message}"):
        SphereSet(np.zeros((3, 3)), 1.0, **arguments)


@pytest.mark.parametrize(
    "bad", [[], [1, 0], [1, 0, 0, 0, 0], 5, None, [[1, 2, 3]], [1, "red", 0], {"a": 1}, [None] * 3]
)
def test_a_list_of_colors_holds_colors(bad: Any) -> None:
    """An entry that is no colour would shift the palette under the ids of those after it."""
    with pytest.raises(SceneError, match="colour 1 is"):
        SphereSet(np.zeros((3, 3)), 1.0, ["red", bad, "blue"])


CUBE = np.stack(np.meshgrid(*[np.arange(3.0)] * 3), axis=-1).reshape(-1, 3)


def test_spheres_without_a_radius_get_half_their_spacing_whatever_they_come_from(
    tmp_path: Path,
) -> None:
    np.savez(tmp_path / "a.npz", centers=CUBE)
    np.save(tmp_path / "a.npy", CUBE)
    rows = "".join(f"{x},{y},{z}\n" for x, y, z in CUBE)
    (tmp_path / "a.csv").write_text("x,y,z\n" + rows)
    sets = "".join(f'[[spheres]]\nfile = "a.{end}"\n' for end in ("npz", "npy", "csv"))
    sets += f"[[spheres]]\ncenters = {CUBE.tolist()}\n"
    (tmp_path / "scene.toml").write_text(sets)
    made = [
        SphereSet(CUBE),
        *Scene.from_arrays(CUBE).spheres,
        *Scene.from_arrays(CUBE, None).spheres,
        *(raytracer.load(tmp_path / f"a.{end}").spheres[0] for end in ("npz", "npy", "csv")),
        *raytracer.load(tmp_path / "scene.toml").spheres,
    ]
    assert len(made) == 10  # neighbours touch
    assert [spheres.radius for spheres in made] == [pytest.approx(1 / 2)] * 10


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, arrays.LARGE_BLOCK - 1, arrays.PARALLEL_ROWS + 7])
def test_the_first_value_that_is_not_finite_is_named(kind: Any, value: float, at: int) -> None:
    centers = np.ones((arrays.PARALLEL_ROWS + 9, 3), kind)
    radii = np.ones(len(centers), kind)
    centers[at, at % 3], radii[at] = value, value
    centers[-1], radii[-1] = np.nan, np.inf
    for each in (centers, np.asfortranarray(centers), centers[:, ::-1]):
        with pytest.raises(SceneError, match=f"sphere {at} lies at"):
            SphereSet(each)
    with pytest.raises(SceneError, match=f"sphere {at} has radius {value:g}"):
        SphereSet(np.ones_like(centers), radii)
