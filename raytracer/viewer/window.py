"""The window: events become actions of the viewer, frames of the render thread become pixels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from math import pi
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyglet
from pyglet import gl
from pyglet.window import key, mouse

from raytracer.errors import RaytracerError
from raytracer.viewer.canvas import fence
from raytracer.viewer.clicks import Clicks
from raytracer.viewer.controls import Control, find
from raytracer.viewer.keys import HeldKeys
from raytracer.viewer.overlay import Overlay
from raytracer.viewer.status import frame_rate, status
from raytracer.viewer.surface import Surface
from raytracer.viewer.viewer import PICK_RADIUS

if TYPE_CHECKING:
    from raytracer.viewer.messages import Frame
    from raytracer.viewer.presenters import Presenter
    from raytracer.viewer.viewer import Viewer

STILL = 4.0  # pixels at 96 dots an inch; a click does not move farther
RENEW = 0.2  # seconds between two changes of the numbers
SCROLL = 0.12  # e-foldings of distance a step of the wheel
KEPT = 1000  # stamps of frames; more than a second's


class PreviewWindow(Surface):
    """A window onto a `Viewer`, which it gets by `attach`."""

    viewer: Viewer
    presenter: Presenter

    def __init__(self, size: tuple[int, int], title: str, config: Any, offscreen: bool) -> None:
        """Open it; arguments and errors as for `Surface`."""
        self._attached = False
        self._waiting = False  # whether the render thread has called already
        self._fading = False  # whether the end of a notice is waited for
        super().__init__(size, title, config, offscreen)
        self.on_shown: Callable[[Frame], None] | None = None  # told of every new frame
        self.shown: deque[float] = deque(maxlen=KEPT)  # when the latest frames were
        self._renew, self._lines = 0.0, [""]
        self._keys = HeldKeys(self._step, self._go_on, getattr(self, "pressed_keys", set()))
        self._set_density(int(self.dpi))
        self._hides_text = self._offscreen = self._fenced = offscreen

    def _set_density(self, dpi: int) -> None:
        self._dpi = dpi
        self._overlay = Overlay(dpi)
        self._clicks = Clicks(STILL * dpi / 96)

    def attach(self, viewer: Viewer, presenter: Presenter) -> None:
        """Show what this viewer has rendered. presenter: brings it here."""
        self.viewer, self.presenter = viewer, presenter
        # OpenGL is to be done before the next kernel is launched, and before a time is taken.
        self._fenced = self._offscreen or viewer.loaded_scene.job.device.shares_display
        self._attached = True
        self.take_events()

    def close(self) -> None:
        """Close it; what the render thread still says of it is not heard in a later window."""
        self._attached = False
        pyglet.clock.unschedule(self._fade)
        super().close()

    def wake(self) -> None:
        """Have `on_render` called soon; for the render thread."""
        if not self._waiting:
            self._waiting = True
            pyglet.app.platform_event_loop.post_event(self, "on_render")

    # What the render thread has

    def on_render(self) -> None:
        """Take messages and the newest frame."""
        self._waiting = False
        if not self._attached:
            return
        worker = self.viewer.worker
        while not worker.messages.empty():
            self.viewer.receive(worker.messages.get())
        frame = worker.take()
        self.paint(frame)
        if frame is not None and self.on_shown is not None and not self.viewer.closing:
            self.on_shown(frame)

    def paint(self, frame: Frame | None = None) -> None:
        """Draw picture and text, and put them on the screen. frame: a new one."""
        if self.viewer.closing:
            self._end()
            return
        before = self.viewer.frame
        with self._turn():
            if frame is not None and not self._present(frame):
                self._end()
                return
            self._draw()
            if self._fenced:
                fence()
        if frame is None:
            self.flip()
        elif self.canvas.software:  # which takes the cores that the next picture needs
            self.flip()
            self._showed(before)
        else:  # this may wait for the display
            self._showed(before)
            self.flip()

    def _showed(self, before: Frame | None) -> None:
        self.shown.append(perf_counter())
        self.viewer.worker.give_back(before)

    def _turn(self) -> AbstractContextManager[Any]:
        """The GPU is the window's, where the kernels run on it too."""
        if gl.current_context is not self.context:  # making it current again takes time
            self.switch_to()
        return self.viewer.loaded_scene.job.device.turn()

    def _present(self, frame: Frame) -> bool:
        """Bring a frame to the canvas; where that fails, the preview is over."""
        self.viewer.frame = frame
        try:
            self.presenter.present(frame.picture, self.canvas)
        except RaytracerError as error:
            self.viewer.failure, self.viewer.closing = error, True
            return False
        self.canvas.opaque = not frame.transparent
        return True

    def _draw(self) -> None:
        size = self.get_framebuffer_size()
        self.canvas.draw(size)
        if not self._hides_text or self.viewer.help or self.viewer.picked:
            self._overlay.draw(self.viewer, self._numbers(), size)
            self._fade_later()

    def _numbers(self) -> list[str]:
        """The lines of numbers: laying text out takes longer than drawing it, so not each frame."""
        now, frame = perf_counter(), self.viewer.frame
        if now >= self._renew or (frame is not None and frame.finished):
            self._renew, self._lines = now + RENEW, status(self)
        return self._lines

    def _fade_later(self) -> None:
        """Draw again when the notice is over."""
        if self.viewer.notice_left and not self._fading:
            self._fading = True
            pyglet.clock.schedule_once(self._fade, self.viewer.notice_left + 0.05)

    def _fade(self, _: float) -> None:
        self._fading = False
        if self._attached and not self.viewer.closing:
            self.paint()

    def screenshot(self) -> Any:
        """What the window shows, uint8 (h, w, 3)."""
        with self._turn():
            self._draw()
            return self.canvas.read(self.get_framebuffer_size())

    def show_text(self, on: bool) -> None:
        """Draw the text of the overlay, or only the picture."""
        self._hides_text = not on

    @property
    def rate(self) -> float:
        """Frames a second of late."""
        return frame_rate(self.shown, perf_counter())

    # Events

    def on_resize(self, width: int, height: int) -> None:
        """Render at the new size."""
        if self._attached:
            self._use_pixels()
            self.viewer.resize(*self.get_framebuffer_size())
            self.paint()

    def on_scale(self, scale: float, dpi: int) -> None:
        """Follow the window to a display of another density."""
        if self._attached:
            self._set_density(dpi)
            self.on_resize(self.width, self.height)

    def on_expose(self) -> None:
        """Draw again what another window covered."""
        if self._attached:
            self.paint()

    def on_close(self) -> None:
        """End; the render thread leaves what it does, unless it is a picture to be kept."""
        self.viewer.close()
        self.paint()

    def on_key_press(self, symbol: int, modifiers: int) -> None:
        """Do what the key stands for."""
        control = find(_name(symbol, modifiers))
        if self.viewer.prompt is not None and not _closes(control, modifiers):
            self._edit_prompt(symbol)
            control = None
        self._keys.press(symbol, control if control and control.held else None)
        if control and not control.held:
            self._act(control)
            self._renew = 0.0  # text that it changes is not to be an old one
        self.paint()

    def on_key_release(self, symbol: int, modifiers: int) -> None:
        """End a held key."""
        self._keys.release(symbol, find(_name(symbol, 0)))

    def on_deactivate(self) -> None:
        """Another window gets the keys now, and their releases."""
        self._keys.leave()

    def on_text(self, text: str) -> None:
        """Type into the prompt."""
        if self.viewer.prompt is not None:
            self.viewer.type(text)
            self.paint()

    def on_mouse_press(self, x: float, y: float, button: int, modifiers: int) -> None:
        """Begin a click or a drag."""
        if button == mouse.LEFT:
            self._clicks.press(x, y)
        else:
            self._clicks.leave()

    def on_mouse_drag(
        self, x: float, y: float, dx: float, dy: float, buttons: int, modifiers: int
    ) -> None:
        """Turn, move sideways, or turn the light."""
        if buttons & mouse.LEFT and not self._clicks.dragged(x, y):
            return
        right, up = dx / self.height, dy / self.height
        if buttons & mouse.LEFT and modifiers & key.MOD_ACCEL:
            self.viewer.turn_light(right * pi, up * pi)
        elif buttons & mouse.LEFT and not modifiers & key.MOD_SHIFT:
            self.viewer.orbit(-right * pi, -up * pi)
        else:
            self.viewer.pan(-right, -up)

    def on_mouse_release(self, x: float, y: float, button: int, modifiers: int) -> None:
        """A click picks; a second one goes there."""
        count = self._clicks.release(x, y, perf_counter()) if button == mouse.LEFT else 0
        if not count:
            return
        width, height = self.get_framebuffer_size()
        column, row = int(x * width / self.width), int(y * height / self.height)
        reach = round(PICK_RADIUS * self._dpi / 96)
        self.viewer.pick(column, height - 1 - row, go=count == 2, reach=reach)

    def on_mouse_scroll(self, x: int, y: int, scroll_x: float, scroll_y: float) -> None:
        """Nearer or farther; sideways on a trackpad turns."""
        if self._keys.shift:
            self.viewer.zoom(-SCROLL * (scroll_y or scroll_x))
            return
        if scroll_y:
            self.viewer.dolly(-SCROLL * scroll_y)
        if scroll_x:
            self.viewer.orbit(SCROLL * scroll_x, 0.0)

    def _edit_prompt(self, symbol: int) -> None:
        if symbol in (key.RETURN, key.ENTER, key.NUM_ENTER):
            self.viewer.enter()
        elif symbol == key.BACKSPACE:
            self.viewer.erase()
        elif symbol == key.ESCAPE:
            self.viewer.cancel()

    def _act(self, control: Control) -> None:
        found = getattr(self.viewer, control.action)(*control.amount)
        if control.action == "print_camera":
            with suppress(Exception):  # some displays have no clipboard; it was printed anyhow
                self.set_clipboard_text(found)
        if self.viewer.turning:
            self._keys.tick()

    def _step(self, control: Control, seconds: float) -> None:
        getattr(self.viewer, control.action)(*(seconds * each for each in control.amount))

    def _go_on(self, seconds: float) -> bool:
        self.viewer.tick(seconds)
        return self.viewer.turning

    def _end(self) -> None:
        self._keys.stop()
        pyglet.app.exit()


PreviewWindow.register_event_type("on_render")


def _closes(control: Control | None, modifiers: int) -> bool:
    """Whether a key closes the window also where one types."""
    return control is not None and control.action == "close" and bool(modifiers & key.MOD_ACCEL)


def _name(symbol: int, modifiers: int) -> str:
    """The name of a key with its modifiers, as `controls` has them."""
    prefix = "CTRL+" if modifiers & key.MOD_ACCEL else ""
    prefix += "SHIFT+" if modifiers & key.MOD_SHIFT else ""
    return prefix + str(key.symbol_string(symbol))
