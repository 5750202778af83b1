"""Environments, panoramas and lenses: against images, closed forms and other lights."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import raytracer
from raytracer import Background, Camera, Environment, Material, Scene, SphereSet
from raytracer.config.errors import SceneError, UserError
from raytracer.packing import environment_map
from raytracer.packing.environment_map import (
    count_map_rows,
    pack_environment,
    resample_equirectangular,
    shrink_image,
)
from raytracer.packing.lighting import make_alias_table
from reference.curves import srgb_decode

DARK = raytracer.Ambient(intensity=0.0)
WHITE = Material(ambient=1.0, diffuse=1.0, specular=0.0)
FRONT = Camera(position=(0, 0, 6), look_at=(0, 0, 0), vertical_fov=25.0)


def scene_of(environment: Environment | None, **more: Any) -> Scene:
    for name, value in {"camera": FRONT, "lights": [], "ambient": DARK}.items():
        more.setdefault(name, value)
    more.setdefault("spheres", [SphereSet([[0, 0, 0]], 1.0, "white", material=WHITE)])
    more.setdefault("background", Background("black"))
    return Scene(environment=environment, **more)


def mean(scene: Scene, backend: str, samples: int = 64, **more: Any) -> Any:
    options: dict[str, Any] = {"width": 48, "height": 36, "integrator": "path"} | more
    film = raytracer.render(scene, samples=samples, backend=backend, **options).film
    return film.sums / samples


def picture(tmp_path: Path, rows: Any) -> str:
    Image.fromarray(rows.astype(np.uint8)).save(tmp_path / "sky.png")
    return str(tmp_path / "sky.png")


@pytest.mark.parametrize("up", [(0, 1, 0), (0, 0, 1), (1, 0, 0)])
def test_a_panorama_of_an_environment_is_its_image(backend: str, tmp_path: Path, up: Any) -> None:
    """A camera that looks along the image's middle sees the image again, the right way round."""
    x, y = np.meshgrid(np.arange(64) / 63, np.arange(32) / 31)
    rows = 255 * np.stack([x, y, 0.5 + 0.5 * np.cos(2 * np.pi * x) * (1 - y)], axis=-1)
    environment = Environment(image=picture(tmp_path, rows), visible=True, rotation=40.0)
    middle = (0, 0, 1) if up[0] else (1, 0, 0)  # of the image, before it is turned
    angle = np.radians(40.0)
    ahead = tuple(np.cos(angle) * np.array(middle) + np.sin(angle) * np.cross(up, middle))
    camera = Camera(type="panorama", position=(0, 0, 0), look_at=ahead, up=up)
    far = SphereSet(5000.0 * np.array([np.roll(up, 1)]), 1.0)
    got = mean(scene_of(environment, camera=camera, spheres=[far]), backend, 1,
               width=64, height=32, filter="point")  # fmt: skip
    error = np.abs(got[4:-4, 4:-4, :3] - srgb_decode(np.rint(rows) / 255.0)[4:-4, 4:-4])
    assert error.mean() < 0.01
    assert (got[..., 3] == 1.0).all()


def test_an_environment_of_one_colour_is_an_ambient_light(backend: str) -> None:
    ambient = raytracer.Ambient(intensity=1.0)
    light = mean(scene_of(None, ambient=ambient), backend)
    around = mean(scene_of(Environment(color="white")), backend)
    inside = around[12:24, 18:30, :3]
    np.testing.assert_allclose(light[12:24, 18:30, :3], 1.0, atol=0.02)
    np.testing.assert_allclose(inside, 1.0, atol=0.1)
    assert inside.mean() == pytest.approx(1.0, abs=0.005)
    assert around[0, 0, 3] == 0.0  # it is not seen


