"""Packing of lights, ambient light and background for the kernels."""

from collections.abc import Sequence
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import SceneError
from raytracer.layout import code, dtype
from raytracer.render_space import Space
from raytracer.scene.background import Background
from raytracer.scene.camera import Camera
from raytracer.scene.colors import srgb_to_linear
from raytracer.scene.lights import Ambient, DirectionalLight, Light, linear
from raytracer.scene.packing.framing import Basis
from raytracer.scene.transform import Vector
from raytracer.scene.views import frame
from raytracer.settings import KEY_LIGHTS, Look, RenderSettings


def pack_lights(
    lights: Sequence[Light] | None, space: Space, axes: Basis, settings: RenderSettings
) -> NDArray[np.void]:
    """Return the lights in render space, structured (L,); None: those of the look, along axes."""
    lights = key_lights(settings, axes) if lights is None else lights
    packed = np.zeros(len(lights), dtype("Light"))
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
    right, upward, back = (np.array(axis, np.float64) for axis in frame((x, y, z)))
    return Basis(right, upward, -back)


def world_up(background: Background, camera: Camera | None, shown: Sequence[float]) -> Vector:
    """Return the up direction for lights placed in the world, any length: in views from above and
    below the camera's is another axis. shown: the up axis of the packed background, (3,)."""
    if background.up is None and camera is not None and camera.view is not None:
        return camera.upward
    x, y, z = (float(v) for v in background.up or shown)
    return (x, y, z)


def key_lights(settings: RenderSettings, axes: Basis) -> tuple[DirectionalLight, ...]:
    """Return the lights of a scene that states none: those of the look, the key light first."""
    look = settings.rig
    lights = []
    for where, intensity, angle in ((settings.light, look.key, look.angle), *look.others):
        x, y, z = (-float(v) for v in towards_key(axes, where))
        lights.append(DirectionalLight((x, y, z), intensity=intensity, angle=angle))
    return tuple(lights) if look.key else ()


def towards_key(axes: Basis, place: str | tuple[float, float, float]) -> NDArray[np.float64]:
    """Return the direction to the key light, (3,), of any length; place: one of `KEY_LIGHTS`, or
    the direction of travel."""
    if not isinstance(place, str):
        return -np.array(place, np.float64)
    right, up, backward = KEY_LIGHTS[place]
    return right * axes.right + up * axes.up - backward * axes.forward


def ambient_of(ambient: Ambient | None, lights: Sequence[Light] | None, look: Look) -> Ambient:
    """Return the ambient light of a scene, of the look, or the default beside stated lights."""
    if ambient is not None:
        return ambient
    return Ambient(intensity=look.ambient) if lights is None else Ambient()


def environment(background: Background, ambient: Ambient, camera: Camera | None) -> dict[str, Any]:
    """Return background and ambient light as fields of `Frame`."""
    light = linear(ambient.color) * ambient.intensity
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
        "background_kind": code("BackgroundKind", kind),
        "background_up": background_up(background, camera),
        "ambient": light,
    }


def background_up(background: Background, camera: Camera | None) -> Vector:
    """Return the up axis of the background for reflections, unit: that of the scene's camera, which
    moving the camera in the preview does not change."""
    axis = background.up or (camera or Camera()).settled().upward
    x, y, z = (float(v) / hypot(*axis) for v in axis)
    return (x, y, z)
