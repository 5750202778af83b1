"""Lights, ambient light and background as the kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import TYPE_CHECKING, Any

from ..errors import SceneError
from ..layout import code
from .colors import srgb_to_linear
from .fit import Basis
from .lights import Ambient, DirectionalLight, Light, linear
from .looks import Background, Camera
from .placing import Space
from .transform import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEY_LIGHT = (-0.5, 0.8, 1.0)
"""Towards the light of a scene without lights, along the camera's right, up and backward axes."""

KEY_INTENSITY = 0.8
"""With `KEY_AMBIENT` a white surface of the default material stays just below 1."""

KEY_AMBIENT = 0.25
"""Intensity of the ambient light beside the key light."""


def pack_lights(lights: Sequence[Light] | None, space: Space, axes: Basis) -> NDArray[np.void]:
    """Return the lights in render space, structured (L,).

    Args:
        lights: of the scene; None is the key light.
        space: render space.
        axes: the camera's view, for the key light.

    Raises:
        SceneError: a light that is too far or too bright for float32.
    """
    import numpy as np

    from ..layout import dtype

    lights = _key_lights(axes) if lights is None else lights
    packed = np.zeros(len(lights), dtype("Light"))
    for index, (entry, light) in enumerate(zip(packed, lights, strict=True)):
        try:
            light.pack(entry, space)
        except SceneError as error:
            raise SceneError(f"lights[{index}].{str(error).partition('.')[2]}") from None
    return packed


def _key_lights(axes: Basis) -> tuple[DirectionalLight]:
    """Return the light of a scene without lights: from the camera's upper left."""
    right, up, backward = KEY_LIGHT
    towards = right * axes.right + up * axes.up - backward * axes.forward
    x, y, z = (-float(v) for v in towards)
    return (DirectionalLight((x, y, z), intensity=KEY_INTENSITY),)


def environment(
    background: Background, ambient: Ambient | None, camera: Camera | None, *, key_light: bool
) -> dict[str, Any]:
    """Return background and ambient light as fields of `Frame`.

    Args:
        background: of the scene.
        ambient: None takes the default beside the key light, or beside other lights.
        camera: of the scene, for the up axis of the background.
        key_light: whether the scene has no lights of its own.

    Raises:
        SceneError: an ambient light that is too bright for float32.
    """
    if ambient is None:
        ambient = Ambient(intensity=KEY_AMBIENT) if key_light else Ambient()
    bottom, top = background.edges()
    kind = "transparent" if background.transparent else "gradient"
    return {
        "background_bottom": srgb_to_linear(bottom),
        "background_top": srgb_to_linear(top),
        "background_kind": code("BackgroundKind", kind),
        "background_up": background_up(background, camera),
        "ambient": _linear_ambient(ambient),
    }


def _linear_ambient(ambient: Ambient) -> NDArray[np.float64]:
    """Return an ambient light, linear RGB (3,)."""
    import numpy as np

    light = linear(ambient.color) * ambient.intensity
    if not light.max() <= np.finfo(np.float32).max:
        raise SceneError(
            f"ambient.intensity: {ambient.intensity:g} is too bright for 32-bit numbers; give "
            "less, or set the exposure"
        )
    return light


def background_up(background: Background, camera: Camera | None) -> Vector:
    """Return the up axis of the background as mirrors reflect it, unit.

    Args:
        background: its `up`, or None.
        camera: of the scene, whose up axis is the default. Another camera in the preview does not
            change the background.
    """
    axis = (camera or Camera()).up if background.up is None else background.up
    x, y, z = (float(v) / hypot(*axis) for v in axis)
    return (x, y, z)
