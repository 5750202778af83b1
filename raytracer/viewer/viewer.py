"""What the window shows and what every control does to it; nothing here draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.errors import SceneError, UserError
from raytracer.scene.describe import describe
from raytracer.scene.looks import Camera
from raytracer.tone_settings import CURVES, MAX_STOPS, ToneSettings
from raytracer.viewer import as_toml, edits, view
from raytracer.viewer.orders import (
    Broken,
    Failed,
    Frame,
    Loaded,
    Message,
    Order,
    Picked,
    Refused,
    Saved,
)
from raytracer.viewer.saving import Saving, free_name, parse_size

if TYPE_CHECKING:
    from raytracer.scene.describe import SphereInfo
    from raytracer.viewer.stage import Stage
    from raytracer.viewer.view import View
    from raytracer.viewer.worker import Worker

TURNTABLE = 0.5
"""Radians a second of the turntable: a turn takes 12.6 seconds."""

NOTICE = 4.0
"""Seconds that a message stays."""


class Viewer:
    """The state of a preview. Its methods are called by the window, never by the render thread.

    stage: the scene. size: of the picture in pixels. tone: exposure and curve to begin with.
    say: told what is to be printed.
    """

    def __init__(
        self,
        stage: Stage,
        worker: Worker,
        size: tuple[int, int],
        tone: ToneSettings | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self.stage = stage
        self.worker = worker
        self.size = size
        self.tone = self._first_tone = tone or ToneSettings()
        self.samples = stage.job.settings.samples
        self.edits = edits.Edits()
        self.picked: SphereInfo | None = None
        self.turning = False
        self.overlay, self.help = True, False
        self.prompt: str | None = None  # what was typed for the size of a PNG
        self.trouble = ""  # why the changed file is not shown
        self.frame: Frame | None = None  # what is on the screen
        self.failure: BaseException | None = None
        self.closing = False
        self._go = False  # whether what is picked becomes the pivot
        self._say = say
        self._notice = "", 0.0
        self._extent = view.reach(stage.buffers)
        self.view = self._scene_view()
        self._fov = (stage.scene.camera or Camera()).vertical_fov  # of the last perspective
        self._look: Any = None  # what was ordered last
        self._ordered = self.view, self.edits
        self.order()

    # What is rendered

    @property
    def aspect(self) -> float:
        """Width of the picture by its height."""
        return self.size[0] / self.size[1]

    def order(self) -> None:
        """Have rendered what is seen now.

        What cannot be packed is undone with a notice. Raises SceneError where nothing was before.
        """
        try:
            self._look = self.stage.look(self.view, self.size, self.edits)
        except SceneError as error:
            if self._look is None:
                raise
            self.view, self.edits = self._ordered
            self.notify(str(error))
            return
        self._ordered = self.view, self.edits
        self._send()

    def _send(self) -> None:
        self.worker.show(Order(self.stage, self._look, self.tone, self.samples))

    def resize(self, width: int, height: int) -> None:
        """Follow the window; a picture of all spheres goes on showing all."""
        if (width, height) == self.size or width < 1 or height < 1:
            return
        self.size = width, height
        if self.view.framed:
            self.view = view.to_all(self.view, self.stage.buffers, self.aspect)
        self.order()

    def _scene_view(self) -> View:
        return view.first(self.stage.scene.camera, self.stage.buffers, self.aspect)

    def _change(self, new: View) -> None:
        self.view = view.clear(new, self._extent)
        self.order()

    def _edit(self, changed: edits.Edits) -> None:
        self.edits = changed
        self.order()

    def _retone(self, **changes: Any) -> None:
        """Develop the same film otherwise."""
        self.tone = replace(self.tone, **changes)
        self._send()

    # The camera

    def orbit(self, right: float, up: float) -> None:
        """Turn about the pivot, in radians."""
        self._change(view.orbit(self.view, right, up))

    def pan(self, right: float, up: float) -> None:
        """Move sideways, in heights of the picture."""
        self._change(view.pan(self.view, right, up))

    def fly(self, forward: float) -> None:
        """Move along the view, in heights of the picture."""
        self._change(view.fly(self.view, forward))

    def dolly(self, amount: float) -> None:
        """Go away from the pivot by a factor of e to the `amount`."""
        self._change(view.dolly(self.view, float(np.exp(amount))))

    def zoom(self, amount: float) -> None:
        """Widen the field of view by a factor of e to the `amount`."""
        self._change(view.zoom(self.view, float(np.exp(amount))))

    def toggle_projection(self) -> None:
        """Between perspective and orthographic."""
        if not self.view.flat:
            self._fov = self.camera.vertical_fov
        self._change(view.toggle(self.view, self._extent, self._fov))

    def along(self, x: float, y: float, z: float) -> None:
        """Look along an axis of the scene."""
        self._change(view.along(self.view, (x, y, z)))

    def fit_all(self) -> None:
        """Show every sphere."""
        self._change(view.to_all(self.view, self.stage.buffers, self.aspect))

    def fit_picked(self) -> None:
        """Put the picked sphere into the middle."""
        if self.picked is None:
            self.notify("click a sphere first")
            return
        self._change(view.to_sphere(self.view, *self.stage.sphere(self.picked.id)))

    def reset(self) -> None:
        """Everything as in the scene."""
        self.edits, self.tone, self.turning = edits.Edits(), self._first_tone, False
        self.view = self._scene_view()
        self.order()

    def toggle_turntable(self) -> None:
        """Start or stop turning."""
        self.turning = not self.turning

    def tick(self, seconds: float) -> None:
        """Let the turntable turn."""
        if self.turning:
            self.orbit(TURNTABLE * seconds, 0.0)

    # Light and tone

    def turn_light(self, right: float, up: float) -> None:
        """Turn the first light about the pivot, in radians."""
        axes, buffers = self.view.stand.axes, self.stage.buffers
        lights = edits.lights_of(self.stage.scene, self.edits, axes)
        if not lights:
            self.notify("the scene has no light to turn")
            return
        pivot = self.view.pivot * buffers.scale + buffers.center
        first = edits.turned(lights[0], axes, right, up, pivot)
        self._edit(replace(self.edits, lights=(first, *lights[1:])))

    def light_from_viewer(self) -> None:
        """One light from the viewer's upper left, which stays where it is then."""
        self._edit(replace(self.edits, lights=(edits.from_viewer(self.view.stand.axes),)))

    def next_background(self) -> None:
        """The next background."""
        self._edit(self.edits.next_background())

    def polish(self, factor: float) -> None:
        """Make the picked sphere's material shinier, or all."""
        materials, ids = self.stage.buffers.materials, self.stage.buffers.material_id
        every = list(range(len(materials)))
        if self.picked is not None and len(ids):
            every = [int(ids[self.picked.id])]
        self._edit(self.edits.polished(materials, every, factor))
        shown = self.edits.polish(materials)["shininess"][every[0]]
        self.notify(f"shininess {shown:.3g}")

    def expose(self, stops: float) -> None:
        """Make the picture brighter."""
        now = 0.0 if self.tone.automatic else float(self.tone.exposure)
        exposure = min(max(round((now + stops) * 3) / 3, -MAX_STOPS), MAX_STOPS)
        self._retone(exposure=exposure)
        self.notify(f"exposure {exposure:+.2f}")

    def toggle_automatic(self) -> None:
        """Meter the exposure, or not."""
        self._retone(exposure=0.0 if self.tone.automatic else "auto")
        self.notify(f"exposure {self.tone.exposure if self.tone.automatic else 'as rendered'}")

    def next_curve(self) -> None:
        """The next tone curve."""
        self._retone(tone=CURVES[(CURVES.index(self.tone.tone) + 1) % len(CURVES)])
        self.notify(f"tone {self.tone.tone}")

    # Picking

    def pick(self, x: int, y: int, go: bool = False) -> None:
        """Ask what a pixel shows. x, y: from the upper left. go: make it the pivot as well."""
        width, height = self.size
        if not (0 <= x < width and 0 <= y < height):
            return
        stage, look = self.stage, self._look
        self._go = go

        def task() -> Callable[[], Message]:
            prim_id = stage.hit(look, x, y)
            return partial(_found, stage, prim_id)

        self.worker.ask(task)

    def _pick(self, found: Picked) -> None:
        if found.stage is not self.stage:
            return
        self.picked = found.sphere
        if self._go and self.picked is not None:
            self.fit_picked()

    # Keeping what is seen

    @property
    def camera(self) -> Camera:
        """The camera as a scene has it."""
        return view.camera_of(self.view, self.stage.buffers)

    def camera_toml(self) -> str:
        """The camera and what else was changed, as TOML."""
        scene = self.stage.scene
        changed = edits.named_materials(self.edits, scene, self.stage.buffers)
        return as_toml.view_tables(self.camera, scene, self.edits, changed, self.tone)

    def print_camera(self) -> str:
        """Print it; the window copies it."""
        text = self.camera_toml()
        self._say(text)
        self.notify("the camera was printed and copied")
        return text

    def ask_size(self) -> None:
        """Ask for the size of a PNG."""
        if self.worker.saving is None:
            self.prompt = ""
        else:
            self.notify(f"{self.worker.saving.path} comes first; Esc gives it up")

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
        path = path or free_name(Path(self.stage.name).stem)
        self.worker.save(Saving(Order(self.stage, look, self.tone, samples), path))

    # The rest

    def toggle_overlay(self) -> None:
        """Show the numbers, or not."""
        self.overlay = not self.overlay

    def toggle_help(self) -> None:
        """Show the keys, or not."""
        self.help = not self.help

    def cancel(self) -> None:
        """Leave the prompt, the help, the saving or the picked sphere, in this order."""
        if self.prompt is not None:
            self.prompt = None
        elif self.help:
            self.help = False
        elif self.worker.saving is not None:
            self.worker.save(None)
            self.notify("not saved")
        else:
            self.picked = None

    def close(self) -> None:
        """End the preview."""
        self.closing = True

    def notify(self, text: str) -> None:
        """Show a message for a while."""
        self._notice = text, perf_counter() + NOTICE

    @property
    def notice(self) -> str:
        """The message of the moment."""
        return self._notice[0] if self.notice_left else ""

    @property
    def notice_left(self) -> float:
        """Seconds that it stays."""
        return max(self._notice[1] - perf_counter(), 0.0)

    def hear(self, message: Message) -> None:
        """Take a message of the render thread."""
        if isinstance(message, Picked):
            self._pick(message)
        elif isinstance(message, Saved):
            self._say(str(message.path))
            self.notify(f"saved {message.path}")
        elif isinstance(message, Refused):
            self.notify(message.sentence)
        elif isinstance(message, Loaded):
            self._load(message.stage)
        elif isinstance(message, Broken):
            self.trouble = message.sentence
        elif isinstance(message, Failed):
            self.failure, self.closing = message.error, True

    def _load(self, stage: Stage) -> None:
        """Show a changed scene; what was changed by hand stays unless the file has it otherwise."""
        old, self.stage = self.stage, stage
        self.trouble, self.picked = "", None
        self.samples = stage.job.settings.samples
        self._extent = view.reach(stage.buffers)
        if old.scene.camera != stage.scene.camera:
            self.view = self._scene_view()
        elif self.view.framed:
            self.view = view.to_all(self.view, stage.buffers, self.aspect)
        else:
            kept = view.carried(self.view, old.buffers, stage.buffers)
            self.view = view.clear(kept, self._extent)
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
        self.notify(f"{stage.name} was loaded anew")


def _found(stage: Stage, prim_id: int | None) -> Picked:
    """A large file may have to be read through for the values of one particle."""
    return Picked(stage, None if prim_id is None else describe(stage.scene, prim_id))