@pytest.mark.parametrize("material", [WHITE, raytracer.Principled(roughness=0.6, metallic=1.0)])
def test_a_bright_patch_is_a_directional_light(backend: str, tmp_path: Path, material: Any) -> None:
    """The patch sends pi times the colour of a light of the same solid angle to a surface."""
    height = 128
    rows = np.zeros((height, 2 * height, 3))
    rows[56:72, 120:136] = 255  # in the middle: towards +x
    latitude = np.pi * (np.arange(56, 73) / height - 0.5)
    solid = 16 / height * np.pi * np.diff(np.sin(latitude)).sum()
    half = np.degrees(np.arccos(1 - solid / (2 * np.pi)))
    spheres = [SphereSet([[0, 0, 0]], 1.0, "white", material=material)]
    around = Environment(image=picture(tmp_path, rows), intensity=1 / solid)
    sun = raytracer.DirectionalLight((-1, 0, 0), intensity=1 / np.pi, angle=2 * half)
    patch = mean(scene_of(around, spheres=spheres), backend, 256)[..., 0]
    light = mean(scene_of(None, lights=[sun], spheres=spheres), backend, 256)[..., 0]
    assert light.mean() > 0.01
    assert patch.mean() == pytest.approx(light.mean(), rel=0.03)


@pytest.mark.parametrize("kind", ["color", "gradient", "image"])
def test_a_sky_without_shadows_reaches_every_surface(
    backend: str, tmp_path: Path, kind: str
) -> None:
    """A white ball has the irradiance of its open sky, whatever stands beside it.

    With radiance b + (t - b) (1 + cos) / 2 about the up axis that is b + (t - b) (1/2 + n . up / 3)
    times pi. What is black beside it throws no shadow and sends no light.
    """
    black = Material(ambient=0.0, diffuse=0.0, specular=0.0)
    spheres = [SphereSet([[0, 0, 0]], 1.0, "white", material=WHITE),
               SphereSet([[0, 2.0, 0], [1.5, 1.0, 1.0]], 0.8, material=black)]  # fmt: skip
    bottom, top = {"color": (1.0, 1.0), "gradient": (0.0, 1.0), "image": (0.5, 0.5)}[kind]
    kinds: dict[str, dict[str, Any]] = {
        "color": {"color": "white"},
        "gradient": {"bottom": "black", "top": "white"},
        "image": {"image": picture(tmp_path, np.full((32, 64, 3), 188.0)),
                  "intensity": float(0.5 / srgb_decode(188.0 / 255.0))},
    }  # fmt: skip
    said = kinds[kind]
    for depth in (0, 4):
        found = []
        for shadow in (False, True):
            shown = scene_of(Environment(**said, shadow=shadow), spheres=spheres,
                             background=Background("black", up=(0, 1, 0)))  # fmt: skip
            film = raytracer.render(
                shown, width=48, height=36, samples=256, integrator="path", filter="point",
                backend=backend, max_depth=depth, aovs=("id", "normal"),
            ).film  # fmt: skip
            found.append(film.sums[..., 0] / 256)
        white = film.aovs["id"] == 0
        wanted = bottom + (top - bottom) * (0.5 + film.aovs["normal"][..., 1] / 3)
        error = (found[0] - wanted)[white]
        assert abs(error.mean()) < 4e-3
        assert np.abs(error).max() < 0.3
        assert found[1][white].mean() < 0.95 * found[0][white].mean()


def test_mirrors_and_glass_show_a_sky_without_shadows(backend: str) -> None:
    """Directions that are certain find it as they do with shadows: to the bit."""
    for material in (
        Material(ambient=0.0, diffuse=0.0, specular=0.0, mirror=1.0),
        raytracer.Principled(roughness=0.0, transmission=1.0),
    ):
        spheres = [SphereSet([[0, 0, 0]], 1.0, "white", material=material)]
        pictures = [
            mean(scene_of(Environment(bottom="black", top="white", shadow=shadow),
                          spheres=spheres), backend, 16)
            for shadow in (True, False)
        ]  # fmt: skip
        assert np.array_equal(*pictures)
        assert pictures[0][..., 0].max() > 0.5


