"""Meshes: arguments, sharp edges, files, commands; meshes that are the scene; bodies of glass."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Mesh, UserError, load
from raytracer.commands.cli import main
from raytracer.config.errors import SceneError
from raytracer.config.warning import collect_warnings
from raytracer.packing.pack import pack
from reference import triangles
from reference.scene import unit
from support.particle_files import write

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
HALVES = [[0, 1, 2], [0, 2, 3]]


def test_one_mesh() -> None:
    mesh = Mesh(SQUARE, HALVES, color="tomato", transform=raytracer.Transform(scale=2.0))
    scene = raytracer.Scene(meshes=[mesh])
    assert repr(mesh) == "<Mesh: 2 triangles>"
    assert scene.counts() == {"sphere": 0, "triangle": 2}
    buffers = pack(scene)
    assert buffers.triangles == 2
    corners = buffers.shapes.reshape(2, 16)[:, :9].reshape(-1, 3).astype(float)
    placed = corners * buffers.space.scale + buffers.space.center
    assert np.allclose(placed, 2.0 * np.array(SQUARE)[np.array(HALVES).ravel()], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vertices": [[0, 0]]}, r"vertices: has shape \(1, 2\)"),
        ({"vertices": [[0, 0, np.nan], *SQUARE]}, "vertices: vertex 0 lies at"),
        ({"triangles": [[0, 1]]}, r"triangles: has shape \(1, 2\); give three corners each"),
        ({"triangles": [[0.0, 1.0, 2.0]]}, "triangles: holds float64 values, not integers"),
        ({"triangles": [[0, 1, 2], [0, 4, 1]]}, "triangle 1 has the corner 4, but .* from 0 to 3"),
        ({"triangles": [[0, -1, 2]]}, "triangle 0 has the corner -1"),
        ({"color": "red", "colors": ["red"] * 4}, "either color or colors"),
        ({"colors": np.zeros((3, 3))}, "has 3 colours for 4 vertices and 2 triangles"),
        ({"color": "reed"}, "no colour named 'reed'"),
        ({"opacity": 2.0}, "opacity: of triangle 0 is 2"),
        ({"normals": np.zeros((4, 3))}, "normals: that of vertex 0 has length 0"),
        ({"normals": np.ones((3, 3))}, "normals: has 3 rows for 4 vertexs?"),
        ({"smooth": 200}, "smooth: must be at most 180"),
        ({"smooth": "yes"}, "smooth: 'yes' is not a number"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Mesh(**{"vertices": SQUARE, "triangles": HALVES, **arguments})


def test_a_scene_takes_meshes_alone_as_meshes() -> None:
    with pytest.raises(UserError, match="capsules: "):
        raytracer.Scene(capsules=[Mesh(SQUARE, HALVES)])  # type: ignore[list-item]
    rods = raytracer.CapsuleSet([[0, 0, 0]], [[1, 0, 0]], 0.1)
    with pytest.raises(UserError, match="meshes: holds a set of capsules"):
        raytracer.Scene(meshes=[rods])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("colors", "of_vertices"),
    [
        (np.eye(4)[:, :3], True),
        (np.eye(2, 3), False),
        (["red", "green", "blue", "white"], True),
        (["red", "blue"], False),
        (np.array([[255, 0, 0], [0, 0, 255]], np.uint8), False),
    ],
)
def test_colors_of_vertices_or_triangles(colors: Any, of_vertices: bool) -> None:
    for name in ("colors", "color"):
        mesh = Mesh(SQUARE, HALVES, **{name: colors})
        assert mesh.has_vertex_colors == of_vertices


def test_normals_of_a_sphere_are_those_of_the_sphere() -> None:
    vertices, faces = triangles.sphere(4)
    for turned in (faces, faces[:, ::-1]):
        normals = Mesh(vertices, turned).corner_normals()
        assert normals is not None
        side = 1 if turned is faces else -1
        assert np.linalg.norm(side * normals - vertices[turned], axis=2).max() < 4e-3


def test_edges_are_sharp_by_their_angle() -> None:
    """Two squares at an angle, and the tent's ridge between them."""
    for degrees, is_sharp in ((30.0, False), (50.0, True)):
        half = np.radians(degrees / 2)
        low = -np.tan(half)
        vertices = [[-1, 0, low], [-1, 1, low], [0, 0, 0], [0, 1, 0], [1, 0, low], [1, 1, low]]
        faces = [[0, 2, 3], [0, 3, 1], [2, 4, 5], [2, 5, 3]]
        normals = Mesh(vertices, faces).corner_normals()
        assert normals is not None
        left = unit(np.array([-np.sin(half), 0, np.cos(half)]))
        ridge = left if is_sharp else np.array([0, 0, 1.0])
        assert np.abs(normals[0, 1] - ridge).max() < 1e-9
        assert np.abs(normals[0, 0] - left).max() < 1e-9
        smooth = Mesh(vertices, faces, smooth=60).corner_normals()
        assert smooth is not None
        assert np.abs(smooth[0, 1] - [0, 0, 1]).max() < 1e-9
    assert Mesh(SQUARE, HALVES, smooth=False).corner_normals() is None


