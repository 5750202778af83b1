"""Scenes for comparisons with peers: spheres or capsules, camera and light, in both formats.

One sample at the pixel's centre, 0.05 ambient + 0.9 diffuse, white, and one point light without
falloff that casts shadows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, UserError
from raytracer.files import output
from raytracer.scene import generate
from raytracer.scene.scene import (
    Ambient,
    Background,
    Camera,
    CapsuleSet,
    Material,
    PointLight,
    Scene,
    SphereSet,
)
from raytracer.settings import RenderSettings

Triple = tuple[float, float, float]
Spheres = NDArray[np.float32]  # (N, 4): centre and radius, scene units

AMBIENT, DIFFUSE = 0.05, 0.9
# Lower bound of lit pixels: the ambient light and more than its rounding error.
LIT = AMBIENT + 1e-6
# Random spheres: seed, and filled share of the unit cube.
SEED, FILL = 20261120, 0.08
# Length of the segment of a random capsule, in radii.
SLENDER = 8.0
CAPSULES = "capsules"
# Bounding radius of generated scenes: they fill the height of the fixed view.
FITTED = 0.7
# Minimum distance of the camera inside the cloud from sphere centres, in radii.
CLEARING = 2.0
GENERATED = {"sphereflake": "sphereflake", "pile": "pile", "inside": "cloud"}


@dataclass(frozen=True)
class View:
    """Camera and light, in scene units; vertical_fov in degrees."""

    eye: Triple
    look_at: Triple
    up: Triple
    vertical_fov: float
    light: Triple


# The view of the OptiX peer.
FIXED_VIEW = View((1.1, 0.8, 1.6), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), 40.0, (2.0, 3.0, 2.0))


@dataclass(frozen=True)
class PeerScene:
    """Spheres or capsules, and a view.

    Attributes:
        spheres: of capsules the balls at their starts.
        ground: the file of the peer adds a square, which is not supported.
        ends: where the segments of capsules end, float32 (N, 3); None: they are spheres.
    """

    name: str
    spheres: Spheres
    view: View = FIXED_VIEW
    ground: bool = False
    ends: NDArray[np.float32] | None = None

    @property
    def count(self) -> int:
        """The number of spheres or capsules."""
        return len(self.spheres)

    @property
    def records(self) -> NDArray[np.float32]:
        """What drivers read: centre and radius; of capsules start, radius, end and 0."""
        if self.ends is None:
            return self.spheres
        nothing = np.zeros((self.count, 1), np.float32)
        return np.concatenate([self.spheres, self.ends, nothing], axis=1)


def to_scene(scene: PeerScene, width: int, height: int) -> Scene:
    """Convert to our scene, of `width` x `height` pixels; coverage in the film counts hits."""
    view = scene.view
    material = Material(ambient=1.0, diffuse=DIFFUSE, specular=0.0)
    centers, radius = scene.spheres[:, :3], scene.spheres[:, 3]
    solids: dict[str, Any]
    if scene.ends is None:
        solids = {"spheres": [SphereSet(centers, radius, "white", material=material)]}
    else:
        rods = CapsuleSet(centers, scene.ends, radius, "white", material=material)
        solids = {"capsules": [rods]}
    return Scene(
        **solids,
        camera=Camera(view.eye, view.look_at, view.up, vertical_fov=view.vertical_fov),
        lights=(PointLight(view.light),),
        ambient=Ambient(intensity=AMBIENT),
        background=Background(transparent=True),
        render=RenderSettings(width=width, height=height, samples=1, filter="point"),
    )


def counts(sums: NDArray[np.float32], lit: float = LIT) -> tuple[int, int]:
    """Count the pixels of a one-sample film with a hit, and those of them brighter than `lit`."""
    hit = sums[..., 3] > 0.0
    return int(hit.sum()), int((hit & (sums[..., 0] > lit)).sum())


def random_cube(count: int) -> PeerScene:
    """Draw equal spheres uniformly in the unit cube about the origin, with the seed of the peer."""
    spheres = np.empty((count, 4), np.float32)
    random = np.random.default_rng(SEED)
    spheres[:, :3] = random.random((count, 3), np.float32) - 0.5
    spheres[:, 3] = (FILL / (count * 4 / 3 * np.pi)) ** (1 / 3)
    return PeerScene(f"random_{count}", spheres)


def random_capsules(count: int) -> PeerScene:
    """Draw equal capsules with middles uniformly in the unit cube, in all directions alike."""
    random = np.random.default_rng(SEED)
    middles = random.random((count, 3)) - 0.5
    axes = random.normal(size=(count, 3))
    radius = (FILL / (count * np.pi * (SLENDER + 4 / 3))) ** (1 / 3)
    axes *= 0.5 * SLENDER * radius / np.linalg.norm(axes, axis=1, keepdims=True)
    starts = np.column_stack([middles - axes, np.full(count, radius)]).astype(np.float32)
    return PeerScene(f"capsules_{count}", starts, ends=(middles + axes).astype(np.float32))


def generated(text: str) -> PeerScene:
    """Generate spheres for the fixed camera.

    Args:
        text: "sphereflake", "pile" or "inside" (a cloud around the camera), with an optional count
            after a colon ("pile:100000"); or "capsules", random ones, for the drivers of capsules.

    Raises:
        UserError: the name is unknown, or the count is invalid.
    """
    name, _, number = text.partition(":")
    if name not in (*GENERATED, CAPSULES) or (number and not number.isdecimal()):
        names = ", ".join((*GENERATED, CAPSULES))
        raise UserError(
            f"{text}: there is no such scene; give {names}, each with an optional :COUNT"
        )
    if name == CAPSULES:
        return random_capsules(int(number or 100_000))
    arrays = generate.arrays(GENERATED[name], int(number) if number else None)
    spheres = np.column_stack([arrays["centers"], arrays["radii"]]).astype(np.float64)
    placed = _around_eye(spheres) if name == "inside" else _fitted(spheres)
    return PeerScene(text.replace(":", "_"), placed.astype(np.float32))


def _around_eye(spheres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move the origin of spheres to the camera, and remove spheres around it."""
    eye = np.array([*FIXED_VIEW.eye, 0.0])
    clear = np.linalg.norm(spheres[:, :3], axis=1) > CLEARING * spheres[:, 3]
    return np.asarray(spheres[clear] + eye)


