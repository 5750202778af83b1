"""Lights, ambient light, background and settings as the kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import TYPE_CHECKING

from ..errors import SceneError
from ..layout import code
from ..settings import LOOKS, RenderSettings
from ..view import frame_of
from .colors import srgb_to_linear
from .fit import Basis
from .lights import Ambient, DirectionalLight, Light, linear
from .looks import Camera
from .placing import Space
from .transform import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .scene import Scene

KEY_LIGHT = (-0.5, 0.8, 1.0)
"""Towards the light of a scene without lights, along the camera's right, up and backward axes."""


def pack_lights(scene: Scene, space: Space, axes: Basis) -> NDArray[np.void]:
    """Return the lights in render space, structured (L,).

    Args:
        scene: for its lights; None becomes the key light.
        space: render space.
        axes: the camera's view, for the key light.

    Raises:
        SceneError: a light that is too far or too bright for float32.
    """
    import numpy as np

    from ..layout import dtype

    lights: Sequence[Light] = key_lights(scene, axes) if scene.lights is None else scene.lights
    packed = np.zeros(len(lights), dtype("Light"))
    for index, (entry, light) in enumerate(zip(packed, lights, strict=True)):
        try:
            light.pack(entry, space)
        except SceneError as error:
            raise SceneError(f"lights[{index}].{str(error).partition('.')[2]}") from None
    return packed


def key_lights(scene: Scene, axes: Basis) -> tuple[DirectionalLight, ...]:
    """Return the lights of a scene that states none, as its look has them.

    Args:
        scene: for its look.
        axes: of the camera; the light comes from its upper left.
    """
    intensity = LOOKS[scene.render.look].key
    if not intensity:
        return ()
    x, y, z = (-float(v) for v in towards_key(axes))
    return (DirectionalLight((x, y, z), intensity=intensity),)


def towards_key(axes: Basis) -> NDArray[np.float64]:
    """Return the direction from the scene to the key light, float64 (3,), of any length."""
    right, up, backward = KEY_LIGHT
    return right * axes.right + up * axes.up - backward * axes.forward


def ambient_of(scene: Scene) -> Ambient:
    """Return the ambient light of a scene: its own, or that of its look."""
    if scene.ambient is not None:
        return scene.ambient
    return (
        Ambient(intensity=LOOKS[scene.render.look].ambient) if scene.lights is None else Ambient()
    )


def pack_frame(
    scene: Scene, settings: RenderSettings, scale: float, **tables: int
) -> NDArray[np.void]:
    """Return the whole picture as one frame, structured (1,).

    Args:
        scene: for its background and ambient light.
        settings: size and sampling.
        scale: length of a unit of render space, in scene units.
        tables: the frame's counts and modes, which say how tables of the scene are read.
    """
    bottom, top = scene.background.edges()
    kind = "transparent" if scene.background.transparent else "gradient"
    return frame_of(
        **settings.packed(scale),
        x1=settings.width,
        y1=settings.height,
        background_bottom=srgb_to_linear(bottom),
        background_top=srgb_to_linear(top),
        background_kind=code("BackgroundKind", kind),
        background_up=background_up(scene),
        ambient=_ambient(scene),
        **tables,
    )


def _ambient(scene: Scene) -> NDArray[np.float64]:
    """Return the ambient light, linear RGB (3,)."""
    import numpy as np

    ambient = ambient_of(scene)
    light = linear(ambient.color) * ambient.intensity
    if not light.max() <= np.finfo(np.float32).max:
        raise SceneError(
            f"ambient.intensity: {ambient.intensity:g} is too bright for 32-bit numbers; give "
            "less, or set the exposure"
        )
    return light


def background_up(scene: Scene) -> Vector:
    """Return the up axis of the background as mirrors reflect it, unit.

    It belongs to the scene: a camera that moves away from the scene's own does not change it.
    """
    given = scene.background.up
    axis = (scene.camera or Camera()).up if given is None else given
    x, y, z = (float(v) / hypot(*axis) for v in axis)
    return (x, y, z)
