"""Standard views: what is to the right and up in each, as in OVITO; the up axis of particles."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

import raytracer.film.formats
from raytracer import Camera, Scene, load
from raytracer.commands.cli import main
from raytracer.packing.pack import pack_with_camera
from support.particle_files import write

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}

# To the right and up in the picture: OVITO's viewports of these names, whose camera matrices have
# these columns, and the six axes of ParaView's toolbar seen from the other side.
OVITO = {
    "right": ("y", "z"), "left": ("-y", "z"), "back": ("-x", "z"), "front": ("x", "z"),
    "top": ("x", "y"), "bottom": ("x", "-y"),
    "x": ("y", "z"), "-x": ("-y", "z"), "y": ("-x", "z"), "-y": ("x", "z"),
    "z": ("x", "y"), "-z": ("x", "-y"),
}  # fmt: skip

# With y up, as in the scene files of this project.
Y_UP = {
    "front": ("x", "y"), "back": ("-x", "y"), "right": ("-z", "y"), "left": ("z", "y"),
    "top": ("x", "-z"), "bottom": ("x", "z"),
    "x": ("-z", "y"), "-x": ("z", "y"), "z": ("x", "y"), "-z": ("-x", "y"), "y": ("x", "-z"),
}  # fmt: skip


def along(name: str) -> Any:
    return np.array(AXES[name[-1]]) * (-1 if name[0] == "-" else 1)


def three_spheres() -> Scene:
    """A sphere on each positive axis, and one at the origin: 0, x, y, z by number."""
    centers = [(0, 0, 0), (4, 0, 0), (0, 4, 0), (0, 0, 4)]
    return Scene.from_arrays(centers, 0.5, ["white", "red", "green", "blue"])


def place_of(number: int, ids: Any) -> Any:
    """The middle of a sphere in the picture, in pixels: to the right and up."""
    rows, columns = np.nonzero(ids == number)
    return np.array([columns.mean(), -rows.mean()])


@pytest.mark.parametrize(("up", "table"), [(None, OVITO), ("z", OVITO), ("y", Y_UP)])
def test_right_and_up_of_each_view(up: Any, table: dict[str, tuple[str, str]]) -> None:
    scene = three_spheres()
    for view, (right, above) in table.items():
        scene.camera = Camera(view=view, up=up)
        buffers, _ = pack_with_camera(scene)
        camera = buffers.view.camera[0]
        for name, axis in (("right", right), ("up", above)):
            found = camera[name] / np.linalg.norm(camera[name])
            assert np.array_equal(found, along(axis)), (view, up, name, found)
        forward = np.cross(along(above), along(right))
        assert np.array_equal(camera["forward"], forward), (view, up)


@pytest.mark.parametrize("view", ["-x", "front", "bottom"])
def test_a_picture_shows_the_axes_where_the_view_says(view: str) -> None:
    """Where the sphere at the origin is in front of that on the axis along which it looks."""
    image = raytracer.render(
        three_spheres(), view=view, ortho=True, aovs=["id"], width=61, height=61, samples=1
    )
    ids = image.film.aovs["id"]
    for axis, expected in zip(OVITO[view], [(1, 0), (0, 1)], strict=True):
        seen = place_of("0xyz".index(axis[-1]), ids) - place_of(0, ids)
        away = seen / np.abs(seen).max() * (-1 if axis[0] == "-" else 1)
        np.testing.assert_allclose(away, expected, atol=0.02)


def test_iso_sees_three_axes_alike_from_front_right_above() -> None:
    camera = raytracer.Scene(spheres=three_spheres().spheres, camera=Camera(view="iso"))
    found = camera.fitted_camera()
    assert found.position is not None
    assert found.look_at is not None
    away = np.subtract(found.position, found.look_at)
    np.testing.assert_allclose(away / np.linalg.norm(away), np.array([1, -1, 1]) / np.sqrt(3))
    assert found.up == (0.0, 0.0, 1.0)


def test_a_ground_ball_says_which_way_is_up() -> None:
    ground, balls = [(0, -1000, 0)], [(0, 1, 0), (2, 1, 0), (0, 1, 3)]
    scene = Scene.from_arrays(ground + balls, [1000.0, 1, 1, 1], camera=Camera(view="front"))
    camera = scene.fitted_camera()
    assert camera.up == (0.0, 1.0, 0.0)
    assert camera.position is not None
    assert camera.position[2] > 5
    sky = Scene.from_arrays([(0, 0.0, 0), *balls], [1000.0, 1, 1, 1], camera=Camera(view="front"))
    assert sky.fitted_camera().up == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"view": "-z"},
        {"view": "iso", "ortho": True},
        {"zoom": 2.5, "look_at": (1003.0, 0.5, 0.25)},
        {"up": (0.1, 0.2, 0.7), "fit": "all"},
        {"look": "soft", "ortho": True},
    ],
)
def test_the_fitted_camera_makes_the_same_picture(settings: Any) -> None:
    """To the last bit, through TOML too."""
    centers = np.random.default_rng(3).normal(size=(40, 3)) * (1, 2, 3) + (1000.1, 0.3, 0.7)
    scene = Scene.from_arrays(centers, 0.4, "gold")
    size: Any = {"width": 40, "height": 30, "samples": 2}
    first = raytracer.render(scene, **size, **settings)
    assert first.camera is not None
    camera = Camera(**tomllib.loads(first.camera.to_toml())["camera"])
    assert camera == first.camera
    rest = {name: value for name, value in settings.items() if name == "look"}
    again = raytracer.render(scene, camera=camera, **size, **rest)
    assert np.array_equal(first.film.sums, again.film.sums)
    assert first.metadata["scene"]["digest"] == again.metadata["scene"]["digest"]


def test_look_at_moves_a_fitted_camera_across() -> None:
    scene = three_spheres()
    whole = raytracer.Scene(spheres=scene.spheres, camera=Camera(view="z")).fitted_camera()
    moved = Camera(view="z", look_at=(4, 0, 0), zoom=2)
    found = raytracer.Scene(spheres=scene.spheres, camera=moved).fitted_camera()
    assert found.position == pytest.approx((4.0, 0.0, whole.position[2]))  # type: ignore[index]
    tangents = [np.tan(np.radians(each.vertical_fov) / 2) for each in (whole, found)]
    assert tangents[0] == pytest.approx(2 * tangents[1])


def test_a_call_changes_what_the_scene_says() -> None:
    scene = three_spheres()
    scene.background = raytracer.Background("black")
    size: Any = {"width": 8, "height": 8, "samples": 1}

    def corner(**settings: Any) -> list[int]:
        found: list[int] = raytracer.render(scene, **size, **settings).to_uint8()[0, 0].tolist()
        return found

    assert corner() == [0, 0, 0]
    assert corner(background="white") == [255, 255, 255]
    assert corner(background=raytracer.Background("red")) == [255, 0, 0]
    assert corner(background={"color": "red"}) == [255, 0, 0]
    assert corner(background="white", transparent=True) == [0, 0, 0, 0]
    scene.background = raytracer.Background(transparent=True)
    assert corner(transparent=False) == [255, 255, 255]
    lit: Any = {**size, "radius": 3.0, "color": "red", "look": "flat", "ortho": True}
    image = raytracer.render(scene, transparent=False, **lit)
    assert image.to_uint8()[4, 4].tolist()[1:] == [0, 0]
    assert image.film.coverage.mean() > 0.4
    dark = raytracer.render(scene, lights=[], width=8, height=8, samples=1, transparent=False)
    assert dark.to_uint8().min() < 120
    assert scene.camera is None  # the scene itself stays as it is


def test_the_light_of_a_look_comes_from_where_it_is_told() -> None:
    ball = Scene.from_arrays([(0, 0, 0)], 1.0, "white", camera=Camera(view="front"))
    size: Any = {"width": 32, "height": 32, "samples": 4}

    def halves(light: Any) -> Any:
        picture = raytracer.render(ball, light=light, background="black", **size).array[..., 0]
        left, right = picture[:, :16].sum(), picture[:, 16:].sum()
        return np.sign([right - left, picture[:16].sum() - picture[16:].sum()])

    assert halves("upper-left").tolist() == [-1, 1]
    assert halves("right").tolist()[0] == 1
    assert halves("bottom").tolist()[1] == -1
    assert halves((1, 0, 0)).tolist()[0] == -1  # it travels to the right, so it comes from the left
    scene = Scene(spheres=ball.spheres, lights=[], camera=Camera(view="front"))
    assert raytracer.render(scene, light="camera", **size).to_uint8()[16, 16, 0] > 200


def test_the_camera_of_a_file_makes_the_same_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a picture, of what the commands print, and of a scene file."""
    monkeypatch.chdir(tmp_path)
    Path("a.xyz").write_text("3\n\nO 0 0 0\nH 1 0.2 0\nC 0 3 0.5\n")
    Path("other.xyz").write_text("1\n\nO 9 9 9\n")
    size = ["--size", "24x18", "--spp", "1", "--backend", "cpu", "-q"]

    def picture(*options: str) -> Any:
        assert main(["render", "a.xyz", *size, "-o", "b.png", *options]) == 0
        return raytracer.film.formats.read_metadata(Path("b.png"))

    assert main(["render", "a.xyz", *size, "-o", "first.png", "--view", "iso", "--zoom", "2"]) == 0
    digest = raytracer.film.formats.read_metadata(Path("first.png"))["scene"]["digest"]
    capsys.readouterr()
    assert main(["info", "first.png"]) == 0
    Path("camera.toml").write_text(capsys.readouterr().out.partition("\n\n")[2])
    assert picture("--camera", "first.png")["scene"]["digest"] == digest
    assert picture("--camera", "camera.toml")["scene"]["digest"] == digest
    small: Any = {"width": 24, "height": 18, "samples": 1, "backend": "cpu"}
    again = raytracer.render("a.xyz", camera="first.png", **small)
    assert again.metadata["scene"]["digest"] == digest
    assert picture("--camera", "first.png", "--zoom", "2")["scene"]["digest"] != digest
    for name, text, words in [
        ("none.toml", "title = 'a'", "none.toml: has no table [camera]"),
        (
            "bad.toml",
            "[camera]\nviev = 'x'\nzoom = 'a'",
            "bad.toml: camera.zoom: 'a' is not a number",
        ),
        ("bad.json", '{"camera": {"zoom": 0}}', "bad.json: camera.zoom: must be at least 0.01"),
        ("a.png", "", "a.png: has no camera"),
    ]:
        Path(name).write_text(text)
        assert main(["render", "a.xyz", *size, "--camera", name]) == 2
        assert words in capsys.readouterr().err
    Pillow.new("RGB", (2, 2)).save("p.png")
    assert main(["render", "a.xyz", *size, "--camera", "p.png"]) == 2
    assert "p.png: has no camera" in capsys.readouterr().err
    assert main(["render", "a.xyz", *size, "--camera", "gone.toml"]) == 2
    assert not Path("a-2.png").exists()


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


