"""Pictures of triangle meshes: against float64, closed forms, and the sphere they approximate."""

from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Mesh, SphereSet
from reference import triangles
from reference.scene import Array, View, camera_rays, unit
from support.scenes import on_grid

WIDTH, HEIGHT = 96, 72
EYE = (2.5, 1.75, 3.5)
NONE = 2**32 - 1
LAMP = unit((1.0, 2.0, 1.5))
LIT: dict[str, Any] = {
    "camera": raytracer.Camera(position=EYE, look_at=(0, 0, 0), vertical_fov=40),
    "lights": [raytracer.DirectionalLight(tuple(-LAMP))],
    "ambient": raytracer.Ambient(intensity=0.0),
    "materials": {"default": raytracer.Material(ambient=0, diffuse=1, specular=0)},
}
CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
TRIANGLES = np.array([t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))])


def scene(*meshes: Mesh, **changes: Any) -> raytracer.Scene:
    return raytracer.Scene(meshes=meshes, **LIT | changes)


def render(made: raytracer.Scene, **settings: Any) -> Any:
    options: dict[str, Any] = {"width": WIDTH, "height": HEIGHT, "samples": 1, "backend": "cpu"}
    return raytracer.render(made, **options | settings)


def rays() -> Array:
    """Directions through the pixels' centres from EYE to the origin, (h w, 3)."""
    _, direction = camera_rays(View(EYE, (0, 0, 0), vertical_fov=40.0), WIDTH, HEIGHT)
    return direction.reshape(-1, 3)


def soup(count: int) -> tuple[Array, Any]:
    """Triangles anywhere in the unit cube, some with shared corners, some without area."""
    rng = np.random.default_rng(6)
    vertices = np.asarray(on_grid(rng.uniform(-1, 1, (count, 3))))
    near = np.argsort(np.linalg.norm(vertices[:, None] - vertices[None], axis=2), axis=1)
    corners = near[:, :8]
    faces = np.stack(
        [corners[np.arange(count), rng.integers(0, 8, count)] for _ in range(3)], axis=1
    )
    return vertices, faces


def test_first_hits_and_shadows_are_those_of_brute_force(backend: str) -> None:
    vertices, faces = soup(400)
    colors = np.random.default_rng(1).uniform(0, 1, (len(vertices), 3))
    made = scene(Mesh(vertices, faces, colors=colors, color_space="linear", smooth=False))
    names = ("id", "depth", "normal", "albedo", "position")
    film = render(made, aovs=names, backend=backend, filter="point").film
    found, direction = {name: film.aovs[name].reshape(WIDTH * HEIGHT, -1) for name in names}, rays()
    corners = vertices[faces]
    area = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    a, b, c = (corners[None, :, k] for k in range(3))
    t, share = triangles.weights(a, b, c, np.array(EYE), direction[:, None])
    edge = share.min(axis=2)
    real = area > 0
    hits = real & (edge >= 0) & (t > 0)
    depth, number = np.where(hits, t, np.inf).min(axis=1), np.where(hits, t, np.inf).argmin(axis=1)
    # rays near edges and along planes may be on either side
    slope = np.abs((triangles.normal(np.where(real[:, None, None], corners, CUBE[:3]))
                    * direction[:, None]).sum(axis=2))  # fmt: skip
    doubtful = real & ((np.abs(edge) < 1e-3) | (slope < 1e-2)) & (t < depth[:, None] + 1e-3)
    second = np.sort(np.where(hits, t, np.inf), axis=1)[:, 1]
    clear = ~doubtful.any(axis=1) & ((second > depth + 1e-4) | ~np.isfinite(depth))
    hit = clear & np.isfinite(depth)
    assert hit.sum() > 300
    assert (~real).any()
    assert np.array_equal(found["id"][hit, 0], number[hit])
    assert (found["id"][clear & ~hit] == NONE).all()
    assert np.abs(found["depth"][hit, 0] - depth[hit]).max() < 1e-4
    points = np.array(EYE) + depth[hit, None] * direction[hit]
    assert np.abs(found["position"][hit] - points).max() < 1e-4
    normals = triangles.normal(corners[number[hit]])
    normals *= -np.sign((normals * direction[hit]).sum(axis=1, keepdims=True))
    assert np.abs(found["normal"][hit] - normals).max() < 1e-4
    shares = share[hit, number[hit]]
    expected = (shares[:, :, None] * colors[faces[number[hit]]]).sum(axis=1)
    assert np.abs(found["albedo"][hit] - expected).max() < 1e-3

    out = points + 1e-6 * normals
    t, share = triangles.weights(a, b, c, out[:, None], LAMP)
    edge, itself = share.min(axis=2), np.arange(len(faces)) == number[hit, None]
    blocked = (real & (edge >= 0) & (t > 1e-5) & ~itself).any(axis=1)
    sure = ~(real & ((np.abs(edge) < 1e-3) | (np.abs(t) < 1e-3)) & ~itself).any(axis=1)
    light = np.where(blocked, 0, np.maximum(normals @ LAMP, 0))[:, None] * found["albedo"][hit]
    assert blocked[sure].any()
    pictured = film.sums[..., :3].reshape(-1, 3)[hit]
    assert np.abs(pictured - light)[sure].max() < 2e-3


