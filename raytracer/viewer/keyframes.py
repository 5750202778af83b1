"""Keyframes of the camera: kept at times of the time line, written as a scene file, rendered."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError, counted, shown
from raytracer.files import output, toml_text
from raytracer.scene.load import is_scene
from raytracer.viewer import as_toml
from raytracer.viewer.actions import action
from raytracer.viewer.command_line import conditions
from raytracer.viewer.messages import Message, Refused, Saved

if TYPE_CHECKING:
    import subprocess

    from raytracer.scene.camera import Camera
    from raytracer.viewer.viewer import Viewer

FPS = 30.0
"""Frames in a second of a movie whose scene states none."""

STILL_SECONDS = 2.0
"""Seconds between two keyframes where there is one frame."""

REPLACED = ("camera", "animation")
"""Tables of a scene file that are written anew."""

_HEADER = re.compile(r"^[ \t]*\[\[?[ \t]*([A-Za-z0-9_-]+)[^\n]*\][ \t]*(#[^\n]*)?$", re.MULTILINE)


class CameraKeys:
    """Keyframes of the camera in the order of their times.

    Args:
        viewer: what moves the camera.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._keys: dict[float, Camera] = {}
        self._movie: subprocess.Popen[bytes] | None = None

    @property
    def count(self) -> int:
        """Number of keyframes."""
        return len(self._keys)

    @property
    def frames(self) -> list[int]:
        """Frames of the trajectory that have a keyframe; none where there is one frame."""
        if self._viewer.time.count == 1:
            return []
        return [round(time * self._fps) for time in sorted(self._keys)]

    @property
    def _fps(self) -> float:
        animation = self._viewer.loaded_scene.scene.animation
        return animation.fps if animation is not None else FPS

    @action()
    def keyframe(self) -> None:
        """Keep the camera as a keyframe at the time of the frame that is shown."""
        viewer = self._viewer
        if viewer.time.count > 1:
            time = viewer.time.number / self._fps
        else:
            time = max(self._keys) + STILL_SECONDS if self._keys else 0.0
        self._keys[time] = viewer.camera
        viewer.notify(f"keyframe {self.count} at {time:.2f} s")

    @action()
    def clear_keyframes(self) -> None:
        """Forget all keyframes."""
        count = len(self._keys)
        self._keys.clear()
        self._viewer.notify(f"{counted(count, 'keyframe')} forgotten")

    @action()
    def export_keyframes(self, path: str | None = None) -> None:
        """Write the scene with its keyframes as a file for `raytracer animate`."""
        if not self._keys:
            raise UserError("there is no keyframe yet: Shift C keeps one")
        target = self._write(path)
        self._viewer.notify(f"saved {target}: raytracer animate {target}")

    @action()
    def animate(self, path: str | None = None) -> None:
        """Render a movie with the keyframes, or of the trajectory, by `raytracer animate`."""
        import subprocess

        viewer = self._viewer
        if self._movie is not None and self._movie.poll() is None:
            raise UserError("a movie is being rendered already: wait for it")
        if not self._keys and viewer.time.count == 1:
            raise UserError("there is one frame and no keyframe: Shift C keeps one")
        movie = Path(path or f"{viewer.loaded_scene.stem}.mp4")
        scene = self._write(None)
        width, height = viewer.size
        command = [sys.executable, "-m", "raytracer", "animate", str(scene), "-o", str(movie)]
        command += ["--size", f"{width}x{height}", "--quiet"]
        self._movie = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        Thread(target=self._wait, args=(self._movie, movie), name="movie", daemon=True).start()
        viewer.notify(f"{movie} is rendered in the background")

    def _wait(self, process: subprocess.Popen[bytes], movie: Path) -> None:
        """Wait for the end of a movie, in a thread, and tell of it."""
        _, said = process.communicate()
        lines = said.decode(errors="replace").strip().splitlines()
        message: Message = Saved(movie)
        if process.returncode:
            why = (
                shown(lines[-1].removeprefix("raytracer: "), 300)
                if lines
                else f"exit code {process.returncode}"
            )
            message = Refused(f"{movie} was not rendered: {why}")
        self._viewer.worker.post(message)

    def stop(self) -> str:
        """End the movie that is rendered; returns a sentence about it, or ""."""
        if self._movie is None or self._movie.poll() is not None:
            return ""
        self._movie.terminate()
        return "a movie was not finished; its frames are kept: run raytracer animate again"

    def _write(self, path: str | None) -> Path:
        """Write the scene file; returns its path."""
        source = self._viewer.loaded_scene.path
        if source is None:
            raise UserError(
                "a scene made in Python has no file for raytracer animate: call raytracer.animate "
                "with keyframes"
            )
        is_scene_file = is_scene(source)
        folder = source.parent if is_scene_file else Path()
        target = Path(path) if path else _free_name(folder, source.stem)
        files = output.OutputSet()
        files.reads(*self._viewer.loaded_scene.job.inputs)
        files.writes(target, "the scene")
        text = (
            self._scene_text(source, target) if is_scene_file else self._data_text(source, target)
        )
        return output.write(target, text)

    def tables(self) -> str:
        """Return the tables of camera and animation of a scene file."""
        first = self._keys[min(self._keys)] if self._keys else self._viewer.camera
        parts = [as_toml.camera_table(first), f"[animation]\nfps = {self._fps!r}\n"]
        for time in sorted(self._keys):
            camera = self._keys[time]
            rows = as_toml.camera_table(camera).splitlines(keepends=True)
            stated = [row for row in rows[1:] if not row.startswith("type")]
            parts.append("".join(["[[animation.keyframes]]\n", f"time = {time!r}\n", *stated]))
        return "\n".join(parts)

    def _data_text(self, source: Path, target: Path) -> str:
        """Return a scene file that shows a particle file as it is shown now."""
        viewer = self._viewer
        name = os.path.relpath(source, target.parent)
        spheres: dict[str, str] = {"file": toml_text.quoted(name)}
        if stated := viewer.loader.frames.format:
            spheres["format"] = toml_text.quoted(stated)
        if (atoms := viewer.loader.frames.topology) is not None:
            spheres["topology"] = toml_text.quoted(os.path.relpath(atoms, target.parent))
        style = dict(viewer.data.style)
        if style:
            keys = {"color_by": "by", "map": "map", "range": "range", "color_scale": "scale"}
            said = [f"{keys[k]} = {_value(v)}" for k, v in style.items() if k in keys]
            spheres["color"] = f"{{ {', '.join(said)} }}"
        if condition := conditions(viewer.data.content.hidden):
            spheres["select"] = toml_text.quoted(condition)
        rows = "".join(f"{key} = {value}\n" for key, value in spheres.items())
        look = toml_text.quoted(viewer.edits.look_of(viewer.loaded_scene.scene))
        return f"[render]\nlook = {look}\n\n[[spheres]]\n{rows}\n{self.tables()}"

    def _scene_text(self, source: Path, target: Path) -> str:
        """Return the text of a scene file with other tables of camera and animation."""
        import tomllib

        if source.suffix.lower() != ".toml":
            raise UserError(f"{source}: keyframes go into a scene in TOML: convert it first")
        text = source.read_text(encoding="utf-8-sig")
        text = f"{without_tables(text, REPLACED).rstrip()}\n\n{self.tables()}"
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            raise UserError(
                f"{source}: its camera and animation cannot be replaced where they stand: write "
                "them as tables of their own, [camera] and [animation]"
            ) from None
        return text


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


def _free_name(folder: Path, stem: str) -> Path:
    """Return the first path of STEM-camera-1.toml, STEM-camera-2.toml, ... that does not exist."""
    number = 1
    while os.path.lexists(path := folder / f"{re.sub(r'[*?%]', '_', stem)}-camera-{number}.toml"):
        number += 1
    return path
