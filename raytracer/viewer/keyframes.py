"""Keyframes of the camera: set at times of the time line, and written as a scene file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from raytracer.errors import UserError, counted
from raytracer.files import output
from raytracer.files.access import opened
from raytracer.scene.load import is_scene, read_table, scene_suffix
from raytracer.viewer import as_toml
from raytracer.viewer.actions import action
from raytracer.viewer.command_line import conditions
from raytracer.viewer.state import ViewerState

FPS = 30.0  # default frames per second of a movie
STILL_SECONDS = 2.0  # seconds between two keyframes without a trajectory
FILE_KEYS = ("file", "topology", "image")  # of a scene file, relative to its folder


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
    viewer.notify(f"keyframe {len(viewer.keyframes)} at {time:.2f} s")


@action()
def clear_keyframes(viewer: ViewerState) -> None:
    """Delete all keyframes."""
    count = len(viewer.keyframes)
    viewer.keyframes.clear()
    viewer.notify(f"{counted(count, 'keyframe')} deleted")


@action()
def export_keyframes(viewer: ViewerState, path: Path | None = None) -> None:
    """Write the scene with its keyframes as a file for `raytracer animate`."""
    if not viewer.keyframes:
        raise UserError("there is no keyframe yet: Shift C sets one")
    target = _write(viewer, path)
    outputs = viewer.outputs
    name = outputs.name(target)
    viewer.notify(f"{outputs.finished(target)}: raytracer animate {name}")


def _write(viewer: ViewerState, path: Path | None) -> Path:
    source = viewer.loaded_scene.path
    if source is None:
        raise UserError(
            "a scene made in Python has no file for raytracer animate: call "
            "raytracer.animate with keyframes"
        )
    is_scene_file = is_scene(source)
    folder = source.parent if is_scene_file else Path()
    target = path or viewer.outputs.path(folder, f"{source.stem}-camera", ".toml")
    output.check_file(target)
    if is_scene_file:
        with opened(source) as file:
            tables = _moved(read_table(file, scene_suffix(file)), source.parent, target)
    else:
        tables = _of_data(viewer, source, target)
    return output.write(target, as_toml.document(tables | _of_camera(viewer)))


def _of_camera(viewer: ViewerState) -> dict[str, Any]:
    keyframes = viewer.keyframes
    first = keyframes[min(keyframes)] if keyframes else viewer.camera
    stated = [{"time": time} | as_toml.camera_values(keyframes[time]) for time in sorted(keyframes)]
    for each in stated:
        del each["type"]
    animation = {"fps": _fps(viewer)} | ({"keyframes": stated} if stated else {})
    return {"camera": as_toml.camera_values(first), "animation": animation}


def _of_data(viewer: ViewerState, source: Path, target: Path) -> dict[str, Any]:
    """Return the tables of a scene file that shows a particle file as now."""
    read, style = viewer.loader.frames.source, viewer.content.style
    spheres: dict[str, Any] = {}
    if read.ending:
        spheres["format"] = read.ending.removeprefix(".")
    if read.topology is not None:
        spheres["topology"] = _named(read.topology, target)
    keys = {"color_by": "by", "map": "map", "range": "range", "color_scale": "scale"}
    if style:
        spheres["color"] = {keys[k]: v for k, v in style.items() if k in keys}
    if condition := conditions(viewer.content.hidden):
        spheres["select"] = condition
    if read.arrays:
        spheres["arrays"] = dict(read.arrays)
    sets = [{"file": _named(path, target)} | spheres for path in (source, *read.further)]
    edited = viewer.edits.applied_to(viewer.loaded_scene.scene)
    render: dict[str, Any] = {"look": viewer.edits.look_of(viewer.loaded_scene.scene)}
    if edited.render.brightness != 1.0:  # it was measured
        render["brightness"] = edited.render.brightness
    background = as_toml.background_values(edited.background)
    return {"render": render, "background": background, "spheres": sets}


def _moved(values: Any, folder: Path, target: Path) -> Any:
    """Adapt the file names in a scene file of `folder` for a scene file at `target`."""
    if isinstance(values, list):
        return [_moved(each, folder, target) for each in values]
    if not isinstance(values, dict):
        return values
    return {
        key: _named(folder / value, target)
        if key in FILE_KEYS and isinstance(value, str)
        else _moved(value, folder, target)
        for key, value in values.items()
    }


def _named(file: Path, scene: Path) -> str:
    """Return the path of a file in a scene file: relative to its folder, or else absolute."""
    path, folder = file.absolute(), scene.parent.absolute()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)
