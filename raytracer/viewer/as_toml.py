"""Camera and edits of the preview as tables of a scene file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, hypot, log10
from typing import Any

import numpy as np

from raytracer.files import toml_text
from raytracer.film.tone_settings import ToneSettings
from raytracer.scene.background import Background
from raytracer.scene.camera import Camera
from raytracer.scene.lights import Light
from raytracer.scene.materials import DEFAULT, AnyMaterial
from raytracer.scene.packing.lighting import background_up
from raytracer.scene.scene import Scene
from raytracer.viewer.command_line import look_options, quoted, tone_options
from raytracer.viewer.edits import Edits

DIGITS = 10
"""Digits of printed numbers; float32, in which pictures are rendered, has seven."""

MOST_DIGITS = 15
"""Most digits, for points whose distance from the origin is large compared with the view."""


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
    source: str = "",
    shown: Sequence[str] = (),
) -> str:
    """Return camera and edits as tables that replace those of a scene file."""
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
        parts.append(background_table(background))
    if edits.shadow_catcher is not None and scene.ground is not None:
        ground = edits.applied_to(scene).ground
        parts.append(_table("[ground]", vars(ground)))
    parts += [
        _table(f"[materials.{toml_text.key(name)}]", _typed(material))
        for name, material in materials.items()
    ]
    options = (quoted(shown), look_options(scene, edits), tone_options(tone, scene.tone))
    if any(options):
        words = filter(None, (shlex.quote(source) if source else "", *options))
        parts.append(f"# raytracer render {' '.join(words)}\n")
    return "\n".join(parts)


def _parallel(vector: Sequence[float], unit: Sequence[float]) -> bool:
    """Return whether a vector of any length points along a unit vector."""
    length = hypot(*vector)
    return all(abs(v / length - u) < 1e-9 for v, u in zip(vector, unit, strict=True))


def _places(number: float, digits: int) -> int:
    """Return the decimal places of a number with so many digits."""
    return digits - 1 - floor(log10(number)) if number else 0


def _typed(material: AnyMaterial) -> dict[str, Any]:
    """Return the fields of a material, with its kind unless that is the default."""
    kind = {} if material.type == DEFAULT else {"type": material.type}
    return kind | vars(material)


def _light(light: Light) -> str:
    return _table("[[lights]]", {"type": light.type} | vars(light))


def background_table(background: Background) -> str:
    """Return the table `[background]`."""
    return _table("[background]", {k: v for k, v in vars(background).items() if v})


def _table(head: str, values: Mapping[str, Any]) -> str:
    return f"{head}\n{_rows(values)}"


def _rows(values: Mapping[str, Any], distance: float = 0.0) -> str:
    return "".join(f"{name} = {_value(value, distance)}\n" for name, value in values.items())


def _value(value: Any, distance: float = 0.0) -> str:
    """Return a value as TOML, with more digits than float32 but without rounding errors."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return toml_text.quoted(value)
    if isinstance(value, (tuple, list)):
        largest = max(abs(float(each)) for each in value)
        return f"[{', '.join(_number(float(each), largest, distance) for each in value)}]"
    return _number(float(value), abs(float(value)))


def _number(value: float, largest: float, distance: float = 0.0) -> str:
    """Return a number with `DIGITS` digits, counted from the first digit of the distance."""
    places = _places(distance or largest, DIGITS)
    if largest:
        places = min(places, _places(largest, MOST_DIGITS))
    return repr(round(value, places) + 0.0)  # no minus before a zero
