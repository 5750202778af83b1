"""The window: passes events to the viewer, and draws the frames of the render thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from math import pi
from time import perf_counter
from typing import Any

import pyglet
from pyglet import gl
from pyglet.window import key, mouse

from raytracer.errors import RaytracerError, UserError
from raytracer.viewer.canvas import Canvas, fence
from raytracer.viewer.clicks import Clicks
from raytracer.viewer.controls import BY_KEY, Control
from raytracer.viewer.keys import TAP, HeldKeys
from raytracer.viewer.messages import Frame
from raytracer.viewer.overlay import Overlay
from raytracer.viewer.overlay_shapes import Layer, draw_box, legend_and_texts
from raytracer.viewer.picking import PICK_RADIUS
from raytracer.viewer.presenters import Presenter
from raytracer.viewer.prompt import enter, erase, type_text
from raytracer.viewer.receive import receive_all
from raytracer.viewer.state import ViewerState
from raytracer.viewer.status import frame_rate, status
from raytracer.viewer.timeline import tick

CLICK_TOLERANCE = 4.0  # pixels at 96 dots per inch: largest movement of a click
STATUS_INTERVAL = 0.2  # seconds between two updates of the status text
SCROLL = 0.12  # e-foldings of distance per step of the wheel
OF_USERS = ("on_close", "on_key", "on_mouse", "on_text")
"""Prefixes of events that a window does not handle until it is attached."""

MAX_TIMES = 1000  # of frames; enough for a second


class PreviewWindow(pyglet.window.Window):  # type: ignore[misc]
    """The window of a viewer. It is complete when `attach` has been called; if opening it fails,
    nothing stays open."""

    viewer: ViewerState
    presenter: Presenter

    def __init__(self, size: tuple[int, int], title: str, config: Any, offscreen: bool) -> None:
        self._attached = False
        self.wants_to_close = False  # before it is attached
        self._waiting = False  # whether `on_render` is queued
        self._fading = False  # whether the end of a message is scheduled
        # pyglet stops queueing events when its loop first runs, but a window cannot handle events
        # before it is complete: the second window of a process would fail.
        type(self)._enable_event_queue = True
        try:
            super().__init__(
                *size, caption=title, config=config, resizable=True, vsync=not offscreen
            )  # fmt: skip
            self.picture_canvas = Canvas()  # pyglet has a `canvas` of its own
        except BaseException:
            self.close()
            raise
        self.on_shown: Callable[[Frame], None] | None = None  # called for every new frame
        self.shown: deque[float] = deque(maxlen=MAX_TIMES)  # times of the latest frames
        self._status_due, self._lines = 0.0, [""]
        self._keys = HeldKeys(self._act_for, self._animate, getattr(self, "pressed_keys", set()))
        self._has_acted = False  # whether the key that is down ran an action
        self._set_density(int(self.dpi))
        self.hides_text = self._offscreen = self._fenced = offscreen

    def _set_density(self, dpi: int) -> None:
        self._dpi = dpi
        self._overlay = Overlay(dpi)
        self._clicks = Clicks(CLICK_TOLERANCE * dpi / 96)
        self._fixed, self._marks = Layer(), Layer()
        self._scrubs = False  # whether the knob of the time line is dragged
        self._box: tuple[float, float, float, float] | None = None  # of a selection, pixels

    def dispatch_event(self, name: str, *arguments: Any) -> Any:
        """Handle an event; until it is attached, the window can be moved, resized and closed."""
        if self._attached or not name.startswith(OF_USERS):
            return super().dispatch_event(name, *arguments)
        control = BY_KEY.get(_name(*arguments)) if name == "on_key_press" else None
        if name == "on_close" or (control is not None and control.action == "close"):
            self.wants_to_close = True
        return False

    def wait_with(self, text: str) -> None:
        """Handle events and show a text before the window is attached."""
        if gl.current_context is not self.context:
            self.switch_to()
        self.dispatch_events()
        self._use_pixels()
        size = self.get_framebuffer_size()
        self.picture_canvas.draw(size)
        self._overlay.draw_alone(text, size)
        self.flip()

    def attach(self, viewer: ViewerState, presenter: Presenter) -> None:
        """Show the frames of a viewer through a presenter."""
        self.viewer, self.presenter = viewer, presenter
        # OpenGL must finish before the next kernel is launched, and before a time is taken.
        self._fenced = self._offscreen or viewer.loaded_scene.job.device.shares_display
        self._attached = True
        self._use_pixels()
        type(self)._enable_event_queue = False  # they are handled immediately

    def _use_pixels(self) -> None:
        """Draw text in pixels, even if the window's size is in points."""
        width, height = self.get_framebuffer_size()
        self.projection = pyglet.math.Mat4.orthogonal_projection(0, width, 0, height, -1, 1)

    def close(self) -> None:
        """Close it; may be called twice, or after a device was lost. Later wakes are ignored."""
        self._attached = False
        pyglet.clock.unschedule(self._fade)
        if self.context is None:
            return
        surface = getattr(self, "_egl_surface", None)
        try:
            super().close()
        except gl.GLException:  # a lost device cannot be flushed
            self.context.canvas = None
            pyglet.app.windows.add(self)  # pyglet has removed it on some systems
            super().close()
        if surface:  # pyglet does not destroy that of an offscreen window
            from pyglet.libs.egl import egl

            egl.eglDestroySurface(self._egl_display_connection, surface)
            self._egl_surface = None

    def wake(self) -> None:
        """Queue `on_render`; called by the render thread."""
        if not self._waiting:
            self._waiting = True
            pyglet.app.platform_event_loop.post_event(self, "on_render")

    # Frames and messages

    def on_render(self) -> None:
        self._waiting = False
        if not self._attached:
            return
        worker = self.viewer.worker
        receive_all(self.viewer)
        name = f"{self.viewer.loaded_scene.name} - raytracer"
        if name != self.caption:
            self.set_caption(name)
        frame = worker.take()
        self.paint(frame)
        if frame is not None and self.on_shown is not None and not self.viewer.closing:
            self.on_shown(frame)

    def paint(self, frame: Frame | None = None) -> None:
        if self.viewer.closing:
            self._end()
            return
        before = None if frame is None else self.viewer.present(frame)
        with self._turn():
            if frame is not None and not self._present(frame):
                self._end()
                return
            self._draw()
            if self._fenced:
                fence()
        # OpenGL on the CPU uses cores that the next picture needs; others may wait for the display.
        flips_first = frame is None or self.picture_canvas.software
        if flips_first:
            self.flip()
        if frame is not None:
            self.shown.append(perf_counter())
            self.viewer.worker.release(before)
        if not flips_first:
            self.flip()

    def _turn(self) -> AbstractContextManager[Any]:
        if gl.current_context is not self.context:  # a needless switch takes time
            self.switch_to()
        return self.viewer.loaded_scene.job.device.turn()

    def _present(self, frame: Frame) -> bool:
        """Copy a frame to the canvas; a failure ends the preview."""
        try:
            self.presenter.present(frame.picture, self.picture_canvas)
        except RaytracerError as error:
            self.viewer.failure, self.viewer.closing = error, True
            return False
        self.picture_canvas.opaque = not frame.transparent
        return True

    def _draw(self) -> None:
        size = self.get_framebuffer_size()
        self.picture_canvas.draw(size)
        if (frame := self.viewer.frame) is not None:
            self._marks.draw(frame.marks, frame.size, lambda: frame.marks, size)
            if frame.draft or not hasattr(frame.picture, "pixels"):  # other frames have them
                plan = frame.request.loaded_scene.job.plan
                shown = frame.request.size
                self._fixed.draw(plan, shown, lambda: legend_and_texts(frame), size)
        if not self.hides_text or self.viewer.help or self.viewer.picked:
            self._overlay.draw(self.viewer, self._status_lines(), size)
            self._fade_later()
        if self._box is not None:
            draw_box(self._box)

    def _status_lines(self) -> list[str]:
        """Return the status text, not updated for each frame because layout is slow."""
        now, frame = perf_counter(), self.viewer.frame
        if now >= self._status_due or (frame is not None and frame.finished):
            self._status_due = now + STATUS_INTERVAL
            rate = frame_rate(self.shown, now)
            self._lines = status(self.viewer, rate, self.presenter.label)
        return self._lines

    def _fade_later(self) -> None:
        if self.viewer.notice_left and not self._fading:
            self._fading = True
            pyglet.clock.schedule_once(self._fade, self.viewer.notice_left + 0.05)

    def _fade(self, _: float) -> None:
        self._fading = False
        if self._attached and not self.viewer.closing:
            self.paint()

    def screenshot(self) -> Any:
        with self._turn():
            self._draw()
            return self.picture_canvas.read(self.get_framebuffer_size())

    # Events

    def on_resize(self, width: int, height: int) -> None:
        if self._attached:
            self._use_pixels()
            self.viewer.resize(*self.get_framebuffer_size())
            self.paint()

    def on_scale(self, scale: float, dpi: int) -> None:
        """Adapt the text to a display of another density."""
        if self._attached:
            self._set_density(dpi)
            self.on_resize(self.width, self.height)

    def on_expose(self) -> None:
        """Redraw areas that were covered."""
        if self._attached:
            self.paint()

    def on_close(self) -> None:
        """End the preview."""
        self.viewer.do("close")
        self.paint()

    def on_key_press(self, symbol: int, modifiers: int) -> None:
        """Run the action of a key, or type into the prompt."""
        control = BY_KEY.get(_name(symbol, modifiers))
        closes = control is not None and control.action == "close" and modifiers & key.MOD_ACCEL
        if self.viewer.prompt is not None and not closes:
            self._edit_prompt(symbol)
            control = None
        self._has_acted = control is not None
        self._keys.press(symbol, control if control and control.held else None)
        if control and not control.held:
            self._do(control.action, *control.amount)
            self._status_due = 0.0  # the action may change the status text
        self.paint()

    def on_key_release(self, symbol: int, modifiers: int) -> None:
        self._has_acted = False
        self._keys.release(symbol, BY_KEY.get(_name(symbol, 0)))

    def on_deactivate(self) -> None:
        """Release all keys, because another window gets their events."""
        self._keys.release_all()

    def on_text(self, text: str) -> None:
        """Type into the prompt, or run the action of a character that needs several keys.

        It follows the press of its key, and repeats while the key is down. Some layouts need Shift
        for "/", which the key's name and modifiers do not tell.
        """
        if self._has_acted:
            return
        if self.viewer.prompt is not None:
            type_text(self.viewer, text)
        elif control := BY_KEY.get(_name(ord(text), 0)) if len(text) == 1 else None:
            if control.held:
                self._act_for(control, TAP)
            else:
                self._has_acted = True
                self._do(control.action, *control.amount)
        else:
            return
        self._status_due = 0.0
        self.paint()

    def on_mouse_press(self, x: float, y: float, button: int, modifiers: int) -> None:
        self._scrubs, self._box = False, None
        place = self._pixels(x, y)
        if button != mouse.LEFT or self._press_time_line(*place) or self._step_row(*place):
            self._clicks.cancel()
            return
        self._clicks.press(x, y)
        if modifiers & key.MOD_ACCEL and modifiers & key.MOD_SHIFT:
            self._box = (*place, *place)

    def _pixels(self, x: float, y: float) -> tuple[float, float]:
        width, height = self.get_framebuffer_size()
        return x * width / self.width, y * height / self.height

    def _press_time_line(self, x: float, y: float) -> bool:
        """Handle a click on the time line; return whether it was there."""
        line = self._overlay.time_line
        if self.hides_text or not line.holds(x, y):
            return False
        if line.on_button(x):
            self._do("play")
            self.paint()
        else:
            self._scrubs = True
            self._scrub(x)
        return True

    def _step_row(self, x: float, y: float, back: bool = False) -> bool:
        """Change the value of a row of the panel; return whether the panel was there."""
        if not self._overlay.panel.holds(x, y):
            return False
        if (row := self._overlay.row_at(y)) is not None:
            name, values = row.call(back)
            self._do(name, **values)
            self._status_due = 0.0
            self.paint()
        return True

    def _scrub(self, x: float) -> None:
        share = self._overlay.time_line.share_at(x)
        self._do("play", False)
        self._do("frame", round(share * (self.viewer.time.count - 1)))
        self.paint()

    def on_mouse_drag(
        self, x: float, y: float, dx: float, dy: float, buttons: int, modifiers: int
    ) -> None:
        """Turn the camera, move it sideways, turn the light, draw a box, or move a knob."""
        if self._scrubs:
            self._scrub(self._pixels(x, y)[0])
            return
        if self._box is not None:
            self._box = (*self._box[:2], *self._pixels(x, y))
            self._clicks.dragged(x, y)
            self.paint()
            return
        if buttons & mouse.LEFT and not self._clicks.dragged(x, y):
            return
        right, up = dx / self.height, dy / self.height
        if buttons & mouse.LEFT and modifiers & key.MOD_ACCEL:
            self.viewer.do("turn-light", right * pi, up * pi)
        elif buttons & mouse.LEFT and not modifiers & key.MOD_SHIFT:
            self.viewer.do("orbit", -right * pi, -up * pi)
        else:
            self.viewer.do("pan", -right, -up)

    def on_mouse_release(self, x: float, y: float, button: int, modifiers: int) -> None:
        """Pick the clicked sphere; a double click also centres it."""
        box, self._box, self._scrubs = self._box, None, False
        if box is not None and self._clicks.dragged(x, y):
            x0, y0, x1, y1 = (round(side) for side in box)
            height = self.get_framebuffer_size()[1]
            self._do("select-box", x0, height - y0, x1, height - y1)
            self.paint()
            return
        count = self._clicks.release(x, y, perf_counter()) if button == mouse.LEFT else 0
        if not count:
            return
        column, row = map(int, self._pixels(x, y))
        place = column, self.get_framebuffer_size()[1] - 1 - row
        reach = round(PICK_RADIUS * self._dpi / 96)
        more = bool(modifiers & key.MOD_SHIFT)
        self.viewer.do("pick", *place, go=count == 2, add=more, reach=reach)

    def on_mouse_scroll(self, x: int, y: int, scroll_x: float, scroll_y: float) -> None:
        """Change the distance, with Shift the field of view; turn if sideways.

        Over a row of the panel, its value changes.
        """
        if scroll_y and self._step_row(*self._pixels(x, y), back=scroll_y > 0):
            return
        if self._keys.shift:
            self.viewer.do("zoom", -SCROLL * (scroll_y or scroll_x))
            return
        if scroll_y:
            self.viewer.do("dolly", -SCROLL * scroll_y)
        if scroll_x:
            self.viewer.do("orbit", SCROLL * scroll_x, 0.0)

    def _edit_prompt(self, symbol: int) -> None:
        if symbol in (key.RETURN, key.ENTER, key.NUM_ENTER):
            enter(self.viewer)
        elif symbol == key.BACKSPACE:
            erase(self.viewer)
        elif symbol == key.ESCAPE:
            self.viewer.do("cancel")

    def _act_for(self, control: Control, seconds: float) -> None:
        self._do(control.action, *(seconds * float(each or 0.0) for each in control.amount))

    def _do(self, name: str, /, *values: Any, **named: Any) -> None:
        """Run an action, show an error as a message, and follow the changes of the window."""
        result = None
        try:
            result = self.viewer.do(name, *values, **named)
        except UserError as error:
            self.viewer.notify(str(error))
        if isinstance(result, str):
            with suppress(Exception):  # some displays have no clipboard; the text was printed too
                self.set_clipboard_text(result)
        if self.fullscreen != self.viewer.full_screen:
            self.set_fullscreen(self.viewer.full_screen)
        if self.viewer.moving:
            self._keys.tick()

    def _animate(self, seconds: float) -> bool:
        tick(self.viewer, seconds)
        return self.viewer.moving

    def _end(self) -> None:
        self._keys.stop()
        pyglet.app.exit()


PreviewWindow.register_event_type("on_render")


def _name(symbol: int, modifiers: int) -> str:
    """Return the name of a key with its modifiers, as in `Control.keys`."""
    prefix = "CTRL+" if modifiers & key.MOD_ACCEL else ""
    prefix += "SHIFT+" if modifiers & key.MOD_SHIFT else ""
    return prefix + str(key.symbol_string(symbol))
