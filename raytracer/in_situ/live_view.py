"""`raytracer.live`: a view that follows a running simulation."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from raytracer.appearance.coloring import STYLE
from raytracer.backends.select import select_device
from raytracer.config.arguments import (
    check_function,
    check_real,
    check_truth,
    check_whole,
    check_word,
)
from raytracer.config.errors import RaytracerError, UserError
from raytracer.config.fields import accept_settings, check_names
from raytracer.config.tone_settings import ToneSettings
from raytracer.config.warning import warn
from raytracer.files.access import check_path
from raytracer.film.image import Image
from raytracer.in_situ.feed import TITLE, make_scene
from raytracer.in_situ.points import Given, Points
from raytracer.in_situ.sinks import InlineRunner, MovieSink, ProcessRunner, ViewSink
from raytracer.in_situ.state_channel import State
from raytracer.model.annotations import Annotations, SimulationBox
from raytracer.model.particle_source import FrameTime
from raytracer.model.scene import Scene
from raytracer.model.settings import RenderSettings
from raytracer.model.simulation_box import find_box
from raytracer.rendering.pipeline import VIEW_SETTINGS
from raytracer.system.resources import choose_thread_count
from raytracer.viewer.frames import Frames

if TYPE_CHECKING:
    from raytracer.browser.widget import SceneWidget  # of the extra `notebook`
    from raytracer.in_situ.recording import PictureRecorder
    from raytracer.keywords import Keywords

KINDS = ("window", "page")  # what can be opened
WIDTH, HEIGHT = 1280, 720  # size of the first picture, in pixels


@accept_settings(RenderSettings, VIEW_SETTINGS, STYLE)
def live(
    *,
    backend: str = "auto",
    open: str | None = "window",  # noqa: A002
    record: str | PathLike[str] | None = None,
    every: int = 1,
    fps: float = 30.0,
    port: int | None = None,
    open_browser: bool = False,
    allow_host: str | Iterable[str] = (),
    threads: int = 0,
    tone: ToneSettings | Mapping[str, Any] | None = None,
    annotations: Annotations | Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
    **settings: Unpack[Keywords],
) -> LiveView:
    """Open a view that follows a running simulation; it shows the points that are logged.

    >>> with raytracer.live() as view:
    ...     for step in range(1000):
    ...         simulation.step()
    ...         view.log_points("grains", simulation.positions, radii=simulation.radii)

    The view renders in a process of its own at the lowest priority. `raytracer.LiveScene` renders
    in this process, picture by picture (docs/guide/live.md, "Which one").

    Args:
        backend: "auto" (CUDA where it works, else the CPU), "cpu", "cuda", or "cuda:1" for the GPU
            with number 1.
        open: "window"; "page" for web browsers, on this machine or at the other end of an SSH
            tunnel, whose address is printed; None opens nothing, as for a movie alone.
        record: file of a movie (.mp4, .mov, .mkv, .webm; `pip install 'raytracer[video]'`), or of
            numbered pictures, `frames/####.png`; None writes nothing.
        every: number of steps per frame of the movie, from the first step on.
        fps: frames per second of the movie.
        port: of the page, from 1 to 65535; None takes 8765, or a free one if that is in use.
        open_browser: open the page in the browser of this machine.
        allow_host: names of hosts whose proxy passes requests on to the page; see `serve`.
        threads: threads on the CPU; 0 takes all cores that the process may use but one, and for
            movies all.
        tone: initial exposure and tone curve; see `preview`.
        annotations: what is drawn over the picture; see `render`. In texts {time} is that of
            `LiveView.set_time`.
        say: called with each line to be printed.
        settings: of `preview` for the content: `width`, `height`, `samples`, `look`, `color_by` and
            others; those of the picture are also those of the movie.

    Returns:
        The view; `close` it, or use it in a `with` block.

    Raises:
        UserError: an argument is wrong, there is no display, the port is in use, or the file cannot
            be written.
        TypeError: there is no argument of that name.
    """
    check_names(live, settings)
    check_function(say, "say")
    check_truth(open_browser, "open_browser")
    if open is not None:
        check_word(open, "open", KINDS, "kind of view")
    given: dict[str, Any] = {"width": WIDTH, "height": HEIGHT}
    given |= {name: value for name, value in settings.items() if value is not None}
    given |= {"backend": backend, "threads": threads, "tone": tone, "annotations": annotations}
    Frames(Scene(), **given)
    fps = check_real(fps, "fps", 0.01, 1000.0)
    every = check_whole(every, "every", 1)
    if record is not None:
        from raytracer.in_situ.recording import check_record

        check_record(path := check_path(record, "record"), given)
    gpu = _find_gpu(backend, threads)
    view = LiveView(given, fps, gpu)
    try:
        if open is not None:
            shown = given | _spare_core(threads)
            if open == "page":
                from raytracer.browser.serve import print_address, require_page

                hosts = require_page(port, allow_host)
                shown |= {"port": port, "open_browser": open_browser, "hosts": hosts}
            view._open(ViewSink(ProcessRunner(open, shown, gpu), view._logged))
            if view.address:
                print_address(TITLE, view.address, say)
        if record is not None:
            to_file = given | {"path": str(Path(path).absolute()), "fps": fps}
            view._open(MovieSink(ProcessRunner("record", to_file, gpu), view._logged, every))
    except BaseException:
        view._end()
        raise
    return view


def _find_gpu(backend: str, threads: int) -> int | None:
    device = select_device(backend, threads)
    return device.number if device.has_own_memory else None


def _spare_core(threads: int) -> dict[str, int]:
    """Return the threads of a view: one core is left to the simulation.

    On two cores, simulations of one thread took 1.07 to 1.18 of the time beside a view with two
    threads, at the lowest priority too, and 1.03 to 1.07 beside one with one thread.
    """
    return {"threads": threads or max(choose_thread_count() - 1, 1)}


class LiveView:
    """A view that follows a running simulation, as `raytracer.live` returns it; a context manager
    (docs/guide/live.md, "Which one").

    One thread of the simulation may use it.

    Attributes:
        address: of the page for web browsers, "" without one.
    """

    def __init__(self, settings: Mapping[str, Any], fps: float, gpu: int | None) -> None:
        self.address = ""
        self._settings, self._fps, self._gpu = settings, fps, gpu
        self._sinks: list[ViewSink | MovieSink] = []
        self._logged, self._lock = dict[str, Given](), RLock()
        self._steps = 0  # that have begun
        self._step: list[str] = []  # names that were logged in this step
        self._last: list[str] = []  # those of the step before
        self._about: dict[str, Any] = {}  # of the state as a whole
        self._pictures: PictureRecorder | None = None
        self._shell: Any = None  # of the notebook
        atexit.register(self._close_or_warn)

    def _open(self, sink: ViewSink | MovieSink) -> None:
        """Wait until a sink is ready. Raises UserError: it is not."""
        self._sinks.append(sink)
        try:
            self.address = sink.runner.wait_until_ready() or self.address
        except UserError:
            sink.has_ended = True  # so that this is no warning too
            raise

    def log_points(
        self, name: str, positions: Any, *, radii: Any = None, colors: Any = None,
        columns: Mapping[str, Any] | None = None, stream: Any = None,
    ) -> None:  # fmt: skip
        """Show points as spheres from now on; logging a name again replaces its points.

        For a view it returns at once. The arrays are copied, those of the GPU that renders within
        its memory and others to the host, at most 60 times per second, and less often if copying
        would take more than 0.5% of the time; a state that comes sooner is left out (see `flush`).
        For a frame of a movie it waits until the state of the frame before is
        taken. Nothing is shown after the view was closed. A step ends when a name is logged that
        was logged in it already.

        Args:
            name: of the set of points.
            positions: (N, 3), scene units; N may change from step to step.
            radii: one radius or (N,), scene units; None lets neighbours touch in the first
                state.
            colors: one colour, or (N, 3) as uint8 in 0..255 or numbers in 0..1, or (N, 4) with
                opacities, or N colour names; None is light grey. Points without the column of
                `color_by` keep these colours.
            columns: further values by name, (N,) or (N, K), to colour and select by.
            stream: on which arrays of a GPU are complete, and which waits until they are copied:
                the handle of a stream, or a stream of a package; None is CUDA's default one. It
                must live until the next step, or until the view is flushed or closed.

        Raises:
            UserError: arrays of other shapes or kinds; in the first state of a name, also values
                that are invalid for spheres. Later states with errors: a view shows the message and
                continues, and a movie ends (see `close`).
        """
        given = positions, radii, colors, columns, stream
        with self._lock:
            begins = name in self._step or not self._step
            number = self._steps if begins else None
            takers = [sink for sink in self._sinks if sink.accepts(number)]
            if takers or name not in self._logged:  # else, as mostly, in a microsecond
                points = Points.of(name, given)
                if name not in self._logged:
                    make_scene(self._make_state({name: points}))  # for its errors
            if begins:
                self._last, self._step, self._steps = self._step, [], self._steps + 1
            self._logged[name] = given
            self._step.append(name)
            is_last = not self._last or name == self._last[-1]
            for sink in takers:
                sink.log(name, self._about, is_last)

    def set_time(self, time: float) -> None:
        """State the time of what is logged from now on, for {time} in texts over the picture.

        Args:
            time: in the unit of the simulation.

        Raises:
            UserError: it is no finite number.
        """
        self._about = self._about | {"time": FrameTime(check_real(time, "time"))}

    def log_box(self, edges: Any, origin: Any = (0.0, 0.0, 0.0)) -> None:
        """Show the simulation box of what is logged from now on.

        Args:
            edges: three lengths along x, y and z, or three edge vectors, (3, 3), scene units.
            origin: the corner where they start, (3,).

        Raises:
            UserError: they are no finite numbers of these shapes, or span no volume.
        """
        edges = () if edges is None else edges
        try:
            vectors: Any = np.diag(edges) if np.shape(edges) == (3,) else edges
            box = find_box(Scene(), SimulationBox(vectors, origin))
        except ValueError:  # of ragged lists
            raise UserError("log_box: edges: must be three lengths or three vectors") from None
        self._about = self._about | {"box": box}

    @property
    def closed(self) -> bool:
        """Whether nothing is shown or recorded any more, as after the user closed the window."""
        return not any(sink.is_shown() for sink in self._sinks)

    def show(self, height: int = 480) -> SceneWidget:
        """Return an interactive view of what is logged, which a notebook shows as the result of a
        cell.

        While a cell runs, the view shows a few states per second and does not respond, unless the
        simulation runs in a thread. After `close` it shows the last state. Each call returns a new
        view.

        Args:
            height: of the view in CSS pixels; it is as wide as the cell.

        Raises:
            UserError: nothing was logged, or the extra `notebook` is missing.
        """
        from raytracer.browser.serve import show

        if not self._logged:
            raise UserError("show: nothing was logged yet: call log_points first")
        self._sinks = [
            each for each in self._sinks if isinstance(each, MovieSink) or each.is_shown()
        ]
        runner = InlineRunner(self._gpu)
        view = ViewSink(runner, self._logged)
        view.flush(self._about)
        of_window = "width", "height"  # a notebook has its own
        settings = {k: v for k, v in self._settings.items() if k not in of_window}
        threads = _spare_core(self._settings["threads"])
        widget = show(runner.feed, height=height, **settings | threads)
        runner.has_ended = lambda: widget.closed
        self._sinks.append(view)
        ipython = sys.modules.get("IPython")
        self._shell = None if ipython is None else ipython.get_ipython()
        if self._shell is not None:  # which keeps one of equal calls
            self._shell.events.register("post_run_cell", self._after_cell)
        return widget

    def _after_cell(self, *_: object) -> None:
        self.flush()

    def image(self) -> Image:
        """Return a picture of what was logged last, rendered now in this process.

        The first one decides about a fitted camera, the ends of colour scales and a metered
        exposure; the camera of a window or page is the user's.

        Raises:
            UserError: nothing was logged, or it cannot be rendered.
        """
        if not self._logged:
            raise UserError("image: nothing was logged yet: call log_points first")
        self.flush()
        if self._pictures is None:
            from raytracer.in_situ.recording import PictureRecorder

            self._pictures = PictureRecorder(self._settings, self._fps)
        latest = {name: Points.of(name, given) for name, given in self._logged.items()}
        return self._pictures.render_image(make_scene(self._make_state(latest)))

    def _make_state(self, sets: Mapping[str, Points]) -> State:
        """Return copies of some sets as they are now. Raises UserError."""
        read = dict[str, Any]()
        for name, points in sets.items():
            arrays = points.move_to(name).arrays
            read[name] = {key: array.copy() for key, array in arrays.items()}, points.values
        return State(read, self._about)

    def wait(self) -> None:
        """Show the latest state until the user closes the view, or presses Ctrl-C.

        It returns at once where no window or page is open.
        """
        self.flush()
        try:
            for sink in self._sinks:
                if isinstance(sink, ViewSink):
                    sink.runner.wait()
                    sink.is_shown()
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Show nothing more, and complete the movie; a second call does no harm.

        At the end of a `with` block that an exception leaves, and at the end of a program that does
        not close the view, what is wrong with the movie is a warning.

        Raises:
            UserError: the movie could not be written completely.
        """
        atexit.unregister(self._close_or_warn)
        with ExitStack() as stack:  # the others are completed where one fails
            stack.callback(self._end)
            stack.enter_context(self._lock)
            for sink in self._sinks:
                if sink.is_shown():
                    stack.callback(sink.flush, self._about)

    def flush(self) -> None:
        """Show what was logged last, if it was left out because it came too soon.

        The arrays are copied as they are now. `wait`, `image` and `close` do this too, and so does
        the end of a cell in a notebook. A movie has the step as a whole, when that has ended.
        """
        with self._lock:
            for sink in self._sinks:
                if isinstance(sink, ViewSink) and sink.is_shown():
                    sink.flush(self._about)

    def _end(self) -> None:
        sinks, self._sinks = self._sinks, []
        if self._shell is not None:
            with suppress(ValueError):  # by an earlier call
                self._shell.events.unregister("post_run_cell", self._after_cell)
        try:
            for sink in sinks:
                sink.runner.close()
            for sink in sinks:
                sink.finish()
        except BaseException:
            for sink in sinks:
                sink.runner.kill()
            raise
        finally:
            if self._pictures is not None:
                self._pictures.close()
            self._pictures = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._close_or_warn()  # the exception of the block is raised

    def _close_or_warn(self) -> None:
        try:
            self.close()
        except RaytracerError as error:
            warn(str(error))
