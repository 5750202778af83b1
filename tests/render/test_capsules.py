"""Pictures of capsules, against float64 and against the spheres that they become without length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import _core
from raytracer.backends.cpu import CpuDevice
from raytracer.buffers import SceneBuffers, build_bvh
from raytracer.film.film import Film
from raytracer.scene.packing.pack import pack
from raytracer.scene.scene import CapsuleSet
from reference.capsule import interval
from reference.scene import Array, View, camera_rays, unit
from support.scenes import on_grid

WIDTH, HEIGHT = 96, 72
EYE = (2.5, 1.75, 3.5)
NONE = 2**32 - 1
LAMP = unit((1.0, 2.0, 1.5))


def colored(rng: np.random.Generator, count: int) -> Array:
    return np.asarray(rng.uniform(0.1, 1.0, (count, 3)))


def rods(count: int, thin: float = 0.02, seed: int = 2) -> dict[str, Any]:
    """Starts, ends, radii and colours of capsules in a box of two units."""
    rng = np.random.default_rng(seed)
    starts = on_grid(rng.uniform(-1, 1, (count, 3)))
    return {
        "starts": starts,
        "ends": starts + on_grid(rng.normal(size=(count, 3)) * 0.3),
        "radius": np.maximum(on_grid(rng.uniform(0.5, 2, count) * thin), 2.0**-10),
        "color": colored(rng, count),
        "end_color": colored(rng, count),
    }


def balls(count: int) -> raytracer.SphereSet:
    rng = np.random.default_rng(3)
    return raytracer.SphereSet(
        on_grid(rng.uniform(-1, 1, (count, 3))),
        on_grid(rng.uniform(0.05, 0.1, count)),
        colored(rng, count),
        color_space="linear",
    )


def scene(count: int = 300, spheres: int = 40, **changes: Any) -> raytracer.Scene:
    made = CapsuleSet(**rods(count), color_space="linear")
    return raytracer.Scene(
        spheres=[balls(spheres)] if spheres else [],
        capsules=[made],
        camera=raytracer.Camera(position=EYE, look_at=(0, 0, 0), vertical_fov=40),
        lights=[raytracer.DirectionalLight(tuple(-LAMP))],
        ambient=raytracer.Ambient(intensity=0.0),
        materials={"default": raytracer.Material(ambient=0, diffuse=1, specular=0)},
        **changes,
    )


def render(scene: raytracer.Scene, **settings: Any) -> Any:
    options: dict[str, Any] = {"width": WIDTH, "height": HEIGHT, "samples": 1, "backend": "cpu"}
    return raytracer.render(scene, **options | settings)


def segments(scene: raytracer.Scene) -> tuple[Array, Array, Array]:
    """Middle, radius and half of the axis of all spheres, then all capsules, float64."""
    parts = [(s.centers, s.radius, np.zeros_like(s.centers)) for s in scene.spheres]
    parts += [
        (
            0.5 * (c.start.centers + c.end.centers),
            c.start.radius,
            0.5 * (c.end.centers - c.start.centers),
        )
        for c in scene.capsules
    ]
    center, radius, axis = (np.concatenate(each) for each in zip(*parts, strict=True))
    return center, radius, axis


def rays() -> Array:
    """Directions through the pixels' centres from EYE to the origin, (h, w, 3)."""
    _, direction = camera_rays(View(EYE, (0, 0, 0), vertical_fov=40.0), WIDTH, HEIGHT)
    return direction.reshape(HEIGHT, WIDTH, 3)


@pytest.mark.parametrize("count", [5, 100])
def test_first_hits_and_shadows_are_those_of_brute_force(backend: str, count: int) -> None:
    made = scene(count, 40 if count > 5 else 3)
    names = ("id", "depth", "normal", "albedo", "position")
    film = render(made, aovs=names, backend=backend, filter="point").film
    found = film.aovs
    center, radius, axis = segments(made)
    direction = rays()
    eye = np.array(EYE)
    first, last = interval(center, radius, axis, eye, direction[..., None, :])
    nearest, depth = first.argmin(axis=-1), first.min(axis=-1)
    second = np.sort(first, axis=-1)[..., 1]
    grazing = np.isfinite(first) & (last < first + 0.02)
    clear = ~grazing.any(axis=-1) & ((second > depth + 1e-3) | ~np.isfinite(depth))
    hit = clear & np.isfinite(depth)
    assert hit.sum() > 50
    assert np.array_equal(found["id"][hit], nearest[hit])
    assert (found["id"][clear & ~hit] == NONE).all()
    assert np.abs(found["depth"][hit] - depth[hit]).max() < 2e-5
    point = eye + direction * np.where(hit, depth, 0)[..., None]
    away, own = point - center[nearest], axis[nearest]
    s = (away * own).sum(axis=-1) / np.maximum(np.square(own).sum(axis=-1), 1e-300)
    normal = (away - np.clip(s, -1, 1)[..., None] * own) / radius[nearest][..., None]
    assert np.abs(found["normal"] - normal)[hit].max() < 2e-3
    balls_, caps = made.spheres[0], made.capsules[0]
    colors = np.concatenate([balls_.color, caps.start.color])
    others = np.concatenate([balls_.color, caps.end.color])
    expected = np.where((s > 0)[..., None], others[nearest], colors[nearest])
    told = hit & (np.abs(s) > 1e-3)
    assert np.abs(found["albedo"] - expected)[told].max() < 1e-6

    # the light of a diffuse surface, unless something is in its way
    out = found["position"].astype(np.float64)[hit]
    begin, end = interval(center, radius, axis, out[:, None, :], LAMP)
    itself = np.arange(len(center)) == nearest[hit][:, None]
    blocked = ((end > 1e-3) & ~itself).any(axis=-1)
    doubtful = (end < begin + 0.02) & np.isfinite(begin)
    doubtful |= (np.abs(begin) < 2e-3) | (np.abs(end) < 2e-3)
    doubtful = (doubtful & ~itself).any(axis=-1)
    facing = (found["normal"][hit] @ LAMP).astype(np.float64)
    lit = np.where(blocked, 0, np.maximum(facing, 0))[:, None] * found["albedo"][hit]
    sure = ~doubtful & told[hit] & (np.abs(facing) > 1e-3)
    assert sure.sum() > 40
    assert blocked[sure].any() or count == 5
    light = film.sums[..., :3][hit]
    assert np.abs(light - lit)[sure].max() < 2e-3


