"""Cones, ellipsoids and flat capsules of files and arrays: taken, refused, described."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import CapsuleSet, ConeSet, EllipsoidSet, Scene, Transform
from raytracer.errors import SceneError
from raytracer.scene.packing.pack import pack
from raytracer.scene.packing.solids import turned
from reference.scene import unit
from reference.solids import matrix

CONES = """
[[cones]]
starts = [[0, 0, 0], [0, 1, 0]]
ends = [[1, 0, 0], [2, 1, 0]]
"""
ELLIPSOIDS = """
[[ellipsoids]]
centers = [[0, 0, 0], [0, 1, 0]]
"""


def loaded(folder: Path, text: str) -> Scene:
    path = folder / "solids.toml"
    path.write_text(text, encoding="utf-8")
    return raytracer.load(path)


def test_a_scene_file(tmp_path: Path) -> None:
    text = CONES + 'radii = [0.1, 0]\nend_radii = [0, 0.3]\ncolor = "red"\nend_color = "blue"\n'
    text += 'color_change = "smooth"\ntransform = { scale = 2.0, translate = [0, 0, 5] }\n'
    text += ELLIPSOIDS + "semi_axes = [1, 2, 3]\norientations = [[2, 0, 0, 0], [0, 0, 0, 4]]\n"
    text += 'colors = ["red", "lime"]\ntransform = { rotate = [0, 0, 90] }\n'
    text += '[[capsules]]\nstarts = [[9, 0, 0]]\nends = [[9, 0, 1]]\nradius = 1\ncaps = "flat"\n'
    scene = loaded(tmp_path, text)
    assert scene.solid_count == 5
    assert "1 capsule, 2 cones, 2 ellipsoids" in repr(scene)
    assert [scene.describe(i).lines()[0] for i in (0, 1, 3)] == [
        "capsule 0", "cone 1", "ellipsoid 3",
    ]  # fmt: skip
    assert scene.describe(2).lines()[1:4] == ["from 0, 2, 5", "to 4, 2, 5", "radii 0 and 0.6"]
    assert scene.describe(4).lines()[2:4] == ["semi-axes 1, 2, 3", "quaternion 0, 0, 0, 1"]
    with pytest.raises(SceneError, match="they go from 0 to 4"):
        scene.describe(5)
    buffers = pack(scene)
    assert (buffers.form == [2, 5, 5, 6, 6]).all()
    assert buffers.shapes.shape == (4, 8)
    half = buffers.axis * buffers.scale
    assert half[3:].round(5).tolist() == [[2, 1, 3], [2, 1, 3]]  # turned by 90 degrees
    again = loaded(tmp_path, text)
    assert pack(again).digest() == buffers.digest()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CONES, "cones[0].radius: is missing"),
        (CONES + "radius = -1", "cones[0].radius"),
        (CONES + "radius = 0", "cones[0].end_radius: both radii are 0"),
        (CONES + "radii = [1, 0]", "cones[0].end_radius: cone 1: both radii are 0"),
        (CONES + "radii = [1, 1, 1]", "cones[0].radii: has 3 radii for 2 cones"),
        (CONES + "radius = 1\nend_radii = [1, nan]", "cones[0].end_radii: cone 1 has radius nan"),
        (CONES + "radius = 1\nend_radii = [1, -2]", "cones[0].end_radii: cone 1 has radius -2"),
        (CONES + "radius = 1\nend_radii = [1, true]", "cones[0].end_radii: holds true or false"),
        (CONES + "radius = 1\nradii = [1, 1]", "cones[0].radii: leave out either radius or radii"),
        (CONES + "radius = 1\ncaps = 'flat'", "cones[0].caps: unknown key"),
        (CONES + "radius = 1\ncolor_change = 'slow'", "cones[0].color_change"),
        (CONES.replace("[1, 0, 0]", "[0, 0, 0]") + "radius = 1", "ends: cone 0 ends where"),
        (CONES.replace("[1, 0, 0], ", "") + "radius = 1", "cones[0].ends: has 1 end for 2 starts"),
        (ELLIPSOIDS, "ellipsoids[0].semi_axes: is missing"),
        (ELLIPSOIDS + "semi_axes = [1, 2]", "ellipsoids[0].semi_axes: has shape (2,)"),
        (ELLIPSOIDS + "semi_axes = [[1, 2, 3]]", "ellipsoids[0].semi_axes: has 1 rows for 2"),
        (ELLIPSOIDS + "semi_axes = [1, 0, 3]", "semi_axes: ellipsoid 0 has a semi-axis 0"),
        (ELLIPSOIDS + "semi_axes = [1, inf, 3]", "semi_axes: ellipsoid 0 has a number"),
        (
            ELLIPSOIDS + "semi_axes = [1, 1, 1]\norientations = [0, 0, 0, 0]",
            "ellipsoids[0].orientations: ellipsoid 0 has a quaternion of length 0",
        ),
        (ELLIPSOIDS + "semi_axes = [1, 1, 1]\ncolors = ['red']", "colors: has 1 colours for 2"),
        (ELLIPSOIDS + "semi_axes = [1, 1, true]", "ellipsoids[0].semi_axes: holds true or false"),
    ],
)
def test_wrong_keys_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SceneError) as raised:
        loaded(tmp_path, text)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: ConeSet([[0, 0, 0]], [[1, 0, 0]], None), "radius: is None"),
        (lambda: ConeSet([[0, 0, 0]], [[1, 0, 0]], 1, caps="flat"), "caps: cones have flat ends"),
        (
            lambda: CapsuleSet([[0, 0, 0]], [[1, 0, 0]], 1, caps="square"),
            "caps: 'square' is neither",
        ),
        (
            lambda: CapsuleSet([[0, 0, 0]], [[0, 0, 0]], 1, caps="flat"),
            "ends: capsule 0 ends where",
        ),
        (
            lambda: CapsuleSet([[0, 0, 0]], [[1, 0, 0]], 1, color_change="2"),
            "color_change: '2' is neither",
        ),
        (lambda: EllipsoidSet([[0, 0, 0]], None), "semi_axes: is None"),
        (lambda: EllipsoidSet([[0, 0, 0]], "abc"), "semi_axes"),
        (lambda: EllipsoidSet([[0, 0, np.nan]], (1, 1, 1)), "centers: ellipsoid 0 lies at"),
        (
            lambda: Scene(cones=[CapsuleSet([[0, 0, 0]], [[1, 0, 0]], 1)]),  # type: ignore[list-item]
            "cones",
        ),
        (lambda: Scene(ellipsoids=3), "ellipsoids"),  # type: ignore[arg-type]
        (
            lambda: pack(
                Scene(
                    ellipsoids=[
                        EllipsoidSet([[0, 0, 0], [1, 0, 0]], (1, 1, 1)),
                        EllipsoidSet([[1e30, 0, 0]], (1, 1, 1)),
                    ]
                )
            ),
            "too far",
        ),
    ],
)
def test_wrong_arrays_are_named(made: Any, said: str) -> None:
    with pytest.raises(SceneError) as raised:
        made()
    assert said in str(raised.value)


def test_orientations_turn_with_the_set() -> None:
    rng = np.random.default_rng(0)
    quaternions = unit(rng.normal(size=(50, 4)))
    for _ in range(20):
        rotation = Transform(rotate=rng.uniform(-180, 180, 3)).linear()
        found = matrix(turned(rotation, quaternions))
        assert np.abs(found - rotation @ matrix(quaternions)).max() < 1e-12


def test_empty_sets() -> None:
    nothing = np.zeros((0, 3))
    made = Scene(
        spheres=[raytracer.SphereSet([[0, 0, 0]], 1.0)],
        cones=[ConeSet(nothing, nothing, 1.0)],
        ellipsoids=[EllipsoidSet(nothing, (1, 1, 1))],
    )
    assert made.solid_count == 0
    assert pack(made).count == 1
