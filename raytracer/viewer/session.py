"""Session: an interactive view of a scene, without a window.

Desktop window, browser and notebook are front ends of a session: they pass it actions by name
(`Session.do`), which are functions of it (`actions`), and show its pictures (`Session.picture`) and
state (`panel.describe_state`). All of this happens in one thread of the front end; a render thread
and a loading thread call `wake` when there is something new.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import RaytracerError, SceneError, UserError
from raytracer.config.tone_settings import ToneSettings
from raytracer.model.camera import Camera
from raytracer.model.render_space import Space
from raytracer.model.scene import Scene
from raytracer.packing.view import View as PackedView
from raytracer.viewer import actions, messages, orbit_camera
from raytracer.viewer.content import Content, Edits
from raytracer.viewer.frames import FrameLoader, Frames
from raytracer.viewer.loaded_scene import Hit, LoadedScene
from raytracer.viewer.messages import (
    Frame,
    LoadReport,
    Message,
    Pick,
    PickReport,
    RenderRequest,
    format_error,
)
from raytracer.viewer.orbit_camera import OrbitCamera
from raytracer.viewer.selection_overlay import draw_layer_over
from raytracer.viewer.watch import CHECK_INTERVAL
from raytracer.viewer.worker import CPU_SLICE, GPU_SHARE, Worker

NOTICE_SECONDS = 4.0  # seconds for which a message is shown
PLAIN, TECHNICAL = 1, 2  # levels of the status text; 0 is none
MAX_PICKS = 4  # most picks: four define a dihedral angle

MAX_STEPS = 200
SAME_SECONDS = 0.7  # within which repetitions of an action, such as a drag, are one step


@dataclass
class Prompt:
    """A question, and its answer as far as it is typed."""

    label: str  # the question
    hint: str  # examples, and what Enter does
    answer: Callable[[str], None]  # handles the answer; may raise UserError
    default: str  # shown while nothing is typed
    typed: str = ""

    def __str__(self) -> str:
        return f"{self.label}: {self.typed or self.default}▏\n{self.hint}"


@dataclass
class Playback:
    """The frames of a trajectory, and how they are played."""

    count: int = 1  # of frames; 1 until they are counted
    playing: bool = False
    speed: float = 1.0  # factor of `FRAME_RATE`
    follows: bool = False  # whether to show the last frame of a growing file
    waited: float = 0.0  # seconds since the latest frame
    refused: int = 0  # frames since then that cannot be read; playing goes on after them


class Snapshot(NamedTuple):
    """The state that undo restores."""

    view: OrbitCamera
    space: Space  # the render space of the view
    edits: Edits
    tone: ToneSettings
    content: Content  # undo does not change the frame


@dataclass
class History:
    before: list[Snapshot] = field(default_factory=list)
    after: list[Snapshot] = field(default_factory=list)
    latest: tuple[str, float] = "", 0.0  # name of the latest action, and when it was repeated


class HostFrame(NamedTuple):
    """A frame on the host; a draft has fewer pixels than its request, to be stretched."""

    frame: Frame  # whose own picture is overwritten later
    pixels: NDArray[np.uint8]  # uint8 (h, w, 4), straight alpha, row 0 on top; owned by the caller
    number: int  # counts the pictures of a session from 1


@dataclass(eq=False)
class Session:
    """Scene, camera, light, tone and texts of a front end; see `open`. Also a context manager.

    Each change submits a render request. Raises SceneError if the scene cannot be packed.
    """

    loaded_scene: LoadedScene
    worker: Worker  # the render thread
    size: tuple[int, int]  # of the picture in pixels
    loader: FrameLoader  # loads frames and contents
    tone: ToneSettings = field(default_factory=ToneSettings)
    say: Callable[[str], None] = print  # prints a line
    news: Event = field(default_factory=Event)  # set when other threads have something new

    time: Playback = field(default_factory=Playback)
    view: OrbitCamera = field(init=False)
    # The latest requested content; the shown scene may have an earlier one.
    content: Content = field(init=False)
    edits: Edits = field(default_factory=Edits)
    turning: bool = False  # whether the turntable turns
    history: History = field(default_factory=History)
    views: dict[str, tuple[OrbitCamera, Space]] = field(default_factory=dict)  # saved by name
    keyframes: dict[float, Camera] = field(default_factory=dict)  # by time
    picks: list[Pick] = field(default_factory=list)  # the latest last

    overlay: int = PLAIN  # level of the text
    panel: bool = False
    full_screen: bool = False
    help: int = 0  # the page shown, 0 for none
    help_pages: int = 1
    prompt: Prompt | None = None
    answered: tuple[Prompt, Content] | None = None  # the latest prompt, and what it asked for
    refused: int = 0  # number of contents that could not be shown
    reload_error: str = ""  # why the changed file is not shown
    frame: Frame | None = None  # on the screen
    failure: BaseException | None = None  # of the render thread
    closing: bool = False

    def __post_init__(self) -> None:
        self._notice = "", 0.0  # the latest message, and when it ends
        self._pictures, self._watched = 0, perf_counter()
        self.initial_tone = self.tone
        self.samples = self.loaded_scene.job.settings.samples
        self.content = self.loaded_scene.content
        self.view = self.loaded_scene.make_initial_view(self.size)
        self.vertical_fov = (self.loaded_scene.scene.camera or Camera()).vertical_fov
        self.submit(self.pack())
        self.notify_of_scene()

    @classmethod
    def start(
        cls,
        frames: Frames,
        loaded_scene: LoadedScene,
        size: tuple[int, int],
        wake: Callable[[], None] | None = None,
        say: Callable[[str], None] = print,
    ) -> Self:
        """Start rendering the first frame, at a size in pixels."""
        device, news = loaded_scene.job.device, Event()
        if not device.has_own_memory:
            device.budget = CPU_SLICE

        def ring() -> None:
            news.set()
            if wake is not None:
                wake()

        shares_gpu = frames.live is not None and device.has_own_memory
        worker = Worker(ring, frames.adaptive, GPU_SHARE if shares_gpu else 1.0)
        loader = FrameLoader(frames, worker.post)
        tone = ToneSettings.of(frames.tone, loaded_scene.job.tone)
        session = cls(loaded_scene, worker, size, loader, tone, say, news)
        if frames.live is None:
            loader.count()
        else:
            frames.live.on_change = ring
            ring()  # for the end, if it came while the first state was loaded
        if session.content.hidden:  # what is hidden is not there yet
            session.show(session.content)
        return session

    @classmethod
    def open(
        cls,
        scene: object,
        *,
        wake: Callable[[], None] | None = None,
        say: Callable[[str], None] = print,
        **settings: Any,
    ) -> Self:
        """Load a scene and start rendering it; `settings` as for `Frames`."""
        frames = Frames(scene, **settings)
        loaded_scene = frames.load_first(frames.notice)
        try:
            return cls.start(frames, loaded_scene, loaded_scene.size, wake, say)
        except BaseException:
            loaded_scene.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def do(self, name: str, /, *values: Any, **named: Any) -> Any:
        """Run an action of `ACTIONS`, with positional or named arguments.

        Raises:
            UserError: there is no such action, its arguments are wrong, or it cannot be done now.
                Whatever else it raises is the cause of one; the view is then as before.
        """
        action = actions.find_action(name)
        arguments, before = action.bind_arguments(values, named), self.snapshot()
        try:
            result = action.function(self, **arguments)
        except RaytracerError:
            raise
        except Exception as error:
            self.view, _, self.edits, self.tone, self.content = before
            raise UserError(format_error(error, f"{action.name}: failed")) from error
        if action.undo:
            self.record(action.name, before)
        return result

    # The scene, its camera and its light

    @property
    def space(self) -> Space:
        return self.loaded_scene.buffers.space

    @property
    def camera(self) -> Camera:
        return orbit_camera.make_camera(self.view, self.loaded_scene.buffers)

    @property
    def edited_scene(self) -> Scene:
        """The scene with the edits."""
        return self.edits.apply_to(self.loaded_scene.scene)

    @property
    def picked(self) -> Pick | None:
        """The latest pick, if it is shown."""
        pick = self.picks[-1] if self.picks else None
        return pick if pick and self.loaded_scene.find_id(pick.number) is not None else None

    @property
    def is_moving(self) -> bool:
        """Whether something moves by itself."""
        return self.turning or self.time.playing

    @property
    def frame_number(self) -> int:
        """Number of the shown or requested frame, from 0."""
        frame = self.content.frame
        if frame is None:
            frame = self.loader.frames.initial or 0
        return frame + self.time.count if frame < 0 else frame

    def set_view(self, changed: OrbitCamera) -> None:
        self.view = changed
        self.request_render()

    def move(self, changed: OrbitCamera) -> None:
        """Render a view, unless a giant is in the way."""
        self.set_view(self.loaded_scene.giants.keep_outside(changed, self.view))

    def set_edits(self, changed: Edits) -> None:
        self.edits = changed
        self.request_render()

    def resize(self, width: int, height: int) -> None:
        """Follow the size of the window, in pixels; a view of all spheres is fitted again."""
        if (width, height) == self.size or width < 1 or height < 1:
            return
        self.size = width, height
        if self.view.fits_all:
            self.view = self.loaded_scene.fit_all(self.view, self.size)
        self.request_render()

    # Rendering

    def pack(self) -> PackedView:
        """Return the packed view of the current state. Raises SceneError."""
        return self.loaded_scene.pack_view(self.view, self.size, self.edits)

    def request(self, view: PackedView, samples: int) -> RenderRequest:
        """Return a request for the picture of a view with the current edits and tone."""
        width, height = view.size
        settings = self.edited_scene.render.override(width=width, height=height, samples=samples)
        job = replace(self.loaded_scene.job, view=view, settings=settings)
        return RenderRequest(self.loaded_scene, job, self.tone)

    def submit(self, view: PackedView) -> None:
        self.requested = view  # that of the latest request
        self._before = self.view, self.edits
        self.worker.show(self.request(view, self.samples))

    def request_render(self) -> None:
        """Submit the current state; a state that cannot be packed is undone, with a message."""
        try:
            view = self.pack()
        except SceneError as error:
            self.view, self.edits = self._before
            self.notify(str(error))
            return
        self.submit(view)

    def show(self, content: Content) -> None:
        """Request a content; it is shown once loaded."""
        self.content = content
        self.loader.show(content, self.loaded_scene)

    def present(self, frame: Frame) -> Frame | None:
        """Note which frame is on the screen now, and return the one before."""
        before, self.frame = self.frame, frame
        self.follow()
        return before

    def follow(self) -> None:
        """Ask for the latest state of a simulation, as soon as the one before is on the screen: so
        none are loaded while nothing is shown."""
        live = self.loader.frames.live
        if live is None:
            return
        if live.closed:
            self.closing = True
        if self.worker.save_job is not None:  # of the state that is shown
            return
        is_loading = self.content.frame != self.loaded_scene.content.frame
        is_shown = self.frame is not None and self.frame.request.loaded_scene is self.loaded_scene
        if is_shown and not is_loading and live.has_newer():
            self.show(replace(self.content, frame=self.frame_number + 1))

    # Messages

    @property
    def notice(self) -> str:
        return self._notice[0] if self.notice_left else ""

    @property
    def notice_left(self) -> float:
        return max(self._notice[1] - perf_counter(), 0.0)

    def notify(self, text: str) -> None:
        """Show a message for `NOTICE_SECONDS`."""
        self._notice = text, perf_counter() + NOTICE_SECONDS

    def notify_of_scene(self) -> None:
        """Show the warnings of a loaded scene, or that it has no spheres."""
        warnings = self.loaded_scene.job.warnings
        if warnings:
            count = len(warnings) - 1
            more = f" (and {count} more in the terminal)" if count else ""
            self.notify(warnings[0] + more)
        if not self.loaded_scene.buffers.count:
            self.notify(f"{self.loaded_scene.name} has no spheres")

    # Undo

    def snapshot(self) -> Snapshot:
        return Snapshot(self.view, self.space, self.edits, self.tone, self.content)

    def record(self, name: str, before: Snapshot) -> None:
        """Store the state before an action, unless it continues the previous action."""
        history, now = self.history, perf_counter()
        latest, when = history.latest
        history.latest = name, now
        if name != latest or now - when >= SAME_SECONDS:
            history.before = [*history.before[1 - MAX_STEPS :], before]
            history.after = []

    # Pictures

    def receive(self) -> None:
        """Handle the messages of other threads, ask for the state of a simulation, and reload the
        scene if its files have changed, which is checked every `CHECK_INTERVAL`."""
        while not self.worker.messages.empty():
            try:
                self.handle_message(self.worker.messages.get())
            except Exception as error:
                self.notify(format_error(error, "the view: a request failed"))
        self.follow()
        watch, now = self.loader.frames.watch, perf_counter()
        if watch is not None and now - self._watched >= CHECK_INTERVAL:
            self._watched = now
            if not self.loader.is_busy("reload") and watch.has_changed():
                self.loader.reload(watch, self.content, self.loaded_scene)

    def picture(self, timeout: float = 0.0) -> HostFrame | None:
        """Handle messages, and return the latest picture if it is new."""
        end = perf_counter() + timeout
        while True:
            self.news.clear()
            self.receive()
            frame = None if self.failure is not None else self.worker.take_frame()
            if frame is not None:
                return self._copy_frame(frame)
            left = end - perf_counter()
            if left <= 0.0 or self.failure is not None:
                return None
            self.news.wait(min(left, CHECK_INTERVAL))

    def _copy_frame(self, frame: Frame) -> HostFrame:
        with frame.request.loaded_scene.job.device.turn():
            pixels = frame.picture.to_host()
        pixels = draw_layer_over(pixels, frame.marks)
        self.worker.release(self.present(frame))
        self._pictures += 1
        return HostFrame(frame, pixels, self._pictures)

    # Messages of other threads

    def handle_message(self, message: Message) -> None:
        """Handle a message of another thread."""
        match message:
            case messages.PickReport():
                self._handle_pick(message)
            case messages.SaveReport(path):
                self.say(str(path))
                self.notify(f"saved {path}")
            case messages.RefusalReport(sentence, reloaded=True):
                self.reload_error = sentence
                self.notify("")  # an older message would seem to refer to this change
            case messages.RefusalReport(sentence, content):
                if content is not None and content == self.content:
                    self.content, self.refused = self.loaded_scene.content, self.refused + 1
                    if self.answered is not None and self.answered[1] is content:
                        self.prompt = self.prompt or self.answered[0]  # to correct it
                self.time.refused += self.time.playing
                self.notify(sentence)
            case messages.LoadReport(loaded, reloaded):
                self._handle_loaded(loaded, reloaded)
            case messages.CountReport(count):
                self._handle_count(count)
            case messages.FailureReport(error):
                self.failure, self.closing = error, True

    def _handle_pick(self, message: PickReport) -> None:
        """Take a pick, also of a scene that was replaced by other colours of the same frame."""
        pick, clicked, scene = message.pick, message.loaded_scene, self.loaded_scene
        if clicked is not scene and (
            pick is None
            or clicked.all_particles is not scene.all_particles
            or scene.find_id(pick.number) is None
        ):
            return
        others = self.picks if message.add else []
        if pick is not None:
            others = [each for each in others if each.number != pick.number]
            self.picks = [*others, pick][-MAX_PICKS:]
            if message.go:
                self.do("fit-picked")
            return
        before, self.picks = self.picked, others
        ended = f"; sphere {before.number:,} is no longer picked" if before and not others else ""
        self.notify(f"there is no sphere here{ended}")

    def _handle_loaded(self, loaded: LoadedScene, reloaded: bool) -> None:
        """Show a scene; the camera stays, unless the changed file states another."""
        if not loaded.owns_memory and loaded.job.scene is not self.loaded_scene.job.scene:
            self.show(self.content)  # the memory that it shares is that of a replaced scene
            return
        old, self.loaded_scene = self.loaded_scene, loaded
        self.time.refused = 0
        other_box = old.content.settings.get("box") != loaded.content.settings.get("box")
        if reloaded and old.scene.camera != loaded.scene.camera:
            self.view = loaded.make_initial_view(self.size)
        elif self.view.fits_all and (reloaded or other_box):
            self.view = loaded.fit_all(self.view, self.size)
        else:
            same = orbit_camera.change_space(self.view, old.buffers.space, loaded.buffers.space)
            self.view = loaded.giants.keep_outside(same, same)
        if reloaded:
            self.reload_error, self.samples = "", loaded.job.settings.samples
            stated = [
                (scene.lights, scene.render.look, scene.render.integrator, scene.background,
                 scene.ground)
                for scene in (old.scene, loaded.scene)
            ]  # fmt: skip
            if stated[0] != stated[1]:
                self.edits = Edits()
            self.notify(f"{loaded.name} was reloaded")
        try:
            self.submit(self.pack())
        except SceneError:  # view or edits are invalid in the new scene
            self.edits, self.view = Edits(), loaded.make_initial_view(self.size)
            self.submit(self.pack())
        self.notify_of_scene()
        if reloaded and self.content != loaded.content:  # another one was requested meanwhile
            self.show(self.content)
        self._follow_picks(old)

    def _handle_count(self, count: int) -> None:
        """Note the number of frames; at the end of a growing file, show its new end."""
        time = self.time
        grew = count > time.count > 1
        was_last = self.frame_number == time.count - 1
        time.count = max(count, 1)
        if grew:
            self.notify(f"{time.count:,} frames")
        if (grew and was_last and time.follows) or self.frame_number >= time.count:
            self.do("frame", time.count - 1)

    def _follow_picks(self, old: LoadedScene) -> None:
        """Follow the picked particles to the scene that is shown now, by the ids of its file. Lost
        ones are dropped, and the latest is described again."""
        scene, latest = self.loaded_scene, self.picks[-1] if self.picks else None
        moved = [each.carry_to(old.all_particles, scene.all_particles) for each in self.picks]
        self.picks = [each for each in moved if each is not None]
        if latest is not None and moved[-1] is None:
            if scene.content is old.content:
                self.notify(f"{scene.name} was reloaded; sphere {latest.number:,} is gone")
        elif (pick := self.picked) is not None:
            hit = Hit(scene.find_id(pick.number) or 0, pick.point)
            self.loader.request("pick", PickReport.of, scene, hit, False, True)

    # End

    def stop(self) -> bool:
        """End all threads; return whether they have ended, so that memory may be freed."""
        self.loader.stop(wait=False)
        stopped = self.worker.stop()
        self.loader.stop()
        return stopped

    def close(self) -> None:
        """End all threads and free all memory; may be called twice."""
        if self.stop():  # otherwise the render thread still uses the memory
            self.free()

    def free(self) -> None:
        queue = self.worker.messages
        unread = [queue.get() for _ in range(queue.qsize())]
        for each in unread:
            if isinstance(each, messages.SaveReport):  # a file that was written to its end
                self.handle_message(each)
        if not isinstance(self.failure, RaytracerError):  # a lost GPU's memory is lost too
            unshown = [each.loaded_scene for each in unread if isinstance(each, LoadReport)]
            for loaded_scene in (*self.worker.loaded_scenes, *unshown):
                loaded_scene.close()
