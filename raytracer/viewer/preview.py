"""`raytracer.preview`: loads a scene and opens a window until it is closed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack

from raytracer.appearance.coloring import STYLE
from raytracer.config.arguments import check_function, check_truth, check_whole
from raytracer.config.errors import ClosedError, DisplayError, quote
from raytracer.config.fields import accept_settings, check_names
from raytracer.config.tone_settings import ToneSettings
from raytracer.config.warning import warn
from raytracer.files import output
from raytracer.film import png
from raytracer.model.annotations import Annotations
from raytracer.model.camera import Camera
from raytracer.model.settings import RenderSettings
from raytracer.model.source_settings import SourceSettings
from raytracer.rendering.pipeline import VIEW_SETTINGS, Notice
from raytracer.viewer.frames import Frames
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.presenters import Presenter
from raytracer.viewer.save_view import format_camera, print_camera
from raytracer.viewer.session import Session
from raytracer.viewer.watch import CHECK_INTERVAL

if TYPE_CHECKING:
    from raytracer.keywords import FileKeywords
    from raytracer.viewer.messages import Frame
    from raytracer.viewer.window import PreviewWindow

START = RenderSettings()  # its size is that of a window whose scene is not loaded yet
MARGIN = 0.9  # largest fraction of the screen for a new window
DRAG, LEFT_BUTTON = 7.0, 1  # pixels per simulated event, and pyglet's number of its button


@dataclass(frozen=True)
class PreviewResult:
    """The result of a preview.

    Args:
        camera: the last camera, for `Scene.camera`.
        toml: camera and edits as tables of a scene file.
        size: width and height of the picture in pixels.
        presenter: how frames reached the window.
        latency: offscreen, seconds from each event to the fence after its frame.
        traced: width and height in pixels of each of these frames.
        rest: seconds from the last event to the first frame of full size.
        unsaved: file of a picture that was still being rendered, and was not written.
    """

    camera: Camera
    toml: str
    size: tuple[int, int]
    presenter: str
    latency: list[float] = field(default_factory=list)
    traced: list[tuple[int, int]] = field(default_factory=list)
    rest: float = 0.0
    unsaved: Path | None = None

    def spread(self, warm: int = 0) -> dict[str, float]:
        """Return median, extremes and the 95th percentile of `latency`, in seconds.

        Args:
            warm: number of the first frames to ignore.
        """
        ordered = sorted(self.latency[warm:])
        return {
            "median": median(ordered),
            "min": ordered[0],
            "q95": ordered[int(0.95 * (len(ordered) - 1))],
            "max": ordered[-1],
        }


@accept_settings(SourceSettings, RenderSettings, VIEW_SETTINGS, STYLE)
def preview(
    scene: object,
    *,
    backend: str = "auto",
    threads: int = 0,
    tone: ToneSettings | Mapping[str, Any] | None = None,
    annotations: Annotations | Mapping[str, Any] | None = None,
    watch: bool = False,
    offscreen: int | None = None,
    screenshot: str | Path | None = None,
    adaptive: bool = True,
    interop: bool = True,
    notice: Notice | None = None,
    say: Callable[[str], None] = print,
    **settings: Unpack[FileKeywords],
) -> PreviewResult:
    """Open an interactive window, and return when it is closed.

    Settings that are None or left out are the scene's. `raytracer.live` follows a simulation that
    runs, and `raytracer.serve` needs no display (docs/guide/live.md, "Which one").

    Args:
        scene: a Scene, the path of a scene or particle file, or an object with particles
            (`Scene.from_object`).
        backend: "auto" (CUDA if it works, else the CPU), "cpu", "cuda", "cuda:1" for the GPU with
            number 1, or "cuda:0,1" for several.
        threads: threads on the CPU; 0 uses all cores available to the process.
        tone: initial exposure and tone curve; a dictionary sets some by name, and None takes the
            scene's.
        annotations: annotations of saved pictures, as for `render`; on the CPU, legend, scale bar,
            axes and texts are also shown in the window while the camera rests.
        watch: reload the scene when its file, or one that it names, changes.
        offscreen: number of drag events to simulate without a display, before the picture is
            finished and the preview ends; needs EGL.
        screenshot: write the contents of the window at the end to this PNG.
        adaptive: False renders at full size even during interaction.
        interop: False copies frames of CUDA through the host.
        notice: called with a few words at the start of each long stage of loading.
        say: called with each line to print.

    Returns:
        The last camera, and measurements of an offscreen run.

    Raises:
        UserError: the scene or an argument is wrong, there is no display, or the window was closed
            before the scene was loaded.
    """
    check_names(preview, settings)
    check_truth(interop, "interop")
    check_function(say, "say")
    if offscreen is not None:
        offscreen = check_whole(offscreen, "offscreen", 0)
    frames = Frames(
        scene, backend=backend, threads=threads, tone=tone, annotations=annotations, watch=watch,
        adaptive=adaptive, notice=notice, **settings,
    )  # fmt: skip
    target = None if screenshot is None else output.check_picture(screenshot)
    open_display(offscreen is not None)
    with ExitStack() as undo:
        if offscreen is not None:
            loaded_scene = frames.load_first(notice)
            undo.callback(loaded_scene.close)
            window = open_window(loaded_scene.size, "raytracer", True)
            undo.callback(window.close)
        else:
            path, stated = frames.source.path, frames.overrides
            name = quote(path.name) if path else "the scene"
            size = stated.get("width") or START.width, stated.get("height") or START.height
            window = open_window(size, f"{name} - raytracer", False)
            undo.callback(window.close)
            loaded_scene = _load_in_window(window, name, frames)
            undo.callback(loaded_scene.close)
        if notice is not None:
            notice("")  # the window shows the progress from now on
        for sentence in loaded_scene.job.warnings:
            warn(sentence)  # also in the terminal: window messages disappear
        size = window.get_framebuffer_size()
        shown_by = Presenter(loaded_scene.job.device, window.picture_canvas, interop)
        session = Session.start(frames, loaded_scene, size, window.wake, say)
        window.attach(session, shown_by)
        undo.pop_all()  # now the session closes everything
    try:
        return _run(window, session, offscreen, target)
    finally:
        window.close()


def _load_in_window(window: PreviewWindow, name: str, frames: Frames) -> LoadedScene:
    """Load the first frame while a window shows the stages; then resize it to the picture."""
    size, notice = window.get_size(), frames.notice

    def stage(text: str) -> None:
        if notice is not None:
            notice(text)
        window.wait_with(f"Loading {name} ...\n{text}")
        if window.wants_to_close:
            raise ClosedError

    stage("")
    try:
        loaded_scene = frames.load_first(stage)
    except ClosedError:  # which some stages name the file in
        raise ClosedError(f"the window was closed before {name} was loaded") from None
    if window.get_size() == size:  # otherwise the user has resized it
        screen = window.display.get_default_screen()
        window.set_size(*fit_window_size(loaded_scene.size, screen))
    return loaded_scene


def open_display(offscreen: bool) -> Any:
    """Connect to the display and return pyglet's; called before a scene is loaded."""
    import pyglet

    display = sys.modules.get("pyglet.display")
    if display and (display.Display.__name__ == "HeadlessDisplay") != offscreen:
        before, now = ("in a window", "offscreen") if offscreen else ("offscreen", "in a window")
        raise DisplayError(  # pyglet would open a window of the wrong kind
            f"after a preview {before}, this process cannot open one {now}: "
            "start it in a new Python process"
        )
    pyglet.options.shadow_window = False  # headless displays have no second context
    pyglet.options.headless = offscreen
    try:
        import pyglet.display
        import pyglet.window

        return pyglet.display.get_display()
    except Exception as error:  # pyglet's exceptions differ between systems
        name, why = os.environ.get("DISPLAY"), str(error).rstrip(".")
        what, need = f"EGL cannot be used ({why})", " with libegl1 libgl1"
        if not offscreen and name:
            # pyglet names no display where it takes that of the environment
            why = why.replace('"None"', f'"{name}"')
            what = f"the display {quote(name)} does not answer ({quote(why, 200)})"
            need = " with libgl1 libx11-6"
        elif not offscreen:
            what, need = "there is no display: DISPLAY is not set", ""
        raise DisplayError(
            f"{what}: start the preview on a desktop{need}, show the scene in a browser with "
            "`raytracer serve`, or render a picture with `raytracer render`"
        ) from error


