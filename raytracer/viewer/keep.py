"""Output of a view: camera and edits as TOML, and pictures as files."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from raytracer.errors import UserError
from raytracer.scene.load import is_scene
from raytracer.viewer import as_toml, command_line, orbit_camera
from raytracer.viewer.actions import action
from raytracer.viewer.messages import RenderRequest
from raytracer.viewer.orbit_camera import View
from raytracer.viewer.save_job import Deliver, SaveJob
from raytracer.viewer.state import ViewerState

VIEW_FILE = "view.toml"  # name of the camera's file in the printed command for a file of particles


FPS = 30.0  # default frames per second of a movie
STILL_SECONDS = 2.0  # seconds between two keyframes without a trajectory


def camera_toml(viewer: ViewerState, shown: View | None = None) -> str:
    """Return a view, None for the current one, the edits and the keyframes as tables.

    They replace those of a scene file; for a file of particles, those with keyframes are one.
    """
    scene, path, edits = viewer.loaded_scene.scene, viewer.loaded_scene.path, viewer.edits
    camera = orbit_camera.camera_of(shown or viewer.view, viewer.loaded_scene.buffers)
    tables, content = as_toml.view_tables(camera, scene, edits), viewer.content
    if more := _animation(viewer):  # a movie has all frames
        content = replace(content, frame=None)
    command = ["animate" if more else "render", *([] if path is None else [str(path)])]
    settings = command_line.of_content(content, scene)
    if path is not None and not is_scene(path):
        settings |= command_line.of_particles(scene, edits)
        if more:
            command, more = ["animate", VIEW_FILE], {"spheres": [{"file": str(path)}], **more}
        else:
            command += ["--camera", VIEW_FILE]
    text = as_toml.document(tables | more)
    # what a look says of lights gives way to lights that were turned
    words = command_line.words(command_line.look(scene, edits, viewer.tone) | settings)
    return f"{text}\n# {shlex.join(['raytracer', *command, *words])}\n" if words else text


def _animation(viewer: ViewerState) -> dict[str, Any]:
    times = sorted(viewer.keyframes)
    keys = [{"time": t} | as_toml.camera_values(viewer.keyframes[t]) for t in times]
    for each in keys:
        del each["type"]
    return {"animation": {"fps": _fps(viewer), "keyframes": keys}} if keys else {}


def _fps(viewer: ViewerState) -> float:
    animation = viewer.loaded_scene.scene.animation
    return animation.fps if animation is not None else FPS


@action()
def keyframe(viewer: ViewerState) -> None:
    """Set a keyframe with the current camera at the time of the shown frame."""
    if viewer.time.count > 1:
        time = viewer.frame_number / _fps(viewer)
    else:
        time = max(viewer.keyframes) + STILL_SECONDS if viewer.keyframes else 0.0
    viewer.keyframes[time] = viewer.camera
    viewer.notify(f"keyframe {len(viewer.keyframes)} at {time:.2f} s; C prints all")


@action()
def clear_keyframes(viewer: ViewerState) -> None:
    """Delete all keyframes."""
    viewer.keyframes.clear()
    viewer.notify("there are no keyframes")


@action()
def print_camera(viewer: ViewerState) -> str:
    """Print the tables of `camera_toml` and return them for the clipboard."""
    text = camera_toml(viewer)
    viewer.say(text)
    viewer.notify("the camera was printed and copied")
    return text


def save(
    viewer: ViewerState,
    size: tuple[int, int],
    samples: int,
    path: Path | None = None,
    deliver: Deliver | None = None,
) -> None:
    """Render the current view to a PNG in the background; `path` None makes a new name.

    deliver: takes the picture instead of the file; see `SaveJob`.

    Raises:
        UserError: the file cannot be written, or another one is being rendered.
    """
    if viewer.worker.save_job is not None:
        path = viewer.worker.save_job.path
        raise UserError(f"{path} is not finished: wait for it, or press Esc")
    shown, scene = viewer.view, viewer.loaded_scene
    if shown.fits_all and size[0] * viewer.size[1] != size[1] * viewer.size[0]:  # another shape
        aspect, around = size[0] / size[1], scene.surroundings(size)
        shown = orbit_camera.to_all(shown, scene.packed, aspect, around=around)
    buffers = scene.buffers_for(shown, size, viewer.edits)
    path = path or new_path(scene.stem)
    request = RenderRequest(scene, buffers, viewer.tone, samples, settings=viewer.edited.render)
    viewer.worker.save(SaveJob(request, path, camera_toml(viewer, shown), deliver))


def new_path(stem: str) -> Path:
    """Return the first new one of STEM-view-1.png, STEM-view-2.png, ... in the current folder."""
    names = (Path(f"{file_name(stem)}-view-{number}.png") for number in count(1))
    return next(each for each in names if not os.path.lexists(each))


def file_name(stem: str) -> str:
    """Replace wildcards and slashes in a file name."""
    return re.sub(r"[*?%#/]", "_", stem)