def test_a_cone_is_smooth_around_and_sharp_below() -> None:
    """The corners at its tip are connected around it; those at the rim have two normals each."""
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    rim = np.stack([np.cos(turn), np.sin(turn), np.zeros(24)], axis=1)
    vertices = np.concatenate([rim, [[0, 0, 1.0], [0, 0, 0]]])
    k, after = np.arange(24), (np.arange(24) + 1) % 24
    side = np.stack([k, after, np.full(24, 24)], axis=1)
    floor = np.stack([after, k, np.full(24, 25)], axis=1)
    normals = Mesh(vertices, np.concatenate([side, floor])).corner_normals()
    assert normals is not None
    assert np.abs(normals[24:] - [0, 0, -1]).max() < 1e-9
    outward = unit(rim + np.array([0, 0, 1]))
    assert np.linalg.norm(normals[:24, 0] - outward, axis=1).max() < 1e-9
    assert np.linalg.norm(normals[:24, 2] - [0, 0, 1], axis=1).max() < 1e-9


def test_given_normals_are_taken() -> None:
    normals = unit(np.random.default_rng(1).normal(size=(4, 3)))
    mesh = Mesh(SQUARE, HALVES, normals=3.0 * normals)
    found = mesh.corner_normals()
    assert found is not None
    assert np.allclose(found, normals[np.array(HALVES)])


def text_of(vertices: Any, faces: Any) -> str:
    """A mesh as an STL in text."""
    lines = ["solid wall"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x} {y} {z}" for x, y, z in np.asarray(vertices, float)[face].tolist()]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid wall", ""])


def bytes_of(vertices: Any, faces: Any, head: bytes = b"wall") -> bytes:
    """A mesh as a binary STL."""
    record = np.zeros(len(faces), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("x", "<u2")])
    record["corners"] = np.asarray(vertices)[faces]
    return head.ljust(80) + np.uint32(len(faces)).tobytes() + record.tobytes()


PLY = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
property uchar red
property uchar green
property uchar blue
element face 1
property list uchar int vertex_indices
end_header
0 0 0 255 0 0
1 0 0 0 255 0
1 1 0 0 0 255
0 1 0 255 255 255
4 0 1 2 3
"""
OBJ = """mtllib none.mtl
usemtl red
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vn 0 0 1
f 1/1/1 2/1/1 3/1/1 4/1/1
"""

FILES: dict[str, Callable[[], bytes]] = {
    "text.stl": lambda: text_of(SQUARE, HALVES).encode(),
    "binary.stl": lambda: bytes_of(SQUARE, HALVES),
    "solid.stl": lambda: bytes_of(SQUARE, HALVES, b"solid by a program that writes binary"),
    "ascii.ply": lambda: PLY.encode(),
    "quad.obj": lambda: OBJ.encode(),
    "quad.off": lambda: b"OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
}


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path: Path, name: str) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / name).write_bytes(FILES[name]())
    mesh = Mesh.from_file(tmp_path / name)
    assert mesh.count == 2
    assert sorted(mesh.vertices.tolist()) == sorted(SQUARE)
    corners = np.sort(mesh.vertices[mesh.triangles].sum(axis=(1, 2)))
    assert corners.sum() == 6.0
    assert mesh.has_vertex_colors == (name == "ascii.ply")
    assert not Mesh.from_file(tmp_path / name, color="red").has_vertex_colors


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("wall.stl", b"", "wall.stl: holds no triangles"),
        ("wall.stl", b"a wall", "wall.stl: holds no triangles"),
        ("wall.ply", b"ply\nformat", "wall.ply: "),
        ("wall.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "wall.obj: "),
        ("wall.obj", b"v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n", "vertices: vertex 2 lies at"),
        ("wall.txt", b"a wall", "the ending '.txt' is not that of a mesh"),
        ("gone.stl", None, "gone.stl: there is no such file"),
    ],
)
def test_wrong_files(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    pytest.importorskip("trimesh")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        Mesh.from_file(tmp_path / name)
    assert len(caught.value.sentences) == 1


SCENE = """
[[meshes]]
file = "wall.stl"
color = "red"
opacity = 0.5
smooth = false
transform = { scale = 2, translate = [1, 0, 0] }

