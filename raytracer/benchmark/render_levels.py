"""Levels of a picture on which render kernels are checked and timed."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import DeviceFilm, DeviceScene
from raytracer.buffers import SceneBuffers
from raytracer.film.film import Film, encode
from raytracer.layout import code
from raytracer.settings import FILTER_RADII
from raytracer.view import View

# Contents of a picture, each level with all before it: `shows:` in the header of a variant.
LEVELS = {
    "flat": "parallel rays, flat colours",
    "perspective": "rays from one point",
    "phong": "the scene's lights, without shadows",
    "shadows": "a ray to each light that a surface faces",
    "mirrors": "reflections, as deep as the scene says",
    "samples": "4 samples a pixel and the scene's filter",
}
SAMPLES = 4
# Two pictures are equal if at most SHARE of the pixels differ by more than STEP in a channel of
# sRGB (0..65535), and the mean difference is at most MEAN: edges depend on rounding.
STEP, SHARE, MEAN = 514, 1e-3, 6.5


def samples(level: str) -> int:
    """Return the samples per pixel of a picture of `level`."""
    return SAMPLES if level == "samples" else 1


def view(buffers: SceneBuffers, level: str, size: tuple[int, int]) -> SceneBuffers:
    """Return the buffers of a scene with the view of a level, in a size in pixels."""
    parts = list(LEVELS)[: list(LEVELS).index(level) + 1]
    (width, height), whole = size, buffers.view
    level_view = whole.with_size(width, height).with_samples(0, samples(level))
    if "phong" not in parts:
        level_view = level_view.with_lights(buffers.view.lights[:0], 1.0)
    level_view = level_view.but(shadows=int("shadows" in parts))
    if "mirrors" not in parts:
        level_view = level_view.but(max_depth=0)
    if "samples" not in parts:
        level_view = level_view.through_centers()
    elif level_view.centered:
        level_view = level_view.but(
            filter=code("FilterKind", "gaussian"), filter_radius=FILTER_RADII["gaussian"]
        )
    aspect = width / height / (whole.width / whole.height)
    camera = _camera(buffers.view.camera, aspect, "perspective" in parts)
    return replace(buffers, view=replace(level_view, camera=camera))


def _camera(camera: NDArray[np.void], aspect: float, perspective: bool) -> NDArray[np.void]:
    """Return the camera, or an orthographic one with the same field at the scene centre."""
    level_camera = camera.copy()
    level_camera["right"] *= np.float32(aspect)
    if not perspective and level_camera["kind"][0] == code("CameraKind", "perspective"):
        # The centre of the scene is the origin of render space.
        away = max(float(-(level_camera["origin"][0] @ level_camera["forward"][0])), 0.5)
        level_camera["kind"] = code("CameraKind", "orthographic")
        level_camera["right"] *= np.float32(away)
        level_camera["up"] *= np.float32(away)
    return level_camera


def expose(film: DeviceFilm, scene: DeviceScene, view: View) -> float:
    """Clear a film and render all samples of a view to it; return seconds."""
    film.clear()
    return film.add(scene, view, view.samples)


def difference(film: Film, reference: Film) -> str:
    """Describe the difference of a picture from its reference; "" if they are equal."""
    if not np.isfinite(film.sums).all():
        return "the picture contains values that are not finite"
    off = np.abs(encode(film, 16).astype(np.int64) - encode(reference, 16))
    wrong = (off > STEP).any(axis=-1)
    if wrong.mean() > SHARE:
        y, x = (int(value) for value in np.argwhere(wrong)[0])
        return f"{int(wrong.sum())} of {wrong.size} pixels differ from the CPU's, first {x},{y}"
    if off.mean() > MEAN:
        return f"the picture differs from the CPU's by {off.mean() / 65535:.2g} on average"
    return ""
