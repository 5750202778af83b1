"""Viewer state: what a front end shows, and the calls that render it.

Actions are functions of this state (`actions`); the thread of the front end calls them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple

from raytracer.buffers import SceneBuffers
from raytracer.errors import SceneError
from raytracer.film.tone_settings import ToneSettings
from raytracer.scene.camera import Camera
from raytracer.scene.packing.render_space import Space
from raytracer.scene.scene import Scene
from raytracer.viewer import actions, orbit_camera
from raytracer.viewer.content import Content
from raytracer.viewer.edits import Edits
from raytracer.viewer.frames import FrameLoader
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import Frame, Pick, RenderRequest
from raytracer.viewer.orbit_camera import View
from raytracer.viewer.worker import Worker

NOTICE_SECONDS = 4.0  # seconds for which a message is shown
PLAIN, TECHNICAL = 1, 2  # levels of the status text; 0 is none

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
class Clock:
    """The frames of a trajectory, and how they are played."""

    initial: int | None = None  # the frame loaded first; None: the file's
    count: int = 1  # of frames; 1 until they are counted
    playing: bool = False
    speed: float = 1.0  # factor of `timeline.FRAME_RATE`
    follows: bool = False  # whether to show the last frame of a growing file
    waited: float = 0.0  # seconds since the latest frame


class Snapshot(NamedTuple):
    """The state that undo restores."""

    view: View
    space: Space  # the render space of the view
    edits: Edits
    tone: ToneSettings
    content: Content  # undo does not change the frame


@dataclass
class History:
    before: list[Snapshot] = field(default_factory=list)
    after: list[Snapshot] = field(default_factory=list)
    latest: tuple[str, float] = "", 0.0  # name of the latest action, and when it was repeated


@dataclass(eq=False)
class ViewerState:
    """Scene, camera, light, tone and texts of a front end.

    Each change submits a render request. Raises SceneError if the scene cannot be packed.
    """

    loaded_scene: LoadedScene
    worker: Worker  # the render thread
    size: tuple[int, int]  # of the picture in pixels
    loader: FrameLoader  # loads frames and contents
    tone: ToneSettings = field(default_factory=ToneSettings)
    say: Callable[[str], None] = print  # prints a line
    time: Clock = field(default_factory=Clock)

    view: View = field(init=False)
    # The latest requested content; the shown scene may have an earlier one.
    content: Content = field(init=False)
    edits: Edits = field(default_factory=Edits)
    turning: bool = False  # whether the turntable turns
    history: History = field(default_factory=History)
    views: dict[str, tuple[View, Space]] = field(default_factory=dict)  # saved by name
    keyframes: dict[float, Camera] = field(default_factory=dict)  # by time

    picks: list[Pick] = field(default_factory=list)  # the latest last

    overlay: int = PLAIN  # level of the text
    panel: bool = False
    full_screen: bool = False
    help: int = 0  # the page shown, 0 for none
    help_pages: int = 1
    prompt: Prompt | None = None
    reload_error: str = ""  # why the changed file is not shown
    frame: Frame | None = None  # on the screen
    failure: BaseException | None = None  # of the render thread
    closing: bool = False

    def __post_init__(self) -> None:
        self._notice = "", 0.0  # the latest message, and when it ends
        self.initial_tone = self.tone
        self.samples = self.loaded_scene.job.settings.samples
        self.content = self.loaded_scene.content
        self.view = self.initial_view()
        self.vertical_fov = (self.loaded_scene.scene.camera or Camera()).vertical_fov
        self.submit(self.pack())
        self.notify_of_scene()

    def do(self, name: str, /, *values: Any, **named: Any) -> Any:
        """Run an action of `ACTIONS`, with positional or named arguments.

        Raises:
            UserError: there is no such action, or its arguments are wrong.
        """
        action = actions.named(name)
        arguments = action.bound(values, named)
        if action.undo:
            self.record(action.name)
        return action.function(self, **arguments)

    # The scene, its camera and its light

    @property
    def space(self) -> Space:
        return self.loaded_scene.buffers.space

    @property
    def aspect(self) -> float:
        return self.size[0] / self.size[1]

    @property
    def camera(self) -> Camera:
        return orbit_camera.camera_of(self.view, self.loaded_scene.buffers)

    @property
    def edited(self) -> Scene:
        """The scene with the edits."""
        return self.edits.applied_to(self.loaded_scene.scene)

    @property
    def picked(self) -> Pick | None:
        """The latest pick, if it is shown."""
        pick = self.picks[-1] if self.picks else None
        return pick if pick and self.loaded_scene.id_of(pick.number) is not None else None

    @property
    def moving(self) -> bool:
        """Whether something moves by itself."""
        return self.turning or self.time.playing

    @property
    def frame_number(self) -> int:
        """Number of the shown or requested frame, from 0."""
        frame = self.content.frame
        if frame is None:
            frame = self.time.initial or 0
        return frame + self.time.count if frame < 0 else frame

    def initial_view(self) -> View:
        """Return the view of the scene's camera."""
        scene = self.loaded_scene
        around = scene.surroundings(self.size)
        return orbit_camera.initial_view(scene.scene.camera, scene.packed, self.aspect, around)

    def showing_all(self, start: View, whole: bool = True) -> View:
        """Return a view of all spheres from the same direction; see `view.to_all`."""
        scene = self.loaded_scene
        around = scene.surroundings(self.size)
        return orbit_camera.to_all(start, scene.packed, self.aspect, whole, around)

    def set_view(self, changed: View) -> None:
        self.view = changed
        self.request_render()

    def move(self, changed: View) -> None:
        """Render a view, unless a giant is in the way."""
        self.set_view(self.loaded_scene.giants.kept_out(changed, self.view))

    def set_edits(self, changed: Edits) -> None:
        self.edits = changed
        self.request_render()

    def resize(self, width: int, height: int) -> None:
        """Follow the size of the window, in pixels; a view of all spheres is fitted again."""
        if (width, height) == self.size or width < 1 or height < 1:
            return
        self.size = width, height
        if self.view.fits_all:
            self.view = self.showing_all(self.view)
        self.request_render()

    # Rendering

    def pack(self) -> SceneBuffers:
        """Return the packed scene of the current state. Raises SceneError."""
        return self.loaded_scene.buffers_for(self.view, self.size, self.edits)

    def submit(self, buffers: SceneBuffers) -> None:
        self.buffers = buffers  # those of the latest request
        self._requested = self.view, self.edits
        settings = self.edited.render
        self.worker.show(
            RenderRequest(self.loaded_scene, buffers, self.tone, self.samples, settings=settings)
        )

    def request_render(self) -> None:
        """Submit the current state; a state that cannot be packed is undone, with a message."""
        try:
            buffers = self.pack()
        except SceneError as error:
            self.view, self.edits = self._requested
            self.notify(str(error))
            return
        self.submit(buffers)

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
        """Ask for the latest state of a simulation, as soon as the one before is on the screen.

        So states are loaded as fast as they are shown, and none while nothing is shown.
        """
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

    def record(self, name: str) -> None:
        """Store the current state before an action, unless it continues the previous action."""
        history, now = self.history, perf_counter()
        before, when = history.latest
        history.latest = name, now
        if name != before or now - when >= SAME_SECONDS:
            history.before = [*history.before[1 - MAX_STEPS :], self.snapshot()]
            history.after = []
