"""What a fitted camera shows beside the spheres: room for legend and texts, the simulation box."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Annotations, Camera, Legend, Scene, SimulationBox, SphereSet
from raytracer.annotations.projection import Projection
from raytracer.errors import SceneError
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.packing.pack import pack

SMALL: dict[str, Any] = {"samples": 1, "threads": 1, "backend": "cpu", "look": "flat"}
ONE: dict[str, Any] = {"duration": 1.0, "fps": 1.0}
BAR = ColorScale("viridis", "linear", 0.0, 1.0, "speed")
CELL = ((6.0, 0.0, 0.0), (1.0, 5.0, 0.0), (0.0, 1.0, 7.0))


def cloud(**options: Any) -> Scene:
    """Spheres that fill a cube, seen along -z."""
    centers = np.random.default_rng(1).uniform(-1.0, 1.0, (3000, 3))
    camera = Camera(direction=(0, 0, 1), **options)
    return Scene([SphereSet(centers, 0.15, "red")], camera, color_scales=[BAR])


def extent(image: raytracer.Image) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of what is red, in pixels."""
    pixels = image.to_uint8()[..., :3].astype(int)
    rows, columns = np.nonzero((pixels[..., 0] > 120) & (pixels[..., 1:].max(axis=-1) < 60))
    return columns.min(), columns.max(), rows.min(), rows.max()


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
@pytest.mark.parametrize(("place", "size"), [("right", (240, 240)), ("top", (320, 200))])
def test_spheres_leave_room_for_a_legend(kind: str, place: str, size: tuple[int, int]) -> None:
    settings = {"width": size[0], "height": size[1], **SMALL}
    legend = Annotations(legend=Legend(place=place))
    image = raytracer.render(cloud(type=kind), annotations=legend, **settings)
    bare = raytracer.render(cloud(type=kind), camera=image.camera, **settings)
    left, right, top, bottom = extent(bare)
    drawn = np.nonzero((image.to_uint8() != bare.to_uint8()).any(axis=-1))
    assert right < drawn[1].min() if place == "right" else top > drawn[0].max()
    inside = left > 0 and top > 0 and right < size[0] - 1 and bottom < size[1] - 1
    assert inside
    assert max(right - left, bottom - top) > 0.5 * min(size)  # no more room than it takes


def corners(camera: Camera | None, scene: Scene) -> Any:
    """Places of the corners of the cell in the picture, in parts of its size, (8, 2)."""
    assert camera is not None
    scene.camera = camera
    buffers = pack(scene)
    projection = Projection.of(buffers.view, buffers.center, buffers.scale)
    unit = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)], float)
    points = projection.to_render_space(unit @ np.array(CELL))
    return projection.pixels(points) / buffers.view.size


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
def test_a_box_that_is_drawn_is_framed(kind: str) -> None:
    scene = cloud(type=kind)
    box = Annotations(box=SimulationBox(CELL))
    image = raytracer.render(scene, annotations=box, width=160, height=120, **SMALL)
    found = corners(image.camera, scene)
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    assert min(found.min(), 1.0 - found.max()) < 0.05  # as near as it can be


def test_the_box_of_a_file_is_framed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.xyz"
    lattice = " ".join(str(value) for edge in CELL for value in edge)
    path.write_text(f'1\nLattice="{lattice}" Properties=species:S:1:pos:R:3\nC 1 1 1\n')
    scene = raytracer.load(path)
    near, far = (
        raytracer.render(
            path, fit=fit, width=64, height=48, annotations={"box": False}, **SMALL
        ).camera
        for fit in (True, "box")
    )
    assert corners(near, scene).max() > 1.5
    found = corners(far, raytracer.load(path))
    assert 0.0 <= found.min() <= found.max() <= 1.0
    with pytest.raises(SceneError, match=r"needs a simulation box"):
        raytracer.render(cloud(), fit="box", width=32, height=24, **SMALL)
    (frame,) = raytracer.animate(path, fit="box", width=64, height=48, **ONE, **SMALL)
    found = corners(frame.camera, raytracer.load(path))
    assert 0.0 <= found.min() <= found.max() <= 1.0
    assert frame.camera is not None
    assert far is not None
    assert frame.camera.position == pytest.approx(far.position)
