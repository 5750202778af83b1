"""Output of a view: camera and edits as TOML and as a command, and pictures as files."""

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from math import floor, hypot, log10
from pathlib import Path
from typing import Any

import numpy as np

from raytracer.config.errors import UserError
from raytracer.model.camera import Camera
from raytracer.model.lights import DirectionalLight
from raytracer.model.scene import Scene
from raytracer.model.settings import RenderSettings
from raytracer.packing.lighting import background_up
from raytracer.scene_files.load import is_scene
from raytracer.viewer import orbit_camera
from raytracer.viewer.actions import action
from raytracer.viewer.content import Content
from raytracer.viewer.session import Session
from raytracer.viewer.worker import Deliver, SaveJob

VIEW_FILE = "view.toml"  # name of the camera's file in the printed command for a file of particles

FPS = 30.0  # default frames per second of a movie
STILL_SECONDS = 2.0  # seconds between two keyframes without a trajectory

DIGITS = 10  # digits of printed numbers; float32, in which pictures are rendered, has seven
PLACES = ("position", "look_at", "focus")  # points, rounded relative to the view distance

RENDER = ("look", "brightness", "light", "placement", "integrator", "ao_distance", "denoise")
"""Settings of the render that are options where they are edited or no defaults."""

TONE = ("exposure", "tone", "bloom")


def format_camera(session: Session) -> str:
    """Return camera, edits and keyframes as tables, and a command that renders them. They replace
    those of a scene file; for a file of particles, those with keyframes are one."""
    scene, path = session.loaded_scene.scene, session.loaded_scene.path
    tables, more = _make_view_tables(session, session.camera), _make_animation_table(session)
    content = replace(session.content, frame=None) if more else session.content  # a movie has all
    command = ["animate" if more else "render", *([] if path is None else [str(path)])]
    settings = _collect_look_settings(session) | _collect_content_settings(content, scene)
    if path is not None and not is_scene(path):
        settings |= _collect_particle_settings(
            session
        )  # with lights that were turned instead of the look's
        if more:
            command, more = ["animate", VIEW_FILE], {"spheres": [{"file": str(path)}], **more}
        else:
            command += ["--camera", VIEW_FILE]
    text, options = format_toml(tables | more), _format_options(settings)
    return f"{text}\n# {shlex.join(['raytracer', *command, *options])}\n" if options else text


# Tables


def format_toml(tables: Mapping[str, Any]) -> str:
    """Return tables, and lists of them, by name as TOML; tables within them are inline."""
    parts = []
    for name, table in tables.items():
        is_one = isinstance(table, Mapping)
        head = f"[{name}]\n" if is_one else f"[[{name}]]\n"
        parts += [
            head + "".join(f"{key} = {_format_value(each)}\n" for key, each in row.items())
            for row in ([table] if is_one else table)
        ]
    return "\n".join(parts)


def _format_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_format_value(each)}' for key, each in value.items())}}}"
    if isinstance(value, (list, tuple)):
        if any(isinstance(each, Mapping) for each in value):
            return "".join(["[\n", *(f"    {_format_value(each)},\n" for each in value), "]"])
        return f"[{', '.join(map(_format_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    # as in JSON, but TOML has no surrogates, and DEL is a control character
    text = value.encode("utf-8", "replace").decode()
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def make_camera_table(camera: Camera) -> dict[str, Any]:
    """Return a camera with a position as a table of a scene file."""
    camera = camera.settled()
    distance = float(np.linalg.norm(camera.backward()))
    return {
        name: _round_digits(each, distance if name in PLACES else 0.0)
        for name, each in camera.table().items()
    }