def film_of(buffers: SceneBuffers) -> Array:
    device, film = CpuDevice(2), Film.blank(WIDTH, HEIGHT)
    with device.film(film) as made, device.scene(buffers) as placed:
        made.add(placed, buffers.view, 1)
    return np.asarray(film.sums.copy())


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
    spheres = balls(400)
    spheres.material = material
    made = replace(scene(1, 0), spheres=[spheres], capsules=(), ground=raytracer.Ground())
    settings = made.render.override(
        width=WIDTH, height=HEIGHT, samples=1, integrator=integrator, max_depth=5
    )
    buffers = pack(made, settings)
    rest: dict[str, Any] = {
        "axis": np.zeros((150, 3), np.float32),
        "end_row": np.zeros(150, np.int32),
    }
    expected, found = film_of(buffers), film_of(replace(buffers, **rest).check())
    assert expected[..., 3].mean() > 0.2
    assert found.tobytes() == expected.tobytes()


def test_instruction_sets_agree() -> None:
    made = replace(scene(), materials={"default": raytracer.Material(mirror=0.4)})
    best = _core.isa()
    films = {}
    try:
        for isa in _core.isas():
            _core.use_isa(isa)
            films[isa] = render(made).film.sums.copy()
    finally:
        _core.use_isa(best)
    portable = films.pop("portable")
    for film in films.values():
        assert film.tobytes() == next(iter(films.values())).tobytes()
        assert (np.abs(film - portable) > 1e-3).mean() < 1e-2


def test_one_row_of_colours_and_a_ground_with_capsules_alone() -> None:
    made = scene(20, 0)
    plain = CapsuleSet(
        made.capsules[0].start.centers, made.capsules[0].end.centers, 0.05, "red", "blue"
    )
    both = replace(made, capsules=[plain, plain], ground=raytracer.Ground(color="lime"))
    image = render(both, aovs=("albedo", "id"))
    seen = {tuple(np.round(row, 3)) for row in image.film.aovs["albedo"].reshape(-1, 3)}
    assert {(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)} <= seen
    assert both.count == 0
    assert both.capsule_count == 40
    ids = image.film.aovs["id"]
    assert ids[ids != NONE].max() < 40


def test_bytes_of_a_capsule_with_its_tree() -> None:
    made = scene(1)
    rng = np.random.default_rng(1)
    starts = rng.uniform(-1, 1, (20_000, 3))
    many = CapsuleSet(starts, starts + 0.02 * rng.normal(size=(20_000, 3)), 0.005)
    buffers = pack(replace(made, spheres=(), capsules=[many]))
    assert build_bvh(buffers).nbytes / buffers.count < 64


def test_the_fitted_camera_sees_both_ends() -> None:
    rod = CapsuleSet([[0, 0, 0]], [[10, 0, 0]], 0.1)
    made = raytracer.Scene(capsules=[rod])
    alpha = np.asarray(render(made, filter="point").film.sums)[..., 3]
    columns = np.flatnonzero(alpha.any(axis=0))
    assert columns[0] > 0
    assert columns[-1] < WIDTH - 1
    assert len(columns) > WIDTH / 2


def test_the_kernels_check_the_rows_of_colours() -> None:
    buffers = pack(scene(4, 2))
    tree = build_bvh(buffers)
    assert tree.spheres.shape == (6, 8)
    wrong = tree.spheres.copy()
    wrong[:, 7] = np.array([1000], np.int32).view(np.float32)
    device, film = CpuDevice(1), Film.blank(buffers.view.width, buffers.view.height)
    with (
        device.film(film) as made,
        device.scene(buffers, replace(tree, spheres=wrong)) as placed,
        pytest.raises(ValueError, match="color"),
    ):
        made.add(placed, buffers.view, 1)
