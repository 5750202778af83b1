"""Hidden lines, outlines, fading with the depth, and the room that annotations get."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import (
    Annotations,
    Camera,
    DepthCue,
    Legend,
    Outline,
    Scene,
    SimulationBox,
    SphereSet,
)
from raytracer.annotations.projection import Projection
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.config.errors import SceneError
from raytracer.packing.pack import pack

SMALL: dict[str, Any] = {"samples": 1, "filter": "point", "threads": 1, "backend": "cpu"}


def render(scene: Scene, annotations: Annotations, **options: Any) -> NDArray[Any]:
    """Pixels, uint8 (h, w, 4)."""
    settings = {"width": 200, "height": 200, "look": "flat", **SMALL, **options}
    return raytracer.render(scene, annotations=annotations, **settings).pixels()


def looking(*spheres: tuple[float, float, float, float, str], **options: Any) -> Scene:
    """Spheres (x, y, z, radius, colour) along -z, 10 units high."""
    sets = [SphereSet([each[:3]], each[3], each[4]) for each in spheres]
    view: dict[str, Any] = {"type": "orthographic", "height": 10.0} | options
    return Scene(sets, Camera(position=(0, 0, 20), look_at=(0, 0, 0), **view))


def redness(pixels: NDArray[Any]) -> NDArray[np.float64]:
    """How far each pixel is covered by red, 0..1, where everything else is white."""
    found: NDArray[np.float64] = 1.0 - pixels[..., 1] / 255.0
    return found


@pytest.mark.parametrize("perspective", [False, True])
def test_a_sphere_hides_the_lines_behind_it(perspective: bool) -> None:
    camera = {"type": "perspective", "height": None, "vertical_fov": 28.0} if perspective else {}
    box = Annotations(
        box=SimulationBox(((4, 0, 0), (0, 4, 0), (0, 0, 4)), (-2, -2, -2), 4.0, "red", "lines")
    )
    # One sphere before the front face, and one between the front face and the back face.
    before = render(looking((2.0, 2.0, 5.0, 1.0, "white"), **camera), box)
    between = render(looking((2.0, 2.0, 0.0, 1.0, "white"), **camera), box)
    empty = render(looking((0.0, 0.0, -9.0, 0.1, "white"), **camera), box)
    lines = [redness(each).sum() for each in (before, between, empty)]
    assert lines[0] < lines[1] - 10.0
    if perspective:  # the back edges are apart from those in front, and partly hidden
        assert lines[1] < lines[2] - 10.0
    x, y = 140, 60  # the corner of the front face at (2, 2)
    if not perspective:
        near = slice(y - 10, y + 10), slice(x - 10, x + 10)
        assert redness(before)[near].max() < 0.05
        assert redness(between)[near].max() > 0.9


def test_lines_end_in_front_of_the_camera() -> None:
    box = SimulationBox(((40, 0, 0), (0, 40, 0), (0, 0, 400)), (-20, -20, -200), color="red")
    camera = {"type": "perspective", "height": None}
    pixels = render(looking((0.0, 0.0, 0.0, 1.0, "white"), **camera), Annotations(box=box))
    assert redness(pixels).sum() > 100.0  # edges of a box around the camera run to the corners


@pytest.mark.parametrize("width", [1.0, 1.5, 2.0, 3.7, 9.0])
@pytest.mark.parametrize("side", [150, 400, 1300])
def test_an_outline_is_as_wide_as_it_says(width: float, side: int) -> None:
    scene = looking((0.0, 0.0, 0.0, 4.0, "white"))
    line = Annotations(outline=Outline(width=width))
    crop = (0, side // 2 - 2, side, side // 2 + 2)
    pixels = render(scene, line, width=side, height=side, crop=crop, samples=16, filter="box")
    ink = (255.0 - pixels[1, :, :3].astype(float)).mean(axis=-1) / 255.0
    assert ink.sum() / 2.0 == pytest.approx(width, abs=0.15)  # it is crossed twice


def test_outlines_have_the_same_width_in_all_directions() -> None:
    scene = looking((0.0, 0.0, 0.0, 4.0, "white"))
    line = Annotations(outline=Outline(width=3.0, color="red"))
    pixels = render(scene, line, width=400, height=400)
    y, x = np.mgrid[:400, :400] + 0.5
    angle = np.arctan2(y - 200, x - 200)
    for start in np.arange(-np.pi, np.pi, np.pi / 8):
        sector = (angle >= start) & (angle < start + np.pi / 8)
        near = sector & (np.abs(np.hypot(x - 200, y - 200) - 160) < 4)
        assert redness(pixels)[near].sum() == pytest.approx(np.pi / 8 * 160 * 3.0, rel=0.05)


def test_where_outlines_are() -> None:
    # The rim of the right sphere is 2 units in front of the left one, which it covers in part.
    scene = looking((-1.0, 0.0, 0.0, 2.0, "white"), (1.0, 0.0, 4.0, 2.0, "white"))

    def dark(**options: Any) -> int:
        pixels = render(scene, Annotations(outline=Outline(width=2.0, **options)))
        return int((pixels[80:120, 70:130, 0] < 128).any(axis=1).sum())  # of rows between middles

    assert dark() == 40
    assert dark(step=0.5) == 40
    assert dark(step=6.0) == 0
    assert dark(at="silhouette") == 0


def test_depth_cue_mixes_with_the_distance() -> None:
    scene = looking(
        (-3.0, 0.0, 4.0, 1.0, "white"),
        (0.0, 0.0, 0.0, 1.0, "white"),
        (3.0, 0.0, -4.0, 1.0, "white"),
    )
    scene.background = raytracer.Background(color="black")
    cue = DepthCue("red", near=15.0, far=23.0, strength=0.8)
    pixels = render(scene, Annotations(depth_cue=cue)).astype(int)
    # The nearest points of the spheres are at depths 15, 19 and 23.
    shown = [pixels[100, x, 1] for x in (40, 100, 160)]
    assert shown[0] >= 253
    assert shown[1] == pytest.approx(255 * 0.6, abs=3)
    assert shown[2] == pytest.approx(255 * 0.2, abs=3)
    assert pixels[5, 5, :3].tolist() == [0, 0, 0]  # the background stays
    usual = render(scene, Annotations(depth_cue=DepthCue("red", near=15.0, far=23.0)))
    assert usual[100, 160, 1] == pytest.approx(255 * 0.3, abs=3)  # 0.7 of what is far


def test_fading_leaves_alpha_alone() -> None:
    scene = looking((0.0, 0.0, 0.0, 3.0, "white"))
    scene.background = raytracer.Background(transparent=True)
    plain = render(scene, Annotations(), samples=16, filter="box")
    faded = render(scene, Annotations(depth_cue=DepthCue("red")), samples=16, filter="box")
    np.testing.assert_array_equal(plain[..., 3], faded[..., 3])
    assert (plain != faded).any()


PICTURE: dict[str, Any] = {"samples": 1, "threads": 1, "backend": "cpu", "look": "flat"}
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
    settings = {"width": size[0], "height": size[1], **PICTURE}
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
    projection = Projection.of(buffers.view, buffers.space)
    unit = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)], float)
    points = projection.space.point(unit @ np.array(CELL))
    return projection.pixels(points) / buffers.view.size


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
def test_a_box_that_is_drawn_is_framed(kind: str) -> None:
    scene = cloud(type=kind)
    box = Annotations(box=SimulationBox(CELL))
    image = raytracer.render(scene, annotations=box, width=160, height=120, **PICTURE)
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
            path, fit=fit, width=64, height=48, annotations={"box": False}, **PICTURE
        ).camera
        for fit in (True, "box")
    )
    assert corners(near, scene).max() > 1.5
    found = corners(far, raytracer.load(path))
    assert 0.0 <= found.min() <= found.max() <= 1.0
    with pytest.raises(SceneError, match=r"needs a simulation box"):
        raytracer.render(cloud(), fit="box", width=32, height=24, **PICTURE)
    (frame,) = raytracer.animate(path, fit="box", width=64, height=48, **ONE, **PICTURE)
    found = corners(frame.camera, raytracer.load(path))
    assert 0.0 <= found.min() <= found.max() <= 1.0
    assert frame.camera is not None
    assert far is not None
    assert frame.camera.position == pytest.approx(far.position)