@pytest.mark.parametrize("smooth", [True, False])
def test_a_cube_is_that_of_closed_form(backend: str, smooth: bool) -> None:
    """Its edges are sharp with smooth normals too: they meet at right angles."""
    names = ("depth", "normal")
    made = scene(Mesh(CUBE, TRIANGLES, color="white", smooth=smooth))
    film = render(made, aovs=names, backend=backend, filter="point").film
    direction = rays()
    with np.errstate(divide="ignore"):
        sides = np.sort(np.stack([(s - np.array(EYE)) / direction for s in (-1, 1)]), axis=0)
    near, far = sides[0].max(axis=1), sides[1].min(axis=1)
    hit = near < far
    axis = sides[0].argmax(axis=1)
    normal = -np.sign(direction) * (np.arange(3) == axis[:, None])
    inner = np.abs(far - near) > 1e-3
    depth, found = film.aovs["depth"].ravel(), film.aovs["normal"].reshape(-1, 3)
    assert np.array_equal((depth < 1e30)[inner], hit[inner])
    assert np.abs(depth - near)[hit & inner].max() < 1e-5
    assert np.linalg.norm(found - normal, axis=1)[hit & inner].max() < 1e-6
    light = film.sums[..., 0].ravel()
    assert np.abs(light - np.maximum(normal @ LAMP, 0))[hit & inner].max() < 1e-5


@pytest.mark.parametrize("levels", [3, 5])
def test_a_tessellated_sphere_is_the_sphere(backend: str, levels: int) -> None:
    vertices, faces = triangles.sphere(levels)
    names = ("depth", "normal")
    mesh = render(scene(Mesh(vertices, faces, color="white")), aovs=names, backend=backend,
                  filter="point").film  # fmt: skip
    ball = render(scene(spheres=[SphereSet([[0, 0, 0]], 1.0, "white")]), aovs=names,
                  backend=backend, filter="point").film  # fmt: skip
    edge = np.linalg.norm(vertices[faces[:, 0]] - vertices[faces[:, 1]], axis=1).max()
    sagitta = edge**2 / 6
    facing = (ball.aovs["normal"] * -rays().reshape(HEIGHT, WIDTH, 3)).sum(axis=2) > 0.3
    both = facing & (mesh.aovs["depth"] < 1e30)
    assert both.sum() > 1000
    assert np.array_equal(both, facing)
    off = np.abs(mesh.aovs["depth"][both] - ball.aovs["depth"][both]).max()
    assert off < 4 * sagitta
    turned = np.linalg.norm(mesh.aovs["normal"] - ball.aovs["normal"], axis=2)[both].max()
    assert turned < 8 * sagitta + 2e-4
    # and so does the light, without the terminator of the flat triangles
    light = np.abs(mesh.sums[..., :3] - ball.sums[..., :3])[both].max()
    assert light < 4 * sagitta + 2e-3


