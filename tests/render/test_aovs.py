"""First hits on every backend against the float64 reference, and output variables of a film."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.film.film import Film
from reference.scene import View, camera_rays

WIDTH, HEIGHT = 45, 31
NAMES = ("depth", "normal", "albedo", "id", "position", "samples")
NONE = 2**32 - 1
FAR = 1e9
CENTER = np.array([1000.0, -2000.0, 500.0])  # far off, so that a wrong space shows


def balls() -> tuple[Any, Any, Any]:
    """Centres, radii and linear colours."""
    rng = np.random.default_rng(5)
    centers = rng.uniform(-1, 1, (60, 3))
    return centers, rng.uniform(0.1, 0.35, 60), rng.uniform(0.1, 1.0, (60, 3))


def film(backend: str, orthographic: bool = False, **changes: Any) -> Film:
    """A film with every output variable, seen from the front."""
    centers, radii, colors = balls()
    spheres = raytracer.SphereSet(CENTER + centers, radii, colors, color_space="linear")
    kind: dict[str, Any] = {"vertical_fov": 40.0}
    if orthographic:
        kind = {"type": "orthographic", "height": 3.0}
    camera = raytracer.Camera(tuple(CENTER + np.array([0, 0, 4])), tuple(CENTER), **kind)
    scene = raytracer.Scene(spheres=[spheres], camera=camera)
    options: dict[str, Any] = {"width": WIDTH, "height": HEIGHT, "samples": 2, "aovs": NAMES}
    options |= changes
    return raytracer.render(scene, backend=backend, **options).film


def rays(orthographic: bool) -> tuple[Any, Any]:
    """Origins and unit directions through the pixels' centres, (h, w, 3), relative to CENTER."""
    view = View((0, 0, 4), (0, 0, 0), vertical_fov=None if orthographic else 40.0, height=3.0)
    origin, direction = camera_rays(view, WIDTH, HEIGHT)
    return origin.reshape(HEIGHT, WIDTH, 3), direction.reshape(HEIGHT, WIDTH, 3)


@pytest.mark.parametrize("orthographic", [False, True])
def test_first_hits_are_those_of_brute_force(backend: str, orthographic: bool) -> None:
    centers, radii, colors = balls()
    found = film(backend, orthographic).aovs
    origin, direction = rays(orthographic)
    to_center = centers - origin[..., None, :]
    mid = np.einsum("hwnc,hwc->hwn", to_center, direction)
    half2 = radii**2 - (np.square(to_center).sum(axis=-1) - mid**2)
    distance = np.where(half2 >= 0, mid - np.sqrt(np.maximum(half2, 0)), FAR)
    nearest, depth = distance.argmin(axis=-1), distance.min(axis=-1)
    # Rays that graze a ball, or meet two at once, may be told differently in float32.
    second = np.sort(distance, axis=-1)[..., 1]
    clear = (np.abs(half2) > 1e-3).all(axis=-1) & ((second - depth > 1e-3) | (depth == FAR))
    hit = clear & (depth < FAR)
    assert hit.mean() > 0.2
    assert (clear & ~hit).mean() > 0.05
    assert np.array_equal(found["id"][hit], nearest[hit])
    point = origin + direction * np.where(hit, depth, 0)[..., None]
    normal = (point - centers[nearest]) / radii[nearest][..., None]
    # Positions lie 2,000 units from the origin, where float32 has steps of 1.2e-4.
    assert np.abs(found["position"] - CENTER - point)[hit].max() < 5e-4
    assert np.abs(found["depth"] - depth)[hit].max() < 1e-4
    assert np.abs(found["normal"] - normal)[hit].max() < 2e-3
    assert np.abs(found["albedo"] - colors[nearest])[hit].max() < 1e-6
    missed = clear & ~hit
    assert (found["id"][missed] == NONE).all()
    assert np.isinf(found["depth"][missed]).all()
    for name in ("normal", "albedo", "position"):
        assert not found[name][missed].any(), name


def test_a_crop_is_that_part(backend: str) -> None:
    whole, part = film(backend).aovs, film(backend, crop=(7, 3, 40, 22)).aovs
    for name in NAMES:
        assert part[name].tobytes() == whole[name][3:22, 7:40].tobytes(), name


def test_samples_and_filter_have_no_part(backend: str) -> None:
    few, many = film(backend).aovs, film(backend, samples=5, filter="tent", seed=9).aovs
    for name in NAMES[:-1]:
        assert few[name].tobytes() == many[name].tobytes(), name
    assert (many["samples"] == 5).all()


def test_more_samples_are_counted(backend: str) -> None:
    first = film(backend)
    again = film(backend, film=first, aovs=())
    assert (again.aovs["samples"] == 4).all()
    assert again.aovs["id"].tobytes() == first.aovs["id"].tobytes()
    assert (first.aovs["samples"] == 2).all()


