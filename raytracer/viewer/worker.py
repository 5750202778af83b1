"""The render thread: coarse and quick while something moves, then finer, then more samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Condition, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError
from raytracer.viewer.messages import Failed, Frame, Message, Metered, Refused, RenderRequest
from raytracer.viewer.progressive_film import ProgressiveFilm, Superseded
from raytracer.viewer.resolution import ResolutionController, finer

if TYPE_CHECKING:
    from raytracer.viewer.loaded_scene import LoadedScene
    from raytracer.viewer.save_job import SaveJob

IDLE_DELAY = 0.08
"""Seconds without a new order after which the picture counts as at rest."""

PATIENCE = 0.35
"""Seconds that the step from a coarse picture to the full resolution may take at once."""

IDLE_INTERVAL = 1.0 / 30.0
"""Seconds between two pictures at rest."""

PRESENT_TIMEOUT = 0.02
"""Seconds that the window has to fetch a frame before more is rendered: on a GPU it has to wait
for a pass that has begun."""

MAX_PASS_SECONDS = 0.25
"""Seconds after which a pass gives way to a task or another tone curve, and is done again."""

MIN_IDLE_SAMPLES = 2
"""Samples per pixel from which a filtered picture is nearer to the finished one than a draft."""

CPU_SLICE = 0.02
"""Seconds after which the CPU's kernel returns, so that a pass can be left."""


Task = Callable[[], "Message | Task"]
"""Something to be done in the render thread."""


