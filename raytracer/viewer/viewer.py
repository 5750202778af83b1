"""What the window shows and what every control does to it; nothing here draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from raytracer.errors import SceneError, UserError
from raytracer.scene.describe import describe
from raytracer.viewer import as_toml, edits, view
from raytracer.viewer.camera_actions import CameraActions
from raytracer.viewer.look_actions import LookActions
from raytracer.viewer.orders import (
    Broken,
    Failed,
    Frame,
    Loaded,
    Message,
    Metered,
    Order,
    Picked,
    Refused,
    Saved,
)
from raytracer.viewer.saving import Saving, free_name, parse_size
from raytracer.viewer.status import PLAIN, TECHNICAL

if TYPE_CHECKING:
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.viewer.stage import Hit, Stage
    from raytracer.viewer.view import View
    from raytracer.viewer.worker import Worker

REACH = 4
"""Pixels at 96 dots per inch by which a click may miss a sphere."""


class Viewer(CameraActions, LookActions):
    """The state of a preview. Its methods are called by the window, never by the render thread.

    stage, worker, size, tone: as for `Seen`. say: told what is to be printed.
    """

    def __init__(
        self,
        stage: Stage,
        worker: Worker,
        size: tuple[int, int],
        tone: ToneSettings | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self.overlay = PLAIN  # how much text
        self.help, self.help_pages = 0, 1  # the page that is shown, 0 for none; how many there are
        self.leaving = False  # whether the window closes when a picture is saved
        self.prompt: str | None = None  # what was typed for the size of a PNG
        self.trouble = ""  # why the changed file is not shown
        self.frame: Frame | None = None  # what is on the screen
        self.failure: BaseException | None = None
        self.closing = False
        self._say = say
        super().__init__(stage, worker, size, tone)

    # Picking

    def pick(self, x: int, y: int, go: bool = False, reach: int = REACH) -> None:
        """Ask what is shown at a pixel, or near to it.

        x, y: from the upper left. go: go there as well. reach: pixels, how far to look.
        """
        width, height = self.size
        if not (0 <= x < width and 0 <= y < height):
            return
        stage, look = self.stage, self._look

        def task() -> Callable[[], Message]:
            return partial(_found, stage, stage.hit(look, x, y, reach), go)

        self.worker.ask(task)

    def _pick(self, found: Picked) -> None:
        if found.stage is not self.stage:
            return
        before, self.picked, self.hit_point = self.picked, found.sphere, found.point
        if self.picked is None:
            ended = f"; sphere {before.id:,} is no longer picked" if before else ""
            self.notify(f"there is no sphere here{ended}")
        elif found.go:
            self.fit_picked()

    # Keeping what is seen

    def camera_toml(self, seen: View | None = None) -> str:
        """The camera and what else was changed, as TOML. seen: another view than that of now."""
        scene, buffers = self.stage.scene, self.stage.buffers
        camera = view.camera_of(seen or self.view, buffers)
        changed = edits.named_materials(self.edits, scene, buffers)
        return as_toml.view_tables(camera, scene, self.edits, changed, self.tone)

    def print_camera(self) -> str:
        """Print it; the window copies it."""
        text = self.camera_toml()
        self._say(text)
        self.notify("the camera was printed and copied")
        return text

    def ask_size(self) -> None:
        """Ask for the size of a PNG; the help gives way to the question and to what follows."""
        self.help = 0
        if self.worker.saving is None:
            self.prompt = ""
        else:
            self.notify(f"{self.worker.saving.path} is still being saved; Esc cancels it")

    def type(self, text: str) -> None:
        """Add to what is typed for the size."""
        if self.prompt is not None:
            self.prompt += "".join(c for c in text if c in "0123456789xX× ")

    def erase(self) -> None:
        """Take the last character back."""
        if self.prompt is not None:
            self.prompt = self.prompt[:-1]

    def enter(self) -> None:
        """Save a picture of the size that was typed."""
        typed, self.prompt = self.prompt or "", None
        try:
            size, samples = parse_size(typed, self.size, self.samples)
            self.save(size, samples)
        except UserError as error:
            self.notify(str(error))

    def save(self, size: tuple[int, int], samples: int, path: Path | None = None) -> None:
        """Render a picture to be kept.

        Raises UserError if it cannot be written, or while another one is being rendered.
        """
        if self.worker.saving is not None:
            raise UserError(f"{self.worker.saving.path} is not finished: wait for it, or press Esc")
        seen = self.view
        if seen.framed:
            seen = view.to_all(seen, self.stage.buffers, size[0] / size[1])
        look = self.stage.look(seen, size, self.edits)
        path = path or free_name(self.stage.stem)
        order = Order(self.stage, look, self.tone, samples)
        self.worker.save(Saving(order, path, self.camera_toml(seen)))

    # The rest

    def toggle_overlay(self) -> None:
        """Show the text, also what is technical, or none."""
        self.overlay = (self.overlay + 1) % (TECHNICAL + 1)

    def toggle_help(self) -> None:
        """Show the keys, page after page, or not."""
        self.help = self.help + 1 if self.help < self.help_pages else 0

    def cancel(self) -> None:
        """Leave the prompt, the help, closing, the saving or the picked sphere, in this order."""
        if self.prompt is not None:
            self.prompt = None
        elif self.help:
            self.help = 0
        elif self.leaving:
            self.leaving = False
        elif self.worker.saving is not None:
            self.notify("not saved" if self.worker.save(None) else "it is being written already")
        else:
            self.picked = None

    def close(self) -> None:
        """End the preview, but not before a picture is saved; the second time at once."""
        if self.worker.saving is not None and not self.leaving:
            self.leaving = True
        else:
            self.closing = True

    def hear(self, message: Message) -> None:
        """Take a message of the render thread."""
        if isinstance(message, Picked):
            self._pick(message)
        elif isinstance(message, Metered):
            self.metered(message)
        elif isinstance(message, Saved):
            self._say(str(message.path))
            self.notify(f"saved {message.path}")
            self.closing |= self.leaving
        elif isinstance(message, Refused):
            self._steps = None
            self.leaving &= self.worker.saving is not None  # so that the sentence can be read
            self.notify(message.sentence)
        elif isinstance(message, Loaded):
            self._load(message.stage)
        elif isinstance(message, Broken):
            self.trouble = message.sentence
            self.notify("")  # an older message would seem to be of this change
        elif isinstance(message, Failed):
            self.failure, self.closing = message.error, True

    def _load(self, stage: Stage) -> None:
        """Show a changed scene; what was changed by hand stays unless the file has it otherwise."""
        old, self.stage = self.stage, stage
        self.trouble = ""
        self.samples = stage.job.settings.samples
        if old.scene.camera != stage.scene.camera:
            self.view = self._scene_view()
        elif self.view.framed:
            self.view = view.to_all(self.view, stage.buffers, self.aspect)
        else:
            kept = view.carried(self.view, old.buffers, stage.buffers)
            self.view = stage.obstacles.turned(kept, kept)
        if old.scene.lights != stage.scene.lights:
            self.edits = replace(self.edits, lights=None)
        if old.scene.background != stage.scene.background:
            self.edits = replace(self.edits, background=0)
        self.edits = replace(self.edits, shininess={})
        self._look = None  # of the old spheres
        try:
            self.order()
        except SceneError:  # what was kept is out of place there
            self.edits = edits.Edits()
            self.view = self._scene_view()
            self.order()
        self.notify(f"{stage.name} was reloaded")
        self._say_of_scene()
        self._pick_again()

    def _pick_again(self) -> None:
        """Say of the same sphere what the new scene says."""
        before, self.picked = self.picked, None
        if before is None:
            return
        if before.id >= self.stage.buffers.count:
            self.notify(f"{self.stage.name} was reloaded; sphere {before.id:,} is gone")
            return
        stage, point = self.stage, self.hit_point

        def found() -> Picked:
            return Picked(stage, describe(stage.scene, before.id), point=point)

        self.worker.ask(lambda: found)


def _found(stage: Stage, hit: Hit | None, go: bool) -> Picked:
    """A large file may have to be read through for the values of one particle."""
    if hit is None:
        return Picked(stage, None, go)
    return Picked(stage, describe(stage.scene, hit.id), go, hit.point)
