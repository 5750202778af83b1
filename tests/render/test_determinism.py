"""The same bytes whatever threads, tiles and crops; the same picture scaled or moved."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import _core
from reference import RefScene, render_bounds
from support.pictures import Bench
from support.project import shoot, to_project
from support.scenes import random_scene

SIZE = (97, 61)
MANY: dict[str, Any] = {"samples": 3, "filter": "gaussian", "seed": 5}
AO: dict[str, Any] = {"integrator": "ao", "ao_samples": 3}
CLEAR: dict[str, Any] = {"integrator": "path", "max_depth": 3}


def solids(count: int = 40) -> raytracer.Scene:
    """Spheres that light passes, capsules, cylinders, cones and ellipsoids on a ground."""
    rng = np.random.default_rng(4)
    starts = rng.uniform(-1, 1, (count, 3))
    ends = starts + 0.3 * rng.normal(size=(count, 3))
    rods: dict[str, Any] = {"starts": starts, "ends": ends, "radius": 0.03, "color": "red"}
    return raytracer.Scene(
        spheres=[raytracer.SphereSet(rng.uniform(-1, 1, (count, 3)), 0.2, opacity=0.4)],
        capsules=[raytracer.CapsuleSet(**rods), raytracer.CapsuleSet(**rods, caps="flat")],
        cones=[raytracer.ConeSet(**rods, end_radius=0.1)],
        ellipsoids=[raytracer.EllipsoidSet(starts, rng.uniform(0.02, 0.2, (count, 3)))],
        ground=raytracer.Ground(shadow_catcher=True),
        materials={"default": raytracer.Material(mirror=0.4)},
    )


def room() -> raytracer.Scene:
    """A coat, metal, a lamp and rough glass in glass, under area lights and a sky."""
    glass: Any = {"transmission": 1.0, "roughness": 0.3}
    balls: list[tuple[Any, float, raytracer.Principled]] = [
        ((0, -101, 0), 100.0, raytracer.Principled(roughness=0.6, coat=1.0)),
        ((-1, 0, 0), 0.8, raytracer.Principled(metallic=1.0, roughness=0.04)),
        ((1, 0, 0), 0.9, raytracer.Principled(**glass)),
        ((1.1, 0, 0), 0.6, raytracer.Principled(**glass, ior=1.3, priority=1)),
        ((0, 1.5, -1), 0.3, raytracer.Principled(emission=3.0)),
    ]
    return raytracer.Scene(
        [raytracer.SphereSet([place], size, "tan", material=m) for place, size, m in balls],
        camera=raytracer.Camera(position=(0, 0.6, 6), look_at=(0, 0, 0), vertical_fov=30.0),
        lights=(
            raytracer.RectangleLight((0, 2.5, 2), (0, -1, -0.5), width=1.6, height=1.2),
            raytracer.PointLight((2.2, 2, 1), radius=0.4, falloff="inverse-square"),
            raytracer.DirectionalLight((0.3, -1, -0.5), intensity=0.3, angle=20.0),
        ),
        environment=raytracer.Environment(bottom="#806040", top="#4080ff"),
    )


KINDS: dict[str, tuple[raytracer.Scene, dict[str, Any]]] = {
    "spheres": (to_project(random_scene(41, 300, mirror=True)), MANY),
    "occlusion": (to_project(random_scene(41, 300, mirror=True)), MANY | AO),
    "solids": (solids(), MANY),
    "solids, occlusion": (solids(), MANY | AO),
    "solids, paths": (solids(), MANY | CLEAR),
    "room": (room(), MANY),
    "room, occlusion": (room(), MANY | AO),
    "room, paths": (room(), MANY | CLEAR | {"max_depth": 8}),
}
SCENE, SETTINGS = KINDS["spheres"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def exposed(kind: str = "spheres", **changes: Any) -> NDArray[np.float32]:
    """The sums of a picture; of the spheres through the centres of pixels with samples=None."""
    scene, settings = KINDS[kind]
    size = {"width": SIZE[0], "height": SIZE[1]}
    options: dict[str, Any] = {"backend": "cpu", "threads": 2} | size | settings | changes
    return np.asarray(raytracer.render(scene, **options).film.sums)


@cache
def plain(kind: str, backend: str = "cpu") -> NDArray[np.float32]:
    """The whole picture, as it is without further settings."""
    return exposed(kind, backend=backend)


@pytest.mark.parametrize("threads", [1, 7])
def test_threads(kind: str, threads: int) -> None:
    np.testing.assert_array_equal(exposed(kind, threads=threads), plain(kind))


@pytest.mark.parametrize("crop", [(13, 7, 14, 8), (31, 17, 83, 60), (96, 0, 97, 61)])
def test_crop_is_a_part_of_the_full_picture(
    backend: str, kind: str, crop: tuple[int, int, int, int]
) -> None:
    x0, y0, x1, y1 = crop
    full, part = plain(kind, backend), exposed(kind, backend=backend, crop=crop)
    np.testing.assert_array_equal(part, full[y0:y1, x0:x1])


def two_goes(scene: raytracer.Scene, first: int, more: int, **settings: Any) -> None:
    """Assert that samples in two renders are those of one."""
    start = raytracer.render(scene, samples=first, **settings)
    both = raytracer.render(scene, samples=more, film=start.film, **settings)
    whole = raytracer.render(scene, samples=first + more, **settings)
    assert both.film.samples == whole.film.samples == first + more
    np.testing.assert_array_equal(both.film.sums, whole.film.sums)


def test_samples_of_all_kinds_in_two_goes(backend: str, kind: str) -> None:
    scene, settings = KINDS[kind]
    small: dict[str, Any] = {"width": 33, "height": 21, "backend": backend}
    two_goes(scene, 5, 7, **{k: v for k, v in settings.items() if k != "samples"} | small)


@pytest.mark.parametrize("filter_name", ["point", "box", "tent", "gaussian"])
@pytest.mark.parametrize(("first", "more"), [(1, 1), (5, 70)])
def test_samples_in_two_goes(backend: str, first: int, more: int, filter_name: str) -> None:
    two_goes(SCENE, first, more, backend=backend, width=33, height=21, filter=filter_name, seed=9)


def test_the_caller_keeps_its_floating_point_mode(backend: str) -> None:
    """Flushing tiny numbers to zero is the kernels' own business."""
    exposed(backend=backend)
    tiny = np.array([1e-310])
    assert (tiny * 1.0)[0] > 0


