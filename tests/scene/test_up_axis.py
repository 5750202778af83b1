"""The up direction of particles without a scene: of their box, or of the floor they lie on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import Camera, Scene, load
from raytracer.scene.bare import lies_across_y

Points = NDArray[np.float64]


def heap(count: int = 4000) -> Points:
    """A cone on the plane z = 0, evenly filled."""
    rng = np.random.default_rng(3)
    points = rng.uniform((-1, -1, 0), (1, 1, 0.7), (6 * count, 3))
    inside = np.hypot(points[:, 0], points[:, 1]) < 1 - points[:, 2] / 0.7
    return np.asarray(points[inside][:count])


def floor_with_a_house() -> Points:
    rng = np.random.default_rng(4)
    lawn = np.column_stack([rng.uniform(-9, 9, (3000, 2)), rng.normal(0, 0.01, 3000)])
    wall = np.column_stack([rng.uniform(-3, 3, 2000), np.zeros(2000), rng.uniform(0, 6, 2000)])
    return np.concatenate([lawn, wall])


def written(folder: Path, points: Points, name: str = "a.csv", head: str = "x,y,z") -> Path:
    path = folder / name
    np.savetxt(path, points, delimiter=",", header=head, comments="")
    return path


def up_of(path: Path) -> Any:
    camera = load(path).camera
    assert camera is not None
    return camera.up


@pytest.mark.parametrize("points", [heap(), floor_with_a_house()])
def test_a_floor_says_what_is_up(tmp_path: Path, points: Points) -> None:
    assert up_of(written(tmp_path, points)) == (0.0, 0.0, 1.0)
    on_its_side = points[:, [0, 2, 1]]
    assert up_of(written(tmp_path, on_its_side, "b.csv")) == (0.0, 1.0, 0.0)


def test_without_a_floor_z_is_up(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    for index, points in enumerate((rng.normal(size=(5000, 3)), rng.uniform(size=(5000, 3)))):
        assert not lies_across_y(points)
        assert up_of(written(tmp_path, points, f"{index}.csv")) == (0.0, 0.0, 1.0)


def test_two_dimensions_are_seen_from_the_front(tmp_path: Path) -> None:
    points = np.random.default_rng(6).uniform(size=(500, 3)) * (1, 1, 0)
    assert up_of(written(tmp_path, points)) is None


def test_molecules_keep_their_up_direction(tmp_path: Path) -> None:
    path = tmp_path / "water.xyz"
    path.write_text("3\nwater\nO 0 0 0\nH 0.76 0.59 0\nH -0.76 0.59 0.1\n")
    assert up_of(path) is None


def test_arrays_are_as_files() -> None:
    camera = Scene.from_object(heap()).camera
    assert camera is not None
    assert (camera.up, camera.fit) == ((0.0, 0.0, 1.0), "bulk")
    stated = Scene.from_object(heap(), camera=Camera(up="x")).camera
    assert stated is not None
    assert stated.up == (1.0, 0.0, 0.0)
