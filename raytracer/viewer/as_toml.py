"""Camera and edits of the preview as tables of a scene file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import floor, hypot, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.files import toml_text
from raytracer.scene.lights import Light
from raytracer.scene.packing.lighting import background_up
from raytracer.viewer.edits import Edits

DIGITS = 10
"""Digits of printed numbers; float32, in which pictures are rendered, has seven."""

MOST_DIGITS = 15
"""Most digits, for points whose distance from the origin is large compared with the view."""

if TYPE_CHECKING:
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.scene.background import Background
    from raytracer.scene.camera import Camera
    from raytracer.scene.materials import AnyMaterial
    from raytracer.scene.scene import Scene
    from raytracer.scene.transform import Triple


def camera_table(camera: Camera) -> str:
    """Return the table `[camera]`."""
    size = (
        {"height": camera.height}
        if camera.type == "orthographic"
        else {"vertical_fov": camera.vertical_fov}
    )
    camera = camera.settled()
    assert camera.position is not None
    assert camera.look_at is not None
    distance = float(np.linalg.norm(np.subtract(camera.position, camera.look_at)))
    places = {"position": camera.position, "look_at": camera.look_at}
    head = _table("[camera]", {"type": camera.type})
    table = head + _rows(places, distance) + _rows({"up": camera.up} | size)
    if not camera.aperture:
        return table
    lens = _rows({"aperture": camera.aperture})
    return table + lens + (_rows({"focus": camera.focus}, distance) if camera.focus else "")


def view_tables(
    camera: Camera,
    scene: Scene,
    edits: Edits,
    materials: Mapping[str, AnyMaterial],
    tone: ToneSettings,
) -> str:
    """Return camera and edits as tables that replace those of a scene file.

    Args:
        camera: the current one.
        scene: the scene.
        edits: of light and background.
        materials: the named materials that were changed.
        tone: exposure and curve, as a comment with the options of `raytracer render`.
    """
    parts = [camera_table(camera)]
    if edits.lights is not None:
        edited = edits.applied_to(scene)
        assert edited.ambient is not None
        if scene.lights is None and scene.ambient is None:  # its default light has an ambient part
            parts.append(_table("[ambient]", vars(edited.ambient)))
        parts += [_light(light) for light in edits.lights]
    background = edits.applied_to(scene).background
    if background.up is None and not _parallel(
        camera.settled().upward, up := background_up(background, scene.camera)
    ):
        background = replace(background, up=up)  # it must not follow the new camera
    if background != scene.background:
        parts.append(_background(background))
    parts += [
        _table(f"[materials.{toml_text.key(name)}]", vars(material))
        for name, material in materials.items()
    ]
    if options := " ".join(
        filter(None, (look_options(scene, edits), tone_options(tone, scene.tone)))
    ):
        parts.append(f"# raytracer render {options}\n")
    return "\n".join(parts)


def look_options(scene: Scene, edits: Edits) -> str:
    """Look and integrator as options of the command line; nothing for the defaults."""
    settings, is_edited = edits.applied_to(scene).render, bool(edits.look or edits.integrator)
    words = []
    if is_edited or settings.look != "plain":
        words.append(f"--look {settings.look}")
    if settings.light != "upper-left":
        place = settings.light
        words.append(f"--light {place if isinstance(place, str) else ','.join(map(repr, place))}")
    if settings.placement != "camera":
        words.append(f"--placement {settings.placement}")
    if is_edited or settings.integrator:  # else a file that states another one would keep it
        words.append(f"--integrator {settings.resolved_integrator}")
    if settings.resolved_integrator == "ao":
        if settings.ao_samples != 1:
            words.append(f"--ao-samples {settings.ao_samples}")
        if settings.ao_distance is not None:
            words.append(f"--ao-distance {settings.ao_distance!r}")
    return " ".join(words)


def tone_options(tone: ToneSettings, scenes: ToneSettings) -> str:
    """Return exposure and curve as options of the command line; nothing for the scene's."""
    words = []
    if tone.exposure != scenes.exposure:
        exposure = tone.exposure if tone.automatic else repr(float(tone.exposure))
        words.append(f"--exposure {exposure}")
    if tone.tone != scenes.tone:
        words.append(f"--tone {tone.tone}")
    if tone.bloom != scenes.bloom:
        words.append(f"--bloom {tone.bloom!r}")
    return " ".join(words)


def _parallel(vector: Triple, unit: Triple) -> bool:
    """Return whether a vector of any length points along a unit vector."""
    length = hypot(*vector)
    return all(abs(v / length - u) < 1e-9 for v, u in zip(vector, unit, strict=True))


def _places(number: float, digits: int) -> int:
    """Return the decimal places of a number with so many digits."""
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
    """Return a value as TOML, with more digits than float32 but without rounding errors.

    Args:
        value: a text, truth value, number, or list of numbers.
        distance: for points, from the camera to its target, which defines their precision.
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
    """Return a number with `DIGITS` digits, counted from the first digit of the distance.

    Args:
        value: the number.
        largest: of the vector's components, used instead if there is no distance.
        distance: of `_value`.
    """
    places = _places(distance or largest, DIGITS)
    if largest:
        places = min(places, _places(largest, MOST_DIGITS))
    return repr(round(value, places) + 0.0)  # no minus before a zero