def test_a_ground_without_shadows_of_the_sky_catches_none(backend: str) -> None:
    """Nothing is missing on a shadow catcher."""
    alphas = []
    for shadow in (True, False):
        shown = scene_of(
            Environment(color="white", shadow=shadow),
            ground=raytracer.Ground(height=-1.0, material="chalk", shadow_catcher=True),
            materials={"chalk": WHITE},
            camera=Camera(position=(0, 9, 0), look_at=(0, 0, 0), up=(0, 0, -1)),
            background=Background(transparent=True, up=(0, 1, 0)),
        )
        film = raytracer.render(shown, width=24, height=24, samples=16, integrator="path",
                                backend=backend, filter="point", aovs=("id",)).film  # fmt: skip
        alphas.append((film.sums[..., 3] / 16)[film.aovs["id"] != 0])
    assert (alphas[1] == 0.0).all()
    assert alphas[0].max() > 0.05


def test_mirrors_show_it_with_every_integrator(backend: str) -> None:
    mirror = Material(ambient=0.0, diffuse=0.0, specular=0.0, mirror=1.0)
    spheres = [SphereSet([[0, 0, 0]], 1.0, "white", material=mirror)]
    for integrator in ("direct", "ao", "path"):
        around = mean(scene_of(Environment(color="#00ff00", intensity=2.0), spheres=spheres),
                      backend, 1, integrator=integrator)  # fmt: skip
        np.testing.assert_allclose(around[18, 24, :3], (0.0, 2.0, 0.0), atol=1e-3)


