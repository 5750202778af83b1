"""Pictures of cones, flat capsules and ellipsoids, against float64; capsules without length."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import CapsuleSet, ConeSet, EllipsoidSet, SphereSet
from raytracer.backends.base import CpuDevice
from raytracer.film.film import Film
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.pack import pack
from reference import capsule, solids
from reference.scene import Array, unit
from render.test_meshes import EYE, HEIGHT, LAMP, LIT, NONE, WIDTH, rays, render
from support.scenes import on_grid


def places(rng: np.random.Generator, count: int) -> Array:
    return np.asarray(on_grid(rng.uniform(-1, 1, (count, 3))))


def scene(count: int = 40, **changes: Any) -> raytracer.Scene:
    """As many of each form."""
    rng = np.random.default_rng(4)

    def look() -> dict[str, Any]:
        colors = rng.uniform(0.1, 1.0, (2, count, 3))
        return {"color": colors[0], "end_color": colors[1], "color_space": "linear"}

    def rods(thick: float) -> tuple[Array, Array, Array]:
        starts = places(rng, count)
        ends = starts + on_grid(rng.normal(size=(count, 3)) * 0.3 + 2.0**-7)
        return starts, ends, np.maximum(on_grid(rng.uniform(0.5, 2, count) * thick), 2.0**-8)

    starts, ends, wide = rods(0.06)
    narrow = on_grid(wide * rng.choice([0.0, 0.5, 1.0], count))
    turn = rng.normal(size=(count, 4))
    return raytracer.Scene(
        spheres=[SphereSet(places(rng, count), 0.0625, "red")],
        capsules=[
            CapsuleSet(*rods(0.03), **look()),
            CapsuleSet(*rods(0.04), **look(), caps="flat"),
        ],
        cones=[ConeSet(starts, ends, wide, narrow, **look(), color_change="smooth")],
        ellipsoids=[EllipsoidSet(places(rng, count), rng.uniform(0.02, 0.2, (count, 3)), turn)],
        **LIT | changes,
    )


CONE: Any = solids.cone_interval
GRAIN: Any = solids.ellipsoid_interval
ROD: Any = capsule.interval


class Reference:
    """All solids of a scene in float64, in the order of packing."""

    def __init__(self, made: raytracer.Scene) -> None:
        (balls,), (rods, cylinders), (cones,), (grains,) = (
            made.spheres, made.capsules, made.cones, made.ellipsoids
        )  # fmt: skip
        self.balls: tuple[Any, ...] = (
            balls.centers, np.full(balls.count, 0.0625), np.zeros((balls.count, 3)),
        )  # fmt: skip
        self.rods: tuple[Any, ...] = (*self.axis(rods), rods.radius)
        self.cones: list[tuple[Any, ...]] = [
            (*self.axis(cylinders), cylinders.radius, cylinders.radius),
            (*self.axis(cones), cones.radius, cones.end_radius),
        ]
        self.grains: tuple[Any, ...] = grains.centers, grains.semi_axes, grains.orientation

    @staticmethod
    def axis(rods: CapsuleSet) -> tuple[Array, Array]:
        return 0.5 * (rods.starts + rods.ends), 0.5 * (rods.ends - rods.starts)

    def interval(self, origin: Array, direction: Array) -> tuple[Array, Array]:
        center, axis, radius = self.rods
        parts: list[Any] = [
            ROD(*self.balls, origin, direction),
            capsule.interval(center, radius, axis, origin, direction),
            *(CONE(*cone, origin, direction) for cone in self.cones),
            GRAIN(*self.grains, origin, direction),
        ]
        return tuple(np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))  # type: ignore[return-value]

    def normal(self, number: int, point: Array) -> Array:
        """Outward normal of a solid at a point on it."""
        form, row = divmod(number, len(self.rods[2]))
        if form >= 2:
            made: Any = solids.cone_normal if form < 4 else solids.ellipsoid_normal
            numbers = self.cones[form - 2] if form < 4 else self.grains
            return np.asarray(made(*(part[row] for part in numbers), point))
        center, axis = self.rods[:2] if form else (self.balls[0], self.balls[2])
        away = point - center[row]
        s = (away @ axis[row]) / max(axis[row] @ axis[row], 1e-300)
        return np.asarray(unit(away - np.clip(s, -1, 1) * axis[row]))


def test_first_hits_and_shadows_are_those_of_brute_force(backend: str) -> None:
    made = scene()
    names = ("id", "depth", "normal", "albedo", "position")
    film = render(made, aovs=names, backend=backend, filter="point").film
    found, reference, direction = film.aovs, Reference(made), rays().reshape(HEIGHT, WIDTH, 3)
    first, last = reference.interval(np.array(EYE), direction[..., None, :])
    nearest, depth = first.argmin(axis=-1), first.min(axis=-1)
    second = np.sort(first, axis=-1)[..., 1]
    grazing = (np.isfinite(first) & (last < first + 0.02)).any(axis=-1)
    clear = ~grazing & ((second > depth + 1e-3) | ~np.isfinite(depth))
    hit = clear & np.isfinite(depth)
    forms = np.unique(nearest[hit] // 40)
    assert forms.tolist() == [0, 1, 2, 3, 4]
    assert np.array_equal(found["id"][hit], nearest[hit])
    assert (found["id"][clear & ~hit] == NONE).all()
    assert np.abs(found["depth"][hit] - depth[hit]).max() < 2e-5
    points = np.array(EYE) + direction * np.where(hit, depth, 0)[..., None]
    normals = np.array(
        [reference.normal(n, p) for n, p in zip(nearest[hit], points[hit], strict=True)]
    )
    off = np.linalg.norm(found["normal"][hit] - normals, axis=1)
    assert np.mean(off < 1e-3) > 0.99  # but at edges, which finite differences round

    # the colour of a cone changes evenly
    cones = made.cones[0]
    own = hit & (nearest // 40 == 3)
    row = nearest[own] - 120
    axis = cones.ends[row] - cones.starts[row]
    share = ((points[own] - cones.starts[row]) * axis).sum(axis=1) / (axis * axis).sum(axis=1)
    colors = cones.start.color, cones.end.color
    expected = colors[0][row] + share[:, None] * (colors[1][row] - colors[0][row])
    assert np.abs(found["albedo"][own] - expected).max() < 1e-4

    # the light of a diffuse surface, unless something is in its way
    out = found["position"].astype(np.float64)[hit]
    begin, end = reference.interval(out[:, None, :], LAMP)
    itself = np.arange(begin.shape[1]) == nearest[hit][:, None]
    blocked = ((end > 1e-3) & ~itself).any(axis=-1)
    doubtful = (
        ((end < begin + 0.02) & np.isfinite(begin)) | (np.abs(begin) < 2e-3) | (np.abs(end) < 2e-3)
    )
    facing = (found["normal"][hit] @ LAMP).astype(np.float64)
    sure = ~(doubtful & ~itself).any(axis=-1) & (np.abs(facing) > 1e-3)
    lit = np.where(blocked, 0, np.maximum(facing, 0))[:, None] * found["albedo"][hit]
    assert blocked[sure].any()
    assert np.abs(film.sums[..., :3][hit] - lit)[sure].max() < 2e-3


def one(form: str, **looks: Any) -> dict[str, Any]:
    """A solid about the origin that holds the ball of radius 0.9 and is within that of 3."""
    if form == "cone":
        return {"cones": [ConeSet([[0, -1, 0]], [[0, 2, 0]], 2.0, 1.5, **looks)]}
    if form == "cylinder":
        return {"capsules": [CapsuleSet([[0, -1, 0]], [[0, 1, 0]], 1.0, caps="flat", **looks)]}
    turn = unit(np.array((1.0, 2.0, -0.5, 0.3)))
    return {"ellipsoids": [EllipsoidSet([[0, 0, 0]], (1, 2, 1.5), turn, **looks)]}


FORMS = ("cone", "cylinder", "ellipsoid")


@pytest.mark.parametrize("form", FORMS)
def test_furnace_of_glass_and_the_inside(form: str) -> None:
    """Clear glass in even light is not seen; from inside there is no way out of what is opaque."""
    glass = raytracer.Principled(transmission=1.0, roughness=0.0)
    sky = raytracer.Environment(color="white")
    made = raytracer.Scene(
        **one(form, material=glass, color="white"),
        camera=raytracer.Camera(position=(2, 3, 5), look_at=(0, 0, 0), vertical_fov=50),
        lights=[],
        environment=sky,
    )
    film = render(made, integrator="path", max_depth=40, samples=8).film
    light = film.sums[..., :3] / 8
    assert np.abs(light.mean() - 1) < 5e-3
    inner = replace(
        made,
        **one(form, color="white"),
        camera=raytracer.Camera(position=(0.1, 0.2, 0.3), look_at=(1, 1, 0), vertical_fov=100),
    )
    film = render(inner, integrator="path", max_depth=4).film
    assert not film.sums[..., :3].any()  # no light leaks in
    assert (film.sums[..., 3] == 1).all()


@pytest.mark.parametrize("form", FORMS)
def test_planes_cut_them(form: str) -> None:
    made = raytracer.Scene(
        **one(form),
        camera=raytracer.Camera(position=(0, 0.3, 9), look_at=(0, 0, 0), vertical_fov=40),
        lights=[],
    )
    whole = render(made, aovs=("depth", "normal", "position"), filter="point").film.aovs
    for kept in ("z < 0", "z > 0"):
        cut = render(
            replace(made, clip=raytracer.Clip(keep=kept)),
            aovs=("normal", "position"),
            filter="point",
        )
        z, normal = cut.film.aovs["position"][..., 2], cut.film.aovs["normal"]
        there = np.abs(normal).sum(axis=-1) > 0
        assert there.sum() > 200
        flat = there & (np.abs(z) < 1e-4)
        if flat.sum() > there.sum() / 2:
            assert (normal[flat][:, 2] > 0.999).all()
        else:
            same = there & (np.abs(whole["position"][..., 2] - z) < 1e-5)
            assert same.sum() > 0.95 * there.sum()


def sums(buffers: SceneBuffers) -> Array:
    device, film = CpuDevice(2), Film.blank(WIDTH, HEIGHT)
    with device.film(film) as made, device.scene(buffers) as placed:
        made.add(placed, buffers.view, 1)
    return np.asarray(film.sums)


@pytest.mark.parametrize(
    ("integrator", "material"),
    [
        ("direct", raytracer.Material(mirror=0.5)),
        ("ao", raytracer.Material()),
        ("path", raytracer.Principled(transmission=1.0)),
        ("path", raytracer.Principled(emission=1.0)),
    ],
)
def test_capsules_without_length_are_spheres_to_the_bit(integrator: str, material: Any) -> None:
    rng = np.random.default_rng(3)
    radii, colors = rng.uniform(0.05, 0.1, 400), rng.uniform(0.1, 1.0, (400, 3))
    scene = raytracer.Scene.from_arrays(
        rng.uniform(-1, 1, (400, 3)), radii, colors, material=material, ground=raytracer.Ground()
    )
    settings = scene.render.override(
        width=WIDTH, height=HEIGHT, samples=1, integrator=integrator, max_depth=5
    )
    buffers = pack(scene, settings)
    rest: dict[str, Any] = {
        "axis": np.zeros((150, 3), np.float32),
        "end_row": np.zeros(150, np.int32),
    }
    expected, found = sums(buffers), sums(replace(buffers, **rest).check())
    assert expected[..., 3].mean() > 0.2
    assert found.tobytes() == expected.tobytes()
