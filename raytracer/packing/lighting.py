"""Packing of lights, emissive spheres, ambient light and background for the kernels."""

from collections.abc import Sequence
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import SceneError
from raytracer.model.background import Background
from raytracer.model.camera import Camera
from raytracer.model.colors import srgb_to_linear
from raytracer.model.lights import Ambient, DirectionalLight, Light, to_linear_light
from raytracer.model.render_space import Space
from raytracer.model.settings import KEY_LIGHTS, Look, RenderSettings
from raytracer.model.views import Vector, observer_axes
from raytracer.packing.buffers import DeviceColors, Spheres
from raytracer.packing.framing import Basis
from raytracer.system.layout import empty_structs, enum_value, struct_dtype

MAX_DOMES = 8  # emitters around a scene, within each other, that are looked for


def pack_lights(
    lights: Sequence[Light] | None, space: Space, axes: Basis, settings: RenderSettings
) -> NDArray[np.void]:
    """Return the lights in render space, structured (L,); None: those of the look, along axes."""
    lights = look_lights(settings, axes) if lights is None else lights
    packed = np.zeros(len(lights), struct_dtype("Light"))
    for index, (entry, light) in enumerate(zip(packed, lights, strict=True)):
        try:
            light.pack(entry, space)
        except SceneError as error:
            raise SceneError(f"lights[{index}].{str(error).partition('.')[2]}") from None
    return packed


def rig_axes(settings: RenderSettings, view: Basis, up: Sequence[float]) -> Basis:
    """Return the axes of the look's lights: of the view, or about the world's up vector (3,)."""
    if settings.placement == "camera":
        return view
    x, y, z = (float(v) for v in up)
    right, upward, back = (np.array(axis, np.float64) for axis in observer_axes((x, y, z)))
    return Basis(right, upward, -back)


def world_up(background: Background, camera: Camera | None, shown: Sequence[float]) -> Vector:
    """Return the up direction for lights placed in the world, any length: in views from above and
    below the camera's is another axis. shown: the up axis of the packed background, (3,)."""
    if background.up is None and camera is not None and camera.view is not None:
        return camera.upward
    x, y, z = (float(v) for v in background.up or shown)
    return (x, y, z)


def look_lights(settings: RenderSettings, axes: Basis) -> tuple[DirectionalLight, ...]:
    """Return the lights of a scene that states none: those of the look, the key light first."""
    look = settings.rig
    lights = []
    for where, intensity, angle in ((settings.light, look.key, look.angle), *look.others):
        x, y, z = (-float(v) for v in key_direction(axes, where))
        lights.append(DirectionalLight((x, y, z), intensity=intensity, angle=angle))
    return tuple(lights) if look.key else ()


def key_direction(axes: Basis, place: str | tuple[float, float, float]) -> NDArray[np.float64]:
    """Return the direction to the key light, (3,), of any length; place: one of `KEY_LIGHTS`, or
    the direction of travel."""
    if not isinstance(place, str):
        return -np.array(place, np.float64)
    right, up, backward = KEY_LIGHTS[place]
    return right * axes.right + up * axes.up - backward * axes.forward


def choose_ambient(ambient: Ambient | None, lights: Sequence[Light] | None, look: Look) -> Ambient:
    """Return the ambient light of a scene, of the look, or the default beside stated lights."""
    if ambient is not None:
        return ambient
    return Ambient(intensity=look.ambient) if lights is None else Ambient()


def pack_background(
    background: Background, ambient: Ambient, camera: Camera | None
) -> dict[str, Any]:
    """Return background and ambient light as fields of `Frame`."""
    light = to_linear_light(ambient.color) * ambient.intensity
    if not light.max() <= np.finfo(np.float32).max:
        raise SceneError(
            f"ambient.intensity: {ambient.intensity:g} is too large for 32-bit numbers; give "
            "less, or set the exposure"
        )
    bottom, top = background.edges()
    kind = "transparent" if background.transparent else "gradient"
    return {
        "background_bottom": srgb_to_linear(bottom),
        "background_top": srgb_to_linear(top),
        "background_kind": enum_value("BackgroundKind", kind),
        "background_up": background_up(background, camera),
        "ambient": light,
    }


def background_up(background: Background, camera: Camera | None) -> Vector:
    """Return the up axis of the background for reflections, unit: that of the scene's camera, which
    moving the camera in the preview does not change."""
    axis = background.up or (camera or Camera()).settled().upward
    x, y, z = (float(v) / hypot(*axis) for v in axis)
    return (x, y, z)