class Worker:
    """Renders what was ordered last. Its methods are the window's; `wake` is called by the thread.

    wake: told that there is a frame or a message. adaptive: False renders at full size always.
    """

    def __init__(self, wake: Callable[[], None], adaptive: bool = True) -> None:
        self.messages: SimpleQueue[Message] = SimpleQueue()
        self.resolution = ResolutionController() if adaptive else ResolutionController(level=0)
        self._adaptive = adaptive
        self._wake = wake
        self._changed = Condition()
        self._stopped = False
        self._request: RenderRequest | None = None  # the newest
        self._loaded_scenes: list[
            LoadedScene
        ] = []  # that were ordered and are not closed, in this order
        self._tasks: deque[Task] = deque()
        self._save_job: SaveJob | None = None
        self._ready: Frame | None = None
        self._on_screen = True  # whether the latest frame is
        self._free: list[Any] = []  # pictures that nobody looks at
        self._current: RenderRequest | None = None  # what the film is of
        self._film = ProgressiveFilm()
        self._saves = False  # whether the last thing done at rest was a part of what is saved
        self._settled = 0.0  # when a picture at rest may begin
        self._published = 0.0  # when the latest frame was
        self._aside = ThreadPoolExecutor(1, "aside")
        self._thread = Thread(target=self._run, name="render", daemon=True)
        self._thread.start()

    # The window's side

    def show(self, request: RenderRequest) -> None:
        """Render this from now on."""
        with self._changed:
            self._request = request
            if request.loaded_scene not in self._loaded_scenes:
                self._loaded_scenes.append(request.loaded_scene)
            self._changed.notify()

    def ask(self, task: Task) -> None:
        """Do something with the backend between two passes; its message follows.

        What needs no backend any more, and may take long, is done aside: return a function of it.
        """
        with self._changed:
            self._tasks.append(task)
            self._changed.notify()

    def meter(self) -> None:
        """Tell the exposure of the newest picture."""
        self.ask(self._meter)

    def save(self, save_job: SaveJob | None) -> bool:
        """Render a picture to be kept, whenever nothing moves; None gives up the one begun.

        Gives False where that one is being written already.
        """
        with self._changed:
            if self._save_job is not None and self._save_job.writing:
                return False
            self._save_job = save_job
            self._changed.notify()
            return True

    @property
    def loaded_scenes(self) -> list[LoadedScene]:
        """Those that were ordered and are not closed yet."""
        return list(self._loaded_scenes)

    @property
    def save_job(self) -> SaveJob | None:
        """The picture that is being rendered to be kept."""
        return self._save_job

    def take(self) -> Frame | None:
        """The newest frame that was not taken yet; `give_back` it when another is shown."""
        with self._changed:
            frame, self._ready = self._ready, None
            return frame

    def give_back(self, frame: Frame | None) -> None:
        """The frame that was taken is on the screen, and the one before may be painted over."""
        with self._changed:
            if frame is not None:
                self._free.append(frame.picture)
            self._on_screen = True
            self._changed.notify()

    def stop(self, seconds: float = 2.0) -> bool:
        """Leave what is being done; waits a moment for the thread to end, and says if it has.

        Then the film's memory is given back.
        """
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._aside.shutdown(wait=False, cancel_futures=True)
        self._thread.join(seconds)
        ended = not self._thread.is_alive()
        if ended:
            self._film.drop()
        return ended

    # The thread's side

    def _run(self) -> None:
        try:
            while not self._stopped:
                with suppress(Superseded):
                    self._step()
        except BaseException as error:
            self._tell(Failed(error))

    def _step(self) -> None:
        """Do the most urgent thing, or wait for one."""
        with self._changed:
            request = self._request
            task = self._tasks.popleft() if self._tasks else None
        if request is not None and request is not self._current:
            self._take_up(request)
            if task is not None:
                self._perform(task)
        elif task is not None:
            self._perform(task)
        elif self._save_job is not None and self._may_save():
            self._save_on(self._save_job)
        elif self._current is not None and not self._rested():
            self._refine(self._current)
        else:
            with self._changed:
                if not (self._stopped or self._tasks or self._save_job or self._new()):
                    self._changed.wait(self._pause())

    def _new(self) -> bool:
        return self._request is not self._current

    def _may_save(self) -> bool:
        """The window's picture becomes sharp first; then both take turns."""
        if self._current is not None and not self._rested():
            sharp = self._film.samples > 0 and self._film.size == self._current.size
            self._saves = sharp and not self._saves
            return self._saves
        return True

    def _pause(self) -> float | None:
        """Seconds until there is something to do without being asked; None for ever."""
        if self._current is None or self._film.finished(self._current):
            return None
        return max(self._settled - perf_counter(), 0.0)

    def _rested(self) -> bool:
        """Whether nothing is left to refine, or it is too early for that."""
        assert self._current is not None
        return self._film.finished(self._current) or perf_counter() < self._settled

    def _take_up(self, request: RenderRequest) -> None:
        """Show a new order at once: coarse if it moved, else the same film in other tones."""
        before, self._current = self._current, request
        same = before is not None and before.buffers is request.buffers
        if same and self._film.samples:
            self._publish(request, 0.0, 0.0)
            self._let_show()
            return
        if self._loaded_scenes[0] is not request.loaded_scene:
            self._leave_stages(request.loaded_scene)
        start = perf_counter()
        self._first_sample(request)
        self._publish(request, self._rate(1, start), start)
        painted = perf_counter()
        self._settled = painted + IDLE_DELAY
        self._let_show()
        self.resolution.record(self._film.pixels, painted - start, perf_counter() - painted)

    def _first_sample(self, request: RenderRequest) -> None:
        """Begin the film anew, as fine as a moving picture may be."""
        size = self.resolution.choose(request.size) if self._adaptive else request.size
        self._film.begin(request, size, draft=True)
        self._film.expose(request, 1, self._leave_if_stopped)

    def _rate(self, count: int, start: float) -> float:
        """Camera rays a second since then."""
        return count * self._film.pixels / max(perf_counter() - start, 1e-9)

    def _let_show(self) -> None:
        """Give the window a moment to fetch the frame."""
        with self._changed:
            self._changed.wait_for(lambda: self._on_screen or self._stopped, PRESENT_TIMEOUT)

    def _leave_stages(self, loaded_scene: LoadedScene) -> None:
        """Give back the memory of the scenes that this one replaces."""
        self._film.drop()
        with self._changed:
            count = self._loaded_scenes.index(loaded_scene)
            left, self._loaded_scenes = self._loaded_scenes[:count], self._loaded_scenes[count:]
            save_job = self._save_job
            if save_job is not None and (save_job.loaded_scene not in left or save_job.writing):
                save_job = None
            self._save_job = None if save_job else self._save_job
        if save_job is not None:
            self._tell(Refused(f"{save_job.path}: not saved, because the scene was reloaded"))
        for each in left:
            each.close()

    def _refine(self, request: RenderRequest) -> None:
        """A finer picture, or more samples."""
        start, film = perf_counter(), self._film
        if film.film is None or (film.draft and film.samples and film.size == request.size):
            film.begin(request, request.size, draft=False)
        elif film.size != request.size:
            film.begin(
                request, finer(film.size, request.size, self.resolution, PATIENCE), draft=True
            )
        expected = max(self.resolution.seconds(film.size), 1e-6)
        rest = request.loaded_scene.job.device.pass_seconds if film.samples else 0.0
        wanted = 1 if film.draft else request.samples
        count = min(max(int(rest / expected), 1), wanted - film.samples)
        film.add(request, count, partial(self._leave, start), count * expected > MAX_PASS_SECONDS)
        self.resolution.learn(film.pixels, (perf_counter() - start) / count)
        clean = film.draft or film.samples >= min(MIN_IDLE_SAMPLES, request.samples)
        due = (
            count == 1 or film.finished(request) or perf_counter() - self._published > IDLE_INTERVAL
        )
        if clean and due:
            self._publish(request, self._rate(count, start), start)
            self._let_show()

    def _leave_if_stopped(self, _: float) -> None:
        if self._stopped:
            raise Superseded

    def _leave(self, start: float, _: float) -> None:
        """Leave a pass at rest for what is more urgent."""
        request, current = self._request, self._current
        if self._stopped or (request and current and request.buffers is not current.buffers):
            raise Superseded
        waits = self._film.yields and (self._tasks or self._new())
        if waits and perf_counter() - start > MAX_PASS_SECONDS:
            raise Superseded

    def _publish(self, request: RenderRequest, rate: float, start: float) -> None:
        """Develop the film and put the frame where the window finds it."""
        job, film = request.loaded_scene.job, self._film.film
        assert film is not None
        with self._changed:
            picture = self._free.pop() if self._free else None
        picture = picture or job.device.picture()
        film.develop_into(request.tone, picture)
        seconds = perf_counter() - start if start else 0.0
        size, draft = self._film.size, self._film.draft
        frame = Frame(request, picture, size, film.samples, rate, seconds, draft)
        with self._changed:
            if self._ready is not None:
                self._free.append(self._ready.picture)
            self._ready, self._on_screen = frame, False
        self._published = perf_counter()
        self._wake()

    def _perform(self, task: Task) -> None:
        try:
            found = task()
        except UserError as error:
            found = Refused(str(error))
        if not callable(found):
            self._tell(found)
        elif not self._stopped:
            with suppress(RuntimeError):  # stopped at this moment
                self._aside.submit(self._perform, found)

    def _meter(self) -> Message:
        request = self._current
        if request is None:
            return Refused("there is no picture yet")
        if not self._film.samples:  # the pass was left for this
            self._first_sample(request)
        assert self._film.film is not None
        _, histogram = self._film.film.develop(request.tone, 8)
        return Metered(request.tone.stops(histogram))

    def _save_on(self, save_job: SaveJob) -> None:
        """Another part of the picture to be kept."""
        try:
            done = save_job.step(self.resolution.per_pixel)
        except UserError as error:
            done = Refused(str(error))
        if done is None:
            self._wake()  # its fraction is shown
            return
        with self._changed:
            if self._save_job is save_job:
                self._save_job = None
        self._tell(done)

    def _tell(self, message: Message) -> None:
        self.messages.put(message)
        self._wake()
