"""A scene on its device, with what camera and picking need."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import Device
from raytracer.config.errors import TEXT_LETTERS, quote
from raytracer.config.warning import collect_warnings
from raytracer.model.annotations import Annotations
from raytracer.model.scene import Scene
from raytracer.model.simulation_box import to_triple
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.framing import Basis, Surroundings
from raytracer.packing.lighting import pack_lights, rig_axes, world_up
from raytracer.packing.pack import add_boxes, count_visible_large, pack_with_camera, repack_view
from raytracer.packing.pose import with_up
from raytracer.packing.view import View as PackedView
from raytracer.rendering.following import follow, prepare_in_place
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import NO_SPHERE, Notice, PreparedScene, prepare, reserved_room
from raytracer.scene_files.source import InputSource
from raytracer.system.memory import MemoryEstimate
from raytracer.viewer.content import Content, Edits
from raytracer.viewer.orbit_camera import LargeSpheres, OrbitCamera, fit_all, make_initial_view

RAYS_PER_AXIS = 5
"""Rays per pixel and axis of a search for the nearest sphere, which may be smaller than a pixel.
Odd, so that one goes through the centre."""


@dataclass(frozen=True)
class Hit:
    """The sphere at a pixel: its index, and the visible point, scene units."""

    id: int
    point: tuple[float, float, float]


@dataclass(eq=False)
class LoadedScene:
    """A scene with its packed spheres and the job that renders them."""

    scene: Scene
    # The scene with its own camera, packed. Spheres and colours may be those of an earlier state:
    # see `packed`.
    buffers: SceneBuffers
    job: PreparedScene  # renders it
    path: Path | None  # its file; None for a scene made in Python
    giants: LargeSpheres  # the spheres that a camera stays out of, for all states of a simulation
    closed: bool = False  # whether another scene has replaced it
    owns_memory: bool = True  # whether its spheres are those in the memory of the device
    content: Content = field(default_factory=Content)  # what of the particles is shown
    # The frame with its original colours and all particles; None: same as `scene`.
    plain: Scene | None = None
    # Numbers of the spheres among all particles, int64 (N,); None: all.
    numbers: NDArray[np.int64] | None = None
    selected: int = 0  # number of selected particles
    # Which primitives are selected, and False for a miss, bool (M + 1,); None: none.
    marked: NDArray[np.bool_] | None = None
    # Edits, size, number of large spheres shown, and packed view of the latest one: moving the
    # camera changes little of it.
    _cached: tuple[Edits, tuple[int, int], int, PackedView] | None = None
    _packed: SceneBuffers | None = None

    def __post_init__(self) -> None:
        assert self.job.kept is not None
        self.on_device = self.job.kept[0]  # the state in the memory that it owns

    @classmethod
    def load(
        cls,
        source: InputSource | object,
        overrides: dict[str, Any],
        backend: str | Device,
        threads: int = 0,
        notice: Notice | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
    ) -> Self:
        """Load, pack, build and upload a scene; arguments as for `rendering.pipeline.prepare`."""
        source = InputSource.of(source)
        with collect_warnings() as warnings:
            job = prepare(
                source, overrides, backend=backend, threads=threads, notice=notice, keep=True,
                memory_of=MemoryEstimate(window=True), annotations=annotations, blurs=False,
            )  # fmt: skip
        job.warnings = warnings
        assert job.kept is not None
        scene, buffers = job.kept
        camera = scene.camera and with_up(scene.camera, buffers.balls)
        scene = replace(scene, render=job.settings, camera=camera)
        giants = LargeSpheres.of(buffers, camera)
        return cls(scene, buffers, job, source.path, giants, _packed=buffers)

    def prepare_in_place(self, scene: Scene, overrides: SceneOverrides) -> Self | None:
        """Return another state of the scene in the same memory; None: it has to be packed anew.
        Nothing is packed, and the memory of the device changes when it is shown (`take_over`)."""
        with collect_warnings() as warnings:
            job = prepare_in_place(self.job, scene, overrides)
        if job is None or job.kept is None:
            return None
        job.warnings = warnings
        shown = replace(job.kept[0], render=job.settings, camera=self.scene.camera)
        return replace(self, scene=shown, job=job, closed=False, owns_memory=False, _packed=None)

    def take_over(self, before: Self) -> None:
        """Show this state in the memory of another, while no film adds samples of that. Raises
        SceneError for a sphere that cannot be shown; the memory stays as it was."""
        before.owns_memory, self.owns_memory = False, True
        shown, self.on_device = self.on_device, before.on_device
        follow(self.job.scene, self.buffers, before.on_device, shown)
        self.on_device = shown

    @property
    def packed(self) -> SceneBuffers:
        """The packed scene, made when it is first asked for if another state was before it."""
        if self._packed is None:
            assert self.job.kept is not None
            scene, settings = self.job.kept[0], self.job.settings
            self._packed, _ = pack_with_camera(scene, settings, before=self.buffers)
        return self._packed

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the scene's picture in pixels."""
        return self.job.settings.width, self.job.settings.height

    @property
    def name(self) -> str:
        """Name for display: of the file, or the title."""
        return quote(self.path.name if self.path else self.scene.title or "scene")

    @property
    def stem(self) -> str:
        """Start of the names of its pictures, without wildcards and slashes."""
        if self.path:  # for a series, the common part
            common = re.sub(r"[*?\[\]]", "", self.path.stem).strip(" _-.") or "series"
            return re.sub(r"[%#]", "_", common)
        return re.sub(r"[^\w +-]", "_", self.scene.title)[:TEXT_LETTERS].strip() or "scene"

    def reserved_room(self, size: tuple[int, int]) -> Surroundings:
        """Return what a fitted camera shows beside the spheres; `size` of the picture in pixels."""
        return add_boxes(self.scene, reserved_room(self.job.plan, *size))

    def make_initial_view(self, size: tuple[int, int]) -> OrbitCamera:
        """Return the view of the scene's camera, in a picture of a size in pixels."""
        aspect, around = size[0] / size[1], self.reserved_room(size)
        return make_initial_view(self.scene.camera, self.packed, aspect, around)

    def fit_all(self, view: OrbitCamera, size: tuple[int, int], whole: bool = True) -> OrbitCamera:
        """Return a view of all spheres from the same direction; see `fit_all`."""
        return fit_all(view, self.packed, size[0] / size[1], whole, self.reserved_room(size))

    @property
    def all_particles(self) -> Scene:
        """The frame with all particles, including hidden ones."""
        return self.plain or self.scene

    def find_number(self, prim_id: int) -> int:
        """Return the number of a sphere, or of another solid after them, among all particles."""
        if self.numbers is None:
            return prim_id
        count = len(self.numbers)
        if prim_id < count:
            return int(self.numbers[prim_id])
        return self.all_particles.count + prim_id - count

    def find_id(self, number: int) -> int | None:
        """Return the sphere or other solid of a number; None if it is hidden."""
        if self.numbers is None:
            return number
        if number >= self.all_particles.count:
            return number - self.all_particles.count + len(self.numbers)
        place = int(np.searchsorted(self.numbers, number))
        return place if number in self.numbers[place : place + 1] else None

    def pack_view(self, view: OrbitCamera, size: tuple[int, int], edits: Edits) -> PackedView:
        """Return the packed view of a camera and edits, a new object each time."""
        shown = count_visible_large(self.buffers.large, self.buffers.has_ground, view.pose)
        cached = self._cached
        # the frame lists the glass around the camera
        if cached is None or cached[:3] != (edits, size, shown) or cached[3].nests:
            scene = edits.apply_to(self.scene)
            settings = scene.render.override(width=size[0], height=size[1])
            retaken = repack_view(self.buffers, scene, settings, view.pose)
            self._cached = cached = edits, size, shown, retaken
        retaken = cached[3]
        changes: dict[str, Any] = {"camera": view.pose.pack(size[0] / size[1])}
        if edits.lights is None and self.scene.lights is None:
            settings, axes = edits.apply_to(self.scene).render, self.find_rig_axes(view, edits)
            changes["lights"] = pack_lights(None, self.buffers.space, axes, settings)
        return replace(retaken, **changes)

    def find_rig_axes(self, view: OrbitCamera, edits: Edits) -> Basis:
        """Return the axes relative to which the lights of the look are placed."""
        settings = edits.apply_to(self.scene).render
        shown = self.buffers.view.frame["environment"]["background_up"][0].tolist()
        up = world_up(self.scene.background, self.scene.camera, shown)
        return rig_axes(settings, view.pose.axes, up)

    def find_hit(self, seen: PackedView, x: int, y: int, reach: int = 0) -> Hit | None:
        """Return the sphere nearest to the centre of a pixel; None also for a closed scene."""
        if self.closed:
            return None
        fine = RAYS_PER_AXIS if reach else 1
        width, height = (side * fine for side in seen.size)
        x0, y0 = (max((side - reach) * fine, 0) for side in (x, y))
        x1, y1 = min((x + reach + 1) * fine, width), min((y + reach + 1) * fine, height)
        if x1 <= x0 or y1 <= y0:
            return None
        view = seen.with_size(width, height).with_crop((x0, y0, x1, y1))
        hits = self.job.scene.trace_first_hits(view)
        rows, columns = np.nonzero(hits["id"] != NO_SPHERE)
        if not len(rows):
            return None
        away = (columns + x0 - x * fine - fine // 2) ** 2 + (rows + y0 - y * fine - fine // 2) ** 2
        order = np.lexsort((hits["depth"][rows, columns], away))
        nearest = hits[rows[order[0]], columns[order[0]]]
        center, scale = self.buffers.space
        point = nearest["position"].astype(np.float64) * scale + center
        return Hit(int(nearest["id"]), to_triple(point))

    def find_sphere(self, prim_id: int) -> tuple[NDArray[np.float64], float]:
        """Return centre, float64 (3,), and radius of a sphere in render space."""
        b = self.packed
        center = np.array([axis[prim_id] for axis in b.placed[:3]], np.float64)
        return center, float(b.radius[prim_id])

    def close(self) -> None:
        self.closed = True
        if self.owns_memory:
            with self.job.device.turn():  # freeing waits for the GPU
                self.job.scene.close()
