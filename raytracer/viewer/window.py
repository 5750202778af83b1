"""The window: passes events to the session, and draws the frames of the render thread."""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from math import inf, pi
from time import perf_counter
from typing import Any

import pyglet
from pyglet import gl
from pyglet.window import key, mouse

from raytracer.config.errors import DisplayError, RaytracerError
from raytracer.viewer.canvas import Canvas, fence
from raytracer.viewer.choices import submit_prompt
from raytracer.viewer.controls import BY_KEY, Control
from raytracer.viewer.messages import Frame
from raytracer.viewer.overlay import WindowOverlay, draw_box, format_status
from raytracer.viewer.picking import PICK_RADIUS
from raytracer.viewer.presenters import Presenter
from raytracer.viewer.session import Session
from raytracer.viewer.view_actions import tick

CLICK_TOLERANCE = 4.0  # pixels at 96 dots per inch: largest movement of a click
DOUBLE_CLICK_SECONDS = 0.35  # most seconds between the clicks of a double click
SCROLL = 0.12  # e-foldings of distance per step of the wheel
TICK = 1.0 / 60.0  # seconds between two steps of a held key or the turntable
TAP = 0.04  # duration of a tap in seconds
SHIFTS = (key.LSHIFT, key.RSHIFT)
OF_USERS = ("on_close", "on_key", "on_mouse", "on_text")
"""Prefixes of events that a window does not handle until it is attached."""

NONE, CLICK, DRAG, SCRUB, BOX = range(5)  # gestures: what the button that is down does

MAX_TIMES = 25  # of frames, for their rate


