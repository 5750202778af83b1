"""Periodic images by instancing: pictures of one cell in memory, against copies and float64."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.packing import replicated_set as packing
from raytracer.packing.replicated_set import ReplicatedSet
from raytracer.rendering.pipeline import prepare
from reference import closest_hit
from support.particle_files import write

ORTHOGONAL = np.diag([4.0, 5.0, 6.0])
TRICLINIC = np.array([[4.0, 0.0, 0.0], [1.0, 5.0, 0.0], [0.5, -1.0, 6.0]])
COUNTS = (3, 2, 3)
INSIDE = raytracer.Camera(position=(6.8, 6.9, 8.7), look_at=(1.0, 3.0, 4.0))
"""A camera between atoms of the supercell."""

SMALL: dict[str, Any] = {"width": 56, "height": 40, "samples": 4}


@pytest.fixture(autouse=True)
def _small_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images of small cells are instances too."""
    monkeypatch.setattr(packing, "MIN_CELL", 0)


def cell(edges: NDArray[np.float64], path: Path, count: int = 40, reach: float = 0.3) -> Path:
    """Write atoms of a cell, some of them up to `reach` of an edge outside of it."""
    rng = np.random.default_rng(5)
    centers = rng.uniform(-reach, 1.0 + reach, (count, 3)) @ edges
    rows = [f"O {x!r} {y!r} {z!r} {i}" for i, (x, y, z) in enumerate(centers.tolist())]
    lattice = " ".join(map(str, edges.ravel().tolist()))
    comment = f'Lattice="{lattice}" Properties=species:S:1:pos:R:3:tag:I:1'
    return write(path, "\n".join([str(count), comment, *rows, ""]))


def both(path: Path, **style: Any) -> tuple[raytracer.Scene, raytracer.Scene]:
    """Return a scene with images in place of copies, and the same with copies."""
    loaded = raytracer.load(path)
    style = {"radius": "0.2 + 0.01 * tag", "color_by": "tag", "replicate": COUNTS} | style
    images, copies = loaded.styled(**style), loaded.styled(**style)
    assert copies.spheres[0].centers.shape == (copies.count, 3)  # which makes them
    assert copies.spheres[0].cell is None
    return images, copies