def _fitted(spheres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move and scale spheres into a ball of radius FITTED about the origin."""
    centers, radii = spheres[:, :3], spheres[:, 3:]
    middle = ((centers - radii).min(axis=0) + (centers + radii).max(axis=0)) / 2.0
    reach = (np.linalg.norm(centers - middle, axis=1) + radii[:, 0]).max()
    return np.asarray(np.column_stack([centers - middle, radii]) * (FITTED / reach))


def read_optix(path: Path) -> PeerScene:
    """Read the spheres of a raw file, with the fixed view."""
    return PeerScene(path.stem, _read_raw(path))


def write_optix(scene: PeerScene, folder: Path) -> Path:
    """Write NAME.bin; raise UserError unless the view is that of the OptiX peer."""
    if scene.view != FIXED_VIEW:
        raise UserError(f"{scene.name}: the OptiX peer has a fixed camera; move the spheres")
    return output.write(folder / f"{scene.name}.bin", scene.records.tobytes())


def read_embree(base: Path) -> PeerScene:
    """Read spheres from NAME.f32 and the view from NAME.cfg.

    Args:
        base: path without suffix.

    Raises:
        DataFileError: a file is missing or invalid, or the files contradict each other.
    """
    path = base.with_name(base.name + ".cfg")
    try:
        words = [line.split() for line in path.read_text().splitlines() if line.strip()]
        values = {key: tuple(float(word) for word in rest) for key, *rest in words}
    except (OSError, ValueError) as error:
        raise DataFileError(f"{path}: cannot be read ({error})") from error
    spheres = _read_raw(base.with_name(base.name + ".f32"))
    if values.get("spheres") != (len(spheres),):
        raise DataFileError(f"{path}: the number of spheres is not the {len(spheres)} of the .f32")
    eye, look_at, up, light = (_triple(values, key, path) for key in ("eye", "at", "up", "light"))
    view = View(eye, look_at, up, values.get("vfov", (45.0,))[0], light)
    return PeerScene(base.name, spheres, view, ground="ground" in values)


def write_embree(scene: PeerScene, folder: Path) -> Path:
    """Write NAME.f32 and NAME.cfg, without ground; return the path without suffix."""
    view = scene.view
    positions = {"eye": view.eye, "at": view.look_at, "up": view.up, "light": view.light}
    noun = "spheres" if scene.ends is None else "capsules"
    lines = [f"{noun} {scene.count}", f"vfov {view.vertical_fov:.9g}"]
    lines += [
        f"{key} {' '.join(f'{v:.9g}' for v in position)}" for key, position in positions.items()
    ]
    output.write(folder / f"{scene.name}.f32", scene.records.tobytes())
    output.write(folder / f"{scene.name}.cfg", "\n".join(lines) + "\n")
    return folder / scene.name


def without_ground(scene: PeerScene) -> PeerScene:
    """Return the scene without the ground square."""
    return replace(scene, ground=False)


def _read_raw(path: Path) -> Spheres:
    """Read records of float32 x, y, z, radius."""
    try:
        numbers = np.fromfile(path, np.float32)
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read ({error.strerror})") from error
    if len(numbers) % 4:
        raise DataFileError(
            f"{path}: the size is not a multiple of 16 bytes (float32 x, y, z, radius)"
        )
    return numbers.reshape(-1, 4)


def _triple(values: dict[str, tuple[float, ...]], key: str, path: Path) -> Triple:
    """Return three numbers of a .cfg file."""
    if len(values.get(key, ())) != 3:
        raise DataFileError(f"{path}: the line '{key} x y z' is missing")
    x, y, z = values[key]
    return x, y, z