RNG = np.random.default_rng(5)
UPS: dict[str, tuple[Points, tuple[float, float, float] | None]] = {
    "heap": (heap(), (0.0, 0.0, 1.0)),
    "heap on its side": (heap()[:, [0, 2, 1]], (0.0, 1.0, 0.0)),
    "house": (floor_with_a_house(), (0.0, 0.0, 1.0)),
    "house on its side": (floor_with_a_house()[:, [0, 2, 1]], (0.0, 1.0, 0.0)),
    "cloud": (RNG.normal(size=(5000, 3)), (0.0, 0.0, 1.0)),
    "cube": (RNG.uniform(size=(5000, 3)), (0.0, 0.0, 1.0)),
    "two dimensions": (RNG.uniform(size=(500, 3)) * (1, 1, 0), None),
}
MOLECULE = "3\nwater\nO 0 0 0\nH 0.76 0.59 0\nH -0.76 0.59 0.1\n"


@pytest.mark.parametrize("name", [*UPS, "molecule"])
def test_what_is_up(tmp_path: Path, name: str) -> None:
    """A floor says it; without one it is z, but for molecules and in two dimensions."""
    if name == "molecule":
        path, up = write(tmp_path / "a.xyz", MOLECULE), None
    else:
        (points, up), path = UPS[name], tmp_path / "a.csv"
        np.savetxt(path, points, delimiter=",", header="x,y,z", comments="")
    camera = load(path).camera
    assert camera is not None
    assert camera.up == up


def test_arrays_are_as_files() -> None:
    camera = Scene.from_object(heap()).camera
    assert camera is not None
    assert (camera.up, camera.fit) == ((0.0, 0.0, 1.0), "bulk")
    stated = Scene.from_object(heap(), camera=Camera(up="x")).camera
    assert stated is not None
    assert stated.up == (1.0, 0.0, 0.0)
