"""Camera and edits of the preview as tables of a scene file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import dist, floor, hypot, log10
from typing import Any

from raytracer.errors import UserError
from raytracer.scene.camera import Camera
from raytracer.scene.packing.lighting import background_up
from raytracer.scene.scene import Scene
from raytracer.viewer.edits import Edits

DIGITS = 10  # digits of printed numbers; float32, in which pictures are rendered, has seven
MAX_DIGITS = 15  # digits of points far from the origin compared with the view
PLACES = ("position", "look_at", "focus")  # points, rounded relative to the view distance


def document(tables: Mapping[str, Any]) -> str:
    """Return tables, and lists of them, by name as TOML; tables within them are inline."""
    parts = []
    for name, table in tables.items():
        head, rows = (
            (f"[{name}]", [table]) if isinstance(table, Mapping) else (f"[[{name}]]", table)
        )
        parts += [
            "".join([f"{head}\n", *(f"{key} = {_text(each)}\n" for key, each in row.items())])
            for row in rows
        ]
    return "\n".join(parts)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_text(each)}' for key, each in value.items())}}}"
    if isinstance(value, (list, tuple)):
        if any(isinstance(each, Mapping) for each in value):
            return "".join(["[\n", *(f"    {_text(each)},\n" for each in value), "]"])
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UserError(
            f"{json.dumps(value)}: is not text in UTF-8, which TOML needs: give another name"
        ) from None
    # as in JSON, but TOML has no surrogate pairs, and DEL is a control character
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


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