def test_no_ray_leaves_a_closed_mesh(backend: str) -> None:
    """Panoramas from inside of spheres of triangles meet something in every direction."""
    vertices, faces = triangles.sphere(4)
    rng = np.random.default_rng(2)
    for place in rng.uniform(-0.5, 0.5, (2, 3)):
        squeezed = vertices * rng.uniform(0.6, 40.0, 3)
        made = scene(
            Mesh(squeezed, faces),
            camera=raytracer.Camera(type="panorama", position=tuple(place), look_at=(9, 1, 2)),
        )
        film = render(made, width=1000, height=500, aovs=("id",), backend=backend).film
        assert (film.aovs["id"] != NONE).all()
        assert (film.sums[..., 3] == 1).all()


def test_no_ray_aimed_at_an_edge_leaves_a_closed_mesh(backend: str) -> None:
    """The camera sees only edges and vertices: its pixels lie on the lines of a grid of squares."""
    steps = np.linspace(-1, 1, 33)
    x, y = np.meshgrid(steps, steps, indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = np.arange(32 * 33).reshape(32, 33)[:, :32].ravel()
    faces = np.concatenate(
        [np.stack(part, axis=1) for part in (
            (corner, corner + 33, corner + 34), (corner, corner + 34, corner + 1))]
    )  # fmt: skip
    made = scene(
        Mesh(vertices, faces),
        camera=raytracer.Camera(
            type="orthographic", position=(0, 0, 3), look_at=(0, 0, 0), up=(0, 1, 0), height=1.875
        ),
    )
    # pixels of a sixteenth are centred on odd multiples of 1/32, so rays meet diagonals and lines
    film = render(made, width=60, height=60, aovs=("id",), backend=backend, filter="point").film
    assert (film.aovs["id"] != NONE).all()


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_unit_of_length_does_not_matter(scale: float) -> None:
    vertices, faces = triangles.sphere(2)
    pictures = []
    for size in (1.0, scale):
        mesh = Mesh(vertices * size, faces, color="orange")
        eye = tuple(size * x for x in EYE)
        camera = raytracer.Camera(position=eye, look_at=(0, 0, 0), vertical_fov=40)
        pictures.append(render(scene(mesh, camera=camera)).film.sums)
    assert np.abs(pictures[0] - pictures[1]).max() < 0.02
    assert np.abs(pictures[0] - pictures[1]).mean() < 1e-4


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
def test_sides_and_materials(backend: str, integrator: str) -> None:
    """A square is seen from both sides; of the sky it shows half on each."""
    square = Mesh([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]], [[0, 1, 2], [0, 2, 3]],
                  color=(0.5, 0.5, 0.5), color_space="linear")  # fmt: skip
    for z in (1.0, -1.0):
        made = scene(
            square,
            camera=raytracer.Camera(position=(0.1, 0.2, 2 * z), look_at=(0, 0, 0)),
            lights=[],
            ambient=raytracer.Ambient(intensity=1.0),
            background=raytracer.Background("black"),
            materials={"default": raytracer.Material(ambient=1, diffuse=1, specular=0)},
        )
        film = render(made, samples=4, integrator=integrator, backend=backend).film
        assert np.abs(film.sums[..., :3] / 4 - 0.5).max() < 1e-3


def test_clip_and_opacity(backend: str) -> None:
    vertices, faces = triangles.sphere(4)
    ids = {}
    for name, opacity, clip in (
        ("whole", None, None), ("cut", None, raytracer.Clip(remove="z > 0.25")), ("gone", 0.0, None)
    ):  # fmt: skip
        made = scene(Mesh(vertices, faces, opacity=opacity), clip=clip)
        names = ("id", "position")
        film = render(made, aovs=names, backend=backend, filter="point").film
        ids[name], position = film.aovs["id"] != NONE, film.aovs["position"]
        if name == "cut":
            assert position[ids[name]][:, 2].max() < 0.25 + 1e-4
    assert (ids["cut"] <= ids["whole"]).all()
    assert ids["cut"].sum() < ids["whole"].sum()
    assert not ids["gone"].any()