def test_an_empty_scene(backend: str) -> None:
    empty = raytracer.Scene(spheres=[], camera=raytracer.Camera(position=(0, 0, 3)))
    image = raytracer.render(
        empty, backend=backend, width=9, height=5, samples=1, aovs=("id", "depth")
    )
    assert (image.film.aovs["id"] == NONE).all()
    assert np.isinf(image.film.aovs["depth"]).all()


SMALL: dict[str, Any] = {"width": 24, "height": 18, "samples": 1}


def _mixed() -> raytracer.Scene:
    """Spheres of two sets, capsules and an ellipsoid, on a ground."""
    rng = np.random.default_rng(2)
    columns = {
        "mass": np.arange(30), "name": np.array(["a", "b", "c"] * 10), "force": rng.random((30, 3)),
        "other": np.array([{}] * 30, object),
    }  # fmt: skip
    return raytracer.Scene(
        [
            raytracer.SphereSet(
                rng.uniform(-1, 1, (30, 3)), 0.25, columns=columns, velocity="force"
            ),
            raytracer.SphereSet([[0.0, 1.5, 0.0]], 0.4, "red"),
        ],
        capsules=[raytracer.CapsuleSet([[-1, -1, 1]], [[1, 1, 1]], 0.15)],
        ellipsoids=[raytracer.EllipsoidSet([[1.5, 0, 0]], [0.4, 0.8, 0.4])],
        ground=raytracer.Ground(),
    )


@pytest.mark.filterwarnings("ignore:with 1 sample, moving")
@pytest.mark.parametrize("crop", [None, (5, 3, 20, 17)])
def test_each_pixel_shows_what_its_number_says(crop: Any, backend: str) -> None:
    scene = _mixed()
    settings = SMALL | {"backend": backend, "crop": crop, "shutter": 0.1}
    image = raytracer.render(scene, aovs=("id",), **settings)
    numbers = image.film.aovs["id"]
    x0, y0, x1, y1 = image.film.crop
    nouns = set()
    for y in range(y0, y1):
        for x in range(x0, x1):
            picked, number = image.pick(x, y), int(numbers[y - y0, x - x0])
            if number == 2**32 - 1:
                assert picked is None
                continue
            assert picked is not None
            assert picked == scene.describe(number)
            nouns.add(picked.noun)
    assert nouns == {"sphere", "capsule", "ellipsoid"}
    assert image.tonemap(exposure=1).pick(x0, y0) == image.pick(x0, y0)


def test_values_are_those_of_the_particle() -> None:
    described = _mixed().describe(7)
    assert described.values["mass"] == 7
    assert described.values["name"] == "b"
    force = described.values["force"]
    assert isinstance(force, tuple)
    assert len(force) == 3
    assert "other" not in described.values
    assert "mass 7" in described.lines()


def test_a_selection_keeps_the_rows_of_the_file(tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    table.write_text("x,y,z,charge\n0,0,0,5\n9,9,9,6\n0,0,0,7\n")
    image = raytracer.render(table, select="charge > 6", **SMALL, backend="cpu")
    picked = image.pick(12, 9)
    assert picked is not None
    assert (picked.id, picked.row, picked.values["charge"]) == (0, 2, 7)
    table.write_text("x,y,z,charge\n0,0,0,5\n9,9,9,6\n1,0,0,7\n")
    later = image.pick(12, 9)  # the scene was loaded before, and values are read now
    assert later is not None
    assert later.position == picked.position
    assert later.note.endswith("has changed since it was loaded")
    image = raytracer.render(table, radius=0.3, **SMALL, backend="cpu")
    table.write_text("x,y,z,charge\n0,0,0,5\n9,9,9,6\n0,0,0,7\n")
    with pytest.raises(raytracer.UserError, match="pick: the scene or its file has changed"):
        image.pick(12, 9)


def test_the_light_that_is_measured_is_measured_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    image = raytracer.render(rng.uniform(0, 1, (2000, 3)), width=64, height=48, backend="cpu")
    assert image.metadata["settings"]["brightness"] != 1.0
    assert image.pick(32, 24) is not None


def test_what_cannot_be_picked_is_refused(tmp_path: Path) -> None:
    image = raytracer.render(_mixed(), **SMALL, backend="cpu")
    for place in ((-1, 0), (0, 18), (24, 0)):
        with pytest.raises(raytracer.UserError, match="it has 0,0 to 23,17"):
            image.pick(*place)
    with pytest.raises(raytracer.UserError, match=r"x: 0\.5 is not a whole number"):
        image.pick(0.5, 1)  # type: ignore[arg-type]
    with pytest.raises(raytracer.UserError, match="the scene of this picture is unknown"):
        raytracer.Image(image.film).pick(0, 0)
