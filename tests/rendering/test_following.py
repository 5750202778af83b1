"""Spheres that take the places of those of another state, beside a scene that is packed anew."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.packing.pack import pack_with_camera
from raytracer.packing.pose import fit_camera
from raytracer.rendering.following import follow, prepare_in_place, with_color_rows
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import PreparedScene, prepare

SIZE = {"width": 48, "height": 36, "samples": 2}

Spheres = list[raytracer.SphereSet]


def moved(job: PreparedScene, scene: raytracer.Scene) -> PreparedScene | None:
    now = prepare_in_place(job, with_color_rows(scene), SceneOverrides.of(SIZE))
    if now is not None:
        assert job.kept is not None
        assert now.kept is not None
        follow(job.scene, job.kept[1], job.kept[0], now.kept[0])
    return now


def first(scene: raytracer.Scene) -> PreparedScene:
    return prepare(
        with_color_rows(scene), dict(SIZE), backend="cpu", threads=1, keep=True, hashed=False
    )


def sums(job: PreparedScene) -> NDArray[np.float32]:
    return job.render(job.device.film(raytracer.Film.blank(48, 36))).film.sums


def anew(job: PreparedScene, scene: raytracer.Scene) -> PreparedScene:
    """The job of a scene that is packed in the space of another one and gets a new tree."""
    assert job.kept is not None
    before = job.kept[1]
    assert job.camera is not None
    pose = fit_camera(job.camera, before.balls, before.space, 48 / 36)[0]
    scene = replace(with_color_rows(scene), render=job.settings)
    buffers = pack_with_camera(scene, job.settings, before=before, pose=pose)[0]
    return replace(
        job, scene=job.device.scene(buffers), view=buffers.view, kept=(scene, buffers), frames=[]
    )


def cloud(count: int, seed: int, **options: Any) -> raytracer.SphereSet:
    rng = np.random.default_rng(seed)
    radius = rng.uniform(0.3, 0.6, count) * count ** (-1 / 3)
    return raytracer.SphereSet(rng.uniform(-1.0, 1.0, (count, 3)), radius, **options)


def colors(count: int, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(0.0, 1.0, (count, 3))


def palette(count: int, seed: int) -> dict[str, Any]:
    ids = np.random.default_rng(seed).integers(0, 2, count)
    return {"color": [[1.0, 0.0, 0.0], [0.0, 0.2, 1.0]], "color_id": ids}


ROD = raytracer.CapsuleSet([[-2.0, 0.0, 0.0]], [[2.0, 0.0, 0.0]], 0.1, "green")

STATES: dict[str, Callable[[int], raytracer.Scene]] = {
    "one set": lambda k: raytracer.Scene([cloud(200, k, color="red")]),
    "colours": lambda k: raytracer.Scene([cloud(200, k, color=colors(200, k))]),
    "a palette": lambda k: raytracer.Scene([cloud(200, k, **palette(200, k))]),
    "one radius": lambda k: raytracer.Scene(
        [raytracer.SphereSet(cloud(50, k).centers.astype(np.float32), 0.1 + 0.01 * k)]
    ),
    "two sets": lambda k: raytracer.Scene(
        [cloud(90, k, color=colors(90, k)), cloud(50, k + 9, color="blue")]
    ),
    "one of two": lambda k: raytracer.Scene(
        [cloud(50, 9, color="blue"), cloud(90, k, color=colors(90, k))]
    ),
    "an empty set": lambda k: raytracer.Scene(
        [raytracer.SphereSet(np.empty((0, 3)), 1.0), cloud(90, k)]
    ),
    "a rod": lambda k: raytracer.Scene([cloud(90, k, color=colors(90, k))], capsules=[ROD]),
    "a ground": lambda k: raytracer.Scene(
        [cloud(90, k)], ground=raytracer.Ground(height=-2.0), lights=[]
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_a_followed_state_has_the_picture_of_one_that_is_packed_anew(name: str) -> None:
    job = first(STATES[name](0))
    for number in range(1, 5):
        scene = STATES[name](number)
        now = moved(job, scene)
        assert now is not None
        assert now.scene is job.scene
        expected = anew(now, scene)
        assert (sums(now) == sums(expected)).all()
        job = now


def _sun(intensity: float) -> list[Any]:
    return [raytracer.DirectionalLight(direction=(0, 0, -1), intensity=intensity)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([cloud(5, 0), cloud(6, 0)], [cloud(11, 1)]),
        ([cloud(5, 0, color="red")], [cloud(5, 1, color="blue")]),
        ([cloud(5, 0)], [cloud(5, 1, opacity=0.5)]),
        ([cloud(5, 0)], [cloud(5, 1, material=raytracer.Principled(metallic=1.0))]),
        (
            [cloud(5, 0, material=raytracer.Principled(emission=1.0))],
            [cloud(5, 1, material=raytracer.Principled(emission=1.0))],
        ),
        ([cloud(5, 0)], [raytracer.SphereSet(cloud(5, 1).centers, [1e-3, 1e-3, 1, 1, 1e6])]),
        ([cloud(5, 0)], [raytracer.SphereSet(1e3 + cloud(5, 0).centers, 0.1)]),
    ],
)
def test_what_is_packed_otherwise_is_not_followed(one: Spheres, other: Spheres) -> None:
    job = first(raytracer.Scene(one))
    before = sums(job)
    assert moved(job, raytracer.Scene(other)) is None
    assert (sums(job) == before).all()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"ground": raytracer.Ground()}, {"ground": raytracer.Ground()}),
        (
            {"capsules": [ROD]},
            {"capsules": [raytracer.CapsuleSet([[0, 0, 0]], [[0, 1, 0]], 0.1, "green")]},
        ),
        ({"lights": _sun(1.0)}, {"lights": _sun(2.0)}),
        ({}, {"clip": raytracer.Clip(keep="x < 0")}),
    ],
)
def test_another_scene_around_the_spheres_is_not_followed(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    job = first(raytracer.Scene([cloud(5, 0)], **one))
    assert moved(job, raytracer.Scene([cloud(5, 1)], **other)) is None


def test_a_sphere_that_cannot_be_shown_changes_nothing() -> None:
    job = first(raytracer.Scene([cloud(2000, 0)]))
    before = sums(job)
    far = cloud(2000, 1)
    far.centers = far.centers.copy()
    far.centers[7] = 1e30
    with pytest.raises(raytracer.UserError, match="too far away"):
        moved(job, raytracer.Scene([far]))
    assert (sums(job) == before).all()