def _make_view_tables(session: Session, camera: Camera) -> dict[str, Any]:
    """Return camera and edits as tables that replace those of a scene file."""
    scene, edited, edits = session.loaded_scene.scene, session.edited_scene, session.edits
    tables: dict[str, Any] = {"camera": make_camera_table(camera)}
    if scene.camera is not None and scene.camera.shutter:  # which no view shows
        tables["camera"]["shutter"] = scene.camera.shutter
    if edits.lights is not None:
        if scene.lights is None and scene.ambient is None:  # the default lights have ambient light
            tables["ambient"] = vars(edited.ambient)
        tables |= {"lights": [{"type": each.type} | vars(each) for each in edits.lights]}
    background, upward = edited.background, camera.settled().upward
    up = background_up(background, scene.camera)
    along = sum(a * b for a, b in zip(up, upward, strict=True)) / hypot(*upward)
    if background.up is None and along < 1.0 - 1e-9:
        background = replace(background, up=up)  # or it would follow the new camera
    if background != scene.background:
        tables["background"] = {k: v for k, v in vars(background).items() if v}
    if edits.shadow_catcher is not None and scene.ground is not None:
        tables["ground"] = vars(edited.ground)
    return {name: _round_digits(table) for name, table in tables.items()}


def _round_digits(value: Any, distance: float = 0.0) -> Any:
    """Round numbers to `DIGITS` digits, relative to the distance or the vector's largest number."""
    if isinstance(value, Mapping):
        return {name: _round_digits(each) for name, each in value.items()}
    if isinstance(value, (bool, str)):
        return value
    if not isinstance(value, (list, tuple)):
        return _round_digits([value], distance)[0]
    if any(isinstance(each, Mapping) for each in value):
        return [_round_digits(each) for each in value]
    size = distance or max(abs(float(each)) for each in value)
    places = DIGITS - 1 - floor(log10(size)) if size else 0
    return [round(float(each), places) + 0.0 for each in value]  # no negative zeros


# Options of a command


def _format_options(settings: Mapping[str, Any]) -> list[str]:
    """Return settings by name as options; None is no setting."""
    found = []
    for name, value in settings.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            found.append(flag)
        elif value is False:
            has_word = name in ("legend", "box", "ribbons")
            found.append(f"{flag}=off" if has_word else f"--no-{flag[2:]}")
        elif value is not None:
            row = value if isinstance(value, (tuple, list)) else (value,)
            found += [flag, ",".join(map(str, row))]
    return found


def _collect_look_settings(session: Session) -> dict[str, Any]:
    """Return settings of look, integrator and tone that a scene file does not state."""
    scene, edits, render, plain = (
        session.loaded_scene.scene, session.edits, session.edited_scene.render, RenderSettings()
    )  # fmt: skip
    found = {
        name: getattr(render, name)
        for name in RENDER
        if name in edits.render or getattr(render, name) != getattr(plain, name)
    }
    if scene.lights is not None or edits.lights is not None:
        found.pop("light", None)  # it would replace the lights
    if "look" in found or "integrator" in found:  # otherwise that of the file applies
        found["integrator"] = render.resolved_integrator
    if render.resolved_integrator == "ao":
        found["ao_samples"] = render.ao_samples
    changed = {name: getattr(session.tone, name) for name in TONE}
    return found | {k: v for k, v in changed.items() if v != getattr(scene.tone, k)}


def _collect_particle_settings(session: Session) -> dict[str, Any]:
    """Return background, ground and light of a particle file as settings. There are none for
    gradients, except the default one, and for lights after the first."""
    background, edits = session.edited_scene.background, session.edits
    found: dict[str, Any] = {}
    if background.transparent:
        found["transparent"] = True
    elif background.top is None:
        found["background"] = background.color or "white"
    if session.loaded_scene.scene.ground is not None:
        found["shadow_catcher"] = edits.shadow_catcher
    if edits.lights and isinstance(edits.lights[0], DirectionalLight):
        found["light"] = edits.lights[0].direction
    return found


def _collect_content_settings(content: Content, scene: Scene) -> dict[str, Any]:
    """Return frame, colours, selection and glyphs as settings. Particles hidden or faded by number
    have none, nor has the marking of selected ones."""
    found: dict[str, Any] = {"frame": content.frame}
    if condition := _format_condition(content):
        found["select"] = condition
        if not content.hidden:
            found["rest"] = content.faded[0][2]
    if content.slice is not None and scene.clip is not None:
        found["clip"] = scene.clip.keep
    if content.settings.get("color_by"):
        found["legend"] = True
    settings = dict(content.settings)
    if (surface := settings.get("isosurface")) is not None:  # an option with a value
        settings["isosurface"] = "on" if surface else "off"
    return found | {k: "none" if each == "" else each for k, each in settings.items()}