[[meshes]]
vertices = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
triangles = [[0, 1, 2], [0, 2, 3]]
colors = ["red", "gold", "navy", "white"]
material = "chrome"
"""


def test_scene_files(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "wall.stl").write_bytes(bytes_of(SQUARE, HALVES))
    (tmp_path / "scene.toml").write_text(SCENE)
    first, second = raytracer.load(tmp_path / "scene.toml").meshes
    assert (first.count, second.count) == (2, 2)
    assert first.start.opacity == 0.5
    assert first.transform.scale == 2.0
    assert first.corner_normals() is None
    assert second.has_vertex_colors
    assert second.material == "chrome"
    for wrong, message in (
        ('file = "wall.txt"', r"meshes\[0\].file: .*wall.txt: the ending"),
        ("vertices = [[0, 0, 0]]", r"meshes\[0\].triangles: is missing"),
        ("vertices = [[0, 0, 0]]\ntriangles = [[0, 0, 3]]", r"meshes\[0\].triangles: triangle 0"),
        ('file = "wall.stl"\ncolour = "red"', "did you mean 'color'"),
        ('file = "wall.stl"\nsmooth = "no"', r"meshes\[0\].smooth: "),
    ):
        (tmp_path / "scene.toml").write_text(f"[[meshes]]\n{wrong}\n")
        with pytest.raises(UserError, match=message):
            raytracer.load(tmp_path / "scene.toml")


def test_the_command_and_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("trimesh")
    wall, grains = tmp_path / "wall.stl", tmp_path / "grains.csv"
    wall.write_bytes(bytes_of(SQUARE, HALVES))
    grains.write_text("x,y,z,radius\n0.5,0.5,0.5,0.1\n")
    options = ["--size=64x48", "--samples=1", "--backend=cpu", "-o", str(tmp_path / "a.png")]
    fields = f"{wall},opacity=0.5,color=steelblue,scale=2,translate=[0,0,-1]"
    assert main(["render", str(grains), "--mesh", fields, "--mesh", str(wall), *options]) == 0
    assert "4 triangles" in "".join(capsys.readouterr())
    image = raytracer.render(
        grains, mesh=[fields, Mesh.from_file(wall)], width=64, height=48, samples=1, backend="cpu"
    )
    assert (tmp_path / "a.png").is_file()
    assert image.metadata["spheres"] == 1
    for wrong, message in (
        (f"{wall},opacty=1", "there is no field 'opacty'; did you mean 'opacity'?"),
        (f"{wall},opacity", "'opacity' has no '='"),
        (f"{wall},opacity=2", "opacity: "),
        (str(tmp_path / "none.stl"), "there is no such file"),
    ):
        assert main(["render", str(grains), "--mesh", wrong, *options]) == 2
        assert message in capsys.readouterr().err
    with pytest.raises(UserError, match="mesh: 7 is neither a Mesh nor the name of a file"):
        raytracer.render(grains, mesh=[7], width=8, height=8, backend="cpu")  # type: ignore[list-item]


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
OFF = "OFF\n4 4 0\n" + "".join(f"{x} {y} {z}\n" for x, y, z in CORNERS) + "".join(
    f"3 {a} {b} {c}\n" for a, b, c in FACES)  # fmt: skip
SMALL: dict[str, Any] = {"width": 32, "height": 24, "samples": 1, "backend": "cpu"}


@pytest.fixture
def wall(tmp_path: Path) -> Path:
    pytest.importorskip("trimesh")
    return write(tmp_path / "wall.off", OFF)


def test_a_mesh_is_a_picture(wall: Path) -> None:
    scene = load(wall)
    assert (scene.counts()["triangle"], scene.count, scene.title) == (4, 0, "wall")
    assert raytracer.render(wall, **SMALL).statistics.covered > 50


def test_bounds_of_a_mesh_are_those_of_its_corners(
    wall: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(wall), "--json"]) == 0
    bounds = json.loads(capsys.readouterr().out)["drawn"]["bounds"]
    assert bounds == {"low": [0, 0, 0], "high": [1, 1, 1]}


def test_colour_and_opacity_are_those_of_the_mesh(wall: Path) -> None:
    plain = raytracer.render(wall, **SMALL).pixels(8).astype(int)
    red = raytracer.render(wall, **SMALL, color="red").pixels(8).astype(int)
    assert (red[..., 0] - red[..., 1]).max() > 60 > (plain[..., 0] - plain[..., 1]).max()


def test_meshes_and_particles_in_one_picture(wall: Path, tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "x,y,z\n2,2,2\n3,2,2\n")
    for files in ([wall, table], [table, wall]):
        scene = load(files)
        assert (scene.count, scene.counts()["triangle"]) == (2, 4)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"frame": 1}, "there is no frame 1: it has 1 frame"),
        ({"arrays": {"x": "a"}}, "is a mesh: topology and columns are for particles"),
        ({"color_by": "x"}, "color_by: is for particles, but the scene has meshes alone"),
        ({"radius": 2.0}, "radius: is for particles, but the scene has meshes alone"),
        ({"select": "x > 0"}, "select: is for particles, but the scene has meshes alone"),
        ({"format": "stl"}, "a mesh is known by the ending of its name: call the file NAME.stl"),
    ],
)
def test_what_meshes_do_not_have(wall: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        raytracer.render(wall, **SMALL, **options)


@pytest.mark.parametrize("text", ["", "OFF\n0 0 0\n", "nothing"])
def test_a_file_without_triangles(tmp_path: Path, text: str) -> None:
    pytest.importorskip("trimesh")
    with pytest.raises(UserError, match=r"a\.off"):
        load(write(tmp_path / "a.off", text))


def test_vertices_of_a_mesh_in_ply_are_particles_with_a_note(tmp_path: Path) -> None:
    pytest.importorskip("plyfile")
    head = "ply\nformat ascii 1.0\nelement vertex 3\n" + "".join(
        f"property float {axis}\n" for axis in "xyz")  # fmt: skip
    head += "element face {}\nproperty list uchar int vertex_indices\nend_header\n"
    rows = "0 0 0\n1 0 0\n0 1 0\n"
    for faces, text in ((1, "3 0 1 2\n"), (0, "")):
        path = write(tmp_path / f"{faces}.ply", head.format(faces) + rows + text)
        with collect_warnings() as warnings:
            assert load(path).count == 3
        assert any("mesh of 1 face, give --mesh 1.ply" in each for each in warnings) == bool(faces)


def bodies(*parts: tuple[float, float, bool]) -> tuple[Mesh, np.ndarray]:
    """Return a mesh of tetrahedra, each with a scale, a place and whether it is wound inwards, and
    the number of the body of each triangle."""
    rows = [(size * (CORNERS - 0.25) + [place, 0, 0], FACES[:, ::-1] if turned else FACES)
            for size, place, turned in parts]  # fmt: skip
    vertices = np.concatenate([points for points, _ in rows])
    triangles = np.concatenate([faces + 4 * n for n, (_, faces) in enumerate(rows)])
    return Mesh(vertices, triangles), np.repeat(np.arange(len(rows)), len(FACES))


def volumes(mesh: Mesh, body: np.ndarray) -> np.ndarray:
    """Return the signed volume of each body of a mesh."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles].astype(float), 1, 0)
    return np.bincount(body, (a * np.cross(b, c)).sum(axis=1) / 6.0)