def test_a_sky_left_to_paths_gives_the_light_of_one_that_is_sampled(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: list[Any]
    kinds = [WHITE, raytracer.Principled(roughness=0.0, transmission=1.0),
             raytracer.Principled(metallic=1.0, roughness=0.4), raytracer.Principled()]  # fmt: skip
    scene = scene_of(
        Environment(bottom="#e0d0c0", top="#3060c0"),
        spheres=[SphereSet([[1.5 * i - 2.25, 0, 0]], 0.7, "#c0a080", material=m)
                 for i, m in enumerate(kinds)],
        ground=raytracer.Ground(height=-0.7, material="chalk"), materials={"chalk": WHITE},
        camera=Camera(position=(0, 1, 9), look_at=(0, 0, 0), vertical_fov=25.0),
    )  # fmt: skip
    for depth in (0, 6):
        found = []
        for limit in (environment_map.EVEN, 0.0):
            monkeypatch.setattr(environment_map, "EVEN", limit)
            found.append(mean(scene, backend, 256, max_depth=depth)[..., :3])
        monkeypatch.undo()
        left, sampled = (f.reshape(6, 6, 8, 6, 3).mean(axis=(1, 3)) for f in found)
        # Without bounces samples of the map alone see the lobes of metal and glass: much noise.
        np.testing.assert_allclose(left, sampled, rtol=0.03 if depth else 0.3, atol=0.004)
        assert found[0].mean() == pytest.approx(found[1].mean(), rel=0.002 if depth else 0.01)
        assert (found[0] != found[1]).any()


@pytest.mark.parametrize("shininess", [1.0, 30.0, 3000.0])
def test_highlights_show_an_even_sky(
    backend: str, monkeypatch: pytest.MonkeyPatch, shininess: float
) -> None:
    """A highlight of a sky of one colour is 2 / (shininess + 1) of it, less what lies below."""
    glossy = Material(ambient=0.0, diffuse=0.0, specular=0.5, shininess=shininess)
    scene = scene_of(Environment(color="white"),
                     spheres=[SphereSet([[0, 0, 0]], 1.0, "white", material=glossy)])  # fmt: skip
    found = []
    for limit in (environment_map.EVEN, 0.0):
        monkeypatch.setattr(environment_map, "EVEN", limit)
        found.append(mean(scene, backend, 1024, max_depth=1)[..., 0])
    middle = found[0][17:19, 23:25]
    np.testing.assert_allclose(middle, 1 / (shininess + 1), rtol=0.02 if shininess < 2 else 1e-3)
    if shininess < 100:  # else samples of the map find nothing
        assert found[0].mean() == pytest.approx(found[1].mean(), rel=0.01)
        left, sampled = (f.reshape(6, 6, 8, 6).mean(axis=(1, 3)) for f in found)
        np.testing.assert_allclose(left, sampled, rtol=0.05, atol=1e-3)


def test_highlights_show_the_sky_around_the_mirrored_direction(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blunt highlight mixes colours of the sky, as samples of the map do."""
    glossy = Material(ambient=0.0, diffuse=0.0, specular=0.5, shininess=3.0)
    scene = scene_of(Environment(bottom="black", top="white"),
                     spheres=[SphereSet([[0, 0, 0]], 1.0, "white", material=glossy)])  # fmt: skip
    found = []
    for limit in (np.inf, 0.0):
        monkeypatch.setattr(environment_map, "EVEN", limit)
        found.append(mean(scene, backend, 1024, max_depth=1)[..., 0])
    left, sampled = (f.reshape(6, 6, 8, 6).mean(axis=(1, 3)) for f in found)
    assert sampled.max() > 0.1
    np.testing.assert_allclose(left, sampled, rtol=0.05, atol=2e-3)


def test_beyond_the_last_bounce_paths_meet_no_lamp_and_no_surface(backend: str) -> None:
    """What they meet is that of a black sky, which is even: nothing is added."""
    glow = raytracer.Principled(emission=3.0)
    white = SphereSet([[0, 0, 0]], 1.0, "white", material=WHITE)
    lamp = SphereSet([[0, 2.2, 0]], 0.5, "white", material=glow)
    panel = raytracer.RectangleLight((0, 0, 4), direction=(0, 0, -1), width=3.0, height=3.0)
    for depth in (0, 1):
        dark, none = (
            mean(scene_of(around, spheres=[white, lamp], lights=[panel]), backend, max_depth=depth)
            for around in (Environment(color="black"), None)
        )
        np.testing.assert_array_equal(dark[..., :3], none[..., :3])


def solid_angles(rows: int, columns: int) -> Any:
    """Of the parts of an equirectangular map, (rows, 1)."""
    return -np.diff(np.cos(np.pi * np.arange(rows + 1) / rows))[:, None] * (2 * np.pi / columns)


def between_corners(corners: Any, parts: int) -> Any:
    """What is linear between the corners of cells, at points in cells, float64."""
    size = len(corners) - 1
    at = (np.arange(2 * size * parts) + 0.5) / parts
    whole = at.astype(int)
    part = (at - whole)[:, None]
    rows = slice(0, size * parts)
    corners = corners.astype(np.float64)
    down = part[rows, None]
    lines = corners[whole[rows]] * (1 - down) + corners[whole[rows] + 1] * down
    return lines[:, whole] * (1 - part) + lines[:, whole + 1] * part


def between_middles(image: Any, rows: int, columns: int) -> Any:
    """An image at the middles of the parts of a map, by its definition in float64.

    Linear between the middles of pixels, around the horizon without an end, and constant beyond
    the outermost rows.
    """
    height, width = image.shape[:2]
    y = np.clip((np.arange(rows) + 0.5) / rows * height - 0.5, 0, height - 1)
    x = (np.arange(columns) + 0.5) / columns * width - 0.5
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    down, across = (y - y0)[:, None, None], (x - x0)[:, None]
    lines = image[y0] * (1 - down) + image[np.minimum(y0 + 1, height - 1)] * down
    return lines[:, x0 % width] * (1 - across) + lines[:, (x0 + 1) % width] * across


IMAGES = {
    "noise": (64, 128), "odd noise": (33, 57), "texel": (64, 128), "large texel": (1448, 2896),
    "at the zenith": (16, 32), "1x1": (1, 1), "2x1": (1, 2), "1x2": (2, 1), "sky": (128, 256),
}  # fmt: skip


def image_named(name: str) -> Any:
    """A random equirectangular image, float32 (h, w, 3)."""
    h, w = IMAGES[name]
    rng = np.random.default_rng(h)
    image = rng.uniform(0, 1, (h, w, 3)).astype(np.float32) ** 6
    if "texel" in name:
        image = np.zeros((h, w, 3), np.float32)
        image[h // 3 + 7, w // 5] = 1000.0, 500.0, 200.0
    if name == "at the zenith":
        image[1:] = 0.0
    if name == "sky":
        image = np.broadcast_to(np.exp(-np.linspace(0, 6, h))[:, None, None], (h, w, 3))
    return np.ascontiguousarray(image, np.float32)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("noise", "large texel") else ())
        for name in IMAGES
    ],
)
def test_light_of_an_image_is_kept(name: str) -> None:
    """The light of the map, and on a surface that faces up, is that of the image.

    The image is integrated over solid angle in float64, by its definition: linear between the
    middles of pixels, around the horizon without an end, and even beyond the outermost rows.
    """
    image = image_named(name)
    size = count_map_rows(image)
    seen = between_corners(resample_equirectangular(image, size), 4 if size < 1024 else 1)
    rows = max(1024, len(image))
    wanted = between_middles(image, rows, max(2048, image.shape[1]))
    for map_, of_map in ((seen, []), (wanted, [])):
        solid = solid_angles(*map_.shape[:2])[..., None]
        theta = np.pi * (np.arange(len(map_)) + 0.5)[:, None, None] / len(map_)
        for weight in (1.0, np.maximum(np.cos(theta), 0.0)):
            of_map.append((map_ * solid * weight).sum(axis=(0, 1)))
        if map_ is seen:
            found = of_map
    rtol = 0.02 if name == "at the zenith" else 2e-3  # few cells are about the zenith
    np.testing.assert_allclose(found, of_map, rtol=rtol)


def test_a_reduced_image_has_the_light_of_the_image() -> None:
    """Each pixel is the mean of those that it covers, in parts too, by their solid angles."""
    image = np.random.default_rng(4).uniform(0, 1, (30, 50, 3)).astype(np.float32) ** 8
    whole = (image * solid_angles(30, 50)[..., None]).sum(axis=(0, 1))
    for size in ((30, 50), (10, 25), (7, 13), (1, 1)):
        smaller = shrink_image(image, *size)
        assert smaller.shape == (*size, 3)
        light = (smaller * solid_angles(*size)[..., None]).sum(axis=(0, 1))
        np.testing.assert_allclose(light, whole, rtol=1e-6)


def test_a_map_has_no_seam(tmp_path: Path) -> None:
    """The last column of corners is the first."""
    image = image_named("odd noise")
    corners = resample_equirectangular(image, 64)
    np.testing.assert_array_equal(corners[:, 0], corners[:, -1])


@pytest.mark.parametrize("name", ["noise", "texel", "black", "1x1"])
def test_samples_have_the_density_of_the_light(tmp_path: Path, name: str) -> None:
    """The probabilities of the halves of all blocks multiply to the integral over each cell."""
    image = np.zeros((8, 16, 3)) if name == "black" else image_named(name)
    rows = np.clip(255 * image, 0, 255)
    around = Environment(image=picture(tmp_path, rows))
    packed, fields = pack_environment(around, (0.0, 1.0, 0.0))
    size = int(fields["map_size"])
    corners = packed[: (size + 1) * (2 * size + 1)].reshape(size + 1, 2 * size + 1)
    quads = packed[corners.size :].view(raytracer.system.layout.struct_dtype("EnvironmentQuad"))
    half = (size**2 - 1) // 3
    chance = np.array([[quads["top"][-1], 1 - quads["top"][-1]]], np.float64)
    block = np.zeros((1, 2), np.int64)
    while len(chance) < size:
        quad = quads[block + half * (np.arange(chance.shape[1]) >= chance.shape[1] // 2)]
        top, left = quad["top"].astype(np.float64), quad["left"].astype(np.float64)
        parts = np.empty((len(chance), 2, chance.shape[1], 2))
        for i, row in enumerate((top, 1 - top)):
            parts[:, i, :, 0] = chance * row * left[..., i]
            parts[:, i, :, 1] = chance * row * (1 - left[..., i])
        chance = parts.reshape(2 * len(chance), -1)
        block = np.repeat(np.repeat(4 * block + 1, 2, axis=0), 2, axis=1)
        block[1::2] += 2
        block[:, 1::2] += 1
    density = corners["density"].astype(np.float64)
    cells = (density[:-1, :-1] + density[1:, :-1] + density[:-1, 1:] + density[1:, 1:]) / 4
    np.testing.assert_allclose(chance * cells.size, cells, rtol=1e-4, atol=1e-2)
    assert cells.mean() == pytest.approx(1.0, rel=1e-6)
    radiance, density = corners["radiance"][1:-1], density[1:-1]
    lit = radiance.max(axis=-1) > 0
    assert (density[lit] > 0).all()
    if lit.any():
        luminance = radiance @ np.array([0.2126, 0.7152, 0.0722])
        sine = np.sin(np.pi * np.arange(1, size) / size)[:, None]
        ratio = density / np.maximum(luminance * sine, 1e-30)
        np.testing.assert_allclose(ratio[lit], np.median(ratio[lit]), rtol=1e-4)


def test_a_focus_behind_the_camera_is_told() -> None:
    """Nothing can be in focus there: the picture is that of a pinhole."""
    camera = Camera(position=(0, 0, 5), look_at=(0, 0, 0), aperture=0.1, focus=(0, 0, 6))
    small: dict[str, Any] = {"width": 8, "height": 6, "samples": 1}
    with pytest.warns(raytracer.RaytracerWarning, match=r"camera\.focus: is behind the camera"):
        found = raytracer.render(scene_of(None, camera=camera), **small)
    sharp = raytracer.render(scene_of(None, camera=replace(camera, aperture=0.0)), **small)
    np.testing.assert_allclose(found.array, sharp.array, atol=1e-3)


@pytest.mark.parametrize("count", [1, 2, 65, 4096])
def test_alias_tables_give_each_entry_its_share(count: int) -> None:
    rng = np.random.default_rng(count)
    share = rng.random(count) ** 5
    share[rng.random(count) < 0.3] = 0.0
    share[0] += 0.01
    share /= share.sum()
    threshold, alias = make_alias_table(share)
    drawn = np.bincount(np.arange(count), threshold, count)
    drawn += np.bincount(alias, 1.0 - threshold, count)
    np.testing.assert_allclose(drawn / count, share, atol=1e-12)


def disc_radius(scene: Scene, backend: str) -> float:
    """Radius in pixels of the disc that a small sphere spreads over, by its second moment."""
    alpha = mean(scene, backend, 256, width=160, height=160, integrator="direct")[..., 3]
    y, x = np.mgrid[:160, :160] - 79.5
    return float(np.sqrt(2.0 * (alpha * (x**2 + y**2)).sum() / alpha.sum()))


def test_a_point_out_of_focus_is_a_disc_of_the_lens_size(backend: str) -> None:
    """By similar triangles: aperture |d - f| / f at distance d, with the focus at f."""
    camera: dict[str, Any] = {"position": (0, 0, 0), "look_at": (0, 0, -1), "vertical_fov": 30.0}
    clear = Background(transparent=True)
    tiny = [SphereSet([[0, 0, -8]], 0.02)]
    lens = Camera(**camera, aperture=0.3, focus=(0, 0, -4))
    pinhole = Camera(**camera)
    sharp = Camera(**camera, aperture=0.3, focus=(0, 0, -8))
    spread, point, in_focus = (
        disc_radius(scene_of(None, camera=c, spheres=tiny, background=clear), backend)
        for c in (lens, pinhole, sharp)
    )
    pixel = 2 * 8 * np.tan(np.radians(15)) / 160
    assert spread == pytest.approx(0.3 * 4 / 2 * (8 - 4) / 4 / pixel, rel=0.05)
    assert in_focus == pytest.approx(point, abs=0.1)


def test_ready_made_materials(backend: str) -> None:
    from raytracer.model.presets import PRESETS

    for name, preset in PRESETS.items():
        scene = scene_of(Environment(color="white"), spheres=[
            SphereSet([[0, 0, 0]], 1.0, material=name)
        ])  # fmt: skip
        assert scene.material_of(scene.spheres[0]) == raytracer.Principled(**preset.parameters)
        spot = mean(scene, backend, 256, width=16, height=12)[6, 8, :3]
        assert 0.005 < spot.max() <= 1.05, name
    gold = scene_of(
        Environment(color="white"), spheres=[SphereSet([[0, 0, 0]], 1.0, material="gold")]
    )
    red, _, blue = mean(gold, backend, 16, width=16, height=12)[6, 8, :3]
    assert blue < 0.6 * red
    own = scene_of(None, spheres=[SphereSet([[0, 0, 0]], 1.0, "blue", material="gold")])
    assert tuple(own.surfaces()[0].color[0]) == (0.0, 0.0, 1.0)
    with pytest.raises(SceneError, match=r"no material named 'golt'.*gold"):
        raytracer.render(scene_of(None, spheres=[SphereSet([[0, 0, 0]], 1.0, material="golt")]))


@pytest.mark.parametrize("name", ["none.png", "sky.txt", "broken.png", "broken.exr"])
def test_wrong_images_are_refused(tmp_path: Path, name: str) -> None:
    for broken in ("broken.png", "broken.exr", "sky.txt"):
        (tmp_path / broken).write_bytes(b"nothing")
    scene = scene_of(Environment(image=str(tmp_path / name)))
    with pytest.raises(UserError, match=f"{name}: "):
        raytracer.render(scene, width=8, height=6, samples=1)


def test_images_of_a_high_range_are_read_as_they_are(tmp_path: Path) -> None:
    from raytracer.model.environment import read_radiance

    imagecodecs = pytest.importorskip("imagecodecs")
    rows = np.random.default_rng(3).uniform(0, 900, (8, 16, 3)).astype(np.float32)
    path = tmp_path / "sky.hdr"
    path.write_bytes(imagecodecs.rgbe_encode(rows, header=True))
    np.testing.assert_allclose(read_radiance(path), rows, rtol=0.02, atol=900 / 256)


def test_a_scene_file_and_the_command_say_it(tmp_path: Path) -> None:
    from raytracer.commands.cli import main

    picture(tmp_path, np.full((8, 16, 3), 200.0))
    (tmp_path / "s.toml").write_text(
        '[environment]\nimage = "sky.png"\nvisible = true\n[camera]\naperture = 0.1\n'
        'focus = [0, 0, 1]\n[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\nmaterial = "chrome"\n'
    )
    small = ["--width", "16", "--height", "12", "--samples", "1", "--integrator", "path", "-q"]
    out = str(tmp_path / "a.png")
    assert main(["render", str(tmp_path / "s.toml"), "-o", out, *small]) == 0
    assert np.asarray(Image.open(out))[0, 0, 0] == pytest.approx(200, abs=4)
    (tmp_path / "p.toml").write_text(
        '[camera]\ntype = "panorama"\nposition = [0, 0, 3]\n'
        "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n"
    )
    assert main(["render", str(tmp_path / "p.toml"), "-o", out, *small]) == 0
    more = ["--environment", "#ffffff", "--material", "gold", "--aperture", "0"]
    assert main(["render", str(tmp_path / "s.toml"), "-o", out, *small, *more]) == 0
    assert main(["render", str(tmp_path / "s.toml"), "-o", out, "--environment", "no.hdr"]) == 2


@pytest.mark.parametrize("integrator", ["path", "direct", "ao"])
@pytest.mark.parametrize("kind", ["color", "gradient", "image"])
def test_a_transparent_background_hides_a_visible_environment(
    backend: str, tmp_path: Path, kind: str, integrator: str
) -> None:
    """Outside of the ball alpha and light are 0; the ball is lit as by one that is not visible."""
    around: dict[str, Any] = {
        "color": {"color": "#80c0ff"},
        "gradient": {"bottom": "#202020", "top": "white"},
        "image": {"image": picture(tmp_path, np.full((8, 16, 3), 200.0))},
    }[kind]
    clear = Background(bottom="red", top="blue", transparent=True)
    hidden, seen = (
        mean(scene_of(Environment(**around, visible=visible), background=clear), backend, 4,
             integrator=integrator)
        for visible in (False, True)
    )  # fmt: skip
    assert np.array_equal(hidden, seen)
    assert (seen[0, 0] == 0.0).all()
    assert seen[18, 24, 3] == 1.0
    if integrator == "path":
        assert (seen[18, 24, :3] > 0.1).all()


def test_a_film_of_a_hidden_environment_stays_transparent(tmp_path: Path) -> None:
    from raytracer.commands.cli import main

    (tmp_path / "s.toml").write_text(
        '[environment]\ncolor = "white"\nvisible = true\n'
        "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n"
    )
    film, out = tmp_path / "f.npz", tmp_path / "a.png"
    small = ["--width", "16", "--height", "12", "--samples", "2", "--integrator", "path", "-q"]
    scene = ["render", str(tmp_path / "s.toml"), *small]
    assert main([*scene, "--transparent", "-o", str(out), "--film", str(film)]) == 0
    for command in ([], ["tone", str(film), "-o", str(out)]):
        assert not command or main(command) == 0
        alpha = np.asarray(Image.open(out))[..., 3]
        assert alpha[0, 0] == 0
        assert alpha[6, 8] == 255
    assert main([*scene, "-o", str(out)]) == 0
    assert np.asarray(Image.open(out))[0, 0].tolist() == [255, 255, 255]


def test_a_live_scene_with_a_transparent_background_hides_the_environment() -> None:
    scene = scene_of(Environment(color="white", visible=True))
    size: dict[str, Any] = {"width": 48, "height": 36, "samples": 1, "integrator": "path"}
    with raytracer.LiveScene(scene, transparent=True, **size) as live:
        assert live.render().array[0, 0].tolist() == [0, 0, 0, 0]
        live.update([[0.1, 0.0, 0.0]])
        array = live.render().array
        assert array[0, 0].tolist() == [0, 0, 0, 0]
        assert array[18, 24, 3] == 1.0


# Samples of a map: of each surface, at each place of the film, of each map, in `path`.
MILLIONS = 100
SHADES: dict[str, Any] = {
    "phong": WHITE,
    "diffuse": raytracer.Principled(roughness=1.0, specular=0.0),
    "dielectric": raytracer.Principled(roughness=0.3),
    "metal": raytracer.Principled(roughness=0.3, metallic=1.0),
    "glass": raytracer.Principled(roughness=0.4, transmission=1.0),
}


@pytest.mark.thorough
@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("name", SHADES)
def test_no_sample_of_many_is_brighter_than_its_map_allows(
    backend: str, tmp_path: Path, name: str, depth: int
) -> None:
    """A white surface shows at most a few times what the brightest light by its density is: no
    pixel of ten pictures of `MILLIONS` million samples together has another."""
    rng = np.random.default_rng(1)
    rows = rng.integers(20, 120, (128, 256, 3)).astype(np.float64)
    rows[:3] = rows[-3:] = 255.0  # bright where the map has no density
    rows[30:33, 60:63] = 255.0
    around = Environment(image=picture(tmp_path, rows))
    shown = scene_of(around, spheres=[SphereSet([[0, 0, 0]], 1.0, "white", material=SHADES[name])])
    shown.camera = replace(FRONT, vertical_fov=19.0)  # filled by the ball
    samples = MILLIONS * 1_000_000 // (len(SHADES) * 2 * 64 * 64)
    found = mean(shown, backend, samples, width=64, height=64, max_depth=depth, filter="point")
    assert np.isfinite(found).all()
    assert found[..., :3].max() < 4.0
