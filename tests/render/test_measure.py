"""Measurements of particles, beside closed forms and sums in float64."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import CapsuleSet, Scene, SphereSet, Transform
from raytracer.commands.cli import main
from raytracer.rendering import measurements
from raytracer.rendering.pipeline import prepare
from reference import occluded
from reference.scene import unit

SIGMAS = 5.0


def overlapping(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return centres and radii of spheres of which some overlap."""
    random = np.random.default_rng(seed)
    return random.uniform(-1, 1, (count, 3)), random.uniform(0.1, 0.5, count)


def is_covered(points: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Whether points lie in a sphere, by brute force."""
    distances = np.linalg.norm(points[:, None] - centers, axis=2)
    return np.asarray((distances < radii).any(axis=1))


def expected(
    number: int, centers: np.ndarray, radii: np.ndarray, length: float
) -> tuple[float, float]:
    """Return the exposed part of a sphere, and the part of an even sky that does not reach it."""
    random = np.random.default_rng(number)
    normals, scatter = unit(random.normal(size=(2, 8_000, 3)))
    points = centers[number] + radii[number] * normals
    others = np.arange(len(radii)) != number
    around = centers[others], radii[others]
    free = ~is_covered(points, *around)
    rays = unit(normals + scatter)  # with the density of the cosine
    free_points, none = points[free], np.zeros(free.sum())
    blocked = occluded(*around, free_points, rays[free], none + length, none)
    return float(free.mean()), float(blocked.mean()) if len(blocked) else 1.0


def agrees(value: float, wanted: float, error: float, other: float = 0.0) -> bool:
    return abs(value - wanted) <= SIGMAS * float(np.hypot(error, other)) + 1e-9


def test_a_sphere_alone_is_open() -> None:
    measured = raytracer.measure(Scene.from_arrays(np.zeros((1, 3)), 2.0), backend="cpu")
    assert measured.occlusion[0] == 0.0
    assert measured.accessible_area[0] == pytest.approx(16 * np.pi)


def test_the_camera_sees_a_cap_of_a_sphere() -> None:
    scene = Scene.from_arrays(np.zeros((1, 3)), 1.0)
    near = raytracer.Camera(position=(0, 0, 3), look_at=(0, 0, 0), fit=False)
    scene.camera = near
    measured = raytracer.measure(scene, samples=4096, backend="cpu")
    wanted = 2 * np.pi * (1 - 1 / 3)  # beyond the horizon nothing is seen
    assert agrees(measured.visible_area[0], wanted, measured.visible_area_error[0])
    measured = raytracer.measure(scene, samples=4096, ortho=True, backend="cpu")
    assert agrees(measured.visible_area[0], 2 * np.pi, measured.visible_area_error[0])


@pytest.mark.parametrize("probe", [0.0, 0.4])
def test_areas_of_two_spheres_are_those_without_caps(probe: float) -> None:
    distance, radii = 3.0, np.array([2.0, 1.5])
    scene = Scene.from_arrays(np.array([[0, 0, 0], [distance, 0, 0]]), radii)
    measured = raytracer.measure(scene, samples=8192, probe=probe, backend="cpu")
    for number in range(2):
        r, other = radii[number] + probe, radii[1 - number] + probe
        cap = 2 * np.pi * r * (r - (distance**2 - other**2 + r**2) / (2 * distance))
        wanted, error = 4 * np.pi * r**2 - cap, measured.accessible_area_error[number]
        assert agrees(measured.accessible_area[number], wanted, error)


@pytest.mark.parametrize("length", [0.3, np.inf])
def test_measurements_are_those_by_brute_force(length: float) -> None:
    centers, radii = overlapping(40, 7)
    distance = None if np.isinf(length) else length
    measured = raytracer.measure(
        Scene.from_arrays(centers, radii), samples=2048, distance=distance, backend="cpu"
    )
    for number in range(len(radii)):
        free, blocked = expected(number, centers, radii, length)
        area = 4 * np.pi * radii[number] ** 2
        share, error = (
            measured.accessible_area[number] / area,
            measured.accessible_area_error[number],
        )
        assert agrees(share, free, error / area, 0.5 / 20_000**0.5)
        other = 0.5 / max(20_000 * free, 1.0) ** 0.5
        occlusion, error = measured.occlusion[number], measured.occlusion_error[number]
        assert agrees(occlusion, blocked, error, other)


def test_errors_are_bounds_of_the_scatter_of_seeds() -> None:
    centers, radii = overlapping(60, 3)
    scene = Scene.from_arrays(centers, radii)
    runs = [raytracer.measure(scene, samples=64, seed=seed, backend="cpu") for seed in range(12)]
    for name in ("occlusion", "accessible_area", "visible_area"):
        scatter = np.std([getattr(run, name) for run in runs], axis=0)
        stated = np.mean([getattr(run, f"{name}_error") for run in runs], axis=0)
        assert np.mean(scatter) <= np.mean(stated) < 20 * np.mean(scatter)


def test_measurements_do_not_depend_on_threads_and_scale() -> None:
    centers, radii = overlapping(300, 5)
    one, two = (
        raytracer.measure(Scene.from_arrays(centers, radii), threads=threads, backend="cpu")
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one.occlusion, two.occlusion)
    scaled = Scene([SphereSet(centers, radii, transform=Transform(scale=8.0))])
    large = raytracer.measure(scaled, backend="cpu")
    np.testing.assert_allclose(large.accessible_area, 64 * one.accessible_area, rtol=1e-6)
    np.testing.assert_allclose(large.positions, 8 * centers)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {"backend": "auto", "threads": 0}),
        (["--threads", "1"], {"backend": "auto", "threads": 1}),
        (["--threads", "3", "--backend", "cpu"], {"backend": "cpu", "threads": 3}),
    ],
)
def test_options_of_the_device_are_those_of_both_passes(
    words: list[str], expected: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rays of the spheres, and of those that a probe enlarges."""
    asked: list[dict[str, Any]] = []

    def prepared(*arguments: Any, **options: Any) -> Any:
        asked.append({name: options[name] for name in expected})
        return prepare(*arguments, **options | {"backend": "cpu"})

    monkeypatch.setattr(measurements, "prepare", prepared)
    data = tmp_path / "heap.csv"
    data.write_text("x,y,z,radius\n0,0,0,1\n1.5,0,0,1\n")
    assert main(["measure", str(data), "--probe", "0.5", "--samples", "4", *words]) == 0
    assert asked == [expected] * 2


def test_solids_occlude_and_are_not_measured() -> None:
    around = CapsuleSet([[-5, 0, 0]], [[5, 0, 0]], 1.0)
    scene = Scene([SphereSet([[0, 0, 0], [0, 10, 0]], 0.5)], capsules=[around])
    measured = raytracer.measure(scene, backend="cpu")
    assert measured.occlusion[0] == 1.0
    assert measured.accessible_area[0] == 0.0
    assert 0.0 < measured.occlusion[1] < 0.2


@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_a_file_of_measurements_is_rendered_by_them(ending: str, tmp_path: Path) -> None:
    data = tmp_path / "heap.csv"
    data.write_text("x,y,z,radius,mass\n0,0,0,1,5\n1.5,0,0,1,6\n9,0,0,1,7\n")
    made = tmp_path / f"made{ending}"
    assert main(["measure", str(data), "-o", str(made), "--backend", "cpu"]) == 0
    assert main(["measure", str(data), "-o", str(tmp_path / "made.txt"), "--backend", "cpu"]) == 2
    loaded = raytracer.load(made).spheres[0]
    np.testing.assert_allclose(loaded.columns["mass"], [5, 6, 7])
    measured = raytracer.measure(data, backend="cpu")
    np.testing.assert_allclose(loaded.columns["occlusion"], measured.occlusion, rtol=1e-6)
    np.testing.assert_allclose(loaded.radius, 1.0)
    image = raytracer.render(made, color_by="occlusion", width=16, height=16, backend="cpu")
    assert image.pixels().shape == (16, 16, 4)


def test_a_table_has_each_column_of_the_file_once(tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "vel": np.arange(9.0).reshape(3, 3),
        "vel_0": np.ones(3),
        "stress": np.zeros((3, 3, 3)),
        "when": np.array(["2026-01-01"] * 3, "datetime64[D]"),
    }
    np.savez(tmp_path / "a.npz", positions=np.eye(3), radius=np.full(3, 0.05), **columns)
    with pytest.warns(raytracer.RaytracerWarning, match="stress.*left out"):
        measured = raytracer.measure(tmp_path / "a.npz", samples=8, backend="cpu")
    np.testing.assert_array_equal(measured.radius, 0.05)
    names = measured.save(tmp_path / "b.csv").read_text().split()[0].split(",")
    assert names[:8] == ["x", "y", "z", "radius", "vel_0_", "vel_1", "vel_2", "vel_0"]
    assert "when" in names
    assert not [name for name in names if name.startswith("stress")]


def test_a_column_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,z,tag,mass\n0,0,0,1,5\n1,0,0,2,6\n0,1,0,B3,7\n")
    with pytest.warns(raytracer.RaytracerWarning, match="column 'tag' is left out.*'B3'"):
        measured = raytracer.measure(tmp_path / "a.csv", samples=8, backend="cpu")
    assert list(measured.columns) == ["mass"]


@pytest.mark.gpu
@pytest.mark.parametrize("count", [1, 40, 5000])
@pytest.mark.parametrize("has_solids", [False, True])
def test_a_gpu_counts_the_points_of_the_cpu(cuda: str, count: int, has_solids: bool) -> None:
    centers, radii = overlapping(count, count)
    solids = [CapsuleSet([[-5, 0, 0]], [[5, 0, 0]], 0.1)] if has_solids else []
    scene = Scene([SphereSet(centers, 0.1 * radii)], capsules=solids)
    host, device = (raytracer.measure(scene, samples=96, backend=b) for b in ("cpu", cuda))
    for name in ("occlusion", "accessible_area", "visible_area"):
        one, other = getattr(host, name), getattr(device, name)
        assert (one != other).mean() < 0.01  # a ray on an edge may fall to either side
        np.testing.assert_allclose(other, one, atol=0.05 * max(float(one.max()), 1e-6))