@pytest.mark.parametrize("edges", [ORTHOGONAL, TRICLINIC], ids=["orthogonal", "triclinic"])
@pytest.mark.parametrize("camera", [None, INSIDE], ids=["fitted", "inside"])
def test_first_hits_are_those_of_copies(
    edges: Any, camera: raytracer.Camera | None, tmp_path: Path, backend: str
) -> None:
    images, copies = both(cell(edges, tmp_path / "a.xyz"))
    settings = SMALL | {"backend": backend, "aovs": ("depth", "normal", "id", "position")}
    one, other = (
        raytracer.render(replace(scene, camera=camera), **settings).film.aovs
        for scene in (images, copies)
    )
    assert images.spheres[0].cell is not None  # no array of all images was made
    same = one["id"] == other["id"]
    assert same.mean() > 0.999  # rays along edges of spheres may miss by rounding
    hit = same & (one["id"] != 2**32 - 1)
    assert hit.any()
    np.testing.assert_allclose(one["depth"][hit], other["depth"][hit], rtol=1e-4, atol=1e-4)
    assert np.abs(one["normal"][hit] - other["normal"][hit]).max() < 0.02
    assert np.median(np.abs(one["normal"][hit] - other["normal"][hit])) < 1e-5
    shown = np.unique(one["id"][hit])
    assert len(np.unique(shown // 40)) > 5  # of several images


@pytest.mark.parametrize("edges", [ORTHOGONAL, TRICLINIC], ids=["orthogonal", "triclinic"])
def test_first_hits_are_those_of_all_images_in_float64(
    edges: Any, tmp_path: Path, backend: str
) -> None:
    images, copies = both(cell(edges, tmp_path / "a.xyz"))
    eye = np.array(INSIDE.position)
    scene = replace(images, camera=INSIDE)
    film = raytracer.render(scene, aovs=("id", "position"), backend=backend, **SMALL).film
    spheres = copies.spheres[0]
    hit = film.aovs["id"] != 2**32 - 1
    towards = film.aovs["position"][hit].astype(np.float64) - eye
    directions = towards / np.linalg.norm(towards, axis=1)[:, None]
    radii = np.asarray(spheres.radius, np.float64)
    centers, origin = np.asarray(spheres.centers, np.float64), np.broadcast_to(eye, towards.shape)
    t, number = closest_hit(centers, radii, origin, directions)
    same = number == film.aovs["id"][hit]
    assert same.mean() > 0.998
    np.testing.assert_allclose(np.linalg.norm(towards, axis=1)[same], t[same], atol=2e-3)


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
@pytest.mark.parametrize(
    "change",
    [{}, {"ground": True}, {"opacity": 0.5}, {"material": "chrome"}, {"clip": True}],
    ids=["plain", "ground", "transparent", "mirror", "clipped"],
)
def test_pictures_are_those_of_copies(
    integrator: str, change: dict[str, Any], tmp_path: Path, backend: str
) -> None:
    films = []
    for scene in both(cell(TRICLINIC, tmp_path / "a.xyz")):
        if "material" in change:
            scene.spheres[0].material = change["material"]
        if "opacity" in change:
            scene.spheres[0].material = raytracer.Material(opacity=change["opacity"])
        if "ground" in change:
            scene = replace(scene, ground=raytracer.Ground())
        if "clip" in change:
            scene = replace(scene, clip=raytracer.Clip(keep="x < 5"))
        settings = SMALL | {"integrator": integrator, "backend": backend, "samples": 8}
        films.append(raytracer.render(scene, **settings).film.sums)
        assert len(films) == 2 or scene.spheres[0].cell is not None  # no copy was made
    difference = np.abs(films[0] - films[1]).max(axis=2) / 8
    assert np.isfinite(films[0]).all()
    assert np.quantile(difference, 0.9) < 1e-3  # the rest are paths that part at a rounding
    assert abs(films[0].mean() - films[1].mean()) < 0.01 * films[1].mean()


def test_a_picked_image_is_the_particle_of_its_row(tmp_path: Path) -> None:
    images, _ = both(cell(TRICLINIC, tmp_path / "a.xyz"))
    image = raytracer.render(images, aovs=("id",), backend="cpu", **SMALL)
    numbers = image.film.aovs["id"]
    y, x = np.argwhere(numbers != 2**32 - 1)[-1].tolist()
    picked = image.pick(x, y)
    assert picked is not None
    assert picked.values["tag"] == int(numbers[y, x]) % 40
    assert picked == images.describe(int(numbers[y, x]))


def test_memory_is_that_of_one_cell(tmp_path: Path) -> None:
    images, copies = both(cell(ORTHOGONAL, tmp_path / "a.xyz", count=400), radius=0.1)
    jobs = [prepare(scene, dict(SMALL), backend="cpu") for scene in (images, copies)]
    with jobs[0] as one, jobs[1] as other:
        assert other.memory["resident"] > 10 * one.memory["resident"]
        eyes = [np.asarray(job.camera and job.camera.position, np.float64) for job in jobs]
        np.testing.assert_allclose(eyes[0], eyes[1], rtol=1e-6)
        assert one.about["spheres"] == other.about["spheres"]
    assert isinstance(images.spheres[0], ReplicatedSet)
    assert images.spheres[0].cell is not None


@pytest.mark.parametrize(
    "settings",
    [
        {"radius": 0.4}, {"color": "red"}, {"opacity": 0.5},
        {"annotations": {"legend": True, "axes": True}},
    ],
    ids=str,
)  # fmt: skip
def test_one_value_for_all_spheres_needs_no_copies(settings: Any, tmp_path: Path) -> None:
    path = cell(ORTHOGONAL, tmp_path / "a.xyz")
    images, copies = (raytracer.load(path).styled(replicate=COUNTS) for _ in range(2))
    assert len(copies.spheres[0].centers) == copies.count  # which makes them
    one, other = (
        raytracer.render(each, **SMALL, **settings, look="plain", backend="cpu").to_uint8()
        for each in (images, copies)
    )
    assert images.spheres[0].cell is not None
    np.testing.assert_allclose(one.astype(float), other.astype(float), atol=2.0)
    made = raytracer.load(path).styled(replicate=COUNTS)
    annotations = settings.get("annotations")
    given = {name: value for name, value in settings.items() if name != "annotations"}
    with prepare(made, SMALL | given, backend="cpu", annotations=annotations) as job:
        assert job.memory["resident"] < 200 * 40


@pytest.mark.parametrize("material", ["glass", raytracer.Principled(emission=2.0)])
def test_glass_and_light_have_copies(material: Any, tmp_path: Path) -> None:
    images, copies = both(cell(ORTHOGONAL, tmp_path / "a.xyz", count=4))
    sums = []
    for scene in (images, copies):
        scene.spheres[0].material = material
        settings = SMALL | {"samples": 1, "integrator": "path", "backend": "cpu"}
        sums.append(raytracer.render(scene, **settings).film.sums)
    assert sums[0].tobytes() == sums[1].tobytes()


def test_many_images_of_one_sphere(tmp_path: Path, backend: str) -> None:
    path = write(tmp_path / "a.xyz", '1\nLattice="1 0 0 0 1 0 0 0 1"\nO 0.5 0.5 0.5\n')
    images, copies = both(path, radius=0.4, color_by=None, replicate=(20, 11, 7))
    settings = SMALL | {"backend": backend, "aovs": ("id",)}
    one, other = (raytracer.render(scene, **settings).film.aovs["id"] for scene in (images, copies))
    assert (one == other).mean() > 0.999
