"""Clipping planes: against a float64 ray caster of solids that planes cut, and their conditions."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import raytracer
from raytracer import Clip
from raytracer.config.warning import collect_warnings
from raytracer.model.clip import parse_half_spaces
from reference.scene import View, camera_rays

Array = NDArray[np.float64]
WIDTH, HEIGHT = 96, 64
SUN = np.array([0.4, -1.0, -0.5]) / np.linalg.norm([0.4, -1.0, -0.5])
CENTER = np.array([50.0, -20.0, 10.0])
NO_ID = 2**32 - 1


def balls(seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (40, 3)), rng.uniform(0.15, 0.6, 40)


def random_condition(rng: np.random.Generator, planes: int) -> str:
    parts = []
    for _ in range(planes):
        a, b, c = rng.normal(size=3)
        middle = a * CENTER[0] + b * CENTER[1] + c * CENTER[2]
        parts.append(
            f"{a:.6f} * x + {b:.6f} * y + {c:.6f} * z < {middle + rng.uniform(0, 0.8):.6f}"
        )
    return " and ".join(parts)


@dataclass(frozen=True)
class Large:
    """A sphere of any size about `center`, by the height above its surface, without a rounding.

    With c the centre, n = c / |c|: height(p) = |p|^2 / 2 |c| - n . p + (|c|^2 - R^2) / 2 |c|.
    """

    center: tuple[float, float, float]
    radius: float

    def terms(self) -> tuple[float, Array, float]:
        """1 / |c|, n, and the height of the origin."""
        exact = [Fraction(x) for x in self.center]
        square = sum(x * x for x in exact)
        length = math.sqrt(square)
        power = float(square - Fraction(self.radius) ** 2)
        return 1 / length, np.array(self.center) / length, power / (2 * length)

    def height(self, p: Array) -> Array:
        bend, n, height = self.terms()
        return np.asarray(bend / 2 * (p**2).sum(axis=-1) - p @ n + height)

    def chords(self, origin: Array, direction: Array) -> tuple[Array, Array]:
        """Where rays (P, 3) are inside; empty: near > far."""
        bend, n, _ = self.terms()
        height = self.height(origin)
        slope = bend * (origin * direction).sum(axis=1) - direction @ n
        half2 = slope**2 - 2 * bend * height
        total = -slope - np.sign(slope) * np.sqrt(np.maximum(half2, 0.0))
        roots = np.sort([2 * height / total, total / bend], axis=0)
        return np.where(half2 > 0, roots[0], 1.0), np.where(half2 > 0, roots[1], 0.0)


@dataclass(frozen=True)
class Cut:
    """Spheres that planes cut, and a large one after them, about CENTER."""

    clip: Clip
    centers: Array
    radii: Array
    large: Large | None = None

    def region(self, origin: Array, direction: Array) -> tuple[Array, Array]:
        """Where rays (P, 3) are inside the intersection of the half-spaces; empty: start > end."""
        start, end = np.full(len(origin), -np.inf), np.full(len(origin), np.inf)
        for normal, offset in self.clip.planes():
            height, slope = (origin + CENTER) @ normal - offset, direction @ normal
            t = -height / slope
            start = np.where(slope < 0, np.maximum(start, t), start)
            end = np.where(slope > 0, np.minimum(end, t), end)
        return start, end

    def solids(self, origin: Array, direction: Array) -> tuple[Array, Array]:
        """Starts and ends of rays (P, 3) in each solid, (P, N, 2); empty: start > end."""
        to = self.centers[None] - origin[:, None]
        middle = (to * direction[:, None]).sum(axis=-1)
        half2 = self.radii**2 - (to**2).sum(axis=-1) + middle**2
        half = np.sqrt(np.maximum(half2, 0.0))
        near, far = np.where(half2 > 0, middle - half, 1.0), np.where(half2 > 0, middle + half, 0.0)
        if self.large:
            others = self.large.chords(origin, direction)
            near, far = (np.column_stack(pair) for pair in zip((near, far), others, strict=True))
        a, b = (side[:, None] for side in self.region(origin, direction))
        if self.clip.keep is not None:
            starts, ends = np.maximum(near, a), np.minimum(far, b)
            nothing = np.ones_like(starts), np.zeros_like(starts)
            return np.stack([starts, nothing[0]], -1), np.stack([ends, nothing[1]], -1)
        crosses = a < b
        a, b = np.where(crosses, a, np.inf), np.where(crosses, b, np.inf)
        return (np.stack([near, np.maximum(near, b)], -1), np.stack([np.minimum(far, a), far], -1))

    def first(self, origin: Array, direction: Array) -> Any:
        """Distance to what each ray meets first, infinite without a hit, and its number.

        Solids that overlap have a cut face in common: `is_hit`, (P, N), is true for each of them.
        """
        starts, ends = self.solids(origin, direction)
        inside = (starts < 0) & (ends > 0)
        assert not inside.any()  # the camera is in none of them
        t = np.where((starts < ends) & (starts > 0), starts, np.inf).min(axis=-1)
        nearest = t.min(axis=1)
        return nearest, t.argmin(axis=1), t <= nearest[:, None] + 1e-9

    def blocked(self, origin: Array, direction: Array) -> Any:
        starts, ends = self.solids(origin, direction)
        return (np.maximum(starts, 1e-4) < ends).any(axis=(1, 2))

    def normals(self, point: Array, ids: Array, ray: Array) -> Any:
        """Normals towards the viewer of points on spheres, or on planes."""
        ball = np.minimum(ids, len(self.radii) - 1)
        normal = (point - self.centers[ball]) / self.radii[ball][:, None]
        on_sphere = np.abs(np.linalg.norm(normal, axis=1) - 1) < 1e-6
        if self.large:
            bend, n, _ = self.large.terms()
            is_large = ids == len(self.radii)
            normal = np.where(is_large[:, None], bend * point - n, normal)
            on_sphere = np.where(is_large, np.abs(self.large.height(point)) < 1e-6, on_sphere)
        planes = self.clip.planes()
        heights = np.stack([np.abs((point + CENTER) @ np.array(n) - d) for n, d in planes], axis=1)
        flat = np.array([n for n, _ in planes])[heights.argmin(axis=1)]
        normal = np.where(on_sphere[:, None], normal, flat)
        return normal * -np.sign((normal * ray).sum(axis=1))[:, None]


def check(cut: Cut, scene: Any, backend: str, orthographic: bool = False) -> Any:
    """Compare a picture with the solids that planes cut; returns what is hit, by number (P,)."""
    origin, direction = rays(orthographic)
    t, ids, is_hit = cut.first(origin, direction)
    seen = np.isfinite(t)
    point = origin + np.where(seen, t, 0)[:, None] * direction
    normal = cut.normals(point, ids, direction)
    lit = ~cut.blocked(point + 1e-5 * normal, np.broadcast_to(-SUN, point.shape))
    shade = np.where(seen, 0.2 + 0.8 * np.maximum(normal @ -SUN, 0.0) * lit, 0.0)
    film = raytracer.render(
        scene, width=WIDTH, height=HEIGHT, samples=1, filter="point",
        aovs=("depth", "id", "normal"), backend=backend,
    ).film  # fmt: skip
    got_ids, last = film.aovs["id"].ravel(), is_hit.shape[1] - 1
    same = np.where(seen, is_hit[np.arange(len(t)), np.minimum(got_ids, last)], True) & (
        seen == (got_ids != NO_ID)
    )
    assert same.mean() > 0.998  # those at edges may differ
    both = same & seen
    rtol, share = (2e-4, 0.998) if cut.large else (0.0, 1.0)
    np.testing.assert_allclose(film.aovs["depth"].ravel()[both], t[both], rtol=rtol, atol=2e-4)
    right = np.abs(film.aovs["normal"].reshape(-1, 3) - normal)[both] < 2e-3
    assert right.mean() >= share
    got = film.sums[..., 0].ravel()
    assert (np.abs(got - shade)[both] < 2e-3).mean() > 0.995  # those at edges of shadows may differ
    return ids[both]


def scene_of(centers: Array, radii: Array, clip: Clip | None, orthographic: bool) -> Any:
    kind: dict[str, Any] = {"vertical_fov": 30.0}
    if orthographic:
        kind = {"type": "orthographic", "height": 3.0}
    camera = raytracer.Camera(tuple(CENTER + np.array([0, 0, 6.0])), tuple(CENTER), **kind)
    return raytracer.Scene(
        spheres=[raytracer.SphereSet(CENTER + centers, radii, "white")],
        camera=camera,
        lights=[raytracer.DirectionalLight(tuple(SUN), intensity=1.0)],
        ambient=raytracer.Ambient(intensity=0.2),
        background=raytracer.Background("black"),
        materials={"default": raytracer.Material(diffuse=0.8, specular=0.0)},
        clip=clip,
    )


def rays(orthographic: bool) -> tuple[Array, Array]:
    """Origins, from CENTER, and unit directions through the pixels' centres, (P, 3)."""
    view = View((0, 0, 6), (0, 0, 0), vertical_fov=None if orthographic else 30.0, height=3.0)
    return camera_rays(view, WIDTH, HEIGHT)