def open_window(size: tuple[int, int], title: str, offscreen: bool) -> PreviewWindow:
    """Open a window, reduced to fit the screen."""
    display = open_display(offscreen)
    from pyglet import gl
    from pyglet.window import NoSuchConfigException, WindowException

    from raytracer.viewer.window import PreviewWindow

    config = gl.Config(  # type: ignore[abstract]
        double_buffer=True, red_size=8, green_size=8, blue_size=8, alpha_size=8,
        major_version=3, minor_version=3,
    )  # fmt: skip
    try:
        shown = size if offscreen else fit_window_size(size, display.get_default_screen())
        return PreviewWindow(shown, title, config, offscreen)
    except (NoSuchConfigException, WindowException, gl.ContextException, gl.GLException) as error:
        raise DisplayError(
            f"there is no OpenGL 3.3 ({error}): install the graphics driver or libgl1-mesa-dri"
        ) from error


def fit_window_size(size: tuple[int, int], screen: Any) -> tuple[int, int]:
    """Return the largest size of a window with the picture's aspect that fits pyglet's screen."""
    factor = min(1.0, MARGIN * screen.width / size[0], MARGIN * screen.height / size[1])
    width, height = (max(int(side * factor), 1) for side in size)
    return width, height


def _run(
    window: PreviewWindow, session: Session, drags: int | None, screenshot: Path | None
) -> PreviewResult:
    """Show a session until its window is closed; `drags`: number of simulated events, if any."""
    import pyglet

    pixels = None
    drag = None if drags is None else SimulatedDrag(window, drags)

    def look(_: float) -> None:
        window.wake()

    if session.loader.frames.watch is not None:
        pyglet.clock.schedule_interval(look, CHECK_INTERVAL)
    window.wake()  # for frames and messages from before the loop
    try:
        pyglet.app.run(interval=None)
        if screenshot is not None and session.failure is None:
            pixels = window.screenshot()
    finally:
        pyglet.clock.unschedule(look)
        window.set_visible(False)  # ending the threads may take a moment
        if session.stop():  # otherwise the render thread still uses the memory
            window.presenter.close()
            session.free()
    if session.failure is not None:
        print_camera(session)
        raise session.failure
    save_job = session.worker.save_job
    if screenshot is not None and pixels is not None:
        with output.replace_file(screenshot) as file:
            png.write(file, pixels, {"Software": "raytracer"})
    times = (drag.latency, drag.traced, drag.rest) if drag else ([], [], 0.0)
    return PreviewResult(
        session.camera, format_camera(session), session.size, window.presenter.label, *times,
        None if save_job is None else save_job.path,
    )  # fmt: skip


class SimulatedDrag:
    """Sends a drag event when the frame of the previous event is on the screen. After the last
    event it waits for the finished picture and closes the window."""

    def __init__(self, window: PreviewWindow, events: int) -> None:
        self.latency: list[float] = []
        self.traced: list[tuple[int, int]] = []
        self.rest = 0.0
        self._window, self._events = window, events
        self._sent = 0.0  # time of the last event; 0 before the first
        window.on_shown = self._on_shown

    def _on_shown(self, frame: Frame) -> None:
        now, full = self._window.shown[-1], frame.size == frame.request.size
        if frame.request.stamp < self._sent:
            return  # for an earlier event
        if self._sent and len(self.latency) < self._events:
            self.latency.append(now - self._sent)
            self.traced.append(frame.size)
        if len(self.latency) < self._events:
            if self._sent or full:  # start from a picture of full size
                self._sent = perf_counter()
                place = self._window.width // 2, self._window.height // 2
                self._window.dispatch_event("on_mouse_drag", *place, DRAG, 0.0, LEFT_BUTTON, 0)
            return
        if not self.rest and full:
            self.rest = now - self._sent if self._sent else 0.0
        if frame.finished:
            self._window.on_close()
