"""Render thread: one coarse sample during interaction; when idle, full size and more samples; and
pictures for files, as `raytracer render` makes them."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Condition, Thread
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.surface import COARSEST
from raytracer.config.errors import BackendError, SceneError, UserError
from raytracer.files import output
from raytracer.film.film import Film
from raytracer.film.image import Image
from raytracer.model.camera import Camera
from raytracer.packing.view import View
from raytracer.system import memory
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import (
    FailureReport,
    Frame,
    Message,
    RefusalReport,
    RenderRequest,
    SaveReport,
    format_error,
)
from raytracer.viewer.progressive_film import (
    ProgressiveFilm,
    ResolutionController,
    Superseded,
    choose_next_size,
)
from raytracer.viewer.selection_overlay import draw_marks

Deliver = Callable[[Image], object]


class SaveJob:
    """Renders the same pixels as `raytracer render` with this camera, size and samples.

    path: of the file. With `deliver`, only a name: that function takes the picture.
    """

    def __init__(
        self, request: RenderRequest, path: Path, camera: Camera | None = None,
        deliver: Deliver | None = None,
    ) -> None:  # fmt: skip
        self._request, self._camera = request, camera
        self.path = path if deliver else output.check_picture(path)
        self._deliver = deliver or (lambda image: image.save(self.path))
        self.fraction = 0.0
        self.writing = False  # whether all is rendered and the file is being written
        width, height = request.size
        memory.require_room(
            str(path), memory.MemoryEstimate(0, width, height).extra, "to be rendered"
        )

    def run(self, check: Callable[[], None]) -> None:
        """Render and write the picture; `check` is called periodically while it is rendered and may
        raise to cancel it."""
        request, job = self._request, self._request.job
        if request.loaded_scene.closed:
            raise UserError(f"{self.path}: not saved, because the scene was reloaded")
        digest = replace(request.loaded_scene.packed, view=job.view).digest()
        about = job.about | {
            "scene": job.about["scene"] | {"digest": digest},
            "settings": vars(job.settings).copy(),
            "camera": {k: v for k, v in vars(self._camera or Camera()).items() if v is not None},
        }  # fmt: skip
        view = job.view.with_samples(0, request.samples)
        job = replace(job, view=view, about=about, timings={}, camera=None, kept=None)

        def progress(fraction: float) -> None:
            self.fraction = fraction
            check()

        with job.device.film(Film.blank(*request.size)) as film:
            job.accumulate(film, request.samples, progress)
            image = job.image(film, request.tone, 8)
        check()
        self.writing = True
        self._deliver(image)


IDLE_DELAY = 0.08  # seconds without a new request after which the preview is idle
FULL_SIZE_SECONDS = 0.35  # maximum for a first pass at full size; otherwise coarser ones precede it

FRAME_SECONDS = 0.1
"""Seconds that the draft of another frame of a trajectory, or state of a simulation, may take: it
follows no hand, and loading takes time as well."""

MAX_LAYER = 1 << 18  # pixels of marks over a draft; more would delay the next draft
IDLE_INTERVAL = 1.0 / 30.0  # seconds between two frames when idle

PRESENT_TIMEOUT = 0.02
"""Seconds that rendering waits for the window to present a frame. On a GPU the window would
otherwise wait for a whole pass."""

MAX_PASS_SECONDS = 0.25  # after which a task or another tone curve may interrupt a pass
MIN_IDLE_SAMPLES = 2  # from which a filtered picture is closer to the result than a draft

MIN_IDLE_RAYS = 8
"""Occlusion rays per pixel from which it is closer than a draft, whose occlusion is smooth: 3 for a
molecule, 6 for packed spheres (docs/research/draft_noise.py)."""

GPU_SHARE = 0.015
"""Largest share of the time of a GPU for pictures without user input, if a simulation computes on
the same GPU."""

PAUSE = 1.0
"""Seconds without a new state after which pictures take all of a GPU: the simulation rests, or its
steps take so long that a picture is little beside them."""

CPU_SLICE = 0.02  # seconds after which the CPU kernel returns, so that a pass can be interrupted


class Worker:
    """Renders the latest request. The window's thread calls public methods.

    share: of the time of the device that new states and refinement may take.
    """

    def __init__(self, wake: Callable[[], None], adaptive: bool = True, share: float = 1.0) -> None:
        self.messages: SimpleQueue[Message] = SimpleQueue()
        self.resolution = ResolutionController() if adaptive else ResolutionController(level=0)
        self._adaptive, self._share = adaptive, share
        self._wake = wake
        self._changed = Condition()
        self._stopped = False
        self._request: RenderRequest | None = None  # the latest
        self.loaded_scenes: list[LoadedScene] = []  # requested and not closed, in order
        self._tasks: deque[Callable[[], None]] = deque()
        self.save_job: SaveJob | None = None
        self._ready: Frame | None = None  # not taken yet
        self._presented = True  # whether the latest frame is on the screen
        self._free_pictures: list[Any] = []
        self.current: RenderRequest | None = None  # that the film is for
        self._film = ProgressiveFilm()
        self._layer: tuple[Any, NDArray[np.uint8] | None] = (None, None)  # with what it is of
        self._idle_from = 0.0  # time at which idle rendering may start
        self._rest_until = 0.0  # time at which the next state may be rendered
        self._arrived = 0.0  # time of the latest state
        self._of_hand: RenderRequest | None = None  # the latest, if it is of the same state
        self._published = 0.0  # time of the latest frame
        self._stops = 0.0  # latest automatic exposure
        self._metered: View | None = None  # of which it is
        self._thread = Thread(target=self._run, name="render", daemon=True)
        self._thread.start()

    # For the window

    def show(self, request: RenderRequest) -> None:
        with self._changed:
            before, self._request = self._request, request
            if before is None or before.frame != request.frame:
                self._arrived, self._of_hand = perf_counter(), None
            else:
                self._of_hand = request
            if request.loaded_scene not in self.loaded_scenes:
                self.loaded_scenes.append(request.loaded_scene)
            self._changed.notify()

    def run_task(self, task: Callable[[], None]) -> None:
        """Run a short function with the backend between two passes; what it raises is a message."""

        def run() -> None:
            try:
                task()
            except (BackendError, Superseded):
                raise
            except Exception as error:
                self.post(RefusalReport(format_error(error, "the view: a request failed")))

        with self._changed:
            self._tasks.append(run)
            self._changed.notify()

    def post(self, message: Message) -> None:
        """Put a message into the queue, and wake the window; thread-safe."""
        self.messages.put(message)
        self._wake()

    def save(self, save_job: SaveJob | None) -> bool:
        """Render a picture to a file before anything else; None cancels, unless it is written."""
        with self._changed:
            if self.save_job is not None and self.save_job.writing:
                return False
            self.save_job = save_job
            self._changed.notify()
            return True

    def take_frame(self) -> Frame | None:
        """Return the latest frame if it is new; call `release` after the next one."""
        with self._changed:
            frame, self._ready = self._ready, None
            return frame

    def release(self, frame: Frame | None) -> None:
        """Note that a new frame is on the screen; the previous one may be overwritten."""
        with self._changed:
            if frame is not None:
                self._free_pictures.append(frame.picture)
            self._presented = True
            self._changed.notify()

    def stop(self, seconds: float = 2.0) -> bool:
        """Interrupt rendering, end the thread and free the film; a file is written to its end."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join(seconds)
        if self.save_job is not None and self.save_job.writing:
            self._thread.join()
        if ended := not self._thread.is_alive():
            self._film.drop()
        return ended

    # In the render thread

    def _run(self) -> None:
        try:
            while not self._stopped:
                with self._changed:
                    work, seconds = self._take_next()
                    if not (work or self._stopped):
                        self._changed.wait(seconds)
                try:
                    for each in work:
                        each()
                except Superseded:
                    pass
                except SceneError as error:  # of arrays of a GPU: what is wrong was not shown
                    self.post(RefusalReport(str(error)))
        except BaseException as error:
            self.post(FailureReport(error))

    def _take_next(self) -> tuple[list[Callable[[], None]], float | None]:
        """Return what to do now, or nothing and for how long at most to wait, in seconds."""
        save_job, request, current = self.save_job, self._request, self.current
        if save_job is not None:
            return [partial(self._save, save_job)], None
        now, work = perf_counter(), list[Callable[[], None]]()
        # until when no pictures without user input are rendered
        resting = min(self._rest_until, self._arrived + PAUSE)
        is_new = request is not current
        is_due = current is None or request is self._of_hand or now >= resting
        if request is not None and is_new and is_due:
            work.append(partial(self._start_request, request))
        if self._tasks:
            work.append(self._tasks.popleft())
        if work or current is None or (not is_new and self._film.is_finished(current)):
            return work, None
        wait = (resting if is_new else max(self._idle_from, resting)) - now
        if wait <= 0.0:
            return [partial(self._refine, current)], None
        return [], wait

    def _start_request(self, request: RenderRequest) -> None:
        before, self.current = self.current, request
        is_same = before is not None and before.job.view is request.job.view
        if is_same and self._film.samples:
            self._publish(request)
            return
        self._replace_scenes(request.loaded_scene)
        is_moved = before is not None and before.frame != request.frame
        start = perf_counter()
        size = request.size
        if self._adaptive:
            size = self.resolution.choose(size, FRAME_SECONDS if is_moved else 0.0)
        self._film.restart(request, size, draft=True)
        self._rest(self._film.add(request, 1, self._check_stop))
        presenting = self._publish(request)
        ready = perf_counter() - presenting
        self._idle_from = ready + IDLE_DELAY
        if is_moved:
            self.resolution.learn(self._film.pixels, ready - start)
        else:
            self.resolution.record(self._film.pixels, ready - start, presenting)

    def _rest(self, seconds: float) -> None:
        """Leave the device to others for a while after it has rendered for so many seconds."""
        self._rest_until = perf_counter() + seconds * (1.0 / self._share - 1.0)

    def _replace_scenes(self, state: LoadedScene) -> None:
        """Free the scenes before this one; one that shares its memory hands that over."""
        for before in self.loaded_scenes:
            if before is not state and before.owns_memory and before.job.scene is state.job.scene:
                try:
                    state.take_over(before)
                except SceneError as error:
                    self.post(RefusalReport(str(error)))
        with self._changed:
            count = self.loaded_scenes.index(state)
            replaced, self.loaded_scenes = self.loaded_scenes[:count], self.loaded_scenes[count:]
        for scene in replaced:
            self._layer = None, None
            scene.close()

    def _refine(self, request: RenderRequest) -> None:
        start, film = perf_counter(), self._film
        if film.film is None or (film.draft and film.samples and film.size == request.size):
            film.restart(request, request.size, draft=False)
        elif film.size != request.size:
            size = choose_next_size(film.size, request.size, self.resolution, FULL_SIZE_SECONDS)
            film.restart(request, size, draft=True)
        expected = max(self.resolution.seconds(film.size), 1e-6)
        pass_seconds = request.job.device.pass_seconds if film.samples else 0.0
        samples = 1 if film.draft else request.samples
        count = min(max(int(pass_seconds / expected), 1), samples - film.samples)
        check = partial(self._check_interrupt, start)
        self._rest(film.add(request, count, check, backup=count * expected > MAX_PASS_SECONDS))
        self.resolution.learn(film.pixels, (perf_counter() - start) / count)
        rays = request.job.view.occlusion_rays
        least = max(MIN_IDLE_SAMPLES, -(-MIN_IDLE_RAYS // rays) if rays else 0)
        is_clean = film.draft or film.samples >= min(least, request.samples)
        is_due = perf_counter() - self._published > IDLE_INTERVAL
        if is_clean and (is_due or count == 1 or film.is_finished(request)):
            self._publish(request)

    def _check_stop(self, _: float) -> None:
        if self._stopped:
            raise Superseded

    def _check_interrupt(self, start: float, _: float) -> None:
        request, current = self._request, self.current
        if self._stopped or (request and current and request.job.view is not current.job.view):
            raise Superseded
        is_urgent = self._film.can_yield and (self._tasks or self._request is not self.current)
        if is_urgent and perf_counter() - start > MAX_PASS_SECONDS:
            raise Superseded

    def _publish(self, request: RenderRequest) -> float:
        """Develop the film into a frame, and return for how long the window has presented it."""
        job, film = request.job, self._film.film
        assert film is not None
        with self._changed:
            picture = self._free_pictures.pop() if self._free_pictures else None
        picture = picture or job.device.picture()
        finished = self._film.is_finished(request)
        if job.settings.denoise and finished:
            self._film.develop_without_noise(request, picture)
        else:
            tone = request.tone
            if self._film.draft and tone.bloom:  # bloom takes longer than a draft
                tone = replace(tone, bloom=0.0)
            film.develop_into(tone, picture)
        if job.plan is not None and not self._film.draft and hasattr(picture, "pixels"):
            job.plan.draw_fixed(picture.pixels, job.view, job.space)
        size, draft, automatic = self._film.size, self._film.draft, request.tone.automatic
        is_metered = self._metered is job.view and not finished
        if automatic and not draft and not is_metered:  # not for each frame: it takes a while
            self._metered = job.view
            self._stops = request.tone.stops(film.develop(request.tone, 8)[1])
        stops = self._stops if automatic else float(request.tone.exposure)
        over = self._draw_marks(request)
        frame = Frame(request, picture, size, film.samples, stops, draft, finished, over)
        with self._changed:
            if self._ready is not None:
                self._free_pictures.append(self._ready.picture)
            self._ready, self._presented = frame, False
        self._published = perf_counter()
        self._wake()
        with self._changed:
            self._changed.wait_for(lambda: self._presented or self._stopped, PRESENT_TIMEOUT)
        return perf_counter() - self._published

    def _draw_marks(self, request: RenderRequest) -> NDArray[np.uint8] | None:
        """Return the marks over the film: coarse ones until it is finished."""
        fine = COARSEST if self._film.is_finished(request) else 1
        factor = 1.0 if fine > 1 else min((MAX_LAYER / self._film.pixels) ** 0.5, 1.0)
        width, height = (max(round(side * factor), 1) for side in self._film.size)
        key = request.job.view, (width, height), fine

        def check() -> None:  # a draft is always shown
            wanted = self._request
            if fine > 1 and wanted is not None and wanted.job.view is not request.job.view:
                raise Superseded

        if self._layer[0] != key:
            self._layer = key, draw_marks(request, (width, height), fine, check)
        return self._layer[1]

    def _save(self, save_job: SaveJob) -> None:
        def check() -> None:
            if self._stopped or self.save_job is not save_job:
                raise Superseded
            self._wake()  # the front end shows the progress

        message: Message = SaveReport(save_job.path)
        try:
            save_job.run(check)
        except Superseded:
            raise
        except Exception as error:
            message = RefusalReport(format_error(error, f"{save_job.path}: not saved"))
        with self._changed:
            if self.save_job is save_job:  # another one may wait
                self.save_job = None
        self.post(message)