@pytest.mark.parametrize("seed", range(6))
def test_hits_normals_and_shadows_are_those_of_cut_solids(backend: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    condition = random_condition(rng, int(rng.integers(1, 5)))
    clip = Clip(remove=condition) if seed % 2 else Clip(keep=condition)
    centers, radii = balls(seed)
    orthographic = seed % 3 == 0
    scene = scene_of(centers, radii, clip, orthographic)
    assert len(check(Cut(clip, centers, radii), scene, backend, orthographic)) > 300


UP = np.array([0.2, 0.8, 0.5]) / np.linalg.norm([0.2, 0.8, 0.5])


@pytest.mark.parametrize(
    ("decade", "below", "removes"),
    [(6, True, False), (8, True, False), (8, True, True), (12, True, True), (8, False, True)],
)
def test_large_balls_that_planes_cut(backend: str, decade: int, below: bool, removes: bool) -> None:
    """The surface of the large ball passes below the others, or its centre is among them."""
    radius = 10.0**decade
    middle = CENTER - (radius + 0.3) * UP if below else CENTER
    exact = [Fraction(a) - Fraction(b) for a, b in zip(middle, CENTER, strict=True)]
    x, y, z = (float(each) for each in exact)
    large = Large((x, y, z) if below else (1e-9, 0.0, 0.0), radius)
    rng = np.random.default_rng(decade)
    # planes that open the view of cut faces, from where the camera is outside of what is kept
    faces = f"z > {CENTER[2] - 0.4} and y > {CENTER[1] - 0.7} and x < {CENTER[0] + 0.5}"
    clip = Clip(remove=faces) if removes else Clip(keep=random_condition(rng, 3))
    centers, radii = balls(decade)
    scene = scene_of(centers, radii, clip, False)
    scene.spheres.append(raytracer.SphereSet([middle], radius, "white"))
    with collect_warnings() as warnings:
        hit = check(Cut(clip, centers, radii, large), scene, backend)
    assert not warnings
    assert (hit == 40).sum() > 300


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
def test_planes_that_cut_nothing_change_nothing(backend: str, integrator: str) -> None:
    centers, radii = balls(3)
    options: dict[str, Any] = {"width": 48, "height": 32, "samples": 2, "backend": backend}
    options["integrator"] = integrator
    plain = raytracer.render(scene_of(centers, radii, None, False), **options)
    for clip in (Clip(keep="x < 1000"), Clip(remove="x > 1000 and y > 0")):
        cut = raytracer.render(scene_of(centers, radii, clip, False), **options)
        np.testing.assert_allclose(cut.film.sums, plain.film.sums, rtol=2e-3, atol=2e-3)


def test_a_cut_ball_of_glass_keeps_the_light_of_a_white_sky(backend: str) -> None:
    """In a furnace clear glass is invisible, and its cut faces, which rays meet from both sides."""
    scene = scene_of(np.zeros((1, 3)), np.ones(1), None, False)
    for clip in (Clip(keep=f"z < {CENTER[2] + 0.3} and x < {CENTER[0] + 0.4}"),
                 Clip(remove=f"z > {CENTER[2]} and x > {CENTER[0]}")):  # fmt: skip
        scene.clip = clip
        scene.materials = {"default": raytracer.Principled(transmission=1.0, roughness=0.0)}
        scene.lights, scene.ambient = [], raytracer.Ambient(intensity=1.0)
        film = raytracer.render(
            scene, width=48, height=32, samples=64, integrator="path", max_depth=40,
            backend=backend,
        ).film  # fmt: skip
        hit = film.sums[..., 3] == film.sums[..., 3].max()
        assert hit.sum() > 100
        assert film.sums[hit][:, 0].mean() / film.samples == pytest.approx(1.0, abs=0.01)


def test_a_slab_of_glass_keeps_the_light_of_a_white_ground(backend: str) -> None:
    """Rays leave it by its second face, although the ball would go on."""
    glass = raytracer.Principled(transmission=1.0, roughness=0.0)
    scene = raytracer.Scene(
        spheres=[raytracer.SphereSet([[0, 0, 0]], 5.0, "white", material=glass)],
        camera=raytracer.Camera(position=(0, 0, 12), look_at=(0, 0, 0), up=(0, 1, 0)),
        lights=[],
        environment=raytracer.Environment(color="white", visible=True),
        background=raytracer.Background(up=(0, 0, 1)),
        ground=raytracer.Ground(-2.0, "white", material="matte"),
        materials={"matte": raytracer.Material(diffuse=1.0, specular=0.0)},
        clip=Clip(keep="0 < z < 1"),
    )
    film = raytracer.render(
        scene, width=24, height=16, samples=64, integrator="path", max_depth=100, backend=backend
    ).film
    assert film.sums[..., 0].mean() / 64 == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("integrator", ["direct", "path"])
def test_lamps_shine_as_before_where_planes_cut_nothing(backend: str, integrator: str) -> None:
    glow = raytracer.Principled(emission=20.0)
    sets = [
        raytracer.SphereSet([[0, 2.5, 0]], 0.4, "white", material=glow),
        raytracer.SphereSet([[0, 0, 0], [1, 0, 0.5]], 0.7, "white"),
    ]
    means = []
    for clip in (None, Clip(keep="z < 100"), Clip(remove="y > 0 and x > 5")):
        scene = raytracer.Scene(spheres=sets, lights=[], clip=clip)
        film = raytracer.render(
            scene, width=48, height=36, samples=64, integrator=integrator, backend=backend
        ).film
        means.append(film.sums[..., 0].mean())
    assert means[1:] == pytest.approx([means[0]] * 2, rel=0.005)


def test_a_lamp_that_is_cut_in_half_shines_from_its_face(backend: str) -> None:
    """A disk of the same radiance gives the same light below its middle."""
    lamp = raytracer.SphereSet(
        [[0, 0, 0]], 0.5, "white", material=raytracer.Principled(emission=5.0)
    )
    disk = raytracer.DiskLight((0, 0, 0), (0, -1, 0), radius=0.5, intensity=5.0)

    def mean(integrator: str, sets: Any, lights: Any, clip: Clip | None) -> float:
        scene = raytracer.Scene(
            spheres=sets,
            lights=lights,
            clip=clip,
            camera=raytracer.Camera(position=(0, -0.5, 4), look_at=(0, -2, 0), vertical_fov=2.0),
            ambient=raytracer.Ambient(intensity=0.0),
            background=raytracer.Background("black"),
            ground=raytracer.Ground(-2.0, "white"),
            materials={"default": raytracer.Material(specular=0.0)},
        )
        film = raytracer.render(
            scene, width=24, height=16, samples=128, integrator=integrator, backend=backend,
            max_depth=1,  # the face of a lamp returns 2% of the light, a disk none
        ).film  # fmt: skip
        return float(film.sums[..., 0].mean()) / 128

    far = raytracer.SphereSet([[0, 50, 0]], 0.1)
    flat = mean("direct", [far], [disk], None)
    half = [mean(i, [lamp, far], [], Clip(keep="y > 0")) for i in ("direct", "path")]
    assert flat > 0.01
    assert half == pytest.approx([flat] * 2, rel=0.02)


def test_conditions_become_unit_half_spaces() -> None:
    assert parse_half_spaces("z < 2") == [((0.0, 0.0, 1.0), 2.0)]
    assert parse_half_spaces("-1 < x <= 5") == [((-1.0, 0.0, 0.0), 1.0), ((1.0, 0.0, 0.0), 5.0)]
    (normal, offset), other = parse_half_spaces("3*x + 4*y/1 >= 10 and 2 > z")
    np.testing.assert_allclose((*normal, offset), (-0.6, -0.8, 0.0, -2.0))
    assert other == ((0.0, 0.0, 1.0), 2.0)
    with pytest.raises(raytracer.UserError, match="7 planes"):
        Clip(keep="0 < x < 1 and 0 < y < 1 and 0 < z < 1 and x + y < 1")


def test_the_command_cuts(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from raytracer.commands.cli import main as run

    scene = tmp_path / "s.toml"
    scene.write_text('[clip]\nkeep = "x < 0"\n[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n')
    small = ["--width", "40", "--height", "30", "--samples", "1"]
    for name, more in (("a", []), ("b", ["--clip", "x > 0"]), ("c", ["--cut", "x < 0"])):
        assert run(["render", str(scene), "-o", str(tmp_path / f"{name}.png"), *small, *more]) == 0
    a, b, c = (np.asarray(Image.open(tmp_path / f"{name}.png")) for name in "abc")
    assert np.array_equal(b, c)
    assert not np.array_equal(a, b)
    assert run(["render", str(scene), "-o", str(tmp_path / "d.png"), "--clip", "x <"]) == 2
    assert "clip.keep: 'x <': is not a condition" in capsys.readouterr().err
    assert not (tmp_path / "d.png").exists()
