"""Opacity: shares of light that pass, shadows, lamps, and what output variables show."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import (
    Ambient,
    Background,
    Camera,
    DirectionalLight,
    Ground,
    Material,
    Principled,
    Scene,
    SphereSet,
)

CAMERA = Camera(position=(0, 0, 5), look_at=(0, 0, 0), vertical_fov=20.0)
SIZE: dict[str, Any] = {"width": 48, "height": 48, "filter": "point"}


def scene_of(*sets: SphereSet, **more: Any) -> Scene:
    more = {"camera": CAMERA, "background": Background(transparent=True)} | more
    return Scene(spheres=sets, lights=more.pop("lights", []), **more)


def sums(scene: Scene, samples: int, backend: str, **more: Any) -> Any:
    film = raytracer.render(scene, samples=samples, backend=backend, **SIZE, **more).film
    return film.sums / samples


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
@pytest.mark.parametrize("opacity", [0.1, 0.5, 0.75])
def test_coverage_is_the_opacity_in_each_pixel(
    backend: str, integrator: str, opacity: float
) -> None:
    """The samples of a pixel are stratified: each 16 have a sixteenth of the range each."""
    scene = scene_of(SphereSet([[0, 0, 0]], 2.0, opacity=opacity))
    alpha = sums(scene, 64, backend, integrator=integrator)[..., 3]
    assert np.abs(alpha - opacity).max() <= 1 / 64
    assert alpha.mean() == pytest.approx(opacity, abs=0.004)


def test_layers_let_through_what_the_one_before_does(backend: str) -> None:
    spheres = SphereSet([[0, 0, 0], [0, 0, -5]], [1.5, 3.0], opacity=[0.5, 0.6])
    alpha = sums(scene_of(spheres), 256, backend)[..., 3]
    assert alpha.mean() == pytest.approx(1 - 0.5 * 0.4, abs=0.005)
    assert np.abs(alpha - 0.8).max() < 0.12


def test_a_shadow_is_as_dark_as_what_casts_it(backend: str) -> None:
    wall = SphereSet([[0, 0, -30]], 30.0, "white")
    blocker = SphereSet([[0, 3, 0.5]], 1.0, opacity=0.3)
    light = raytracer.PointLight((0, 6, 1.0), intensity=1.0)
    ambient = raytracer.Ambient(intensity=0.0)
    spot = (slice(20, 28), slice(20, 28))
    clear, dim = (
        sums(scene_of(*sets, lights=[light], ambient=ambient), 64, backend)[spot][..., 0]
        for sets in ((wall,), (wall, blocker))
    )
    assert clear.min() > 0.05
    np.testing.assert_allclose(dim / clear, 0.7, atol=1 / 32)


def test_opacity_one_and_none_are_the_same_bytes(backend: str) -> None:
    rng = np.random.default_rng(2)
    centers = rng.normal(size=(50, 3)) * 0.5
    pictures = [
        raytracer.render(
            scene_of(SphereSet(centers, 0.2, opacity=opacity), lights=None),
            samples=2, backend=backend, **SIZE,
        ).film.sums
        for opacity in (None, 1.0, np.ones(50))
    ]  # fmt: skip
    for other in pictures[1:]:
        np.testing.assert_array_equal(other, pictures[0])


@pytest.mark.parametrize("integrator", ["direct", "path"])
def test_opacity_zero_hides_a_sphere(backend: str, integrator: str) -> None:
    rng = np.random.default_rng(4)
    centers, hidden = rng.normal(size=(60, 3)) * 0.6, np.arange(60) % 3 == 0
    light: Any = [raytracer.DirectionalLight((0.3, -1, -0.6), intensity=1.0)]
    opacity = np.where(hidden, 0.0, 1.0)
    faded = scene_of(SphereSet(centers, 0.25, opacity=opacity), lights=light)
    without = scene_of(SphereSet(centers[~hidden], 0.25), lights=light)
    a, b = (sums(s, 4, backend, integrator=integrator) for s in (faded, without))
    if integrator == "direct":
        np.testing.assert_allclose(a, b, atol=2e-3)
    else:
        assert a[..., 0].mean() == pytest.approx(b[..., 0].mean(), rel=0.02)


def test_a_lamp_shines_by_its_opacity(backend: str) -> None:
    wall = SphereSet([[0, 0, -31]], 30.0, "white", material=Material(specular=0.0))

    def lamp(opacity: float) -> SphereSet:
        glow = Principled(emission=5.0, opacity=opacity)
        return SphereSet([[0, 2.5, 0.5]], 0.4, "white", material=glow)

    dark = raytracer.Ambient(intensity=0.0)
    full, half = (
        sums(scene_of(wall, lamp(o), ambient=dark), 256, backend, integrator="path", max_depth=1)
        for o in (1.0, 0.4)
    )
    assert full[24, :, 0].mean() > 0.01
    ratio = half[..., 0].mean() / full[..., 0].mean()
    assert ratio == pytest.approx(0.4, abs=0.01)


def test_opacity_of_spheres_and_materials_multiply(backend: str) -> None:
    spheres = SphereSet([[0, 0, 0]], 2.0, opacity=0.5, material=Material(opacity=0.5))
    assert sums(scene_of(spheres), 64, backend)[..., 3].mean() == pytest.approx(0.25, abs=0.01)


def test_the_alpha_of_colours_is_their_opacity(backend: str) -> None:
    centers = np.array([[-0.4, 0, 0], [0.4, 0, 0]])
    for colors, ids in (
        (np.array([[1, 1, 1, 0.25], [1, 1, 1, 0.75]]), None),
        (np.array([[255, 255, 255, 64], [255, 255, 255, 191]], np.uint8), None),
        (np.array([[1, 1, 1, 0.75], [1, 1, 1, 0.25]]), [1, 0]),
    ):
        scene = scene_of(SphereSet(centers, 0.3, colors, color_id=ids))
        alpha = sums(scene, 64, backend)[24, :, 3]
        assert alpha[13] == pytest.approx(0.25, abs=0.02)
        assert alpha[35] == pytest.approx(0.75, abs=0.02)
    own = SphereSet(centers, 0.3, np.ones((2, 4)) * 0.5, opacity=1.0)
    assert own.opacity == 1.0


def test_output_variables_show_what_is_at_least_half_opaque(backend: str) -> None:
    spheres = SphereSet([[0, 0, 1], [0, 0, 0], [0, 0, -1]], 0.4, opacity=[0.49, 0.51, 1.0])
    film = raytracer.render(
        scene_of(spheres), samples=1, backend=backend, aovs=("id",), **SIZE
    ).film  # fmt: skip
    assert film.aovs["id"][24, 24] == 1


def test_the_ground_fades_into_the_background(backend: str) -> None:
    scene = scene_of(
        SphereSet([[0, 0, 0]], 1.0),
        camera=Camera(position=(0, 6, 0.01), look_at=(0, 0, 0), vertical_fov=120.0, up=(0, 1, 0)),
        ground=raytracer.Ground(fade=4.0),
        background=Background(transparent=True, up=(0, 1, 0)),
    )
    alpha = sums(scene, 32, backend)[24, :, 3]
    assert alpha[24] == 1.0
    assert alpha[0] == alpha[-1] == 0.0
    assert np.any((alpha > 0.2) & (alpha < 0.9))
    assert np.all(np.diff(alpha[24:]) <= 0.05)


@pytest.mark.parametrize("count", [300, 6000])  # from 4,096 on shadow rays to a light are sorted
@pytest.mark.parametrize("integrator", ["direct", "ao"])
@pytest.mark.parametrize(
    "lights",
    [[raytracer.DirectionalLight((-1, -2, -1))], [raytracer.PointLight((2, 3, 9))] * 9],
    ids=["directional", "nine-points"],
)
def test_the_kernel_of_phongs_materials_agrees_with_that_of_all(
    backend: str, count: int, integrator: str, lights: list[Any]
) -> None:
    """A material that nothing has chooses the kernel of paths; the same surfaces are there."""
    rng = np.random.default_rng(count)
    spheres = SphereSet(
        rng.uniform(-1, 1, (count, 3)), 0.8 * count ** (-1 / 3), opacity=rng.random(count)
    )
    some = {"lights": lights, "clip": raytracer.Clip(keep="x + z < 0.7"), "ground": Ground()}
    phong, every = (
        sums(scene_of(spheres, materials=unused, **some), 3, backend, integrator=integrator)
        for unused in ({}, {"unused": Principled()})
    )
    assert np.ptp(phong[..., 0]) > 0.3
    np.testing.assert_allclose(phong, every, rtol=1e-5, atol=1e-6)


LEAF = (0.9, 0.5, 0.1)  # linear


def shot(scene: Scene, backend: str, **settings: Any) -> NDArray[np.float64]:
    """Mean linear RGB of the middle of the picture."""
    image = raytracer.render(scene, backend=backend, **settings)
    return np.asarray(image.array[12:20, 12:20, :3].astype(np.float64).mean(axis=(0, 1)))


def covered(material: Any, color: str = "white") -> Scene:
    """A white floor below a ball that is out of the picture, under a light from above."""
    floor = raytracer.SphereSet(
        [(0, 0, -1000)], 1000, "white", material=raytracer.Material(specular=0)
    )
    ball = raytracer.SphereSet([(0, 0, 6)], 2.0, color, material=material)
    return Scene(
        spheres=(floor, ball),
        camera=Camera(position=(0, 0, 3), look_at=(0, 0, 0), up=(0, 1, 0), vertical_fov=10),
        lights=(DirectionalLight((0, 0, -1)),),
        ambient=Ambient(intensity=0.0),
        background=Background("black"),
        render=raytracer.RenderSettings(width=32, height=32, samples=64),
    )


@pytest.mark.parametrize("integrator", ["direct", "ao"])
def test_light_passes_straight_through_glass(backend: str, integrator: str) -> None:
    """By what two surfaces of index 1.5 do not reflect, (1 - 0.04)^2, times the luminance."""
    free = shot(covered(raytracer.Material(opacity=0.0)), backend, integrator=integrator)
    glass = Principled(transmission=1.0, roughness=0.0)
    assert shot(covered(glass), backend, integrator=integrator) == pytest.approx(
        0.96**2 * free, rel=0.02
    )
    dark = shot(covered(glass, "#808080"), backend, integrator=integrator)
    assert dark == pytest.approx(0.96**2 * ((0x80 / 255 + 0.055) / 1.055) ** 2.4 * free, rel=0.08)
    blocked = shot(covered(glass), backend, integrator=integrator, transparent_shadows=False)
    assert blocked.max() == 0.0
    assert shot(covered(Principled()), backend, integrator=integrator).max() == 0.0


def test_ambient_light_passes_straight_through_glass(backend: str) -> None:
    """Rays of the occlusion too leave glass straight, less what its two surfaces reflect."""
    inside = raytracer.SphereSet([(0, 0, 0)], 0.1, "white", material=raytracer.Material(specular=0))
    glass = Principled(transmission=1.0, roughness=0.0)
    around = raytracer.SphereSet([(0, 0, 0)], 50.0, "white", material=glass)
    settings: dict[str, Any] = {"integrator": "ao", "ao_samples": 16}
    free, covered, blocked = (
        shot(
            Scene(
                spheres=spheres,
                camera=Camera(position=(0, 0, 3), look_at=(0, 0, 0), up=(0, 1, 0), vertical_fov=2),
                lights=(),
                ambient=Ambient(intensity=1.0),
                background=Background("black"),
                render=raytracer.RenderSettings(width=32, height=32, samples=64),
            ),
            backend, transparent_shadows=passes, **settings,
        )
        for spheres, passes in (((inside,), True), ((inside, around), True),
                                ((inside, around), False))
    )  # fmt: skip
    assert free.min() > 0.9
    assert covered == pytest.approx(0.96**2 * free, rel=0.02)
    assert blocked.max() == 0.0


def test_paths_bend_light_instead(backend: str) -> None:
    """With paths the setting changes nothing."""
    scene = covered(Principled(transmission=1.0, roughness=0.0))
    passed, blocked = (
        raytracer.render(
            scene, backend=backend, integrator="path", samples=4, transparent_shadows=passes
        ).array
        for passes in (True, False)
    )
    np.testing.assert_array_equal(passed, blocked)


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_glass_absorbs_by_the_length_of_the_way(backend: str, scale: float) -> None:
    """Through the middle of a ball of index 1 the colour is albedo^(2 radius / distance)."""
    distance = 0.7 * scale
    ball = raytracer.SphereSet(
        [(0, 0, 0)],
        scale,
        np.array([LEAF]),
        color_space="linear",
        material=Principled(
            transmission=1.0, roughness=0.0, ior=1.0, attenuation_distance=distance
        ),
    )
    scene = Scene(
        spheres=(ball,),
        camera=Camera(position=(0, 0, 500 * scale), look_at=(0, 0, 0), vertical_fov=0.01),
        lights=(),
        ambient=Ambient(intensity=0.0),
        background=Background("white"),
        render=raytracer.RenderSettings(width=32, height=32, samples=4, integrator="path"),
    )
    assert shot(scene, backend) == pytest.approx(np.array(LEAF) ** (2 / 0.7), rel=1e-3)