def _format_condition(content: Content) -> str:
    """Return the condition of what is shown, or of the one part that is not faded; "" if there is
    none, or if particles were chosen by number."""
    parts = list(content.hidden) or [each[:2] for each in content.faded]
    if not all(chosen.condition for chosen, _ in parts):
        return ""
    if not content.hidden and len(parts) != 1:
        return ""
    return " and ".join(
        f"({chosen.condition})" if rest else f"not ({chosen.condition})" for chosen, rest in parts
    )


# Keyframes


def _make_animation_table(session: Session) -> dict[str, Any]:
    keys = [{"time": t} | make_camera_table(c) for t, c in sorted(session.keyframes.items())]
    for each in keys:
        del each["type"]
    return {"animation": {"fps": _find_fps(session), "keyframes": keys}} if keys else {}


def _find_fps(session: Session) -> float:
    return getattr(session.loaded_scene.scene.animation, "fps", FPS)


@action()
def keyframe(session: Session) -> None:
    """Set a keyframe with the current camera at the time of the shown frame."""
    if session.time.count > 1:
        time = session.frame_number / _find_fps(session)
    else:
        time = max(session.keyframes) + STILL_SECONDS if session.keyframes else 0.0
    session.keyframes[time] = session.camera
    session.notify(f"keyframe {len(session.keyframes)} at {time:.2f} s; C prints all")


@action()
def clear_keyframes(session: Session) -> None:
    """Delete all keyframes."""
    session.keyframes.clear()
    session.notify("there are no keyframes")


@action()
def print_camera(session: Session) -> str:
    """Print the tables of `format_camera` and return them for the clipboard."""
    text = format_camera(session)
    session.say(text)
    session.notify("the camera was printed and copied")
    return text


def save(
    session: Session,
    size: tuple[int, int],
    samples: int,
    path: Path | None = None,
    deliver: Deliver | None = None,
) -> None:
    """Render the current view to a PNG in the background. Raises UserError.

    path: None makes a new name, STEM-view-1.png, STEM-view-2.png, ...
    deliver: takes the picture instead of the file; see `SaveJob`.
    """
    require_no_save(session)
    shown, scene = session.view, session.loaded_scene
    if shown.fits_all and size[0] * session.size[1] != size[1] * session.size[0]:  # another shape
        shown = scene.fit_all(shown, size)
    view = scene.pack_view(shown, size, session.edits)
    if path is None:  # the first new one
        names = (Path(f"{scene.stem}-view-{n}.png") for n in count(1))
        path = next(each for each in names if not os.path.lexists(each))
    camera = orbit_camera.make_camera(shown, scene.buffers)
    session.worker.save(SaveJob(session.request(view, samples), path, camera, deliver))


def require_no_save(session: Session) -> None:
    if (job := session.worker.save_job) is not None:
        raise UserError(f"{job.path} is still being saved: wait for it, or press Esc")


def parse_size(text: str, size: tuple[int, int], samples: int) -> tuple[tuple[int, int], int]:
    """Parse the size of a picture: "3840x2160", "3840x2160 64" or an empty text. Raises
    UserError."""
    number = r"(\d{1,12})"
    pattern = rf"(?:{number}[x×]{number}(?:\s+{number})?)?"
    if (match := re.fullmatch(pattern, text.lower().strip(), re.ASCII)) is None:
        raise UserError(f"{text!r} is not a size: type WIDTHxHEIGHT, and optionally samples")
    typed = zip(match.groups(), (*size, samples), strict=True)
    width, height, spp = (int(number or usual) for number, usual in typed)
    RenderSettings().override(width=width, height=height, samples=spp)  # refuses others
    return (width, height), spp
