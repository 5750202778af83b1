"""Environments, panoramas and lenses: against images, closed forms and other lights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import raytracer
from raytracer import Background, Camera, Environment, Material, RenderSettings, Scene, SphereSet
from raytracer.errors import SceneError, UserError
from raytracer.scene.packing import sky
from raytracer.scene.packing.emitters import alias_table
from raytracer.scene.packing.pack import pack
from raytracer.scene.packing.sky import directions, look_up, octahedral, pack_sky, side_of

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


def to_linear(codes: Any) -> Any:
    share = codes / 255.0
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


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
    error = np.abs(got[4:-4, 4:-4, :3] - to_linear(np.rint(rows))[4:-4, 4:-4])
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
    said: dict[str, Any] = {
        "color": {"color": "white"},
        "gradient": {"bottom": "black", "top": "white"},
        "image": {"image": picture(tmp_path, np.full((32, 64, 3), 188.0)),
                  "intensity": 0.5 / to_linear(188.0)},
    }[kind]  # fmt: skip
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


def test_shadow_of_the_sky_in_a_file(tmp_path: Path) -> None:
    text = '[environment]\ncolor = "white"\nshadow = {}\n[[spheres]]\ncenters = [[0, 0, 0]]\n'
    for word, value in (("false", False), ("true", True)):
        (tmp_path / "a.toml").write_text(text.format(word))
        around = raytracer.load(tmp_path / "a.toml").environment
        assert around is not None
        assert around.shadow is value
    (tmp_path / "a.toml").write_text(text.format('"no"'))
    with pytest.raises(SceneError, match=r"environment\.shadow"):
        raytracer.load(tmp_path / "a.toml")


def test_mirrors_show_it_with_every_integrator(backend: str) -> None:
    mirror = Material(ambient=0.0, diffuse=0.0, specular=0.0, mirror=1.0)
    spheres = [SphereSet([[0, 0, 0]], 1.0, "white", material=mirror)]
    for integrator in ("direct", "ao", "path"):
        around = mean(scene_of(Environment(color="#00ff00", intensity=2.0), spheres=spheres),
                      backend, 1, integrator=integrator)  # fmt: skip
        np.testing.assert_allclose(around[18, 24, :3], (0.0, 2.0, 0.0), atol=1e-3)


def even_with_highlights(environment: Environment, *materials: Any) -> tuple[bool, bool]:
    """Whether a sky is even, and whether highlights show it then."""
    spheres = [SphereSet([[3.0 * i, 0, 0]], 1.0, material=m) for i, m in enumerate(materials)]
    scene = scene_of(environment, spheres=spheres, render=RenderSettings(integrator="path"))
    fields = pack(scene).frame["environment_map"][0]
    return bool(fields["map_even"]), bool(fields["map_highlights"])


def test_which_skies_are_left_to_paths(tmp_path: Path) -> None:
    """Those without a bright part; highlights are sampled besides."""
    gradient = Environment(bottom="#e0d0c0", top="#3060c0", intensity=40.0)
    glossy, rough = Material(specular=0.4), raytracer.Principled(roughness=0.3)
    rows = np.full((64, 128, 3), 60.0)
    rows[20:24, 40:44] = 255.0
    sun = Environment(image=picture(tmp_path, rows))
    assert even_with_highlights(gradient, WHITE, rough) == (True, False)
    assert even_with_highlights(Environment(color="white"), WHITE) == (True, False)
    assert even_with_highlights(gradient, WHITE, glossy) == (True, True)
    assert even_with_highlights(sun, WHITE) == (False, False)


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
    for depth in (0, 1, 6):
        found = []
        for limit in (sky.EVEN, 0.0):
            monkeypatch.setattr(sky, "EVEN", limit)
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
    for limit in (sky.EVEN, 0.0):
        monkeypatch.setattr(sky, "EVEN", limit)
        found.append(mean(scene, backend, 1024, max_depth=1)[..., 0])
    middle = found[0][17:19, 23:25]
    np.testing.assert_allclose(middle, 1 / (shininess + 1), rtol=0.02 if shininess < 2 else 1e-3)
    if shininess < 100:  # else samples of the map find nothing
        assert found[0].mean() == pytest.approx(found[1].mean(), rel=0.01)
        left, sampled = (f.reshape(6, 6, 8, 6).mean(axis=(1, 3)) for f in found)
        np.testing.assert_allclose(left, sampled, rtol=0.05, atol=1e-3)


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


def points_of_cells(size: int, parts: int) -> tuple[Any, Any, Any]:
    """Rows, columns (size * parts,) squared and solid angles of points in all cells of a map."""
    at = (np.arange(size * parts) + 0.5) / parts
    v, u = np.meshgrid(at, at, indexing="ij")
    return v, u, 4 / (size * parts) ** 2 / directions(u / size, v / size)[1] ** 3


def between_corners(corners: Any, v: Any, u: Any) -> Any:
    """What is linear between the corners of cells, at points in cells."""
    y, x = v.astype(int), u.astype(int)
    down, across = ((part - whole)[..., None] for part, whole in ((v, y), (u, x)))
    corners = corners.astype(np.float64)
    top = corners[y, x] * (1 - across) + corners[y, x + 1] * across
    bottom = corners[y + 1, x] * (1 - across) + corners[y + 1, x + 1] * across
    return top * (1 - down) + bottom * down


def test_octahedral_cells_cover_the_sphere_once() -> None:
    v, u, solid = points_of_cells(64, 1)
    direction, _ = directions(u / 64, v / 64)
    np.testing.assert_allclose(np.linalg.norm(direction, axis=-1), 1.0)
    assert solid.sum() == pytest.approx(4 * np.pi, rel=1e-3)
    np.testing.assert_allclose((direction * solid[..., None]).sum(axis=(0, 1)), 0.0, atol=1e-9)


def test_a_map_is_joined_to_itself_at_its_edges() -> None:
    """Points beyond an edge are those inside that continue the way on the sphere."""
    t = np.linspace(0.01, 0.99, 50)
    for edge in (0.0, 1.0):
        for swap in (False, True):
            beyond, within = (
                directions(*((t, np.full(50, e))[:: -1 if swap else 1]))[0]
                for e in (edge + (0.01 if edge else -0.01), edge - (0.01 if edge else -0.01))
            )
            np.testing.assert_allclose(beyond[::-1], within, atol=1e-12)
            on = directions(*((t, np.full(50, edge))[:: -1 if swap else 1]))[0]
            assert np.abs(beyond - on).max() < 0.1
    np.testing.assert_allclose(
        directions(np.array(-0.1), np.array(-0.1))[0], directions(np.array(0.9), np.array(0.9))[0]
    )


IMAGES = {
    "noise": (64, 128), "odd noise": (33, 57), "texel": (64, 128), "large texel": (1448, 2896),
    "at the zenith": (16, 32), "1x1": (1, 1), "2x1": (1, 2), "1x2": (2, 1), "sky": (512, 1024),
}  # fmt: skip


COARSE = {"large texel": 0.012, "at the zenith": 0.015}
"""Relative errors of light that lies in one pixel, or where many pixels meet."""


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


@pytest.mark.parametrize("name", IMAGES)
def test_light_of_an_image_is_kept(name: str) -> None:
    """The light of the map, and on a surface that faces up, is that of the image.

    The image is integrated over solid angle in float64, by its definition: linear between the
    middles of pixels, around the horizon without an end, and even beyond the outermost rows.
    """
    image = image_named(name)
    size = side_of(image)
    v, u, solid = points_of_cells(size, 3 if size < 1024 else 1)
    radiance = between_corners(octahedral(image, size), v, u)
    up = np.maximum(directions(u / size, v / size)[0][..., 2:], 0.0)
    parts = max(1, 1024 // len(image))
    rows = (np.arange(len(image) * parts) + 0.5) / parts
    columns = (np.arange(image.shape[1] * parts) + 0.5) / parts
    theta, turn = np.pi * rows / len(image), 2 * np.pi * columns / image.shape[1]
    edges = np.cos(np.pi * np.arange(len(rows) + 1) / len(rows))
    band = -np.diff(edges)[:, None] * (2 * np.pi / len(columns))
    z, sine = (f(theta)[:, None] + 0 * turn for f in (np.cos, np.sin))
    around = np.stack([-sine * np.cos(turn), sine * np.sin(turn), z], axis=-1)
    wanted = np.zeros((2, 3))
    for part in np.array_split(np.arange(len(rows)), 16):
        light = look_up(image, around[part]) * band[part, :, None]
        wanted += light.sum(axis=(0, 1)), (light * np.maximum(around[part, :, 2:], 0)).sum((0, 1))
    found = [(radiance * solid[..., None] * w).sum(axis=(0, 1)) for w in (np.ones_like(up), up)]
    found = np.array(found) * 4 * np.pi / solid.sum()
    np.testing.assert_allclose(found, wanted, rtol=COARSE.get(name, 2.5e-3))


def test_an_image_between_the_middles_of_pixels_by_hand() -> None:
    """Radiance at the middles is that of the pixels, halfway between them their mean."""
    image = np.arange(24, dtype=np.float32).reshape(2, 4, 3)

    def at(row: float, column: float) -> Any:
        theta, turn = np.pi * row / 2, 2 * np.pi * (0.5 - column / 4)
        sine = np.sin(theta)
        return look_up(image, np.array([sine * np.cos(turn), sine * np.sin(turn), np.cos(theta)]))

    np.testing.assert_allclose(at(0.5, 1.5), image[0, 1], atol=1e-5)
    np.testing.assert_allclose(at(1.5, 3.5), image[1, 3], atol=1e-5)
    np.testing.assert_allclose(at(1.0, 1.5), (image[0, 1] + image[1, 1]) / 2, atol=1e-5)
    np.testing.assert_allclose(at(0.5, 4.0), (image[0, 0] + image[0, 3]) / 2, atol=1e-5)
    np.testing.assert_allclose(at(0.1, 1.5), image[0, 1], atol=1e-5)


@pytest.mark.parametrize("name", ["noise", "texel", "black", "1x1"])
def test_samples_have_the_density_of_the_light(tmp_path: Path, name: str) -> None:
    """The probabilities of the halves of all blocks multiply to the integral over each cell."""
    image = np.zeros((8, 16, 3)) if name == "black" else image_named(name)
    rows = np.clip(255 * image, 0, 255)
    around = Environment(image=picture(tmp_path, rows))
    packed, fields = pack_sky(around, (0.0, 1.0, 0.0))
    size = int(fields["map_size"])
    corners = packed[: (size + 1) ** 2].reshape(size + 1, size + 1)
    quads = packed[(size + 1) ** 2 :].view(raytracer.layout.dtype("EnvironmentQuad"))
    chance = np.ones((1, 1))
    block = np.zeros((1, 1), np.int64)
    while len(chance) < size:
        quad = quads[block]
        top, left = quad["top"].astype(np.float64), quad["left"].astype(np.float64)
        parts = np.empty((len(chance), 2, len(chance), 2))
        for i, row in enumerate((top, 1 - top)):
            parts[:, i, :, 0] = chance * row * left[..., i]
            parts[:, i, :, 1] = chance * row * (1 - left[..., i])
        chance = parts.reshape(2 * len(chance), -1)
        block = np.repeat(np.repeat(4 * block + 1, 2, axis=0), 2, axis=1)
        block[1::2] += 2
        block[:, 1::2] += 1
    density = corners["density"].astype(np.float64)
    cells = (density[:-1, :-1] + density[1:, :-1] + density[:-1, 1:] + density[1:, 1:]) / 4
    np.testing.assert_allclose(chance * size**2, cells, rtol=1e-5, atol=2e-4)
    assert cells.mean() == pytest.approx(1.0, rel=1e-6)
    lit = corners["radiance"].max(axis=-1) > 0
    assert (density[lit] > 0).all()
    if lit.any():
        luminance = corners["radiance"] @ np.array([0.2126, 0.7152, 0.0722])
        v, u = np.mgrid[: size + 1, : size + 1] / size
        ratio = density * directions(u, v)[1] ** 3 / np.maximum(luminance, 1e-30)
        np.testing.assert_allclose(ratio[lit], np.median(ratio[lit]), rtol=1e-4)


def test_a_focus_too_far_away_is_refused() -> None:
    camera = Camera(position=(0, 0, 5), look_at=(0, 0, 0), aperture=0.1, focus=(0, 0, -1e20))
    with pytest.raises(SceneError, match=r"camera\.focus: too far"):
        raytracer.render(scene_of(None, camera=camera), width=8, height=6, samples=1)


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
    threshold, alias = alias_table(share)
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
    from raytracer.scene.presets import PRESETS

    for name, preset in PRESETS.items():
        scene = scene_of(Environment(color="white"), spheres=[
            SphereSet([[0, 0, 0]], 1.0, material=name)
        ])  # fmt: skip
        assert scene.material_of(scene.spheres[0]) == preset.material()
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


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "give one of"),
        ({"color": "red", "image": "a.png"}, "give one of"),
        ({"top": "red"}, "environment.bottom"),
        ({"color": "red", "intensity": -1.0}, "environment.intensity"),
        ({"color": "red", "rotation": 1e9}, "environment.rotation"),
    ],
)
def test_wrong_environments_are_refused(values: Any, problem: str) -> None:
    with pytest.raises(SceneError, match=problem):
        Environment(**values)


@pytest.mark.parametrize("name", ["none.png", "sky.txt", "broken.png", "broken.exr"])
def test_wrong_images_are_refused(tmp_path: Path, name: str) -> None:
    for broken in ("broken.png", "broken.exr", "sky.txt"):
        (tmp_path / broken).write_bytes(b"nothing")
    scene = scene_of(Environment(image=str(tmp_path / name)))
    with pytest.raises(UserError, match=f"{name}: "):
        raytracer.render(scene, width=8, height=6, samples=1)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"type": "panorama"}, "camera.position"),
        ({"type": "orthographic", "fit": True, "aperture": 0.1}, "camera.aperture"),
        ({"aperture": 2.0}, "camera.aperture"),
        ({"type": "panorama", "position": (0, 0, 0), "focus": (1, 0, 0)}, "camera.focus"),
    ],
)
def test_wrong_lenses_are_refused(values: Any, problem: str) -> None:
    with pytest.raises(SceneError, match=problem):
        Camera(**values)


def test_images_of_a_high_range_are_read_as_they_are(tmp_path: Path) -> None:
    from raytracer.scene.environment_image import read_radiance

    imagecodecs = pytest.importorskip("imagecodecs")
    rows = np.random.default_rng(3).uniform(0, 900, (8, 16, 3)).astype(np.float32)
    path = tmp_path / "sky.hdr"
    path.write_bytes(imagecodecs.rgbe_encode(rows, header=True))
    np.testing.assert_allclose(read_radiance(path), rows, rtol=0.02, atol=900 / 256)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("reddish", "environment: 'reddish' is neither a colour nor the file of an image (.exr"),
        ("sky.tom", "environment: 'sky.tom' is neither a colour"),
        ("no.hdr", "environment: no.hdr: there is no such file"),
    ],
)
def test_the_option_names_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str, problem: str
) -> None:
    from raytracer.cli import main

    scene = tmp_path / "s.toml"
    scene.write_text("[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n")
    assert main(["render", str(scene), "-o", str(tmp_path / "a.png"), "--environment", value]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert len(error.splitlines()) == 1


def test_a_scene_file_and_the_command_say_it(tmp_path: Path) -> None:
    from raytracer.cli import main

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