def test_glass_meshes_among_others(backend: str) -> None:
    """Two closed meshes beside a sphere of the same glass, in front of another material."""
    glass = raytracer.Principled(transmission=1.0, roughness=0.0)
    vertices, faces = triangles.sphere(5)
    places = np.array([[-2.0, 0, 0], [0.2, 0.1, 0]])
    rng = np.random.default_rng(2)
    balls = SphereSet(
        rng.uniform([-4, -3, -3], [4, 3, -2], (80, 3)), 0.3, rng.uniform(0, 1, (80, 3))
    )
    beside = SphereSet([[2.2, 0, 0]], 1.0, "white", material=glass)
    pictures = []
    meshes = [Mesh(vertices + place, faces, color="white", material=glass) for place in places]
    for shape in (
        {"meshes": meshes, "spheres": [balls, beside]},
        {"spheres": [balls, SphereSet(places, 1.0, "white", material=glass), beside]},
    ):
        for eye in ((0.0, 1.0, 9.0), (0.3, 0.2, 0.1)):  # in front of all, and inside of one
            made = raytracer.Scene(
                **shape, camera=raytracer.Camera(position=eye, look_at=(0, 0, -1), vertical_fov=30)
            )
            film = render(made, samples=16, integrator="path", max_depth=12, backend=backend).film
            pictures.append(film.sums[..., :3] / 16)
    for mesh, sphere in zip(pictures[:2], pictures[2:], strict=True):
        assert np.abs(mesh - sphere).mean() < 0.03
        assert np.std(sphere) > 0.1
    with pytest.raises(raytracer.UserError, match="is missing at 3 edges"):
        render(scene(Mesh(vertices, faces[:-1], material=glass)))


def test_furnace_of_glass(backend: str) -> None:
    """Clear glass in even light is not seen, flat or smooth."""
    vertices, faces = triangles.sphere(2)
    for smooth in (False, True):
        glass = raytracer.Principled(transmission=1.0, roughness=0.0)
        made = raytracer.Scene(
            meshes=[Mesh(vertices, faces, material=glass, color="white", smooth=smooth)],
            camera=raytracer.Camera(position=EYE, look_at=(0, 0, 0), vertical_fov=40),
            lights=[],
            environment=raytracer.Environment(color="white"),
        )
        film = render(made, integrator="path", max_depth=40, samples=8, backend=backend).film
        assert np.abs(film.sums[..., :3].mean() / 8 - 1) < 1e-2


def test_pick(backend: str) -> None:
    made = scene(
        Mesh(CUBE, TRIANGLES), Mesh(CUBE + np.array([9, 0, 0]), TRIANGLES),
        spheres=[SphereSet([[0, 5, 0]], 1.0)],
    )  # fmt: skip
    film = render(made, aovs=("id",), backend=backend, filter="point").film
    number = int(film.aovs["id"][HEIGHT // 2, WIDTH // 2])
    about = made.describe(number)
    assert (about.noun, about.set_index, about.row) == ("triangle", 0, number - 1)
    assert about.position == pytest.approx(CUBE[TRIANGLES[number - 1]].mean(axis=0))


def test_outlines_are_around_meshes(backend: str) -> None:
    """Not around their triangles: black lines are where those of a sphere are."""
    vertices, faces = triangles.sphere(5)
    pictures = []
    for shape in (
        {"meshes": [Mesh(vertices, faces), Mesh(0.5 * vertices + [0, 1.2, 0], faces)]},
        {"spheres": [SphereSet([[0, 0, 0], [0, 1.2, 0]], [1.0, 0.5])]},
    ):
        made = raytracer.Scene(
            **shape,
            camera=raytracer.Camera(position=EYE, look_at=(0, 0, 0), vertical_fov=60),
            annotations=raytracer.Annotations(outline=raytracer.Outline(width=2)),
        )
        pictures.append(render(made, samples=4, backend=backend, look="flat").to_uint8())
    dark = [picture[..., :3].max(axis=2) < 60 for picture in pictures]
    assert dark[1].sum() > 100
    assert (dark[0] != dark[1]).mean() < 0.01