def test_seeds_differ_and_the_centre_of_a_pixel_has_none(backend: str) -> None:
    a, b = (exposed(backend=backend, seed=seed) for seed in (1, 2))
    assert np.abs(a - b).max() > 0.01
    a, b = (exposed(backend=backend, samples=1, filter="point", seed=seed) for seed in (1, 2))
    np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("default_isa")
def test_instruction_sets(kind: str, pictures: Bench) -> None:
    """The same bytes, but for the portable one: it has no fused multiply-add, so that an edge may
    fall on the other side of a pixel's centre."""
    films = {}
    for isa in _core.isas():
        _core.use_isa(isa)
        films[isa] = exposed(kind)
    portable, best = films.pop("portable"), films.get(_core.isas()[0])
    for film in films.values():
        np.testing.assert_array_equal(film, best)
    if best is not None:
        share = 2e-3 if kind == "spheres" else 1e-2
        pictures.agree(best, portable, tolerance=1e-3, share=share, mean=1e-2)


PICTURE = (72, 48)


@pytest.fixture(params=[False, True], ids=["perspective", "orthographic"])
def scene(request: pytest.FixtureRequest) -> RefScene:
    """Balls with shadows, highlights and mirrors under all kinds of light."""
    return random_scene(31, 60, mirror=True, ortho=bool(request.param))


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**-3, 2.0**20])
def test_powers_of_two_change_no_bit(backend: str, scene: RefScene, scale: float) -> None:
    plain = shoot(scene, *PICTURE, backend=backend)
    np.testing.assert_array_equal(shoot(scene.moved(scale), *PICTURE, backend=backend), plain)


@pytest.mark.parametrize(
    ("scale", "offset"),
    [
        *((scale, (0, 0, 0)) for scale in (1e-6, 0.37, 1e6)),
        # Float64 keeps 1e-10 of a scene moved by 1e6, and 1e-7 of one moved by 1e9.
        *((1.0, offset) for offset in ((1e6, 0, 0), (-1e6, 1e6, 1e6), (0, 0, 1e9))),
        (1e-6, (1.0, -2.0, 3.0)),
    ],
)
def test_scale_and_offset(
    backend: str, scene: RefScene, pictures: Bench, scale: float, offset: tuple[float, ...]
) -> None:
    picture = shoot(scene.moved(scale, offset), *PICTURE, backend=backend)
    pictures.within(render_bounds(scene, *PICTURE), picture)


def test_a_giant_does_not_spoil_the_origin(backend: str, pictures: Bench) -> None:
    """A ball a million times as large, far behind the camera, changes nothing."""
    scene = random_scene(32, 60).but(lights=())
    with_giant = scene.but(
        centers=np.concatenate([scene.centers, [[3e6, 2e6, 5e6]]]),
        radii=np.append(scene.radii, 1e6),
        colors=np.concatenate([scene.colors, [[1.0, 0, 0]]]),
        material_id=np.append(scene.material_id, 0),
    )
    picture = shoot(with_giant, *PICTURE, backend=backend)
    pictures.within(render_bounds(scene, *PICTURE), picture)


def test_the_order_of_the_spheres_does_not_matter(backend: str, pictures: Bench) -> None:
    scene = random_scene(33, 200, mirror=True)
    shuffle = np.random.default_rng(0).permutation(200)
    shuffled = scene.but(
        centers=scene.centers[shuffle],
        radii=scene.radii[shuffle],
        colors=scene.colors[shuffle],
        material_id=scene.material_id[shuffle],
    )
    pictures.agree(
        shoot(scene, *PICTURE, backend=backend),
        shoot(shuffled, *PICTURE, backend=backend),
        tolerance=0.0,
    )
