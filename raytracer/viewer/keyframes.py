"""Keyframes of the camera: kept at times of the time line, written as a scene file, rendered."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from raytracer.errors import UserError, counted, shown
from raytracer.files import output, toml_text
from raytracer.files.access import opened
from raytracer.scene.load import is_scene
from raytracer.viewer import as_toml
from raytracer.viewer.actions import action
from raytracer.viewer.command_line import conditions
from raytracer.viewer.messages import Message, Refused, Saved
from raytracer.viewer.state import ViewerState

FPS = 30.0
"""Frames in a second of a movie whose scene states none."""

STILL_SECONDS = 2.0
"""Seconds between two keyframes where there is one frame."""

REPLACED = ("camera", "animation")
"""Tables of a scene file that are written anew."""

FILE_KEYS = ("file", "topology", "image")
"""Keys of a scene file that name other files, from the folder of the scene."""

STOP_SECONDS = 2.0
"""Seconds for which the end of the session waits for that of a movie."""

LOOK_SECONDS = 1.0
"""Seconds between two looks at the files of a movie that is being rendered."""

_FILE = re.compile(
    rf"""(\b(?:{"|".join(FILE_KEYS)})[ \t]*=[ \t]*)("(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
)

_HEADER = re.compile(r"^[ \t]*\[\[?[ \t]*([A-Za-z0-9_-]+)[^\n]*\][ \t]*(#[^\n]*)?$", re.MULTILINE)


def keyframe_frames(viewer: ViewerState) -> list[int]:
    """Return the frames of the trajectory that have a keyframe; none where there is one frame."""
    if viewer.time.count == 1:
        return []
    return [round(time * _fps(viewer)) for time in sorted(viewer.keyframes)]


def _fps(viewer: ViewerState) -> float:
    animation = viewer.loaded_scene.scene.animation
    return animation.fps if animation is not None else FPS


def movie_path(viewer: ViewerState) -> Path:
    """Return the path of a movie that is given no name."""
    return viewer.outputs.path(Path(), f"{viewer.loaded_scene.stem}-movie", ".mp4")


@action()
def keyframe(viewer: ViewerState) -> None:
    """Keep the camera as a keyframe at the time of the frame that is shown."""
    if viewer.time.count > 1:
        time = viewer.frame_number / _fps(viewer)
    else:
        time = max(viewer.keyframes) + STILL_SECONDS if viewer.keyframes else 0.0
    viewer.keyframes[time] = viewer.camera
    viewer.notify(f"keyframe {len(viewer.keyframes)} at {time:.2f} s")


@action()
def clear_keyframes(viewer: ViewerState) -> None:
    """Forget all keyframes."""
    count = len(viewer.keyframes)
    viewer.keyframes.clear()
    viewer.notify(f"{counted(count, 'keyframe')} forgotten")


@action()
def export_keyframes(viewer: ViewerState, path: Path | None = None) -> None:
    """Write the scene with its keyframes as a file for `raytracer animate`."""
    if not viewer.keyframes:
        raise UserError("there is no keyframe yet: Shift C keeps one")
    target = _write(viewer, path)
    outputs = viewer.outputs
    name = outputs.name(target)
    viewer.notify(f"{outputs.finished(target)}: raytracer animate {name}")


@action()
def animate(viewer: ViewerState, path: Path | None = None) -> None:
    """Render a movie with the keyframes, or of the trajectory, by `raytracer animate`."""
    if viewer.movie is not None and viewer.movie.poll() is None:
        raise UserError("a movie is being rendered already: wait for it")
    if not viewer.keyframes and viewer.time.count == 1:
        raise UserError("there is one frame and no keyframe: Shift C keeps one")
    scene = _write(viewer, None)
    movie = path or movie_path(viewer)
    width, height = viewer.size
    command = [sys.executable, "-m", "raytracer", "animate", str(scene), "-o", str(movie)]
    command += ["--size", f"{width}x{height}", "--quiet", "--no-poster"]
    viewer.movie = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    waiting = partial(_wait, viewer, viewer.movie, movie, scene)
    Thread(target=waiting, name="movie", daemon=True).start()
    viewer.notify(f"{viewer.outputs.name(movie)} is rendered in the background")


def _wait(viewer: ViewerState, process: subprocess.Popen[bytes], movie: Path, scene: Path) -> None:
    """Wait for the end of a movie, in a thread, and tell of it."""
    outputs, why, said = viewer.outputs, "", b""
    while process.returncode is None:
        with suppress(subprocess.TimeoutExpired):
            _, said = process.communicate(timeout=LOOK_SECONDS)
        if not why and (why := outputs.refusal()):
            process.terminate()
    message: Message = Saved(movie)
    if process.returncode:
        lines = said.decode(errors="replace").strip().splitlines()
        own = lines[-1].removeprefix("raytracer: ") if lines else ""
        why = why or shown(own or f"exit code {process.returncode}", 300)
        message = Refused(f"{outputs.name(movie)} was not rendered: {why}")
        outputs.dropped(movie)
    outputs.dropped(scene)
    viewer.worker.post(message)


