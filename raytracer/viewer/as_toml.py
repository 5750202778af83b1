"""What is seen, in the words of a scene file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import floor, hypot, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.files import toml_text
from raytracer.scene.lighting import background_up
from raytracer.scene.lights import Light
from raytracer.viewer.edits import Edits

DIGITS = 10
"""Of the numbers that are printed: float32, in which pictures are rendered, has seven."""

MOST_DIGITS = 15
"""Of places that are far from the origin beside what the camera shows of them."""

if TYPE_CHECKING:
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.scene.looks import Background, Camera
    from raytracer.scene.materials import Material
    from raytracer.scene.scene import Scene
    from raytracer.scene.transform import Triple


def camera_table(camera: Camera) -> str:
    """The table `[camera]`."""
    size = (
        {"height": camera.height}
        if camera.type == "orthographic"
        else {"vertical_fov": camera.vertical_fov}
    )
    assert camera.position is not None
    assert camera.look_at is not None
    distance = float(np.linalg.norm(np.subtract(camera.position, camera.look_at)))
    places = {"position": camera.position, "look_at": camera.look_at}
    head = _table("[camera]", {"type": camera.type})
    return head + _rows(places, distance) + _rows({"up": camera.up} | size)


def view_tables(
    camera: Camera,
    scene: Scene,
    edits: Edits,
    materials: Mapping[str, Material],
    tone: ToneSettings,
) -> str:
    """The camera and everything else that was changed, to be pasted into a scene file.

    The tables take the place of those with the same heads.

    materials: those with a name that were changed.
    """
    parts = [camera_table(camera)]
    if edits.lights is not None:
        dressed = edits.applied_to(scene)
        assert dressed.ambient is not None
        if scene.lights is None and scene.ambient is None:  # it had one with its own light
            parts.append(_table("[ambient]", vars(dressed.ambient)))
        parts += [_light(light) for light in edits.lights]
    background = edits.applied_to(scene).background
    if background.up is None and not _parallel(camera.up, up := background_up(scene)):
        background = replace(background, up=up)  # else it would change with the camera's
    if background != scene.background:
        parts.append(_background(background))
    parts += [
        _table(f"[materials.{toml_text.key(n)}]", vars(made)) for n, made in materials.items()
    ]
    if options := " ".join(filter(None, (look_options(scene), tone_options(tone)))):
        parts.append(f"# raytracer render {options}\n")
    return "\n".join(parts)


def look_options(scene: Scene) -> str:
    """Look and integrator as options of the command line; nothing for the defaults."""
    settings = scene.render
    words = [] if settings.look == "plain" else [f"--look {settings.look}"]
    return " ".join(
        words + ([f"--integrator {settings.integrator}"] if settings.integrator else [])
    )


def tone_options(tone: ToneSettings) -> str:
    """Exposure and curve as options of the command line; nothing for the defaults."""
    words = []
    if tone.exposure != 0.0:
        exposure = tone.exposure if tone.automatic else repr(float(tone.exposure))
        words.append(f"--exposure {exposure}")
    if tone.tone != "linear":
        words.append(f"--tone {tone.tone}")
    return " ".join(words)


def _parallel(vector: Triple, unit: Triple) -> bool:
    """Whether a vector of any length points along a unit vector."""
    length = hypot(*vector)
    return all(abs(v / length - u) < 1e-9 for v, u in zip(vector, unit, strict=True))


def _places(number: float, digits: int) -> int:
    """Decimal places of a number that has so many digits."""
    return digits - 1 - floor(log10(number)) if number else 0


def _light(light: Light) -> str:
    return _table("[[lights]]", {"type": light.type} | vars(light))


def _background(background: Background) -> str:
    return _table("[background]", {k: v for k, v in vars(background).items() if v})


def _table(head: str, values: Mapping[str, Any]) -> str:
    return f"{head}\n{_rows(values)}"


def _rows(values: Mapping[str, Any], distance: float = 0.0) -> str:
    return "".join(f"{name} = {_value(value, distance)}\n" for name, value in values.items())


def _value(value: Any, distance: float = 0.0) -> str:
    """A value as TOML; numbers with more digits than float32 has, and without those of rounding.

    distance: of a place, from the camera to what it looks at, which says how fine it has to be.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return toml_text.quoted(value)
    if isinstance(value, (tuple, list)):
        largest = max(abs(float(each)) for each in value)
        return f"[{', '.join(_number(float(each), largest, distance) for each in value)}]"
    return _number(float(value), abs(float(value)))


def _number(value: float, largest: float, distance: float = 0.0) -> str:
    """A number with `DIGITS` digits, counted from the first one of the distance.

    largest: of the numbers beside it, which counts where there is no distance.
    """
    places = _places(distance or largest, DIGITS)
    if largest:
        places = min(places, _places(largest, MOST_DIGITS))
    return repr(round(value, places) + 0.0)  # no minus before a zero
