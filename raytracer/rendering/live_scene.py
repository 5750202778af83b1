"""Live scenes: a scene stays on a device while its particles move."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring import OF_SCALE, STYLE
from raytracer.appearance.coloring.by_scale import color_by_scale
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.coloring.style import SetStyle, StyleSettings
from raytracer.backends.base import Device, DeviceFilm
from raytracer.config.arguments import check_items, check_kind, check_text, check_whole
from raytracer.config.errors import SceneError, UserError, pluralize
from raytracer.config.fields import accept_settings, check_names
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.aovs import check_aovs
from raytracer.film.film import Film
from raytracer.film.image import Image
from raytracer.model import arrays
from raytracer.model.annotations import Annotations
from raytracer.model.camera import Camera
from raytracer.model.quantities import find_unit
from raytracer.model.scene import Scene
from raytracer.model.settings import RenderSettings
from raytracer.model.sphere_set import SetColors, SphereSet, check_set_colors
from raytracer.model.sphere_set import raw_attribute as given_array
from raytracer.packing import pack
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.large_spheres import RATIO
from raytracer.packing.pose import fit_camera
from raytracer.packing.sphere_update import OutOfRangeError, can_kernels_read
from raytracer.rendering.following import first_color_rows
from raytracer.rendering.motion_blur import has_table_entry
from raytracer.rendering.pipeline import (
    MAX_NUMBER,
    VIEW_SETTINGS,
    PreparedScene,
    make_plan,
    prepare,
    reserved_room,
)
from raytracer.rendering.view_settings import check_shutter
from raytracer.system.cuda_driver import LEGACY_STREAM, is_captured, order_streams, stream_handle
from raytracer.system.device_array import DeviceArray, device_array
from raytracer.system.layout import enum_value
from raytracer.system.memory import MemoryEstimate, require_count

if TYPE_CHECKING:
    from raytracer.keywords import Keywords

VALUES = "values"
"""Name of the column of the values that colours follow."""

WHERE = arrays.ErrorContext(names={"centers": "positions", "radius": "radii", "color": "colors"})
"""What messages call the arrays of an update."""


class LiveScene:
    """A scene that stays on a device while the particles of a simulation move; a context manager.

    ::

        with raytracer.LiveScene(scene, samples=4) as live:
            for step in simulation:
                live.update(positions=step.positions)
                live.render().save(f"step_{step.number:04}.png")

    `update` changes the spheres in place and refits the tree, or rebuilds it if refits have made it
    slow. Camera, lights, ground, environment and settings do not change. A picture has the same
    bytes as one that `raytracer.render` makes of the moved particles with the same camera and
    space. If a signal such as Ctrl-C interrupts an update, `scene` and the next picture are those
    before or after it. Several threads may call the methods.

    It makes pictures; `raytracer.live` shows a simulation in a window, on a page or as a movie
    (docs/guide/live.md, "Which one").

    Args:
        scene: as for `raytracer.render`; one of its sets of spheres moves.
        set: the number of that set among those of the scene; needed where several have spheres.
        backend, threads, tone, annotations: as for `raytracer.render`.
        **settings: as for `raytracer.render`. `map`, `range`, `color_scale` and similar ones also
            define the colours of the `values` of `update`.

    Raises:
        UserError: the scene or an argument cannot be rendered, or has bonds, arrows or trails,
            which are made from the particles and do not follow them.
    """

    @accept_settings(RenderSettings, VIEW_SETTINGS, STYLE)
    def __init__(
        self,
        scene: object,
        *,
        set: int | None = None,  # noqa: A002
        backend: str | Device = "auto",
        threads: int = 0,
        tone: ToneSettings | Mapping[str, Any] | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
        **settings: Unpack[Keywords],
    ) -> None:
        check_names(type(self).__init__, settings)
        given: dict[str, Any] = {k: v for k, v in settings.items() if v is not None}
        check_shutter(given)
        taken = () if "color_by" in given else OF_SCALE
        of_values = {name: given.pop(name) for name in taken if name in given}
        self._style = SetStyle(StyleSettings(color_by=VALUES, **of_values))
        self._scale: ColorScale | None = None
        self._lock = RLock()
        self._film: DeviceFilm | None = None
        self._picture: Any = None  # of the device, for `device_pixels`
        self._reader: Any = None  # the stream that reads it
        self._there: dict[str, DeviceArray] = {}  # what the spheres were given on the GPU last
        self._replayed = frozenset[str]()  # of it, what CUDA graphs read again and again
        self._has_graph = False
        self._is_resized = False  # whether a GPU was given radii since the last picture
        self._job: PreparedScene | None = prepare(
            scene, given, backend=backend, threads=threads, keep=True, annotations=annotations,
            hashed=False, memory_of=MemoryEstimate(moves=True), blurs=False,
        )  # fmt: skip
        try:
            self._tone = ToneSettings.of(tone, self._job.tone)
            scene = self._kept[0]
            self._place = _moving_set(scene, set)
            self._color_space = scene.spheres[self._place].color_space
            self._fit = (scene.camera and scene.camera.fit) or True
            if scene.color_scales and not of_values:
                self._scale = scene.color_scales[0]
            self._is_plan_old = False  # whether spheres or camera have changed since it was made
            self._untold: SceneError | None = None  # of a GPU's arrays, for the next picture
            self._is_torn = False  # whether an update was interrupted, nobody knows where
            self._examine()
        except BaseException:
            self.close()
            raise

    @property
    def scene(self) -> Scene:
        """The scene as it is now; its arrays are those that `update` was given last, and copies of
        those of a GPU, made when the scene is asked for."""
        with self._lock:
            self._settle()
            return self._kept[0]

    @property
    def camera(self) -> Camera:
        """The camera of the pictures, with the position that it was fitted to."""
        camera = self._open().camera
        assert camera is not None
        return camera

    @property
    def count(self) -> int:
        """Number of spheres of the set that moves."""
        return self._spheres.count

    @property
    def color_scale(self) -> ColorScale | None:
        """The scale of `values`; None until they are given first, if the scene has none."""
        return self._scale

    def update(
        self,
        positions: Any = None,
        radii: Any = None,
        colors: Any = None,
        values: Any = None,
        *,
        stream: Any = None,
    ) -> None:
        """Move, size and colour the spheres; what is None stays.

        The number of spheres may change; radii and colours per sphere must then be given again.
        Arrays on the GPU of the scene (of CuPy, PyTorch, JAX, Warp, Numba) are read in place.
        Arrays of another device, or with another number of spheres, are copied to the host.

        With arrays on a GPU, `update` returns without waiting for them. A sphere with invalid
        values stays as it was while the others move, and the next picture raises the error; `scene`
        does not contain the invalid array.

        If `stream` is being captured into a CUDA graph, the update becomes a part of the graph,
        which reads the same arrays at each launch. Make the same call once before the capture. The
        graph refits the tree; the next picture rebuilds it if necessary. Do not launch the graph
        while another thread renders or updates the scene, or after `close`. After a capture,
        updates that pack the scene anew are refused.

        Args:
            positions: (N, 3), in the units of the set, whose transform applies; float32 and float64
                are used without a copy.
            radii: one radius or (N,), in the units of the set.
            colors: as for `SphereSet`, in the colour space of the set.
            values: (N,), coloured by the scale of the scene. Without one, the settings `map`,
                `range` and others define it; the default range is that of the first values.
            stream: CUDA stream on which the arrays are complete; later work on it waits until they
                have been read. A handle, or a stream object of a package; None is the default
                stream.

        Raises:
            UserError: arrays of a wrong shape; on the host, numbers that are not finite, or a
                sphere out of the range of float32 in render space: the scene stays as it was. On a
                GPU, also an error of earlier arrays; during a capture, arrays that the GPU cannot
                read in place.
        """
        if values is not None and colors is not None:
            raise SceneError("values: give either values or colors, not both")
        handle = stream_handle(stream)
        given = {"positions": positions, "radii": radii, "colors": colors, "values": values}
        given = {name: each for name, each in given.items() if each is not None}
        with self._lock:
            scale = self._scale
            try:
                self._update(given, handle)
            except BaseException as error:
                self._scale = scale  # the first values do not make it
                self._is_torn |= not isinstance(error, UserError)
                raise

    def _update(self, given: dict[str, Any], stream: int) -> None:
        """Change the spheres in place where the device can, and pack the scene anew elsewhere."""
        is_recolored = "colors" in given or "values" in given
        job, old = self._open(), self._spheres
        on_gpu = {
            name: found
            for name, each in given.items()
            if (found := device_array(each, name, stream)) is not None
        }
        numbers = {each.device or 0 for each in on_gpu.values()}
        if job.device.has_own_memory:
            numbers.add(job.device.number)
        in_graph = any(is_captured(stream, number) for number in numbers)
        given = given | on_gpu
        there = self._select_readable(on_gpu, stream, in_graph) if job.device.has_own_memory else {}
        here = {name: each for name, each in given.items() if name not in there}
        if in_graph and here:
            raise SceneError(
                f"{next(iter(here))}: cannot be part of a CUDA graph, into which the stream is "
                "being captured: give an array of the GPU that has the scene, with a value for "
                "each sphere"
            )
        for number in {on_gpu[name].device or 0 for name in here if name in on_gpu}:
            order_streams(LEGACY_STREAM, stream, number)  # on which arrays are copied to the host
        spheres = self._updated_set(**here)
        in_place = (
            self._can_move
            and not self._is_torn
            and spheres.count == old.count
            and spheres.opacity is old.opacity
            and ("radii" not in here or not self._has_large_spheres(*self._radius_range(spheres)))
            and (not is_recolored or self._has_rows)
        )
        if not in_place:
            self._pack_anew(given, in_graph)
            return
        change = self._kept[1].space.update(
            [spheres], self._first,
            positions=there.get("positions", spheres.centers if "positions" in here else None),
            radii=there.get("radii", np.atleast_1d(spheres.radius) if "radii" in here else None),
            first_color=self._first_color, stream=stream, in_graph=in_graph,
            **self._collect_colors(spheres, there),
        )  # fmt: skip
        try:
            job.scene.update(change)
        except OutOfRangeError:
            self._check(self._updated_set(**given))
            raise
        except SceneError:  # of arrays of the GPU before
            if not in_graph:  # a capture must not be waited in
                self._settle()
            raise
        self._keep(spheres)
        self._is_plan_old = True
        self._is_resized |= "radii" in there
        gone = {*here, *(("colors", "values") if is_recolored else ())}
        self._there = {k: v for k, v in self._there.items() if k not in gone} | there
        self._replayed -= {*gone, *there}
        if in_graph:
            self._replayed |= {*there}
            self._has_graph = True

    def _pack_anew(self, given: Mapping[str, Any], in_graph: bool = False) -> None:
        """Pack the scene anew with what an update says."""
        if in_graph or self._has_graph:
            raise SceneError(
                "the scene must be packed anew, which a CUDA graph with an update of it cannot do "
                "or follow: make a new LiveScene"
            )
        wrong = self._settle()
        spheres = self._updated_set(**given)
        self._repack(spheres)
        self._untold = self._untold or wrong  # the scene that would have told it is closed

    def _check(self, spheres: SphereSet) -> None:
        """Refuse numbers that are not finite, radii that are not positive, colours of others, and
        spheres that cannot be placed."""
        arrays.check_centers(spheres.centers, WHERE)
        arrays.check_radius(spheres.radius, spheres.count, WHERE)
        ids = spheres.color_id
        colors = len(spheres.color) if ids is None else len(ids)
        if colors != spheres.count and (colors > 1 or ids is not None):
            raise SceneError(
                f"positions: {pluralize(spheres.count, 'sphere')} in place of {colors:,} with "
                "different colours: give colors or values too"
            )
        pack.to_render_space([spheres.changed(source="")], self._kept[1].space)  # not of its file

    def _select_readable(
        self, on_gpu: Mapping[str, DeviceArray], stream: int, in_graph: bool
    ) -> dict[str, DeviceArray]:
        """Return the arrays of an update that the kernels read where they are, by name; the others
        come to the host, which has the sentences for what is wrong with them."""
        job, count = self._open(), self._spheres.count
        there = {
            name: each
            for name, each in on_gpu.items()
            if can_kernels_read(name, each, count, job.device.number)
        }
        if "values" in there and self._scale is None:
            if in_graph:
                raise SceneError(
                    "values: the first ones make the scale on the host: call update with them once "
                    "before the capture of a CUDA graph"
                )
            order_streams(LEGACY_STREAM, stream, job.device.number)
        if "values" in there and self._make_scale(there["values"].to_host).is_categorical:
            del there["values"]
        return there

    def _collect_colors(
        self, spheres: SphereSet, there: Mapping[str, DeviceArray]
    ) -> dict[str, Any]:
        """Return what an update says of colours."""
        if "values" in there:
            scale = self._make_scale(there["values"].to_host)
            spheres = spheres.changed(color=there["values"], color_scale=scale)
        elif "colors" in there:
            changes = {"color": there["colors"], "color_space": self._color_space}
            spheres = spheres.changed(color_scale=None, **changes)
        elif given_array(spheres, "color") is given_array(self._spheres, "color"):
            return {}
        return pack.color_arguments(spheres)

    def _make_scale(self, first: Callable[[], Any]) -> ColorScale:
        """Return the scale of values; `first` returns those that make it, as they were given."""
        if self._scale is None:
            values = first()
            column = SphereSet(np.zeros((len(values), 3)), 1.0, columns={VALUES: values})
            self._scale = color_by_scale([column], self._style)[1]
        return self._scale

    def _settle(self) -> SceneError | None:
        """Copy the arrays of updates from the GPU to the set on the host. Returns what is wrong
        with an array that cannot be shown, which is dropped."""
        wrong = None
        if self._there:
            self._open().scene.wait()
        for name, array in self._there.items():
            try:
                spheres = self._updated_set(**{name: array})
                self._check(spheres)
                self._keep(spheres)
            except SceneError as error:
                wrong = wrong or error
        self._there = {k: v for k, v in self._there.items() if k in self._replayed}
        return wrong

    def render(
        self,
        samples: int | None = None,
        *,
        camera: Camera | None = None,
        refit_camera: bool = False,
        aovs: Sequence[str] = (),
    ) -> Image:
        """Return a picture of the scene as it is now.

        Args:
            samples: per pixel; None takes those of the settings.
            camera: of this picture and those after it.
            refit_camera: fit the camera to where the spheres are now, for this picture and those
                after it.
            aovs: output variables to put on the film; see `raytracer.render`.

        Raises:
            UserError: an argument is wrong, or a sphere of the arrays of a GPU that `update` was
                given; only the first picture after it raises this.
        """
        names = [check_text(name, "aovs") for name in check_items(aovs, "aovs")]
        variables = check_aovs(",".join(names))
        with self._lock, self._prepare_picture(samples, camera, refit_camera) as job:
            film = Film.blank(*job.view.size)
            with job.device.film(film) as on_device:
                return job.render(on_device, aovs=variables, tone=self._tone)

    def pixels(
        self,
        samples: int | None = None,
        *,
        camera: Camera | None = None,
        refit_camera: bool = False,
    ) -> NDArray[np.uint8]:
        """Return the picture alone, as `render` would show it: without a copy of the film.

        Args:
            samples, camera, refit_camera: as for `render`.

        Returns:
            uint8 (h, w, 4), sRGB with straight alpha; an array of its own for each call.
        """
        with self._lock, self._prepare_picture(samples, camera, refit_camera) as job:
            film = self._blank_film(job)
            if not _needs_host(job):
                job.accumulate(film, job.settings.samples)
                pixels = film.develop(self._tone, 8, measured=False)[0]
                return pixels.astype(np.uint8, copy=False)
            # A device with memory of its own develops the film there; the CPU without statistics.
            bits = 8 if job.device.has_own_memory else None
            image = job.render(film, tone=self._tone, bits=bits, keep_film=bits is None)
            return image.pixels(8).astype(np.uint8, copy=False)

    def _blank_film(self, job: PreparedScene) -> DeviceFilm:
        """Return the film that is used for all pictures whose sums nobody keeps."""
        if self._film is None:
            self._film = job.device.film(Film.blank(*job.view.size))
        self._film.clear()
        return self._film

    def device_pixels(
        self,
        samples: int | None = None,
        *,
        camera: Camera | None = None,
        refit_camera: bool = False,
        stream: Any = None,
    ) -> DeviceArray:
        """Return the picture of `pixels` where it was made: in the memory of the GPU.

        `torch.from_dlpack`, `cupy.asarray` and the like take it without a copy. The next picture is
        made in the same memory.

        Args:
            samples, camera, refit_camera: as for `render`.
            stream: stream on which you will read the picture, as for `update`: it waits for the
                picture, and the next picture waits for the work that is queued on it by then. Do
                not destroy it before the next picture.

        Returns:
            uint8 (h, w, 4), sRGB with straight alpha.

        Raises:
            UserError: the scene is on the CPU, or an argument is wrong.
        """
        reader = stream_handle(stream)
        with self._lock, self._prepare_device_picture(samples, camera, refit_camera) as (job, film):
            if _needs_host(job):
                return job.render(film, tone=self._tone, bits=8).device_array()
            job.accumulate(film, job.settings.samples)
            if self._picture is None:
                self._picture = job.device.picture()
            self._picture.reader = reader
            film.develop_into(self._tone, self._picture)
            self._reader = stream  # the next picture waits for it, so that it must not end before
            array: DeviceArray = self._picture.array()
            return array

    def device_sums(
        self,
        samples: int | None = None,
        *,
        camera: Camera | None = None,
        refit_camera: bool = False,
        stream: Any = None,
    ) -> DeviceArray:
        """Return linear values of a picture in the memory of the GPU: sums over the samples.

        Divided by the number of samples they are `Film.mean`. The next sums are in the same memory.

        Args:
            samples: of each pixel; None takes those of the settings, without a noise level.
            camera, refit_camera: as for `render`.
            stream: as for `device_pixels`.

        Returns:
            float32 (h, w, 4): linear RGB, premultiplied, and the samples that hit something.

        Raises:
            UserError: the scene is on the CPU, or an argument is wrong.
        """
        reader = stream_handle(stream)
        with self._lock, self._prepare_device_picture(samples, camera, refit_camera) as (job, film):
            job.accumulate(film, job.settings.samples)
            self._reader = stream  # as in `device_pixels`
            return film.copy_sums(reader)

    @contextmanager
    def _prepare_device_picture(self, *given: Any) -> Iterator[tuple[PreparedScene, DeviceFilm]]:
        """Give the job of a picture that stays on the GPU, and an empty film."""
        if not self._open().device.has_own_memory:
            raise UserError(
                'the scene is on the CPU: give LiveScene backend="cuda", or take `pixels`'
            )
        with self._prepare_picture(*given) as job:
            yield job, self._blank_film(job)

    def close(self) -> None:
        """Release the memory of the device; may be called twice."""
        with self._lock:
            job, self._job = self._job, None
            self._there, self._picture, self._reader = {}, None, None
            self._replayed = frozenset()
            if job is not None:
                if self._film is not None:
                    self._film.close()
                job.scene.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> PreparedScene:
        """Return the job. Raises UserError if the scene is closed."""
        if self._job is None:
            raise UserError("the live scene is closed: make a new one")
        return self._job

    @property
    def _kept(self) -> tuple[Scene, SceneBuffers]:
        kept = self._open().kept
        assert kept is not None
        return kept

    @property
    def _spheres(self) -> SphereSet:
        return self._kept[0].spheres[self._place]

    def _updated_set(
        self, positions: Any = None, radii: Any = None, colors: Any = None, values: Any = None
    ) -> SphereSet:
        """Return the set with what an update says; centres and radii are not checked."""
        spheres = moved = self._spheres
        where = WHERE._replace(unit=spheres.where.unit)
        if positions is not None:
            moved = moved.changed(centers=arrays.align(arrays.check_shape(positions, where)))
        count = moved.count
        if radii is not None:
            sizes = arrays.as_floats(radii, "radius", where)
            is_row = sizes.ndim == 1 and len(sizes) == count
            size = arrays.align(sizes) if is_row else arrays.check_radius(sizes, count, WHERE)
            moved = moved.changed(radius=size)
        if count != spheres.count:
            others = f"{pluralize(count, 'sphere')} in place of {spheres.count:,} with different"
            if radii is None and isinstance(spheres.radius, np.ndarray):
                raise SceneError(f"positions: {others} radii: give radii too")
            if isinstance(spheres.opacity, np.ndarray):
                raise SceneError(f"positions: {others} opacities: make a new LiveScene")
            moved = moved.without_columns()
        space, colored = self._color_space, None
        if values is not None:
            unit = find_unit(values) if self._scale is None else self._scale.unit or None
            numbers, space = arrays.as_array(values, VALUES, WHERE, unit), "linear"
            if numbers.shape != (count,):
                shape = numbers.shape
                raise SceneError(f"values: has shape {shape} for {pluralize(count, 'sphere')}")
            colored = SetColors(self._make_scale(lambda: values).rgb(numbers))
        elif colors is not None:
            colored = check_set_colors(colors, None, space, count, WHERE)
        if colored is None:
            return moved
        rows, ids, opacity = colored
        return moved.changed(
            color=rows if ids is None else rows[ids], color_id=None, color_space=space,
            opacity=moved.opacity if opacity is None else opacity, has_color=True,
        )  # fmt: skip

    def _examine(self) -> None:
        """Find out how the spheres lie in the packed scene, and whether they change in place."""
        job, (scene, buffers) = self._open(), self._kept
        place, spheres, placed = self._place, self._spheres, buffers.placed
        self._first = sum(each.count for each in scene.spheres[:place])
        self._radius_scale = spheres.transform.scale / buffers.space.scale
        first, last, total = self._first, self._first + spheres.count, buffers.count
        ranges = [placed.radii(slice(a, b)) for a, b in ((0, first), (last, total)) if a < b]
        self._others = (
            min((a for a, _ in ranges), default=np.inf),
            max((b for _, b in ranges), default=0.0),
        )
        own = placed.radii(slice(first, last)) if spheres.count else (np.inf, 0.0)
        self._has_large = self._has_large_spheres(*own)
        is_large = own[1] >= RATIO * min(own[0], self._others[0])  # or may be after it has moved
        is_packed = is_large or has_table_entry(scene, spheres, first, buffers)
        self._can_move = job.scene.can_update and spheres.count > 0 and not is_packed
        self._has_rows = (
            buffers.view.frame["scene"]["color_mode"][0] != enum_value("ColorMode", pack.UNIFORM)
            and len(given_array(spheres, "color")) == spheres.count
            and spheres.color_id is None
        )
        self._first_color = first_color_rows(buffers, scene.spheres)[place]

    def _radius_range(self, spheres: SphereSet) -> tuple[float, float]:
        with np.errstate(all="ignore"):
            radii = np.atleast_1d(spheres.radius) * self._radius_scale
            return float(radii.min()), float(radii.max())

    def _has_large_spheres(self, least: float, most: float) -> bool:
        """Whether radii differ so much that spheres may be packed as large ones."""
        low, high = self._others
        return max(most, high) >= RATIO * min(least, low)

    def _check_resized(self) -> None:
        """Pack the scene anew where radii of a GPU have made spheres large."""
        if not self._is_resized and "radii" not in self._replayed:
            return
        least, most = self._open().scene.find_moved_radii()
        is_large = most >= RATIO * min(least, self._others[0])
        if is_large or (not self._has_large and self._has_large_spheres(least, most)):
            self._pack_anew({})
        self._is_resized = False

    def _repack(self, spheres: SphereSet) -> None:
        """Pack the scene anew in the same space, with another tree in other memory."""
        self._check(spheres)
        job, buffers, scene = self._open(), self._kept[1], self._with_set(spheres)
        settings, camera = job.settings, self.camera
        plan = None if job.plan is None else make_plan(scene)
        require_count(scene.count + scene.solid_count, job.device.max_spheres, job.device.name)
        if buffers.count:
            aspect = settings.width / settings.height
            pose = fit_camera(camera, buffers.balls, buffers.space, aspect)[0]
            buffers, _ = pack.pack_with_camera(
                scene, settings, placer=job.device.place, before=buffers, pose=pose
            )
        else:  # there was nothing that space and camera could be fitted to
            around = reserved_room(job.plan, *job.view.size)
            buffers, camera = pack.pack_with_camera(scene, settings, around, job.device.place)
        on_device = job.device.scene(buffers, job.device.build(buffers))
        buffers.release()
        self._job = replace(
            job, scene=on_device, view=buffers.view, space=buffers.space, camera=camera, plan=plan,
            kept=(scene, buffers), about=job.about | {"spheres": scene.count} | camera.about,
        )  # fmt: skip
        job.scene.close()
        self._is_plan_old = False
        self._examine()
        self._is_torn = False

    def _keep(self, spheres: SphereSet) -> None:
        """Take note of what the set and its scale are now."""
        self._open().kept = self._with_set(spheres), self._kept[1]

    def _with_set(self, spheres: SphereSet) -> Scene:
        """Return the scene with another set, unchecked, and with the scale of its values."""
        scene = copy(self._kept[0])
        scene.spheres = [*scene.spheres[: self._place], spheres, *scene.spheres[self._place + 1 :]]
        if self._scale is not None and self._scale not in scene.color_scales:
            scene.color_scales = (self._scale,)
        return scene

    @contextmanager
    def _prepare_picture(
        self, samples: int | None, camera: Camera | None, refit: bool
    ) -> Iterator[PreparedScene]:
        """Give the job of a picture, from another camera if one is given."""
        if self._is_torn:
            self._pack_anew({})
        if self._untold is not None:
            wrong, self._untold = self._untold, None
            raise wrong
        settings = self._open().settings
        if samples is not None:
            count = check_whole(samples, "samples", 1, MAX_NUMBER)
            settings = replace(settings, samples=count, noise=None)
        if camera is not None:
            camera = check_kind(camera, "camera", Camera)
        if refit:
            camera = replace(camera or self.camera, fit=self._fit, height=None)
        if camera is not None:
            self._settle()
            self._job = self._open().with_camera(camera, have_moved=True)
            self._is_plan_old = True
        job = self._open()
        if job.plan is not None and (self._is_plan_old or self._replayed):
            self._settle()
            job.plan, self._is_plan_old = make_plan(self._kept[0]), False
        try:
            self._check_resized()
            yield self._open().fresh_copy(settings=settings)
        except SceneError:  # of arrays of the GPU, whose wrong spheres have stayed
            self._settle()
            raise


def _needs_host(job: PreparedScene) -> bool:
    """Whether the host has a part in the pictures of a device."""
    return job.plan is not None or job.settings.denoise or job.settings.noise is not None


def _moving_set(scene: Scene, number: int | None) -> int:
    """Return the place of the set that moves. Raises SceneError."""
    filled = [place for place, each in enumerate(scene.spheres) if each.count]
    if not scene.spheres:
        raise SceneError("scene: has no set of spheres")
    if number is not None:
        place = check_whole(number, "set", 0, len(scene.spheres) - 1)
    elif len(filled) == 1 or len(scene.spheres) == 1:
        place = (*filled, 0)[0]
    else:
        raise SceneError(
            f"set: the scene has {pluralize(len(filled), 'set')} of spheres: give the number of "
            "the "
            f"one that moves, 0 to {len(scene.spheres) - 1}"
        )
    made = [each for each in scene.solids if each.count and (each.are_bonds or each.made_for)]
    made = [each for each in made if each.made_for not in ("box", "axes")]
    if made:
        what = "bonds" if made[0].are_bonds else made[0].made_for
        raise SceneError(
            f"scene: its {what} are made from the particles and do not follow them: leave them out"
        )
    return place
