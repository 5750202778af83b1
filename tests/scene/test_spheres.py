"""Sphere sets: every array is checked at the door, and none is copied without need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raytracer import Material, Scene, SphereSet
from raytracer.errors import DataFileError, SceneError, UserError


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
    ("centers", "radius", "message"),
    [
        ([[0, 0, 0], [0, np.nan, 0]], 1.0, "centers: sphere 1 lies at"),
        ([[0, 0, np.inf]], 1.0, "centers: sphere 0"),
        ([[0, 0]], 1.0, r"centers: has shape \(1, 2\)"),
        ([0, 0, 0], 1.0, r"centers: has shape \(3,\)"),
        ([[0, 0, 0], [1, 2]], 1.0, "centers: the rows differ in length"),
        ([["a", "b", "c"]], 1.0, "centers: holds"),
        ([[1j, 0, 0]], 1.0, "centers: holds complex128"),
        ([[0, 0, 0]] * 3, [1, 0, 1], "radius: sphere 1 has radius 0"),
        ([[0, 0, 0]] * 3, [1, 1, -2], "radius: sphere 2 has radius -2"),
        ([[0, 0, 0]] * 3, [1, np.nan, 1], "radius: sphere 1 has radius nan"),
        ([[0, 0, 0]] * 3, [1, 1], "radius: has 2 radii for 3 spheres"),
        ([[0, 0, 0]], [[1, 2]], r"radius: has shape \(1, 2\)"),
        ([[0, 0, 0]], -1.0, "radius: -1 is not a radius"),
        ([[0, 0, 0]], np.inf, "radius: inf is not a radius"),
    ],
)
def test_refuses_and_says_which(centers: Any, radius: Any, message: str) -> None:
    with pytest.raises(SceneError, match=f"^{message}"):
        SphereSet(centers, radius)
    problem = message.partition(": ")[2]
    with pytest.raises(DataFileError, match=rf"^a\.npz: array '(pos|size)': {problem}"):
        SphereSet(centers, radius, source="a.npz", names={"centers": "pos", "radius": "size"})


def test_index_of_a_late_bad_sphere() -> None:
    centers = np.zeros((100_000, 3), np.float32)
    centers[99_999, 2] = np.nan
    with pytest.raises(SceneError, match="sphere 99999 "):
        SphereSet(centers, 1.0)
    radius = np.ones(100_000)
    radius[70_001] = -1
    with pytest.raises(SceneError, match="sphere 70001 "):
        SphereSet(np.zeros((100_000, 3)), radius)


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
        ({"color": ["red"]}, "color: has 1 colours for 3 spheres"),
        ({"color": [[0, 0, 0], [0, 0, 0], [0, 0, 1.5]]}, r"color: colour 2 is \(0, 0, 1.5\)"),
        ({"color": np.full((3, 3), 300)}, "color: holds integers outside 0..255"),
        ({"color": np.full((3, 3), np.nan)}, "color: colour 0 is not finite"),
        ({"color": np.zeros((3, 4))}, r"color: has shape \(3, 4\)"),
        ({"color": "red", "color_space": "linear"}, "color: 'red' is sRGB"),
        ({"color_space": "rec709"}, "color_space: 'rec709'"),
        ({"color": np.zeros((2, 3)), "color_id": [0, 1, 2]}, "color_id: points outside"),
        ({"color": np.zeros((2, 3)), "color_id": [0, 1]}, "color_id: has shape"),
        ({"color": np.zeros((2, 3)), "color_id": [0.0, 1.0, 0.0]}, "color_id: holds float64"),
        ({"material": 3}, "material: 3 is neither"),
    ],
)
def test_refuses_colors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"^{message}"):
        SphereSet(np.zeros((3, 3)), 1.0, **arguments)


def test_scene_names_the_nearest_material() -> None:
    with pytest.raises(SceneError, match=r"spheres\[0\]\.material: .*did you mean 'gold'"):
        Scene.from_arrays([[0, 0, 0]], 1.0, material="gld", materials={"gold": Material()})


def test_scene_refuses_parts_of_the_wrong_kind() -> None:
    with pytest.raises(SceneError, match="spheres: got a ndarray where a SphereSet belongs"):
        Scene(spheres=[np.zeros(3)])  # type: ignore[list-item]
    with pytest.raises(SceneError, match="camera: got a str"):
        Scene(camera="front")  # type: ignore[arg-type]
    assert Scene().count == 0


@pytest.mark.parametrize(
    "bad", [[], [1, 0], [1, 0, 0, 0], 5, None, [[1, 2, 3]], [1, "red", 0], {"a": 1}, [None] * 3]
)
def test_a_list_of_colors_holds_colors(bad: Any) -> None:
    """An entry that is no colour would shift the palette under the ids of those after it."""
    with pytest.raises(SceneError, match="colour 1 is"):
        SphereSet(np.zeros((3, 3)), 1.0, ["red", bad, "blue"])


@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (6,)])
def test_one_color_has_three_numbers(shape: tuple[int, ...]) -> None:
    with pytest.raises(SceneError, match="one colour has three numbers"):
        SphereSet(np.zeros((3, 3)), 1.0, np.zeros(shape))
