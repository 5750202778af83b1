"""Camera and edits of the preview as tables of a scene file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import dist, floor, hypot, log10
from typing import Any

from raytracer.files import toml_text
from raytracer.scene.camera import Camera
from raytracer.scene.packing.lighting import background_up
from raytracer.scene.scene import Scene
from raytracer.viewer.edits import Edits

DIGITS = 10  # digits of printed numbers; float32, in which pictures are rendered, has seven
MAX_DIGITS = 15  # digits of points far from the origin compared with the view
PLACES = ("position", "look_at", "focus")  # points, rounded relative to the view distance


def document(values: Mapping[str, Any], head: str = "") -> str:
    """Return values as TOML; mappings, and lists of them, are tables. `head`: name of the table."""
    rows = [f"{toml_text.key(k)} = {_text(v)}\n" for k, v in values.items() if not _is_table(v)]
    parts = ["".join(rows)] if rows else []
    for name, value in values.items():
        if not _is_table(value):
            continue
        place = f"{head}.{toml_text.key(name)}" if head else toml_text.key(name)
        if not isinstance(value, Mapping):
            parts += [f"[[{place}]]\n{document(each, place)}" for each in value]
        elif value and all(map(_is_table, value.values())):
            parts.append(document(value, place))
        else:
            parts.append(f"[{place}]\n{document(value, place)}")
    return "\n".join(parts)


def _is_table(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(isinstance(each, Mapping) for each in value)
    return isinstance(value, Mapping)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return toml_text.quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    return repr(value)


def camera_values(camera: Camera) -> dict[str, Any]:
    camera = camera.settled()
    assert camera.position is not None
    assert camera.look_at is not None
    values: dict[str, Any] = {"type": camera.type, "position": camera.position,
                              "look_at": camera.look_at, "up": camera.up}  # fmt: skip
    size = "height" if camera.type == "orthographic" else "vertical_fov"
    names = (size, "aperture", "focus") if camera.aperture else (size,)
    values |= {name: value for name in names if (value := getattr(camera, name)) is not None}
    distance = dist(camera.position, camera.look_at)
    return {k: _rounded(v, distance if k in PLACES else 0.0) for k, v in values.items()}


def view_tables(camera: Camera, scene: Scene, edits: Edits) -> dict[str, Any]:
    """Return camera and edits as tables that replace those of a scene file."""
    edited = edits.applied_to(scene)
    tables: dict[str, Any] = {"camera": camera_values(camera)}
    if scene.camera is not None and scene.camera.shutter:  # which no view shows
        tables["camera"]["shutter"] = scene.camera.shutter
    if edits.lights is not None:
        assert edited.ambient is not None
        if (
            scene.lights is None and scene.ambient is None
        ):  # the default lights include ambient light
            tables["ambient"] = vars(edited.ambient)
        tables |= {"lights": [{"type": each.type} | vars(each) for each in edits.lights]}
    background = edited.background
    if background.up is None and not _parallel(
        camera.settled().upward, up := background_up(background, scene.camera)
    ):
        background = replace(background, up=up)  # or it would follow the new camera
    if background != scene.background:
        tables["background"] = {k: v for k, v in vars(background).items() if v}
    if edits.shadow_catcher is not None and scene.ground is not None:
        tables["ground"] = vars(edited.ground)
    return {name: _rounded(table) for name, table in tables.items()}


def _parallel(vector: Sequence[float], unit: Sequence[float]) -> bool:
    length = hypot(*vector)
    return all(abs(v / length - u) < 1e-9 for v, u in zip(vector, unit, strict=True))


def _rounded(value: Any, distance: float = 0.0) -> Any:
    """Round numbers to `DIGITS` digits, relative to the distance or the vector's largest number."""
    if isinstance(value, Mapping):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, (bool, str)):
        return value
    if not isinstance(value, (list, tuple)):
        return _rounded([value], distance)[0]
    if any(isinstance(each, Mapping) for each in value):
        return [_rounded(each) for each in value]
    largest = max(abs(float(each)) for each in value)
    places = _places(distance or largest, DIGITS)
    if largest:
        places = min(places, _places(largest, MAX_DIGITS))
    return [round(float(each), places) + 0.0 for each in value]  # no negative zeros


def _places(number: float, digits: int) -> int:
    return digits - 1 - floor(log10(number)) if number else 0