def stop_movie(viewer: ViewerState) -> str:
    """End the movie that is rendered; returns a sentence about it, or ""."""
    if viewer.movie is None or viewer.movie.poll() is not None:
        return ""
    viewer.movie.terminate()
    with suppress(subprocess.TimeoutExpired):
        viewer.movie.wait(STOP_SECONDS)
    return "a movie was not finished; its frames are kept: run raytracer animate again"


def _write(viewer: ViewerState, path: Path | None) -> Path:
    """Write the scene file; returns its path."""
    source = viewer.loaded_scene.path
    if source is None:
        raise UserError(
            "a scene made in Python has no file for raytracer animate: call raytracer.animate "
            "with keyframes"
        )
    is_scene_file = is_scene(source)
    folder = source.parent if is_scene_file else Path()
    target = path or viewer.outputs.path(folder, f"{source.stem}-camera", ".toml")
    output.check_file(target)
    text = (
        _scene_text(viewer, source, target) if is_scene_file else _data_text(viewer, source, target)
    )
    return output.write(target, text)


def tables(viewer: ViewerState) -> str:
    """Return the tables of camera and animation of a scene file."""
    first = viewer.keyframes[min(viewer.keyframes)] if viewer.keyframes else viewer.camera
    parts = [as_toml.camera_table(first), f"[animation]\nfps = {_fps(viewer)!r}\n"]
    for time in sorted(viewer.keyframes):
        camera = viewer.keyframes[time]
        rows = as_toml.camera_table(camera).splitlines(keepends=True)
        stated = [row for row in rows[1:] if not row.startswith("type")]
        parts.append("".join(["[[animation.keyframes]]\n", f"time = {time!r}\n", *stated]))
    return "\n".join(parts)


def _data_text(viewer: ViewerState, source: Path, target: Path) -> str:
    """Return a scene file that shows a particle file as it is shown now."""
    spheres: dict[str, str] = {"file": toml_text.quoted(_named(source, target))}
    read = viewer.loader.frames.source
    if read.ending:
        spheres["format"] = toml_text.quoted(read.ending.removeprefix("."))
    if read.topology is not None:
        spheres["topology"] = toml_text.quoted(_named(read.topology, target))
    style = dict(viewer.content.style)
    if style:
        keys = {"color_by": "by", "map": "map", "range": "range", "color_scale": "scale"}
        said = [f"{keys[k]} = {_value(v)}" for k, v in style.items() if k in keys]
        spheres["color"] = f"{{ {', '.join(said)} }}"
    if condition := conditions(viewer.content.hidden):
        spheres["select"] = toml_text.quoted(condition)
    rows = "".join(f"{key} = {value}\n" for key, value in spheres.items())
    scene = viewer.loaded_scene.scene
    look = toml_text.quoted(viewer.edits.look_of(scene))
    background = as_toml.background_table(viewer.edits.applied_to(scene).background)
    return f"[render]\nlook = {look}\n\n{background}\n[[spheres]]\n{rows}\n{tables(viewer)}"


def _scene_text(viewer: ViewerState, source: Path, target: Path) -> str:
    """Return the text of a scene file with other tables of camera and animation."""
    if source.suffix.lower() != ".toml":
        raise UserError(f"{source}: keyframes go into a scene in TOML: convert it first")
    with opened(source) as file:
        text = file.file.read().decode("utf-8-sig").replace("\r\n", "\n")
    text = f"{without_tables(text, REPLACED).rstrip()}\n\n{tables(viewer)}"
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise UserError(
            f"{source}: its camera and animation cannot be replaced where they stand: write "
            "them as tables of their own, [camera] and [animation]"
        ) from None
    here = target.parent.absolute() == source.parent.absolute()
    return text if here else _moved(text, source, target)


def without_tables(text: str, names: tuple[str, ...]) -> str:
    """Return TOML without the tables of some names and those below them."""
    heads = list(_HEADER.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    kept = text[: heads[0].start()] if heads else text
    for head, end in zip(heads, ends, strict=True):
        if head[1] not in names:
            kept += text[head.start() : end]
    return kept


def _value(value: Any) -> str:
    """Return a setting of a style as TOML."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_value(each) for each in value)}]"
    return toml_text.quoted(value) if isinstance(value, str) else repr(value)


def _moved(text: str, source: Path, target: Path) -> str:
    """Return the text of a scene file for another folder. Raises UserError."""

    def moved(name: str) -> str:
        return _named(source.parent / name, target)

    def written(place: re.Match[str]) -> str:
        return place[1] + toml_text.quoted(moved(tomllib.loads(f"name = {place[2]}")["name"]))

    found = _FILE.sub(written, text)
    if {*_file_names(tomllib.loads(found))} != {*map(moved, _file_names(tomllib.loads(text)))}:
        raise UserError(f'{source}: its data files cannot be found in it: write file = "NAME"')
    return found


def _file_names(values: Any) -> Iterator[str]:
    """Return the files that the values of a scene file name."""
    if isinstance(values, dict):
        for key, value in values.items():
            if key in FILE_KEYS and isinstance(value, str):
                yield value
            yield from _file_names(value)
    elif isinstance(values, list):
        for value in values:
            yield from _file_names(value)


def _named(file: Path, scene: Path) -> str:
    """Return how a scene file names another file: from its own folder, or else absolutely."""
    path, folder = file.absolute(), scene.parent.absolute()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)
