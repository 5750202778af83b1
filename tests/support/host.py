"""The other end of `remote`: the command line with a window that a test commands from outside.

`remote` runs `main` in a process of its own: there a thread takes requests from a descriptor, and
the window's own loop answers them between its events.
"""

import signal
from collections import deque
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import Camera
from raytracer.config.tone_settings import ToneSettings
from raytracer.viewer import data_actions
from raytracer.viewer.actions import ACTIONS
from raytracer.viewer.content import Content
from raytracer.viewer.messages import Pick
from raytracer.viewer.save_view import format_camera
from support import keys


@dataclass(frozen=True)
class State:
    """The state of a window and its viewer, for tests.

    rest: whether the picture is finished and nothing else is under way.
    size: of the framebuffer. traced: of what is shown, in pixels. points: of the window, in the
    units of the mouse. xid: X's name of it. shown: of frames, colours, selection and slice.
    """

    camera: Camera
    tone: ToneSettings
    picked: Pick | None
    rest: bool
    save_job: bool
    prompt: str | None
    notice: str
    size: tuple[int, int]
    points: tuple[int, int]
    traced: tuple[int, int]
    xid: int
    shown: dict[str, Any]

    @property
    def eye(self) -> NDArray[np.float64]:
        return np.array(self.camera.position, np.float64)