@pytest.mark.parametrize("turned", [(False, True), (True, False), (True, True), (False, False)])
@pytest.mark.parametrize("sizes", [(1.0, 1.0), (1.0, 3.0)])
def test_each_body_of_glass_is_turned_out(
    turned: tuple[bool, bool], sizes: tuple[float, float]
) -> None:
    mesh, body = bodies((sizes[0], 0.0, turned[0]), (sizes[1], 5.0, turned[1]))
    np.testing.assert_allclose(volumes(mesh.turned_out(), body), np.power(sizes, 3) / 6.0)


@pytest.mark.parametrize("is_inward", [False, True])
def test_a_cavity_stays_one(is_inward: bool) -> None:
    mesh, body = bodies((4.0, 0.0, is_inward), (1.0, 0.0, not is_inward))
    np.testing.assert_allclose(volumes(mesh.turned_out(), body), [64.0 / 6.0, -1.0 / 6.0])


def test_a_body_within_the_bounds_of_another_is_no_cavity() -> None:
    """In a corner of the box around a tetrahedron, outside of it."""
    mesh, body = bodies((4.0, 0.0, False), (0.5, 0.0, True))
    mesh.vertices[4:] += 1.5
    np.testing.assert_allclose(volumes(mesh.turned_out(), body), [64.0 / 6.0, 0.125 / 6.0])


def test_an_open_body_beside_others_is_refused() -> None:
    mesh, _ = bodies((1.0, 0.0, False), (1.0, 5.0, False))
    with pytest.raises(SceneError, match="is missing at 3 edges"):
        Mesh(mesh.vertices, mesh.triangles[:-1]).turned_out()
