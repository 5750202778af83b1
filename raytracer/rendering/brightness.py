"""The brightness of the lights of a look, measured against the surfaces that the camera sees.

The lights of a look show a white surface that nothing occludes as white. In a dense crystal most
surfaces see little of the sky and lie in the shadow of others, so that its colours would be dull.
Tiles of the picture are rendered with the lights as they are. The light of their covered pixels,
divided by that of surfaces in their full colours, says how much is lost, and the lights become
brighter by it, as far as no channel of a highlight is above white: a clipped red ball is a flat
disc, though its luminance is low. (A small picture of the whole would take longer: its
neighbouring rays meet other spheres.)

The factor is rounded, so that devices, whose sums differ in the last bits, find the same one.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from raytracer.backends.base import Device, DeviceScene
from raytracer.film.film import Crop, Film
from raytracer.model.settings import RenderSettings
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.view import View
from raytracer.system.layout import enum_value

COLUMNS, ROWS = 12, 8  # number of tiles across and down the picture
SIDE = 8  # of a tile in pixels: about as many as a packet of rays
SAMPLES = 4  # per pixel
TARGET = 0.72  # light of covered pixels, relative to that of surfaces in their full colours
HIGHLIGHTS = 95.0  # percentile of the brightest channel of covered pixels: at most `MAX_LIGHT`
MAX_LIGHT = 1.05
MAX_FACTOR = 1.6
STEPS = 32  # of the factor between 1 and 2
COVERED = 0.5  # coverage from which a pixel counts for the highlights
LUMINANCE = (0.2126, 0.7152, 0.0722)  # of linear sRGB, Rec. 709


def balance_lights(
    device: Device, on_device: DeviceScene, buffers: SceneBuffers, settings: RenderSettings
) -> tuple[SceneBuffers, RenderSettings]:
    """Return buffers with lights of the measured brightness, and the settings that state it."""
    factor = measure_light_factor(device, on_device, buffers.view)
    lights = buffers.view.lights.copy()
    lights["color"] *= factor
    ambient = buffers.view.frame["environment"]["ambient"][0] * np.float32(factor)
    view = buffers.view.with_lights(lights, ambient)
    settings = settings.override(brightness=factor)
    return replace(buffers, view=view), settings


def measure_light_factor(device: Device, on_device: DeviceScene, view: View) -> float:
    """Return the factor of the lights of a view, from 1 to `MAX_FACTOR`."""
    (width, height) = view.size
    view = view.but(background_kind=enum_value("BackgroundKind", "transparent"), map_visible=0)
    tiles = []
    for crop in _crops(width, height):
        film = Film.blank(width, height, crop)
        with device.film(film) as sums:
            sums.add(on_device, view, SAMPLES, first=0)
            sums.to_host()
        albedo = on_device.trace_first_hits(view.with_crop(crop))["albedo"]
        tiles.append(np.concatenate([film.sums, albedo], axis=-1, dtype=np.float64).reshape(-1, 7))
    pixels = np.concatenate(tiles)
    light, coverage, albedo = pixels[:, :3] @ LUMINANCE, pixels[:, 3], pixels[:, 4:] @ LUMINANCE
    shown = coverage > COVERED * SAMPLES
    if not (shown.any() and np.isfinite(light).all() and albedo.sum() > 0.0 and light.sum() > 0.0):
        return 1.0
    share = float(light.sum()) / SAMPLES / float(albedo.sum())
    brightest = pixels[shown, :3].max(axis=1) / coverage[shown]
    highlight = float(np.percentile(brightest, HIGHLIGHTS))
    limit = MAX_LIGHT / highlight if highlight > 0.0 else MAX_FACTOR
    factor = min(TARGET / share, limit, MAX_FACTOR)
    return max(round(factor * STEPS) / STEPS, 1.0)


def _crops(width: int, height: int) -> Iterator[Crop]:
    if width <= COLUMNS * SIDE or height <= ROWS * SIDE:
        yield 0, 0, width, height
        return
    for row in range(ROWS):
        y = (2 * row + 1) * height // (2 * ROWS) - SIDE // 2
        for column in range(COLUMNS):
            x = (2 * column + 1) * width // (2 * COLUMNS) - SIDE // 2
            yield x, y, x + SIDE, y + SIDE