class PreviewWindow(pyglet.window.Window):  # type: ignore[misc]
    """The window of a session. It is complete when `attach` has been called; if opening it fails,
    nothing stays open."""

    session: Session
    presenter: Presenter

    def __init__(self, size: tuple[int, int], title: str, config: Any, offscreen: bool) -> None:
        self._attached = False
        self.wants_to_close = False  # before it is attached
        self._waiting = False  # whether `on_render` is queued
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
        self._down: dict[int, Control] = {}  # keys whose actions are repeated
        self._shift = False  # because wheel events have no modifiers
        self._has_acted = False  # whether the key that is down ran an action
        self._ticks = False  # whether the clock runs
        self._gesture = DRAG
        self._from = self._to = 0.0, 0.0  # where it began, and is now, in pixels
        self._clicked = 0.0, 0.0, -inf  # place and time of the latest click
        self._dpi = int(self.dpi)
        self._overlay = WindowOverlay(self._dpi)
        self.hides_text = self._offscreen = self._fenced = offscreen

    def dispatch_event(self, name: str, *arguments: Any) -> Any:
        """Handle an event; until it is attached, the window can be moved, resized and closed."""
        if self._attached or not name.startswith(OF_USERS):
            return super().dispatch_event(name, *arguments)
        control = BY_KEY.get(_name_key(*arguments)) if name == "on_key_press" else None
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

    def attach(self, session: Session, presenter: Presenter) -> None:
        """Show the frames of a session through a presenter."""
        self.session, self.presenter = session, presenter
        # OpenGL must finish before the next kernel is launched, and before a time is taken.
        self._fenced = self._offscreen or self.session.loaded_scene.job.device.has_own_memory
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
        self.session.receive()
        name = f"{self.session.loaded_scene.name} - raytracer"
        if name != self.caption:
            self.set_caption(name)
        frame = self.session.worker.take_frame()
        self.paint(frame)
        if frame is not None and self.on_shown is not None and not self.session.closing:
            self.on_shown(frame)

    def paint(self, frame: Frame | None = None) -> None:
        if self.session.closing:
            self._end_preview()
            return
        before = None if frame is None else self.session.present(frame)
        with self._lock_device():
            if frame is not None and not self._present(frame):
                self._end_preview()
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
            self.session.worker.release(before)
        if not flips_first:
            self.flip()

    def _lock_device(self) -> AbstractContextManager[Any]:
        if gl.current_context is not self.context:  # a needless switch takes time
            self.switch_to()
        return self.session.loaded_scene.job.device.turn()

    def _present(self, frame: Frame) -> bool:
        """Copy a frame to the canvas; a failure ends the preview."""
        try:
            self.presenter.present(frame.picture)
        except gl.GLException as error:
            self.session.failure = DisplayError(f"OpenGL: {error}: make the window smaller")
        except RaytracerError as error:
            self.session.failure = error
        self.session.closing = self.session.failure is not None
        self.picture_canvas.opaque = not frame.transparent
        return not self.session.closing

    def _draw(self) -> None:
        size, session = self.get_framebuffer_size(), self.session
        self.picture_canvas.draw(size)
        if session.frame is not None:
            self._overlay.draw_layers(session.frame, size)
        if not self.hides_text or session.help or session.picked:
            times = self.shown
            rate = (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0.0
            self._overlay.draw(session, format_status(session, rate, self.presenter.label), size)
            if session.notice_left:
                pyglet.clock.unschedule(self._fade)
                pyglet.clock.schedule_once(self._fade, session.notice_left + 0.05)
        if self._gesture == BOX:
            draw_box((*self._from, *self._to))

    def _fade(self, _: float) -> None:
        if self._attached and not self.session.closing:
            self.paint()

    def screenshot(self) -> Any:
        with self._lock_device():
            self._draw()
            return self.picture_canvas.read()

    # Events

    def on_resize(self, width: int, height: int) -> None:
        if self._attached:
            self._use_pixels()
            self.session.resize(*self.get_framebuffer_size())
            self.paint()

    def on_expose(self) -> None:
        """Redraw areas that were covered."""
        if self._attached:
            self.paint()

    def on_close(self) -> None:
        """End the preview."""
        self._do("close")
        self.paint()

    def on_key_press(self, symbol: int, modifiers: int) -> None:
        """Run the action of a key, or type into the prompt."""
        self._shift |= symbol in SHIFTS
        control = BY_KEY.get(_name_key(symbol, modifiers))
        closes = control is not None and control.action == "close" and modifiers & key.MOD_ACCEL
        if (prompt := self.session.prompt) is not None and not closes:
            control = None
            if symbol in (key.RETURN, key.ENTER, key.NUM_ENTER):
                submit_prompt(self.session)
            elif symbol == key.BACKSPACE:
                prompt.typed = prompt.typed[:-1]
            elif symbol == key.ESCAPE:
                self.session.prompt = None
        self._has_acted = control is not None
        if control is not None:
            if control.held:
                self._down[symbol] = control
            self._act_for(control)
        self.paint()

    def on_key_release(self, symbol: int, modifiers: int) -> None:
        self._has_acted = False
        self._shift &= symbol not in SHIFTS
        released = self._down.pop(symbol, None) or BY_KEY.get(_name_key(symbol, 0))
        # "+" is released as "=" if Shift goes up first: both keys have the same control.
        self._release_keys([symbol for symbol, other in self._down.items() if other is released])

    def on_deactivate(self) -> None:
        """Release all keys, because another window gets their events."""
        self._shift = False
        self._release_keys([*self._down, *getattr(self, "pressed_keys", ())])

    def _release_keys(self, symbols: Iterable[int]) -> None:
        """Forget keys without a release event; pyglet would not report them again."""
        for symbol in symbols:
            self._down.pop(symbol, None)
            getattr(self, "pressed_keys", set()).discard(symbol)

    def on_text(self, text: str) -> None:
        """Type into the prompt, or run the action of a character that needs several keys.

        It follows the press of its key, and repeats while the key is down. Some layouts need Shift
        for "/", which the key's name and modifiers do not tell.
        """
        if self._has_acted:
            return
        if self.session.prompt is not None:
            self.session.prompt.typed += "".join(filter(str.isprintable, text))
        elif control := BY_KEY.get(_name_key(ord(text), 0)) if len(text) == 1 else None:
            self._has_acted = not control.held
            self._act_for(control)
        self.paint()

    def on_mouse_press(self, x: float, y: float, button: int, modifiers: int) -> None:
        place, line = self._to_pixels(x, y), self._overlay.time_line
        self._from, self._to, self._gesture = place, place, DRAG
        if button != mouse.LEFT:
            return
        if not self.hides_text and line.paper.contains(*place):
            self._gesture = NONE if line.on_button(place[0]) else SCRUB
            if self._gesture == NONE:
                self._do("play")
            else:
                self._scrub(place[0])
        elif self._step_row(*place):
            self._gesture = NONE
        else:
            is_box = modifiers & key.MOD_ACCEL and modifiers & key.MOD_SHIFT
            self._gesture = BOX if is_box else CLICK
            return
        self.paint()

    def _to_pixels(self, x: float, y: float) -> tuple[float, float]:
        width, height = self.get_framebuffer_size()
        return x * width / self.width, y * height / self.height

    def _step_row(self, x: float, y: float, back: bool = False) -> bool:
        """Change the value of a row of the panel; return whether the panel was there."""
        paper = self._overlay.panel.paper
        if paper is None or not paper.contains(x, y):
            return False
        if (row := self._overlay.find_row(y)) is not None:
            name, values = row.make_call(back)
            self._do(name, **values)
        return True

    def _scrub(self, x: float) -> None:
        share = self._overlay.time_line.find_share(x)
        self._do("play", False)
        self._do("frame", round(share * (self.session.time.count - 1)))

    def on_mouse_drag(
        self, x: float, y: float, dx: float, dy: float, buttons: int, modifiers: int
    ) -> None:
        """Turn the camera, move it sideways, turn the light, draw a box, or move a knob."""
        self._to = place = self._to_pixels(x, y)
        moved = not self._is_near(*place, *self._from)
        if self._gesture == SCRUB:
            self._scrub(place[0])
            self.paint()
        elif self._gesture == BOX:
            self.paint()
        elif self._gesture == DRAG or (self._gesture == CLICK and moved):
            self._gesture = DRAG
            right, up = dx / self.height, dy / self.height
            if buttons & mouse.LEFT and modifiers & key.MOD_ACCEL:
                self._do("turn-light", right * pi, up * pi)
            elif buttons & mouse.LEFT and not modifiers & key.MOD_SHIFT:
                self._do("orbit", -right * pi, -up * pi)
            else:
                self._do("pan", -right, -up)

    def _is_near(self, x: float, y: float, x0: float, y0: float) -> bool:
        return abs(x - x0) + abs(y - y0) <= CLICK_TOLERANCE * self._dpi / 96

    def on_mouse_release(self, x: float, y: float, button: int, modifiers: int) -> None:
        """Select what is in a box, or pick the clicked sphere; a double click also centres it."""
        gesture, self._gesture = self._gesture, DRAG
        height = self.get_framebuffer_size()[1]
        if gesture == BOX and not self._is_near(*self._from, *self._to):
            (x0, y0), (x1, y1) = (map(round, place) for place in (self._from, self._to))
            self._do("select-box", x0, height - y0, x1, height - y1)
            self.paint()
        elif button == mouse.LEFT and gesture in (CLICK, BOX):
            place, now, (*before, then) = self._to_pixels(x, y), perf_counter(), self._clicked
            is_double = now - then < DOUBLE_CLICK_SECONDS and self._is_near(*place, *before)
            self._clicked = (*place, -inf if is_double else now)
            self._do(
                "pick", int(place[0]), height - 1 - int(place[1]), go=is_double,
                add=bool(modifiers & key.MOD_SHIFT), reach=round(PICK_RADIUS * self._dpi / 96),
            )  # fmt: skip

    def on_mouse_scroll(self, x: int, y: int, scroll_x: float, scroll_y: float) -> None:
        """Change the distance, with Shift the field of view; turn if sideways. Over a row of the
        panel, its value changes."""
        if scroll_y and self._step_row(*self._to_pixels(x, y), back=scroll_y > 0):
            self.paint()
        elif self._shift:
            self._do("zoom", -SCROLL * (scroll_y or scroll_x))
        elif scroll_y:
            self._do("dolly", -SCROLL * scroll_y)
        else:
            self._do("orbit", SCROLL * scroll_x, 0.0)

    def _act_for(self, control: Control, seconds: float = TAP) -> None:
        amount = control.amount
        if control.held:
            amount = tuple(seconds * float(each or 0.0) for each in amount)
        self._do(control.action, *amount)

    def _do(self, name: str, /, *values: Any, **named: Any) -> None:
        """Run an action, show an error as a message, and follow the changes of the window."""
        result = None
        try:
            result = self.session.do(name, *values, **named)
        except RaytracerError as error:
            self.session.notify(str(error))
        if isinstance(result, str):
            with suppress(Exception):  # some displays have no clipboard; the text was printed too
                self.set_clipboard_text(result)
        if self.fullscreen != self.session.full_screen:
            self.set_fullscreen(self.session.full_screen)
        if (self.session.is_moving or self._down) and not self._ticks:
            self._ticks = True
            pyglet.clock.schedule_interval(self._tick, TICK)

    def _tick(self, seconds: float) -> None:
        """Repeat the actions of the keys that are down, and move what moves by itself."""
        for control in tuple(self._down.values()):
            self._act_for(control, seconds)
        tick(self.session, seconds)
        if not (self.session.is_moving or self._down):
            self._ticks = False
            pyglet.clock.unschedule(self._tick)

    def _end_preview(self) -> None:
        pyglet.clock.unschedule(self._tick)
        pyglet.app.exit()


PreviewWindow.register_event_type("on_render")


def _name_key(symbol: int, modifiers: int) -> str:
    """Return the name of a key with its modifiers, as in `Control.keys`."""
    prefix = "CTRL+" if modifiers & key.MOD_ACCEL else ""
    prefix += "SHIFT+" if modifiers & key.MOD_SHIFT else ""
    return prefix + str(key.symbol_string(symbol))