class Host:
    """Answers requests about one window, in the thread of its loop."""

    def __init__(self, window: Any, requests: Connection) -> None:
        self._window = window
        self._requests = requests
        self._calls: list[Any] = []
        self._queue: deque[tuple[str, tuple[Any, ...]]] = deque()
        window.register_event_type("on_request")
        window.push_handlers(on_request=self._answer)
        Thread(target=self._listen, name="requests", daemon=True).start()

    def _listen(self) -> None:
        import pyglet

        while True:
            try:
                self._queue.append(self._requests.recv())
            except (EOFError, OSError):
                return
            pyglet.app.platform_event_loop.post_event(self._window, "on_request")

    def _answer(self) -> None:
        name, arguments = self._queue.popleft()
        self._requests.send(getattr(self, name)(*arguments))

    def state(self) -> State:
        viewer = self._window.session
        worker, frame = viewer.worker, viewer.frame
        idle = not (worker._tasks or worker.save_job or worker._ready or worker.messages.qsize())
        idle &= not viewer.loader.is_busy("show")
        newest = frame is not None and frame.request is worker._request
        rest = newest and frame.finished and idle
        return State(
            camera=viewer.camera, tone=viewer.tone, picked=viewer.picked, rest=rest,
            save_job=worker.save_job is not None, size=viewer.size, notice=viewer.notice,
            prompt=viewer.prompt and viewer.prompt.typed,
            points=(self._window.width, self._window.height),
            traced=frame.size if frame else (0, 0), xid=getattr(self._window, "_window", 0) or 0,
            shown=self._shown(),
        )  # fmt: skip

    def _shown(self) -> dict[str, Any]:
        viewer = self._window.session
        content, time = viewer.content, viewer.time
        return {
            "number": viewer.frame_number, "count": time.count, "playing": time.playing,
            "style": dict(content.style), "selected": data_actions.count_selected(viewer),
            "slice": content.slice, "picks": len(viewer.picks),
            "busy": viewer.loader.is_busy("show"),
            "forward": tuple(viewer.view.pose.axes.forward.round(6).tolist()),
        }  # fmt: skip

    def event(self, name: str, *arguments: Any) -> None:
        self._window.dispatch_event(name, *arguments)

    def click(self, x: float, y: float) -> None:
        """Click with the left button. x, y: points from the lower left."""
        self.event("on_mouse_press", x, y, 1, 0)
        self.event("on_mouse_release", x, y, 1, 0)

    def key(self, what: str, name: str) -> None:
        """Hand it "press" or "release" of a key, which is named as in `controls`."""
        from pyglet.window import key

        *modifiers, letter = name.split("+")
        held = {"SHIFT": key.MOD_SHIFT, "CTRL": key.MOD_ACCEL}
        self.event(f"on_key_{what}", getattr(key, letter), sum(held[each] for each in modifiers))

    def toml(self) -> str:
        return str(format_camera(self._window.session))

    def act(self, action: str, *arguments: Any) -> None:
        """Run an action, or call a method of the viewer."""
        viewer = self._window.session
        if action.replace("_", "-") in ACTIONS:
            viewer.do(action, *arguments)
        else:
            getattr(viewer, action)(*arguments)
        self._window.paint()

    def observed(self) -> dict[str, Any]:
        return keys.observed(self._window.session)

    def prepare(self, control: str) -> None:
        """Do what comes before the key of a control, in a fresh window."""
        keys.prepare(self._window.session, keys.EFFECTS[control])

    def fresh_keys(self) -> None:
        keys.fresh(self._window.session)
        self._window.set_fullscreen(False)
        self._window.on_deactivate()

    def record(self, on: bool) -> None:
        """Keep the actions that the window would run, or run them again."""
        viewer, self._calls = self._window.session, []
        if on:
            viewer.do = lambda name, *values, **named: self._calls.append((name, values, named))
        else:
            del viewer.do

    def recorded(self) -> list[Any]:
        found, self._calls = self._calls, []
        return found

    def put(self, changes: dict[str, Any]) -> None:
        for name, value in changes.items():
            setattr(self._window.session, name, value)
        self._window.paint()

    def fresh(self) -> None:
        """Everything as when the window was opened."""
        viewer = self._window.session
        viewer.do("reset")
        viewer.prompt = None
        viewer.help, viewer.overlay, viewer.reload_error = 0, 1, ""
        viewer.notify("")
        viewer.picks, viewer.panel = [], False
        viewer.time.playing = False
        first = Content(viewer.content.frame)
        if first != viewer.content:
            viewer.show(first)
        self._window.on_deactivate()

    def shot(self, text: bool = False) -> NDArray[np.uint8]:
        """What the window draws now, with or without the overlay."""
        viewer, hides = self._window.session, self._window.hides_text
        kept = viewer.picks, viewer.help
        self._window.hides_text = not text
        if not text:
            viewer.picks, viewer.help = [], 0
        try:
            return np.asarray(self._window.screenshot())
        finally:
            viewer.picks, viewer.help = kept
            self._window.hides_text = hides

    def panel(self) -> tuple[tuple[int, int, int, int] | None, list[str]]:
        """Left, bottom, width and height of the panel in pixels, and its lines."""
        self.shot(text=True)
        sheet = self._window._overlay.panel
        return sheet.paper and tuple(sheet.paper), sheet.lines

    def status(self) -> list[str]:
        """The lines of the status text."""
        self.shot(text=True)
        lines: list[str] = self._window._overlay._about.lines
        return lines

    def over_draft(self) -> NDArray[np.uint8]:
        """What is drawn over a white draft, whose own picture has no legend."""
        viewer = self._window.session
        kept = viewer.frame
        width, height = viewer.size
        viewer.frame = replace(kept, draft=True)
        try:
            self._window.picture_canvas.fill(np.full((height // 2, width // 2, 4), 255, np.uint8))
            return self.shot()
        finally:
            viewer.frame = kept

    def lose_gpu(self, sentence: str) -> None:
        """Have every pass fail from now on, as it does when a device is lost."""
        from raytracer.backends.base import CpuFilm
        from raytracer.config.errors import BackendError

        def fail(*_: Any) -> float:
            raise BackendError(sentence)

        CpuFilm._accumulate = fail  # type: ignore[method-assign,assignment]
        self._window.session.request_render()


def hidpi(ratio: float) -> None:
    """Make windows as macOS has them: their size in points, the framebuffer's in pixels."""
    import pyglet

    from raytracer.viewer.window import PreviewWindow

    def points(self: Any) -> tuple[int, int]:
        width, height = pixels(self)
        return round(width / ratio), round(height / ratio)

    pixels = pyglet.window.Window.get_size
    PreviewWindow.get_framebuffer_size = pixels
    PreviewWindow.get_size = points


def main(descriptor: str, ratio: str, *arguments: str) -> int:
    """Run the command line; gives its exit code.

    descriptor: of the socket with requests. ratio: pixels a point.
    """
    from raytracer.commands.cli import main as command_line
    from raytracer.viewer import preview

    # A shell without job control starts `command &` with SIGINT ignored, as nohup does with SIGHUP,
    # and children inherit that; the tests send SIGINT and stand for a terminal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    requests = Connection(int(descriptor))
    open_window = preview.open_window

    def opened(*place: Any) -> Any:
        if float(ratio) != 1.0:
            hidpi(float(ratio))
        window = open_window(*place)
        window.host = Host(window, requests)  # handlers are kept by weak references
        return window

    preview.open_window = opened  # type: ignore[assignment]
    return command_line(arguments)
