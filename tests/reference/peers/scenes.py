"""Scenes of comparisons: spheres drawn by a seed, one camera and one light, for ours and peers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.benchmark.sphere_kinds import KINDS
from raytracer.model.background import Background
from raytracer.model.camera import Camera
from raytracer.model.lights import Ambient, PointLight
from raytracer.model.materials import Material
from raytracer.model.scene import Scene
from raytracer.model.settings import RenderSettings

EYE, LIGHT, FOV = (1.1, 0.8, 1.6), (2.0, 3.0, 2.0), 40.0  # vertical field of view, degrees
REACH = 0.85  # radius of the ball about the origin around the spheres: a cube fills the view
AMBIENT, DIFFUSE, ALBEDO = 0.05, 0.9, 0.7  # as in program.h
OCCLUSION_RAYS, BOUNCES = 8, 4
DISTANT = (2e4, 3e4, 2e4)  # the light of peers that have directional ones
FRAMES = {
    "primary": "camera rays, shaded without shadows",
    "shadow": "camera rays, and a ray to the light where a surface faces it",
    "ao": f"camera rays, and {OCCLUSION_RAYS} occlusion rays of any length from each hit",
    "path": f"camera rays, and a diffuse path of at most {BOUNCES} bounces under a white sky",
}
"""Pictures of one sample at the centre of each pixel, from the first ray to the linear film."""

TREES = {
    "build": "from spheres in the memory of the device to the tree",
    "refit": "from moved spheres in the memory of the device to the tree around them",
}
WORKS = FRAMES | TREES


@dataclass(frozen=True)
class PeerScene:
    """Spheres, float32 (N, 4): centre and radius; how they were drawn; the picture in pixels.

    light: distant for peers that have no point light without falloff.
    """

    kind: str
    spheres: NDArray[np.float32]
    width: int
    height: int
    seed: int
    light: tuple[float, float, float] = LIGHT

    @property
    def basis(self) -> NDArray[np.float32]:
        """Right, up and forward of the camera, (3, 3), right and up to the edge of the picture."""
        forward = -np.array(EYE) / np.linalg.norm(EYE)
        right = np.cross(forward, [0.0, 1.0, 0.0])
        right /= np.linalg.norm(right)
        half = np.tan(np.radians(FOV) / 2.0)
        up = np.cross(right, forward) * half
        return np.array([right * half * self.width / self.height, up, forward], np.float32)

    def words(self, path: Path, threads: int) -> list[str]:
        """Write the spheres; return the arguments of a program (program.h)."""
        self.spheres.tofile(path)
        numbers = np.concatenate([EYE, self.basis.ravel(), self.light])
        sizes = map(str, (self.width, self.height, threads))
        return [str(path), *sizes, *(f"{number:.9g}" for number in numbers), str(self.seed)]


def draw(kind: str, count: int, width: int, height: int, seed: int) -> PeerScene:
    """Draw spheres of a kind of `raytracer bench build`, moved and scaled into the view."""
    centers, radii = KINDS[kind][1](np.random.default_rng(seed), count)
    radii = np.broadcast_to(np.float32(count ** (-1 / 3)) * np.asarray(radii, np.float32), count)
    low, high = centers.min(axis=0), centers.max(axis=0)
    centers = centers - (low + high) / 2.0
    scale = REACH / float((np.linalg.norm(centers, axis=1) + radii).max())
    spheres = np.column_stack([centers, radii]).astype(np.float64) * scale
    return PeerScene(kind, spheres.astype(np.float32), width, height, seed)


def to_scene(scene: PeerScene, work: str) -> Scene:
    """Convert to our scene for a work."""
    settings: dict[str, Any] = {"integrator": work if work in ("ao", "path") else "direct"}
    settings |= {"shadows": work != "primary", "ao_samples": OCCLUSION_RAYS, "max_depth": BOUNCES}
    diffuse = {"path": ALBEDO, "ao": 1.0}.get(work, DIFFUSE)
    is_direct = settings["integrator"] == "direct"
    return Scene.from_arrays(
        scene.spheres[:, :3], scene.spheres[:, 3], "white",
        material=Material(ambient=1.0, diffuse=diffuse, specular=0.0),
        camera=Camera(EYE, (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), vertical_fov=FOV),
        lights=(PointLight(scene.light),) if is_direct else (),
        # Paths meet the background; with occlusion it is the ambient light that comes through.
        ambient=Ambient(intensity={"path": 0.0, "ao": 1.0}.get(work, AMBIENT)),
        background=Background((1.0, 1.0, 1.0), transparent=work != "path"),
        render=RenderSettings(
            width=scene.width, height=scene.height, samples=1, filter="point", seed=scene.seed,
            **settings,
        ),
    )  # fmt: skip