def pack_emitters(
    spheres: Spheres,
    colors: NDArray[np.float32] | DeviceColors,
    color_id: NDArray[np.int32],
    materials: NDArray[np.void],
    material_id: NDArray[np.int32],
    opacity: NDArray[np.uint16],
) -> tuple[NDArray[np.void], dict[str, Any]]:
    """Return the table of emitters, structured (E,), and fields of `SceneInfo`.

    The weight of an emitter is the largest channel of radiance, times the square of the radius or
    of `limit_emitter_radius`, if that is less. Arguments are as in `SceneBuffers`.
    """
    is_principled = materials["kind"] == enum_value("MaterialKind", "principled")
    emission = np.where(is_principled, materials["principled"]["emission"], np.float32(0.0))
    if not emission.any() or not spheres.size:
        return empty_structs("Emitter"), {"emitter_count": 0}
    color = colors.on_host if isinstance(colors, DeviceColors) else colors
    strength = emission[material_id] if len(material_id) else emission.repeat(spheres.size)
    number = np.flatnonzero(strength > 0)
    row = 0 if len(color) == 1 else color_id[number] if len(color_id) else number
    radiance, radius = color[row] * strength[number, None], spheres[3][number]
    lit = (radiance.max(axis=1) > 0) & (radius > 0)
    if not lit.any():
        return empty_structs("Emitter"), {"emitter_count": 0}
    number, radiance, radius = number[lit], radiance[lit], radius[lit]
    reach = limit_emitter_radius(spheres, number)
    weight = radiance.max(axis=1) * np.minimum(radius, reach).astype(np.float64) ** 2
    total = float(weight.sum())
    emitters = np.zeros(len(number), struct_dtype("Emitter"))
    emitters["center"] = np.stack([axis[number] for axis in spheres[:3]], axis=1)
    emitters["radius"] = radius
    emitters["radiance"] = radiance
    emitters["share"] = weight / total
    emitters["sphere"] = number
    emitters["opacity"] = opacity[number] if len(opacity) else np.iinfo(np.uint16).max
    emitters["threshold"], emitters["alias"] = make_alias_table(weight / total)
    fields = {"emitter_count": len(emitters), "emitter_scale": 1.0 / total, "emitter_reach": reach}
    return emitters, fields


def limit_emitter_radius(spheres: Spheres, number: NDArray[np.int64]) -> float:
    """Return the radius that emitters have at most when one of them is chosen.

    Of a dome around a scene, and of a ball on which the scene stands, a point gets about the light
    that it gets of a ball as wide as the scene; by their power, smaller emitters would hardly be
    chosen. The scene is all spheres that are smaller.

    number: of the spheres that emit light, (E,).
    """
    x, y, z, radius = (np.asarray(column) for column in spheres[:4])
    reach = float("inf")
    for _ in range(MAX_DOMES):
        sizes = radius[number]
        size = sizes.max()
        rest = radius < size
        if not rest.any():
            break
        box = [((axis - radius)[rest].min(), (axis + radius)[rest].max()) for axis in (x, y, z)]
        half = max(float(high) - float(low) for low, high in box) / 2.0
        domes = number[sizes == size]
        middle = [(float(high) + float(low)) / 2.0 for low, high in box]
        away = [axis[domes] - center for axis, center in zip((x, y, z), middle, strict=True)]
        if half >= size or (np.linalg.norm(away, axis=0) > size + half).any():
            break
        reach, number = half, number[sizes < size]
        if not len(number):
            break
    return reach


def make_alias_table(share: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return threshold and alias of each entry, for sampling by weight: of a uniformly drawn entry,
    values above its threshold select its alias.

    A. J. Walker, "An Efficient Method for Generating Discrete Random Variables", ACM TOMS 3(3),
    1977. Light entries are filled by the heavy ones in order, so that prefix sums give both: L.
    Huebschle-Schneider, P. Sanders, "Parallel Weighted Random Sampling", ACM TOMS 48(3), 2022.

    Args:
        share: probabilities, float64 (E,), with sum 1.
    """
    part = share * (len(share) / share.sum())
    light, heavy = np.flatnonzero(part < 1.0), np.flatnonzero(part >= 1.0)
    threshold, alias = np.ones(len(share)), np.arange(len(share))
    if not len(light) or not len(heavy):
        return threshold, alias
    threshold[light] = part[light]
    before, spare = 1.0 - part[light], np.cumsum(part[heavy] - 1.0)
    lacking = np.cumsum(before)
    # A light entry is filled by the first heavy entry with weight left.
    np.subtract(lacking, before, out=before)
    giver = np.searchsorted(spare, before, side="right")
    alias[light] = heavy[np.minimum(giver, len(heavy) - 1)]
    # A heavy entry that becomes light is filled by the next heavy one.
    last = np.searchsorted(before, spare, side="left") - 1  # light entry that used it first
    given = np.where(last >= 0, lacking[np.maximum(last, 0)], 0.0)
    owed = np.clip(given - spare, 0.0, 1.0)[:-1]
    threshold[heavy[:-1]] = 1.0 - owed
    alias[heavy[:-1]] = heavy[1:]
    return threshold, alias
