"""Viewer: the state of a preview, and the actions of its controls. It draws nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from math import hypot
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.arguments import one_of
from raytracer.errors import SceneError, UserError
from raytracer.film.tone_settings import CURVES, MAX_STOPS, ToneSettings
from raytracer.layout import code
from raytracer.scene.camera import Camera
from raytracer.scene.describe import describe
from raytracer.scene.load import is_scene
from raytracer.viewer import actions, as_toml, command_line, edits, view
from raytracer.viewer.actions import action
from raytracer.viewer.data import DataView
from raytracer.viewer.frames import FrameLoader, Frames, loading_text
from raytracer.viewer.history import History
from raytracer.viewer.keyframes import CameraKeys
from raytracer.viewer.menu import Menu
from raytracer.viewer.messages import (
    Broken,
    Counted,
    Failed,
    Frame,
    Loaded,
    Message,
    Metered,
    Opened,
    Picked,
    Refused,
    RenderRequest,
    Saved,
    Shown,
    Staged,
)
from raytracer.viewer.named_views import NamedViews
from raytracer.viewer.outputs import Outputs
from raytracer.viewer.prompt import MOST_LETTERS, DataQuestions, Question
from raytracer.viewer.save_job import SaveJob, parse_size
from raytracer.viewer.status import PLAIN, TECHNICAL
from raytracer.viewer.timeline import TimeLine

if TYPE_CHECKING:
    from raytracer.buffers import SceneBuffers
    from raytracer.scene.describe import SphereInfo
    from raytracer.scene.packing.render_space import Space
    from raytracer.viewer.loaded_scene import Hit, LoadedScene
    from raytracer.viewer.vectors import Vector
    from raytracer.viewer.view import View
    from raytracer.viewer.worker import Worker

NOTICE_SECONDS = 4.0
"""Seconds for which a message is shown."""

PICK_RADIUS = 4
"""Pixels at 96 dots per inch by which a click may miss a sphere."""

TURNTABLE_SPEED = 0.5
"""Radians per second of the turntable: a turn takes 12.6 seconds."""

APERTURE = 0.03
"""Diameter of the lens, by the distance in focus, that the key opens."""

VIEW_FILE = "view.toml"
"""What the printed command calls the file with the printed camera, for a file of particles."""

SIZE_LETTERS = "0123456789xX× "
"""Characters of the size of a PNG."""

MAX_AXIS_ERROR = 0.05
"""Sine of the angle between a requested axis and the view from which a message explains it."""


class Viewer:
    """The scene, camera, light, tone and texts that a window or another front end shows.

    Each change submits a render request. All methods are called in the thread of the front end.

    Args:
        loaded_scene: the scene.
        worker: the render thread.
        size: width and height of the picture in pixels.
        tone: initial exposure and curve.
        say: prints a line.
        frames: the frames of what is shown; None: the scene is the only one.

    Attributes:
        data: colours, selection and slice of the particles.
        time: the frames of a trajectory.
        history: undo and redo.
        keys: keyframes of the camera.
        views: named views.
        questions: what is asked about the data.
        outputs: where actions write files.
        menu: what can be done at a place.

    Raises:
        SceneError: the scene cannot be packed.
    """

    def __init__(
        self,
        loaded_scene: LoadedScene,
        worker: Worker,
        size: tuple[int, int],
        tone: ToneSettings | None = None,
        say: Callable[[str], None] = print,
        frames: Frames | None = None,
    ) -> None:
        self.loaded_scene = loaded_scene
        self.worker = worker
        self.size = size
        self.tone = self._initial_tone = tone or ToneSettings()
        self.samples = loaded_scene.job.settings.samples
        self.edits = edits.Edits()
        self.picked: SphereInfo | None = None
        self.hit_point: tuple[float, float, float] | None = None  # of `picked`, scene units
        self.turning = False  # whether the turntable turns
        self.overlay = PLAIN  # level of the text
        self.panel = self.full_screen = False  # whether they are wanted
        self.help, self.help_pages = 0, 1  # the page shown, 0 for none; number of pages
        self.prompt: str | None = None  # text typed as an answer to `question`
        self.question: Question | None = None
        self.loading = ""  # what is said while another file is loaded
        self.reload_error = ""  # why the changed file is not shown
        self.frame: Frame | None = None  # on the screen
        self.failure: BaseException | None = None  # of the render thread
        self.closing = False
        self.closes_after_save = False
        self.loader = FrameLoader(frames or Frames.of(loaded_scene), worker.post)
        self.data = DataView(self, loaded_scene.content)
        self.time = TimeLine(self, frames.initial if frames else None)
        self.history = History(self)
        self.keys = CameraKeys(self)
        self.views = NamedViews(self)
        self.questions = DataQuestions(self)
        self.outputs = Outputs()
        self.menu = Menu(self)
        self.on_opened: Callable[[Path], None] = lambda path: None  # called with another file
        self._say = say
        self._notice = "", 0.0  # text, and when it ends
        self._exposure_steps: float | None = None  # stops to add to a metered exposure, when known
        self.view = self._initial_view()
        self._vertical_fov = (loaded_scene.scene.camera or Camera()).vertical_fov  # of perspective
        self._submit(self._pack())
        self._notify_of_scene()

    # State

    def do(self, name: str, /, *values: Any, **named: Any) -> Any:
        """Run an action.

        Args:
            name: of the action; `all_actions` lists them.
            *values: its arguments in their order.
            **named: its arguments by name.

        Raises:
            UserError: there is no such action, or its arguments are wrong.
        """
        found = actions.named(name, all_actions())
        arguments = found.bound(values, named)
        if found.undo:
            self.history.record(found.name)
        owner = getattr(self, found.owner) if found.owner else self
        return getattr(owner, found.method)(**arguments)

    @property
    def space(self) -> Space:
        """The render space of the view."""
        return view.space_of(self.loaded_scene.buffers)

    @property
    def moving(self) -> bool:
        """Whether something changes by itself, so that `tick` has to be called."""
        return self.turning or self.time.playing

    @property
    def aspect(self) -> float:
        """Width of the picture divided by its height."""
        return self.size[0] / self.size[1]

    @property
    def camera(self) -> Camera:
        """The view as a camera for a scene."""
        return view.camera_of(self.view, self.loaded_scene.buffers)

    @property
    def notice(self) -> str:
        """The current message."""
        return self._notice[0] if self.notice_left else ""

    @property
    def notice_left(self) -> float:
        """Seconds for which the message is still shown."""
        return max(self._notice[1] - perf_counter(), 0.0)

    def notify(self, text: str) -> None:
        """Show a message for `NOTICE_SECONDS`."""
        self._notice = text, perf_counter() + NOTICE_SECONDS

    def request_render(self) -> None:
        """Submit a render request for the current state.

        A state that cannot be packed is undone, with a message.
        """
        try:
            buffers = self._pack()
        except SceneError as error:
            self.view, self.edits = self._requested
            self.notify(str(error))
            return
        self._submit(buffers)

    def resize(self, width: int, height: int) -> None:
        """Follow the size of the window, in pixels; a view of all spheres is fitted again."""
        if (width, height) == self.size or width < 1 or height < 1:
            return
        self.size = width, height
        if self.view.fits_all:
            self.view = self._showing_all(self.view)
        self.request_render()

    def _showing_all(self, start: View, whole: bool = True) -> View:
        """Return a view of all spheres from the same direction; see `view.to_all`."""
        scene = self.loaded_scene
        around = scene.surroundings(self.size)
        return view.to_all(start, scene.buffers, self.aspect, whole, around)

    @action(undo=True)
    def reset(self) -> None:
        """Return to the camera, light, materials and tone of the scene."""
        self.edits, self.tone, self.turning = edits.Edits(), self._initial_tone, False
        self.view = self._initial_view()
        self.request_render()
        self.notify("as in the scene")

    def _initial_view(self) -> View:
        scene = self.loaded_scene
        return view.initial_view(
            scene.scene.camera, scene.buffers, self.aspect, scene.surroundings(self.size)
        )

    def _pack(self) -> SceneBuffers:
        """Return the packed scene of the current state; raises SceneError."""
        return self.loaded_scene.buffers_for(self.view, self.size, self.edits)

    def _submit(self, buffers: SceneBuffers) -> None:
        self._buffers = buffers  # those of the latest request
        self._requested = self.view, self.edits
        settings = self.edits.applied_to(self.loaded_scene.scene).render
        request = RenderRequest(
            self.loaded_scene, buffers, self.tone, self.samples, settings=settings
        )
        self.worker.show(request)

    def _set_view(self, changed: View) -> None:
        self.view = changed
        self.request_render()

    def _set_edits(self, changed: edits.Edits) -> None:
        self.edits = changed
        self.request_render()

    def _set_tone(self, **changes: Any) -> None:
        """Change the tone; the same film is developed again."""
        self.tone = replace(self.tone, **changes)
        self._submit(self._buffers)

    def _notify_of_scene(self) -> None:
        """Show the warnings of a scene that was loaded, or that it has no spheres."""
        warnings = self.loaded_scene.job.warnings
        if warnings:
            count = len(warnings) - 1
            more = f" (and {count} more in the terminal)" if count else ""
            self.notify(warnings[0] + more)
        if not self.loaded_scene.buffers.count:
            self.notify(f"{self.loaded_scene.name} has no spheres")

    # Camera; `collision` says what happens at a sphere

    @action(undo=True)
    def orbit(self, right: float, up: float) -> None:
        """Turn about the pivot, in radians."""
        self._turn(view.orbit(self.view, right, up))

    @action(undo=True)
    def pan(self, right: float, up: float) -> None:
        """Move sideways, in heights of the picture."""
        self._move(view.pan(self.view, right, up))

    @action(undo=True)
    def fly(self, forward: float) -> None:
        """Move along the view, in heights of the picture."""
        self._move(view.fly(self.view, forward))

    @action(undo=True)
    def dolly(self, amount: float) -> None:
        """Multiply the distance to the pivot by e to the `amount`."""
        self._move(view.dolly(self.view, view.power(amount)))

    @action(undo=True)
    def zoom(self, amount: float) -> None:
        """Multiply the tangent of half the field of view by e to the `amount`."""
        self._move(view.zoom(self.view, view.power(amount)))
        if not self.view.orthographic:
            self.notify(f"field of view {self.camera.vertical_fov:.3g}°")

    @action(undo=True)
    def toggle_projection(self) -> None:
        """Switch between perspective and orthographic."""
        if not self.view.orthographic:
            self._vertical_fov = self.camera.vertical_fov
        self._turn(view.toggle(self.view, self.loaded_scene.extent, self._vertical_fov))
        self.notify(self.view.pose.kind)

    @action(undo=True)
    def along(self, x: float, y: float, z: float) -> None:
        """Look along a direction of the scene, of any length but 0."""
        length = hypot(x, y, z)
        if not length:
            raise UserError("along: 0, 0, 0 is no direction")
        x, y, z = x / length, y / length, z / length
        self._turn(view.along(self.view, (x, y, z)))
        if hypot(*np.cross(self.view.pose.axes.forward, (x, y, z))) > MAX_AXIS_ERROR:
            self.notify("a large sphere is in the way: look along the opposite axis")

    @action(undo=True)
    def fit_all(self) -> None:
        """Fit all spheres except giants, such as a ground ball."""
        self._set_view(
            self.loaded_scene.colliders.fitted(self.view, partial(self._showing_all, whole=False))
        )

    @action(undo=True)
    def fit_giants(self) -> None:
        """Fit all spheres."""
        self._set_view(self._showing_all(self.view))

    @action(undo=True)
    def fit_picked(self) -> None:
        """Centre the picked sphere; of a giant, the point that was hit."""
        if self.picked is None:
            self.notify("click a sphere first")
        elif self.giant_picked:
            self._turn(view.to_point(self.view, self.hit_place()))
        else:
            sphere = self.loaded_scene.sphere(self.picked.id)
            self._turn(view.to_sphere(self.view, *sphere))

    @action(undo=True)
    def turn_about_picked(self) -> None:
        """Turn about the picked sphere from now on; of a giant, the point that was hit."""
        if self.picked is None:
            self.notify("click a sphere first")
            return
        sphere = self.loaded_scene.sphere(self.picked.id)
        pivot = self.hit_place() if self.giant_picked else sphere[0]
        self._set_view(view.with_pivot(self.view, pivot))
        self.notify("the camera turns about it")

    @action(undo=True)
    def focus_picked(self) -> None:
        """Focus on the picked sphere through a lens; without one, or again, all is sharp."""
        pose = self.view.pose
        if pose.kind != "perspective":
            self.notify("a perspective camera has a lens: press O")
        elif self.picked is None and not pose.aperture:
            self.notify("click a sphere first")
        elif self.picked is None or self._focuses_on_picked():
            self._set_view(replace(self.view, pose=replace(pose, aperture=0.0)))
            self.notify("all is in focus")
        else:
            aperture, focus = pose.aperture or APERTURE, self.hit_place()
            self._set_view(replace(self.view, pose=replace(pose, aperture=aperture, focus=focus)))
            self.notify(f"in focus: sphere {self.loaded_scene.number_of(self.picked.id):,}")

    def _focuses_on_picked(self) -> bool:
        """Whether the lens has its focus on the picked sphere already."""
        pose = self.view.pose
        if self.picked is None or not pose.aperture or pose.focus is None:
            return False
        if self.giant_picked:
            return bool(np.allclose(pose.focus, self.hit_place()))
        center, radius = self.loaded_scene.sphere(self.picked.id)
        return bool(np.linalg.norm(pose.focus - center) <= 1.001 * radius)

    @action()
    def change_aperture(self, factor: float) -> None:
        """Multiply the diameter of the lens: what is out of focus blurs more in a wider one."""
        pose = self.view.pose
        if not pose.aperture:
            self.notify("there is no lens: click a sphere and press Shift O")
            return
        aperture = min(pose.aperture * factor, 1.0)
        self._set_view(replace(self.view, pose=replace(pose, aperture=aperture)))
        self.notify(f"aperture {aperture:.3g}")

    @action()
    def toggle_turntable(self) -> None:
        """Start or stop the turntable."""
        self.turning = not self.turning

    def tick(self, seconds: float) -> None:
        """Advance the turntable and the time line."""
        if self.turning:
            self.orbit(TURNTABLE_SPEED * seconds, 0.0)
        self.time.tick(seconds)

    def return_to(
        self, shown: View, space: Space, changed: edits.Edits, tone: ToneSettings
    ) -> None:
        """Return to an earlier camera, light and tone.

        Args:
            shown: the view.
            space: the render space of the view.
            changed: light, materials and background.
            tone: exposure and curve.
        """
        self.view = view.rebased(shown, space, self.space)
        self.edits, self.tone, self.turning = changed, tone, False
        self.request_render()

    def go_to(self, changed: View) -> None:
        """Go to a view that was kept."""
        self._turn(changed)

    def _turn(self, changed: View) -> None:
        self._set_view(self.loaded_scene.colliders.turned(changed, self.view))

    def _move(self, changed: View) -> None:
        self._set_view(self.loaded_scene.colliders.moved(changed, self.view))

    # Light, materials, background, tone

    @action(undo=True)
    def turn_light(self, right: float, up: float) -> None:
        """Turn the first light about the pivot, in radians."""
        axes, buffers = self.view.pose.axes, self.loaded_scene.buffers
        placed = self.loaded_scene.rig_axes(self.view, self.edits)
        lights = edits.lights_of(self.loaded_scene.scene, self.edits, placed)
        if not lights:
            self.notify("the scene has no light to turn")
            return
        pivot = self.view.pivot * buffers.scale + buffers.center
        first = edits.turned(lights[0], axes, right, up, pivot)
        self._set_edits(replace(self.edits, lights=(first, *lights[1:])))

    @action(undo=True)
    def light_from_viewer(self) -> None:
        """Replace all lights by one at the viewer's upper left, which then stays in the scene."""
        self._set_edits(
            replace(
                self.edits,
                lights=(
                    edits.from_viewer(
                        self.edits.applied_to(self.loaded_scene.scene), self.view.pose.axes
                    ),
                ),
            )
        )
        self.notify("light from the viewer")

    @action(undo=True)
    def next_look(self) -> None:
        """Switch to the next look: integrator and, where the scene has none, lights."""
        self._set_edits(self.edits.next_look(self.loaded_scene.scene))
        self.notify(f"look: {self.edits.look}")

    @action(undo=True)
    def next_integrator(self) -> None:
        """Switch to the next integrator: direct light, with occlusion, along paths."""
        self._set_edits(self.edits.next_integrator(self.loaded_scene.scene))
        self.notify(f"integrator: {self.edits.integrator}")

    @action(undo=True)
    def toggle_denoise(self) -> None:
        """Remove the noise of the picture at rest, or leave it; the same film is developed again.

        Raises:
            UserError: the package that removes noise is missing.
        """
        from raytracer.film.denoise import require_denoiser

        wanted = not self.edits.applied_to(self.loaded_scene.scene).render.denoise
        if wanted:
            require_denoiser()
        self.edits = replace(self.edits, denoise=wanted)
        self._submit(self._buffers)
        self.notify("noise: removed at rest" if wanted else "noise: as rendered")

    @action(undo=True)
    def next_placement(self) -> None:
        """Let the lights of the look go with the camera, or stay in the world."""
        scene = self.loaded_scene.scene
        if self.edits.lights is not None or scene.lights is not None:
            self.notify("the lights of the scene stay in the world")
            return
        self._set_edits(self.edits.next_placement(scene))
        self.notify(f"lights relative to the {self.edits.placement}")

    @action(undo=True)
    def next_background(self) -> None:
        """Switch to the next background."""
        self._set_edits(self.edits.next_background())
        self.notify(f"background: {edits.BACKGROUND_NAMES[self.edits.background]}")

    @action(undo=True)
    def set_look(self, name: str) -> None:
        """Take a look by name."""
        one_of(name, "set-look: name", self.looks, "look", UserError)
        self._set_edits(replace(self.edits, look=name, integrator=None))
        self.notify(f"look: {name}")

    @property
    def looks(self) -> list[str]:
        """Names of the looks that the scene can have."""
        return self.edits.looks(self.loaded_scene.scene)

    @action(undo=True)
    def set_background(self, name: str) -> None:
        """Take a background by name."""
        names = edits.BACKGROUND_NAMES
        one_of(name, "set-background: name", names, "background", UserError)
        self._set_edits(replace(self.edits, background=names.index(name)))

    @action(undo=True)
    def scale_shininess(self, factor: float) -> None:
        """Multiply the shininess of the picked sphere's material, or of all materials."""
        materials, ids = self.loaded_scene.buffers.materials, self.loaded_scene.buffers.material_id
        indices, owner = list(range(len(materials))), ""
        if self.picked is not None and len(ids):
            name = self.picked.material_name
            is_named = name in self.loaded_scene.scene.materials
            owner = f" of {name}" if is_named else " of its material"
            indices = [int(ids[self.picked.id])]
        indices = [i for i in indices if materials["kind"][i] == code("MaterialKind", "phong")]
        if not indices:
            self.notify("shininess: principled materials have none; edit roughness in the file")
            return
        self._set_edits(self.edits.with_shininess(materials, indices, factor))
        shininess = self.edits.edited(materials)["phong"]["shininess"][indices[0]]
        self.notify(f"shininess{owner} {shininess:.3g}")

    @action(undo=True)
    def change_priority(self, step: float) -> None:
        """Raise the priority of the picked glass: where glass overlaps, the largest fills."""
        index = self._picked_glass()
        if index is None:
            self.notify("click a sphere of glass first")
            return
        materials = self.loaded_scene.buffers.materials
        self._set_edits(self.edits.with_priority(materials, index, step))
        paths = self.edits.applied_to(self.loaded_scene.scene).render.resolved_integrator == "path"
        more = "" if paths else "; paths show it: Shift N"
        assert self.picked is not None
        name = self.picked.material_name
        owner = f" of {name}" if name in self.loaded_scene.scene.materials else ""
        self.notify(f"priority{owner} {self.priority:g}{more}")

    @property
    def priority(self) -> float | None:
        """Priority of the picked sphere's glass; None if it is not of glass."""
        index = self._picked_glass()
        if index is None:
            return None
        edited = self.edits.edited(self.loaded_scene.buffers.materials)
        return float(edited["principled"]["priority"][index])

    def _picked_glass(self) -> int | None:
        """Return the number of the picked sphere's material in the packed table, if it is glass."""
        if self.picked is None:
            return None
        materials, ids = self.loaded_scene.buffers.materials, self.loaded_scene.buffers.material_id
        index = int(ids[self.picked.id]) if len(ids) else 0
        is_glass = (
            materials["kind"][index] == code("MaterialKind", "principled")
            and materials["principled"]["transmission"][index] > 0.0
        )
        return index if is_glass else None

    @action(undo=True)
    def toggle_shadow_catcher(self) -> None:
        """Show the shadows on the ground alone, or the ground as it is."""
        if self.shadow_catcher is None:
            self.notify("there is no ground: start with --ground below, or give the scene one")
            return
        catches = not self.shadow_catcher
        self._set_edits(replace(self.edits, shadow_catcher=catches))
        self.notify("ground: its shadows alone" if catches else "ground: whole")

    @property
    def shadow_catcher(self) -> bool | None:
        """Whether the shadows alone are seen of the ground; None without a ground."""
        if not self.loaded_scene.buffers.has_ground:
            return None
        ground = self.edits.applied_to(self.loaded_scene.scene).ground
        return ground is not None and ground.shadow_catcher

    @action(undo=True)
    def expose(self, stops: float) -> None:
        """Brighten the picture; an automatic exposure is metered first and then fixed."""
        if not self.tone.automatic:
            self._set_exposure(round((float(self.tone.exposure) + stops) * 3) / 3)
        elif self._exposure_steps is None:
            self._exposure_steps = stops
            self.worker.meter()
        else:
            self._exposure_steps += stops

    @action(undo=True)
    def toggle_automatic(self) -> None:
        """Switch automatic exposure on or off."""
        self._set_tone(exposure=0.0 if self.tone.automatic else "auto")
        if self.tone.automatic:
            self._exposure_steps = 0.0
            self.worker.meter()
        else:
            self.notify("exposure as rendered")

    @action(undo=True)
    def next_curve(self) -> None:
        """Switch to the next tone curve."""
        self._set_tone(tone=CURVES[(CURVES.index(self.tone.tone) + 1) % len(CURVES)])
        self.notify(f"tone {self.tone.tone}")

    def _set_exposure(self, exposure: float) -> None:
        self._set_tone(exposure=min(max(exposure, -MAX_STOPS), MAX_STOPS))
        self.notify(f"exposure {self.tone.exposure:+.2f}")

    def _receive_metered(self, message: Metered) -> None:
        steps, self._exposure_steps = self._exposure_steps, None
        if self.tone.automatic and steps:
            self._set_exposure(round(message.stops + steps, 2))
        elif self.tone.automatic:
            self.notify(f"automatic exposure, {message.stops:+.2f} stops now")

    # Picking

    @action()
    def pick(
        self, x: int, y: int, go: bool = False, add: bool = False, reach: int = PICK_RADIUS,
        menu: bool = False,
    ) -> None:  # fmt: skip
        """Pick the sphere at a pixel, or the nearest one; the answer is a message.

        Args:
            x: column, from the left.
            y: row, from the top.
            go: centre the sphere too.
            add: keep the picks before.
            reach: pixels by which the click may miss.
            menu: open the menu there; where there is no sphere, the picks before stay.
        """
        width, height = self.size
        if not (0 <= x < width and 0 <= y < height):
            return
        scene, buffers = self.loaded_scene, self._buffers

        def task() -> Callable[[], Message]:
            return partial(_picked, scene, scene.hit(buffers, x, y, reach), go, add, menu)

        self.worker.run_task(task)

    def picked_lines(self) -> list[str]:
        """Return what is known of the picked particle, for people; its number is that of all."""
        if self.picked is None:
            return []
        number = self.loaded_scene.number_of(self.picked.id)
        return self.data.lines_of(number) or self.picked.lines()

    @property
    def giant_picked(self) -> bool:
        """Whether the picked sphere is a giant."""
        if self.picked is None:
            return False
        return self.loaded_scene.colliders.is_giant(self.loaded_scene.sphere(self.picked.id)[1])

    def hit_place(self) -> Vector:
        """Return the clicked point of the picked sphere, or else its point nearest to the eye.

        float64 (3,), render space.
        """
        assert self.picked is not None
        center, radius = self.loaded_scene.sphere(self.picked.id)
        toward = self.view.pose.eye
        if self.hit_point is not None:
            toward = view.space_of(self.loaded_scene.buffers).point(self.hit_point)
        offset = toward - center
        return np.asarray(center + offset * (radius / max(float(np.linalg.norm(offset)), 1e-30)))

    def _receive_picked(self, message: Picked) -> None:
        if message.menu and message.sphere is None:
            self.menu.show(self.menu.place, None)
            return
        if message.loaded_scene is not self.loaded_scene:
            self._pick_elsewhere(message)
            return
        if message.add and message.sphere is None:
            self.notify("there is no sphere here")
            return
        before, self.picked, self.hit_point = self.picked, message.sphere, message.point
        if self.picked is not None:
            number = message.loaded_scene.number_of(self.picked.id)
            add = message.add or (message.menu and number in self.data.picks)
            self.data.picked(number, replace(self.picked, id=number).lines(), add)
        else:
            self.data.picks = []
        if self.picked is None:
            ended = f"; sphere {before.id:,} is no longer picked" if before else ""
            self.notify(f"there is no sphere here{ended}")
        elif message.go:
            self.fit_picked()
        if message.menu:
            self.menu.show(self.menu.place, self.picked)

    def _pick_elsewhere(self, message: Picked) -> None:
        """Take a pick of a scene that was replaced since by other colours of the same frame."""
        before, scene, number = message.loaded_scene, self.loaded_scene, None
        if message.sphere is not None and before.all_particles is scene.all_particles:
            number = scene.id_of(before.number_of(message.sphere.id))
        if number is not None and message.sphere is not None:
            again = replace(message, loaded_scene=scene, sphere=replace(message.sphere, id=number))
            self._receive_picked(again)
        elif message.menu:  # the sphere is gone, and who asked for the menu waits for it
            self.menu.show(self.menu.place, None)

    # Printing and saving

    def camera_toml(self, shown: View | None = None) -> str:
        """Return camera and edits as tables of a scene file.

        Args:
            shown: another view than the current one.
        """
        scene, buffers = self.loaded_scene.scene, self.loaded_scene.buffers
        camera = view.camera_of(shown or self.view, buffers)
        materials = edits.named_materials(self.edits, scene, buffers)
        source, options = self._command()
        return as_toml.view_tables(camera, scene, self.edits, materials, self.tone, source, options)

    def _command(self) -> tuple[str, list[str]]:
        """Return the file and the options of `raytracer render` beside those of light and tone."""
        scene, content = self.loaded_scene, self.data.content
        options = command_line.content_options(content, scene.scene, self.data.has_legend)
        if scene.path is None:
            return "", options
        if not is_scene(scene.path):
            tables = command_line.particle_options(scene.scene, self.edits)
            options = ["--camera", VIEW_FILE, *options, *tables]
        return str(scene.path), options

    @action()
    def print_camera(self) -> str:
        """Print the tables of `camera_toml` and return them for the clipboard."""
        text = self.camera_toml()
        self._say(text)
        self.notify("the camera was printed and copied")
        return text

    @action()
    def ask_size(self) -> None:
        """Open the prompt for the size of a PNG; it closes the help."""
        self.help = 0
        if self.worker.save_job is not None:
            self.notify(f"{self.worker.save_job.path} is still being saved; Esc cancels it")
            return
        width, height = self.size
        self.ask(
            Question(
                "size of the PNG, and samples",
                "for example 3840x2160 64; Enter saves, Esc cancels",
                self._save_typed,
                f"{width}x{height}",
                SIZE_LETTERS,
            )
        )

    def _save_typed(self, text: str) -> None:
        size, samples = parse_size(text, self.size, self.samples)
        self.save(size, samples)

    def ask(self, question: Question) -> None:
        """Open the prompt with a question; it closes the help."""
        self.help, self.question, self.prompt = 0, question, ""

    def type(self, text: str) -> None:
        """Add characters to the prompt; those that no answer has are ignored."""
        if self.prompt is not None and self.question is not None:
            self.prompt = (self.prompt + self.question.kept(text))[:MOST_LETTERS]

    def erase(self) -> None:
        """Remove the last character of the prompt."""
        if self.prompt is not None:
            self.prompt = self.prompt[:-1]

    def enter(self) -> None:
        """Close the prompt and take what was typed."""
        text, self.prompt = self.prompt or "", None
        try:
            if self.question is not None:
                self.question.answer(text)
        except UserError as error:
            self.notify(str(error))

    def save(self, size: tuple[int, int], samples: int, path: Path | None = None) -> None:
        """Render the current view to a PNG, in the background.

        Args:
            size: width and height in pixels.
            samples: per pixel.
            path: of the PNG; None takes a name that no file has.

        Raises:
            UserError: it cannot be written, or another one is still being rendered.
        """
        if self.worker.save_job is not None:
            path = self.worker.save_job.path
            raise UserError(f"{path} is not finished: wait for it, or press Esc")
        shown = self.view
        if shown.fits_all and size[0] * self.size[1] != size[1] * self.size[0]:  # another shape
            scene = self.loaded_scene
            aspect, around = size[0] / size[1], scene.surroundings(size)
            shown = view.to_all(shown, scene.buffers, aspect, around=around)
        buffers = self.loaded_scene.buffers_for(shown, size, self.edits)
        path = path or self.outputs.path(Path(), f"{self.loaded_scene.stem}-view", ".png")
        settings = self.edits.applied_to(self.loaded_scene.scene).render
        request = RenderRequest(self.loaded_scene, buffers, self.tone, samples, settings=settings)
        self.worker.save(SaveJob(request, path, self.camera_toml(shown)))

    # Text, closing, messages

    @action()
    def toggle_overlay(self) -> None:
        """Show the next level of text: plain, technical, none."""
        self.overlay = (self.overlay + 1) % (TECHNICAL + 1)

    @action()
    def toggle_panel(self) -> None:
        """Show or hide the panel of colours and selection."""
        self.panel = not self.panel

    @action()
    def toggle_full_screen(self) -> None:
        """Fill the screen, or return to a window."""
        self.full_screen = not self.full_screen

    @action()
    def toggle_help(self) -> None:
        """Show the next page of the help, or close it after the last."""
        self.help = self.help + 1 if self.help < self.help_pages else 0

    @action()
    def cancel(self) -> None:
        """Close the prompt, else the help, else cancel closing, saving or the selection."""
        if self.prompt is not None:
            self.prompt = None
        elif self.help:
            self.help = 0
        elif self.closes_after_save:
            self.closes_after_save = False
        elif self.worker.save_job is not None:
            cancelled = self.worker.save(None)
            self.notify("not saved" if cancelled else "it is being written already")
        elif self.data.picks or self.picked is not None:
            self.picked, self.data.picks = None, []
        elif self.data.content.selection is not None:
            self.do("select", None)

    @action()
    def close(self) -> None:
        """End the preview when a picture is saved; the second call ends it at once."""
        if self.worker.save_job is not None and not self.closes_after_save:
            self.closes_after_save = True
        else:
            self.closing = True

    def receive(self, message: Message) -> None:
        """Handle a message of the render thread."""
        if isinstance(message, Picked):
            self._receive_picked(message)
        elif isinstance(message, Metered):
            self._receive_metered(message)
        elif isinstance(message, Saved):
            self._say(str(message.path))
            self.notify(self.outputs.finished(message.path))
            self.closing |= self.closes_after_save
        elif isinstance(message, Refused):
            self._exposure_steps = None
            self.loading = ""
            if message.content is not None:
                self.data.refused(message.content)
            self.closes_after_save &= self.worker.save_job is not None  # else nobody could read it
            self.notify(message.sentence)
        elif isinstance(message, Loaded):
            self._replace_scene(message.loaded_scene)
        elif isinstance(message, Shown):
            self._show_content(message)
        elif isinstance(message, Opened):
            self._show_opened(message)
        elif isinstance(message, Staged):
            self.loading = message.text
        elif isinstance(message, Counted):
            self.time.receive_count(message.count)
        elif isinstance(message, Broken):
            self.reload_error = message.sentence
            self.notify("")  # an older message would seem to be about this change
        elif isinstance(message, Failed):
            self.failure, self.closing = message.error, True

    @action()
    def open(self, path: Path) -> None:
        """Show another scene or particle file."""
        self.loading = loading_text(path.name, "")
        self.loader.open(path, self.loaded_scene)

    def _show_opened(self, message: Opened) -> None:
        """Show another file: its own camera, light and tone, from the beginning."""
        self.loaded_scene = message.loaded_scene
        self.samples = message.loaded_scene.job.settings.samples
        self.tone = self._initial_tone = message.loaded_scene.job.tone
        self.picked, self.reload_error, self._notice = None, "", ("", 0.0)
        self.loading = ""
        self.edits, self.turning = edits.Edits(), False
        self.data = DataView(self, message.loaded_scene.content)
        self.time, self.history = TimeLine(self), History(self)
        self.keys, self.views = CameraKeys(self), NamedViews(self)
        self.menu.leave_menu()
        self.view = self._initial_view()
        self._submit(self._pack())
        self.loader.count()
        self._notify_of_scene()
        self.on_opened(message.path)

    def _show_content(self, message: Shown) -> None:
        """Show another frame, or other particles or colours of it; the camera stays."""
        old, self.loaded_scene = self.loaded_scene, message.loaded_scene
        if self.view.fits_all and old.content.box != message.content.box:
            self.view = self._showing_all(self.view)
        else:
            self.view = view.rebased(self.view, old.buffers, message.loaded_scene.buffers)
        # the table of materials may be another
        self.edits = replace(self.edits, shininess={}, priority={})
        self.data.follow(old, message.loaded_scene)
        self._submit(self._pack())
        for sentence in message.loaded_scene.job.warnings[:1]:
            self.notify(sentence)
        self._pick_again(old)

    def _replace_scene(self, loaded_scene: LoadedScene) -> None:
        """Show a changed scene; edits stay unless the file changed the same thing."""
        old, self.loaded_scene = self.loaded_scene, loaded_scene
        self.reload_error = ""
        self.samples = loaded_scene.job.settings.samples
        if old.scene.camera != loaded_scene.scene.camera:
            self.view = self._initial_view()
        elif self.view.fits_all:
            self.view = self._showing_all(self.view)
        else:
            same = view.rebased(self.view, old.buffers, loaded_scene.buffers)
            self.view = loaded_scene.colliders.turned(same, same)
        if old.scene.lights != loaded_scene.scene.lights:
            self.edits = replace(self.edits, lights=None)
        stated = [
            (each.scene.render.look, each.scene.render.integrator, each.scene.lights is None)
            for each in (old, loaded_scene)
        ]
        if stated[0] != stated[1]:
            self.edits = replace(self.edits, look=None, integrator=None)
        if old.scene.background != loaded_scene.scene.background:
            self.edits = replace(self.edits, background=0)
        if old.scene.ground != loaded_scene.scene.ground:
            self.edits = replace(self.edits, shadow_catcher=None)
        self.edits = replace(self.edits, shininess={}, priority={})
        try:
            buffers = self._pack()
        except SceneError:  # the old view or edits do not fit the new scene
            self.edits = edits.Edits()
            self.view = self._initial_view()
            buffers = self._pack()
        self._submit(buffers)
        self.notify(f"{loaded_scene.name} was reloaded")
        self._notify_of_scene()
        self.data.follow(old, loaded_scene)
        if self.data.content != loaded_scene.content:  # something else was asked for meanwhile
            self.data.show(self.data.content)
        self._pick_again(old)

    def _pick_again(self, old: LoadedScene) -> None:
        """Pick the sphere of the same number in a new scene."""
        before, self.picked = self.picked, None
        scene, point = self.loaded_scene, self.hit_point
        if before is None:
            return
        there = self.data.number_in(old.number_of(before.id), old, scene)
        number = None if there is None else scene.id_of(there)
        if number is None:
            if scene.content is old.content:
                self.notify(f"{scene.name} was reloaded; sphere {before.id:,} is gone")
            return

        def look_up() -> Picked:
            return Picked(scene, describe(scene.scene, number), point=point, add=True)

        self.worker.run_task(lambda: look_up)


@cache
def all_actions() -> dict[str, actions.Action]:
    """Return all actions by name."""
    return actions.actions_of(
        {"": Viewer, "data": DataView, "time": TimeLine, "views": NamedViews, "keys": CameraKeys,
         "history": History, "questions": DataQuestions, "menu": Menu}
    )  # fmt: skip


def _picked(loaded_scene: LoadedScene, hit: Hit | None, go: bool, add: bool, menu: bool) -> Picked:
    """Look up a sphere; it may take long, because a large file may be read to its row."""
    if hit is None:
        return Picked(loaded_scene, None, go, add=add, menu=menu)
    return Picked(loaded_scene, describe(loaded_scene.scene, hit.id), go, hit.point, add, menu)
