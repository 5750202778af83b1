"""The data flow: scene -> buffers -> BVH -> device -> film -> image."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack
from zlib import crc32

import numpy as np

from raytracer._version import __version__
from raytracer.appearance.coloring import STYLE
from raytracer.backends.select import select_device
from raytracer.config.arguments import (
    check_function,
    check_items,
    check_kind,
    check_real,
    check_text,
    check_whole,
)
from raytracer.config.errors import UserError, pluralize, prefix_errors
from raytracer.config.fields import accept_settings, check_names, find_definitions
from raytracer.config.tone_settings import ToneSettings
from raytracer.config.warning import collect_warnings, warn
from raytracer.film.aovs import GUIDE_RAYS, GUIDES, check_aovs, count_channels, trace_aovs
from raytracer.film.film import (
    Crop,
    Film,
    check_bits,
    describe_samples,
    validate_crop,
)
from raytracer.film.image import Image
from raytracer.model.parts import GLYPHS
from raytracer.model.settings import AUTO, LOOKS, MAX_FOR_NOISE, MAX_SAMPLES, RenderSettings
from raytracer.model.source_settings import SourceSettings
from raytracer.rendering.overrides import SceneOverrides
from raytracer.scene_files.source import InputSource
from raytracer.system import memory
from raytracer.system.layout import kernel_constant
from raytracer.system.progress import open_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.annotations.plan import OverlayPlan
    from raytracer.appearance.coloring.style import StyleSettings
    from raytracer.appearance.describe import SphereInfo
    from raytracer.backends.base import Device, DeviceFilm, DeviceScene, ProgressCall
    from raytracer.drawing.overlay import Overlay
    from raytracer.keywords import FileKeywords
    from raytracer.model.annotations import Annotations
    from raytracer.model.camera import Camera
    from raytracer.model.render_space import Space
    from raytracer.model.scene import Scene
    from raytracer.packing.buffers import SceneBuffers
    from raytracer.packing.framing import Surroundings
    from raytracer.packing.view import View
    from raytracer.rendering.motion_blur import MotionBlur
    from raytracer.rendering.view_settings import ViewSettings


Notice = Callable[[str], None]

MAX_NUMBER = 2**31 - 1  # Frame.sample_begin + Frame.sample_count is an int32
VIEW_SETTINGS = "raytracer.rendering.view_settings:ViewSettings"
NO_SPHERES = "the scene has no spheres: the picture shows the background alone"
"""Settings of the view, by name: they are imported where a call states one."""

NO_SPHERE = kernel_constant("kNoSphere")  # FirstHit.id


@accept_settings(SourceSettings, RenderSettings, VIEW_SETTINGS, STYLE)
def render(
    scene: object,
    *,
    backend: str = "auto",
    crop: Crop | None = None,
    threads: int = 0,
    first_sample: int | None = None,
    film: Film | None = None,
    aovs: Sequence[str] = (),
    tone: ToneSettings | Mapping[str, Any] | None = None,
    time: float | None = None,
    annotations: Annotations | Mapping[str, Any] | None = None,
    progress: ProgressCall | bool | None = None,
    **settings: Unpack[FileKeywords],
) -> Image:
    """Render a scene.

    Settings that are None or omitted are those of the scene: how its file is read,
    `RenderSettings`, camera, background, light, spheres, and colours by data.

    Args:
        scene: a Scene, the path of a scene or particle file, or an object that holds particles:
            an array, or one of another package (`Scene.from_object`).
        backend: "auto" (CUDA where it works, else the CPU), "cpu", "cuda", "cuda:1" for the GPU
            with number 1, or "cuda:0,1" or "cuda:all" for several, which divide each picture.
        crop: x0, y0, x1, y1 in pixels, half open: render only that part.
        threads: threads on the CPU; 0 takes every core that the process may use.
        first_sample: number of the first sample; by default it follows those of `film`.
        film: add to a copy of the film of an earlier picture of the same scene. n samples and then
            m more give the same sums as n + m at once.
        aovs: output variables to put on the film: "depth", "normal", "albedo", "id", "position",
            "samples"; see `Film.aovs`.
        tone: exposure and curve of the picture; a dictionary has some of them by name, and None
            takes those of the scene. They can be changed later with `Image.tonemap`.
        time: limit of the rendering time in seconds; `samples` is ignored. The number of samples
            differs from run to run.
        annotations: what is drawn over the picture, an `Annotations`, or changes of the scene's:
            `{"axes": True, "legend": {"place": "left"}, "box": False}`; None takes the scene's.
        progress: called now and then with the fraction done; what it raises stops the render. True
            shows a bar if rendering takes longer than a second: on the terminal, in a notebook, or
            as lines of a log.

    Returns:
        The picture.

    Raises:
        UserError: the scene or an argument cannot be rendered.
        TypeError: there is no argument of that name.
    """
    check_names(render, settings)
    names = [] if aovs is None else check_items(aovs, "aovs")
    variables = check_aovs(",".join(check_text(name, "aovs") for name in names))
    if film is not None:
        check_kind(film, "film", Film)
    bloom = ToneSettings.of(tone).bloom > 0
    if not isinstance(progress, bool):
        check_function(progress, "progress")
    seconds = None if time is None else check_real(time, "time", 0.0, above=True)
    source, given = InputSource.from_call(scene, settings)
    if first_sample is not None:
        first_sample = check_whole(first_sample, "first_sample")
    output = memory.MemoryEstimate(aov_channels=count_channels(variables), bloom=bloom)
    with (
        prepare(
            source, given, backend=backend, crop=crop, threads=threads, memory_of=output,
            annotations=annotations,
        ) as job,
        job.device.film(Film.blank(*job.view.size, crop, film and film.copy())) as on_device,
    ):  # fmt: skip
        x0, y0, x1, y1 = on_device.host.crop
        with open_progress(progress, (x1 - x0) * (y1 - y0) * job.settings.samples) as call:
            image = job.render(
                on_device, first=first_sample, aovs=variables, tone=ToneSettings.of(tone, job.tone),
                seconds=seconds, progress=call,
            )  # fmt: skip

    @cache
    def seen() -> tuple[Scene, NDArray[np.uint32]]:
        """Return the scene of the picture, prepared again without motion blur, and the numbers of
        what its pixels show."""
        with collect_warnings(), prepare(
            source, given, backend=backend, crop=crop, threads=threads, annotations=annotations,
            keep=True, blurs=False,
        ) as made:  # fmt: skip
            if made.digest != "-".join(job.digest.split("-")[:2]):  # without that of its motion
                raise UserError(
                    "pick: the scene or its file has changed since the picture was rendered: "
                    "render it again"
                )
            shown = Film.blank(*made.view.size, crop)
            made.find_aovs(shown, ("id",))
            assert made.kept is not None
            return made.kept[0], shown.aovs["id"]

    def picked(x: int, y: int) -> SphereInfo | None:
        scene, numbers = seen()
        x0, y0, *_ = image.film.crop
        number = int(numbers[y - y0, x - x0])
        return None if number == NO_SPHERE else scene.describe(number)

    return replace(image, picked=picked)


def prepare(
    scene: object,
    overrides: dict[str, Any] | SceneOverrides | None = None,
    *,
    backend: str | Device = "auto",
    crop: Crop | None = None,
    threads: int = 0,
    notice: Notice | None = None,
    keep: bool = False,
    memory_of: memory.MemoryEstimate | None = None,
    annotations: Annotations | Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
    hashed: bool = True,
    blurs: bool = True,
) -> PreparedScene:
    """Load, pack, build and upload a scene; the end of a `with` block releases the device memory.

    Args:
        scene: an `InputSource`, or what it is of: a Scene, a path, or an object that holds
            particles.
        overrides: settings by name, also those of the view, or checked ones with annotations.
        backend: by name, or the device of an earlier job.
        crop: for the estimate of memory.
        notice: called with a description of each stage when it begins.
        keep: keep scene and buffers with the job, for a camera that moves.
        memory_of: the outputs of the render, for the estimate of memory.
        annotations: what is drawn over pictures, or changes of what the scene states.
        values: what the texts of annotations may name in braces beside the values of the scene.
        hashed: whether films have a digest of the scene, so that samples can be added later.
        blurs: whether to find out how particles move while the shutter is open; otherwise those
            with motion keys move, and pictures of others show the middle of the shutter.
    """
    source, timings = InputSource.of(scene), dict[str, float]()
    stage = partial(_stage, notice, timings)
    with stage("start", "looking for a GPU"):
        device = select_device(backend, threads)
    about_device = {"name": device.name} | device.describe()
    settled = SceneOverrides.of(overrides, annotations)
    with stage("load", "loading the scene"):
        loaded, plan = load_with_overrides(source, settled, values, blurs)
    counts, settings, tone = loaded.counts(), loaded.render, loaded.tone
    spheres = ", ".join(pluralize(count, noun) for noun, count in counts.items())
    with prefix_errors(loaded.source):
        moving = loaded if any(each.keys for each in loaded.spheres) else None
        need = memory_of or memory.MemoryEstimate()
        need = replace(need, moves=need.moves or moving is not None, threads=threads)
        keeps, is_file = keep or moving is not None, source.path is not None
        with stage("pack", f"packing {spheres}"):
            buffers, camera = _pack_scene(loaded, need, crop, plan, device, keeps, is_file)
        settings = settings.override(brightness=_brightness(loaded, settings))
        kept = (loaded, buffers) if keep else None
        del loaded
        digest = ""
        if hashed:
            with stage("digest", f"hashing {spheres}"):
                digest = buffers.digest()
        with stage("build", f"building the hierarchy over {spheres}"):
            tree = device.build(buffers)
        with stage("upload", f"uploading {spheres} to the {device.name} backend"):
            if need.window:  # which should not wait for a compiler
                device.compile_ahead()
            on_device = device.scene(buffers, tree)
            buffers.release()
        blur = None
        if moving is not None:
            from raytracer.rendering.motion_blur import MotionBlur  # late: few scenes move

            blur = MotionBlur(moving, buffers, on_device)
            digest += f"-{blur.digest()}" if hashed else ""
        if settings.brightness == AUTO:
            from raytracer.rendering.brightness import balance_lights  # late: not for scene files

            with stage("light", "measuring the light"):
                buffers, settings = balance_lights(device, on_device, buffers, settings)
            if kept:
                render = kept[0].render.override(brightness=settings.brightness)
                kept = replace(kept[0], render=render), buffers
    if on_device.striped_over > 1:
        about_device["striped_over"] = on_device.striped_over
    about = _picture_metadata(source.path, digest, counts, settings, about_device, camera)
    sizes = {
        "buffers": buffers.nbytes,
        "bvh": on_device.tree_nbytes,
        "bvh_per_sphere": round(on_device.tree_nbytes / max(buffers.count, 1), 2),
        "resident": on_device.nbytes,
    }
    return PreparedScene(
        settings, device, on_device, buffers.view, threads, timings, sizes, about,
        buffers.space, camera, kept, tone=tone, plan=plan, blur=blur,
    )  # fmt: skip


@contextmanager
def _stage(notice: Notice | None, spent: dict[str, float], name: str, text: str) -> Iterator[None]:
    """Announce a stage of a job, and time it."""
    if notice is not None:
        notice(text)
    start = time.perf_counter()
    yield
    spent[name] = time.perf_counter() - start


def _pack_scene(
    scene: Scene, need: memory.MemoryEstimate, crop: Crop | None, plan: OverlayPlan | None,
    device: Device, keep: bool, is_file: bool,
) -> tuple[SceneBuffers, Camera]:  # fmt: skip
    """Return the packed scene and its fitted camera, if there is memory to render it.

    need: what is known of it. keep: whether the scene stays in memory; otherwise that of a file is
    given back.
    """
    from raytracer.packing import pack

    settings, cell, alone = scene.render, None, scene
    # where spheres move, or each is asked about, as by a window, periodic images are copies
    are_copies = need.moves or need.window or need.numbered
    if not are_copies and any(each.cell is not None for each in scene.spheres):
        from raytracer.packing.replicated_set import split_images  # late: few scenes have images

        cell = split_images(scene)
        alone = scene if cell is None else cell[0]
    total = sum(alone.counts().values())
    memory.require_count(total, device.max_spheres, device.name)
    x0, y0, x1, y1 = validate_crop(settings.width, settings.height, crop)
    need = replace(
        need,
        count=total,
        width=x1 - x0,
        height=y1 - y0,
        appearance=pack.estimate_look_bytes(alone),
        solids=total - alone.count,
        triangles=sum(mesh.count for mesh in alone.meshes),
        tree_there=device.has_own_memory,
        denoise=settings.denoise,
        overlay=plan is not None,
        parts=settings.noise is not None,
        bloom=need.bloom or scene.tone.bloom > 0,
    )
    if not need.placed_there:
        kept = memory.PACKED * total if keep else -pack.count_array_bytes(alone) * is_file
        kept += memory.MOVED * sum(each.count for each in alone.spheres if each.keys)
        need = replace(need, kept=kept)
    memory.require_host(need)
    around = reserved_room(plan, settings.width, settings.height)
    return pack.pack_with_camera(scene, settings, around, device.place, cell)


@dataclass
class PreparedScene:
    """A scene on a device, and the pictures rendered of it; also a context manager."""

    settings: RenderSettings  # of the scene, with the overrides of the call
    device: Device
    scene: DeviceScene
    view: View  # of the whole picture
    threads: int
    timings: dict[str, float]  # seconds of the stages so far
    memory: dict[str, float]  # bytes of the buffers, the BVH and the device's copy
    about: dict[str, Any]  # metadata of the pictures: version, scene, settings, device, date
    space: Space  # render space, in scene units
    camera: Camera | None = None  # of the pictures, fitted; None where a window has changed it
    kept: tuple[Scene, SceneBuffers] | None = None  # with `keep`
    warnings: list[str] = field(default_factory=list)  # if the caller of `prepare` collected them
    frames: list[float] = field(default_factory=list)  # seconds of each rendered frame
    noise: float | None = None  # of the last picture (`raytracer.film.noise`), if measured
    tone: ToneSettings = field(default_factory=ToneSettings)  # of the scene
    plan: OverlayPlan | None = None  # of what is drawn over pictures
    blur: MotionBlur | None = None  # if the scene moves while the shutter is open
    _last_overlay: tuple[View, Crop, Overlay] | None = None

    def render(
        self, on_device: DeviceFilm, *, repeat: int = 1, first: int | None = None,
        aovs: Sequence[str] = (), tone: ToneSettings | None = None, bits: int | None = None,
        keep_film: bool = True, seconds: float | None = None, progress: ProgressCall | None = None,
    ) -> Image:  # fmt: skip
        """Add the samples of the settings to a film, and return its picture.

        With a noise level in the settings, samples are added until it is reached.

        Args:
            on_device: a film of the device.
            repeat: how often to render the frame; each time but the first clears the film before.
            keep_film: False leaves the sums on the device, without output variables, if the
                picture is developed there and all pixels are finite.
            bits: as for `image`; the other arguments are those of `raytracer.render`.
        """
        self._overlay(on_device.host.crop)  # before rendering, for its errors
        if bits is not None:
            check_bits(bits, tone or self.tone)
        for frame in range(repeat):
            if frame:
                on_device.clear()

            def report(fraction: float, frame: int = frame) -> None:
                assert progress is not None
                progress((frame + fraction) / repeat)

            self.frames.append(
                self._accumulate_frame(on_device, first, seconds, progress and report)
            )
        self.timings["frame"] = self.frame_times()["median"]
        image = self.image(on_device, tone, bits)
        if bits is None or keep_film or image.statistics.non_finite:
            self.find_aovs(on_device.to_host(), aovs)
        return image

    def frame_times(self) -> dict[str, float]:
        """Return "median", "min", "q1" and "q3" of the seconds of the frames."""
        figures = np.quantile(self.frames, [0.5, 0.0, 0.25, 0.75]).tolist()
        return dict(zip(("median", "min", "q1", "q3"), figures, strict=True))

    def _accumulate_frame(
        self, on_device: DeviceFilm, first: int | None, seconds: float | None,
        progress: ProgressCall | None,
    ) -> float:  # fmt: skip
        """Add samples until the goal of the settings is reached; return the seconds."""
        settings = self.settings
        if settings.noise is None and seconds is None:
            return self.accumulate(on_device, settings.samples, progress, first=first)
        from raytracer.rendering.adaptive import AdaptiveSampler, FilmAreas  # late: few pictures

        offset = 0 if first is None else first - on_device.samples
        self._check_added_samples(on_device.host, on_device.samples + offset, 1)
        most = MAX_SAMPLES if settings.noise is None else settings.max_samples or MAX_FOR_NOISE
        passes = AdaptiveSampler(
            FilmAreas(on_device, self.add, self.device, offset), settings.samples, settings.noise,
            most, seconds, progress,
        )  # fmt: skip
        spent = passes.run()
        self._describe(on_device.host)
        self.noise = passes.noise
        return spent

    def accumulate(
        self, on_device: DeviceFilm, count: int, progress: ProgressCall | None = None, *,
        first: int | None = None,
    ) -> float:  # fmt: skip
        """Add samples to a film, and the metadata of this job; return the seconds of the frame.
        first: number of the first sample; by default it follows those on the film."""
        film = on_device.host
        first = film.samples if first is None else first
        self._check_added_samples(film, first, count)
        if film.counts is None:
            seconds = self.add(on_device, count, progress, first)
        else:
            from raytracer.rendering.adaptive import FilmAreas  # late: few films

            areas = FilmAreas(on_device, self.add, self.device, first - film.samples)
            seconds = areas.accumulate(count, progress)
        self._describe(film)
        return seconds

    def add(
        self, on_device: DeviceFilm, count: int, progress: ProgressCall | None, first: int
    ) -> float:
        """Add samples to a film of which all pixels have as many, and return the seconds."""
        if self.blur is not None:
            scene, view = self.scene, self.view
            return self.blur.add(on_device, self.device, scene, view, count, progress, first=first)
        return on_device.add(self.scene, self.view, count, progress, first=first)

    def _check_added_samples(self, film: Film, first: int, count: int) -> None:
        """Refuse a film of another picture, and samples without a number. Raises UserError."""
        digest = film.metadata.get("digest", self.digest)
        if film.samples and digest != self.digest:
            with prefix_errors(film.source):
                raise UserError(
                    "the film is of another picture: scene, camera, settings or version differ, or "
                    "it is of a live scene; render with what made it, or start a new film"
                )
        if first < 0 or count < 0 or first + count > MAX_NUMBER:
            raise UserError(
                f"samples {first:,} to {first + count - 1:,}: they are numbered from 0 to "
                f"{MAX_NUMBER - 1:,}; begin with a lower one, or take fewer"
            )

    def _describe(self, film: Film) -> None:
        """Give a film the metadata of this job, after samples were added."""
        if "samples" in film.aovs:
            self.find_aovs(film, ("samples",))
        film.metadata = self.about | {"digest": self.digest, "transparent": self.view.transparent}

    @property
    def digest(self) -> str:
        """Hash of scene, camera and settings, without the number of samples."""
        return str(self.about["scene"]["digest"])

    def image(
        self, on_device: DeviceFilm, settings: ToneSettings | None = None, bits: int | None = None
    ) -> Image:
        """Return the picture of a film, with the metadata of this job.

        bits: 8 or 16 to develop now, on the device, and leave the sums there until `to_host`; None
            copies the sums to the host and develops when the picture is first used.
        """
        film = on_device.host if bits else on_device.to_host()
        about = self.about | describe_samples(film) | {"crop": list(film.crop)}
        if self.noise is not None:
            about["noise"] = self.noise
        settings, denoise, upload = settings or self.tone, self.settings.denoise, None
        if self.device.has_own_memory:
            from raytracer.backends.cuda import transfer  # late: the CPU does without

            upload = partial(transfer.upload, self.device.number)
        image = Image(
            film, self.view.transparent, self.timings, about, self.threads, settings, self.camera,
            denoise, self._overlay(film.crop),
            upload=upload,
        )  # fmt: skip
        if denoise:
            self.find_aovs(on_device.to_host(), [name for name in GUIDES if name not in film.aovs])
            _ = image.shown  # which measures its own time
        if bits is not None and not denoise:
            start = time.perf_counter()
            image.keep(bits, *on_device.develop(settings, bits))
            self.timings["tone"] = time.perf_counter() - start
        return image

    def _overlay(self, crop: Crop) -> Overlay | None:
        """Return what is drawn over a picture of some pixels; it is made once."""
        if self.plan is None:
            return None
        if self._last_overlay is None or self._last_overlay[:2] != (self.view, crop):
            start = time.perf_counter()
            overlay = self.plan.overlay(self.scene, self.view, self.space, crop)
            self._last_overlay = self.view, crop, overlay
            self.timings["annotations"] = time.perf_counter() - start
        return self._last_overlay[2]

    def pick(self, x: int, y: int) -> SphereInfo | None:
        """Return what the centre of a pixel shows, or None; the job keeps its scene."""
        assert self.kept is not None
        number = int(
            self.scene.trace_first_hits(self.view.with_crop((x, y, x + 1, y + 1)))["id"][0, 0]
        )
        return None if number == NO_SPHERE else self.kept[0].describe(number)

    def fresh_copy(self, **changes: Any) -> PreparedScene:
        """Return a job of another picture, of which nothing is known yet."""
        about = changes.pop("about", self.about) | {"date": current_date()}
        return replace(
            self, about=about, timings={}, frames=[], warnings=[], noise=None, _last_overlay=None,
            **changes,
        )  # fmt: skip

    def with_camera(self, camera: Camera, *, have_moved: bool = False) -> PreparedScene:
        """Return the job with another camera; it keeps its scene. have_moved: the spheres of that
        are not where they were packed."""
        from raytracer.packing import pack
        from raytracer.packing.pose import fit_camera

        assert self.kept is not None
        scene, buffers = copy(self.kept[0]), self.kept[1]
        settings, scene.camera = self.settings, camera
        space, aspect = buffers.space, settings.width / settings.height
        with prefix_errors(scene.source):
            balls = (
                pack.to_render_space(pack.bounding_spheres(scene), space)
                if have_moved
                else buffers.balls
            )
            around = reserved_room(self.plan if camera.fit else None, *self.view.size)
            pose, camera = fit_camera(camera, balls, space, aspect, pack.add_boxes(scene, around))
        scene.camera = camera
        view = pack.repack_view(buffers, scene, settings, pose)
        return replace(
            self, view=view, kept=(scene, replace(buffers, view=view)), camera=camera,
            about=self.about | camera.about,
        )  # fmt: skip

    def find_aovs(self, film: Film, names: Sequence[str]) -> None:
        """Put output variables on a film."""
        guides = {name: GUIDES[name] for name in names if name in GUIDES}
        others = {name: name for name in names if name != "samples" and name not in GUIDES}
        view, space = self.view, self.space
        film.aovs |= trace_aovs(film, others, self.scene.trace_first_hits, view, space)
        if self.blur is None or not guides:
            film.aovs |= trace_aovs(
                film, guides, self.scene.trace_first_hits, view, space, GUIDE_RAYS
            )
        else:  # means over the shutter
            film.aovs |= dict.fromkeys(guides, np.zeros((), np.float32))
            with closing(self.blur.moments(self.device, self.scene, view)) as scenes:
                for scene in scenes:
                    found = trace_aovs(
                        film, guides, scene.trace_first_hits, view, space, GUIDE_RAYS
                    )
                    for name, values in found.items():
                        film.aovs[name] = film.aovs[name] + values / self.blur.MOMENTS
        if "samples" in names:
            film.aovs["samples"] = film.pixel_counts().copy()

    def __enter__(self) -> PreparedScene:
        return self

    def __exit__(self, *_: object) -> None:
        self.scene.close()


def apply_overrides(scene: Scene, overrides: SceneOverrides) -> Scene:
    """Apply the settings of a call to a scene, and make its glyphs."""
    scene = _apply_annotations(scene, overrides.annotations)
    style, view = overrides.style, overrides.view
    if style is not None:
        opacity = None
        if view is not None and style.rest is not None:
            # If the rest is faded, selection multiplies the opacities, so these are set first.
            opacity, view = view.opacity, replace(view, opacity=None)
        scene = _apply_style(
            scene, style, opacity, has_color=view is not None and view.color is not None
        )
    return _with_glyphs(_apply_changes(scene, overrides.render, view))


def _apply_annotations(scene: Scene, changes: Annotations | Mapping[str, Any] | None) -> Scene:
    if changes is None or (isinstance(changes, Mapping) and not changes):
        return scene
    from raytracer.model.annotations import Annotations

    if not isinstance(changes, Annotations):
        changes = (scene.annotations or Annotations()).changed(changes)
    return replace(scene, annotations=changes)


def _check_particles(scene: Scene, name: str) -> None:
    if name and scene.meshes and not scene.spheres and len(scene.meshes) == len(scene.solids):
        raise UserError(f"{name}: is for particles, but the scene has meshes alone")


def _apply_style(
    scene: Scene, style: StyleSettings, opacity: float | str | None, has_color: bool
) -> Scene:
    """Apply colours by data and a selection; `opacity` of all particles, or None."""
    from raytracer.appearance.coloring.apply import style_scene

    named = (name for name in find_definitions(type(style)) if getattr(style, name) is not None)
    _check_particles(scene, next(named, ""))
    for name in ("color_by", "palette"):
        if has_color and getattr(style, name) is not None:
            raise UserError(f"color: give either color, one colour for all, or {name}")
    with prefix_errors(scene.source):
        return style_scene(scene, style, opacity=opacity)


def _apply_changes(scene: Scene, changes: Mapping[str, Any], view: ViewSettings | None) -> Scene:
    render = scene.render.override(**changes)
    if "look" in changes:  # as it is defined, unless the call says more
        render = render.override(brightness=changes.get("brightness", 1.0))
    if view is not None:
        _check_particles(scene, "" if view.radius is None else "radius")
        scene = view.apply_to(scene)
    if "light" in changes or ("placement" in changes and LOOKS[render.look].key > 0.0):
        from raytracer.rendering.view_settings import with_look_lights

        scene = with_look_lights(scene, render)
    if render.shading == "flat":
        render = render.override(look="flat", integrator="direct", brightness=1.0)
        scene = replace(scene, lights=None, ambient=None, environment=None)
    return replace(scene, render=render)


def _with_glyphs(scene: Scene) -> Scene:
    is_drawn = scene.annotations is not None and scene.annotations.in_scene
    made_before = any(solids.made_for for solids in scene.solids)  # by an earlier call
    if not (is_drawn or made_before or any(getattr(scene, name) is not None for name in GLYPHS)):
        return scene
    from raytracer.appearance.glyphs.make import with_glyphs

    with prefix_errors(scene.source):
        return with_glyphs(scene)


def load_with_overrides(
    source: InputSource,
    overrides: SceneOverrides,
    values: Mapping[str, Any] | None = None,
    blurs: bool = False,
) -> tuple[Scene, OverlayPlan | None]:
    """Return a scene as it is packed, and what is drawn over its pictures; see `prepare`."""
    columns = overrides.columns
    scene = apply_overrides(load_source(source, columns=columns), overrides)
    if blurs and scene.camera is not None and scene.camera.shutter:
        from raytracer.model.motion import with_motion  # late: few scenes move
        from raytracer.trajectory.tracks import FrameKeys

        scene = with_motion(scene, FrameKeys.of(source).from_frames)
    if columns and source.path is not None:  # nobody else needs them
        for spheres in scene.spheres:
            spheres.release_columns()
    if scene.render.denoise:
        from raytracer.film.denoise import require_denoiser

        require_denoiser()
    plan = make_plan(scene, values)
    if any(each.made_for for each in scene.solids):
        from raytracer.appearance.glyphs.make import with_faded_particles

        scene = with_faded_particles(scene)
    if scene.count == 0 and not scene.solid_count:
        warn(NO_SPHERES)
    return scene, plan


def _brightness(scene: Scene, settings: RenderSettings) -> float | str:
    """Return the brightness of the lights; it is not measured where they are not those of a look,
    or light goes on from surface to surface."""
    if settings.brightness != AUTO:
        return settings.brightness
    stated = scene.lights, scene.environment, scene.ambient
    is_look = all(each is None for each in stated) and settings.resolved_integrator != "path"
    return AUTO if is_look else 1.0


def reserved_room(plan: OverlayPlan | None, width: int, height: int) -> Surroundings:
    """Return what a fitted camera leaves room for in a picture, without the boxes of files."""
    from raytracer.packing.framing import NOTHING

    return NOTHING if plan is None else plan.reserved_room(width, height)


def load_source(
    source: InputSource, frame: int | None = None, columns: Sequence[str] = ()
) -> Scene:
    """Return the scene of a source, or of another frame, with columns read from its file."""
    frame = source.frame if frame is None else frame
    if source.is_moved:
        from raytracer.trajectory.tracks import load_moved

        return load_moved(source, frame, columns)
    if source.path is not None:
        from raytracer.scene_files.load import load_scene

        return load_scene(source, frame, columns)
    from raytracer.model.scene import Scene as SceneType

    scene = source.scene
    if not isinstance(scene, SceneType):
        from raytracer.trajectory.source import LiveSource

        if isinstance(scene, LiveSource):
            return scene.load(0, columns)
        return SceneType.from_object(scene, frame=frame)
    if frame is not None:
        raise UserError("frame: a Scene has no frames: give the path of a trajectory")
    return scene


def make_plan(scene: Scene, values: Mapping[str, Any] | None = None) -> OverlayPlan | None:
    """Return what is drawn over pictures of a scene, or None; values: as for `prepare`."""
    if not scene.annotations:
        return None
    from raytracer.annotations import plan

    with prefix_errors(scene.source):
        return plan.make_plan(scene, scene.render, scene.annotations, values)


def describe_scene_file(path: Path) -> dict[str, Any]:
    """Return what the metadata of a picture say of the file of its scene.

    Of an absolute path the name alone is kept: a picture should not tell where its author keeps
    files. Its checksum tells files of one name apart.
    """
    return {
        "path": path.name if path.is_absolute() else path.as_posix(),
        "file": f"{crc32(bytes(path.absolute())):08x}",
    }


def current_date() -> str:
    """Return date and time in UTC, for metadata."""
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")


def _picture_metadata(
    path: Path | None, digest: str, counts: Mapping[str, int], settings: RenderSettings,
    device: dict[str, Any], camera: Camera,
) -> dict[str, Any]:  # fmt: skip
    """Return the metadata of a job's pictures."""
    about = {"path": None} if path is None else describe_scene_file(path)
    stated = asdict(settings)
    for name in ("dpi", "max_samples"):  # no part of the picture unless stated
        if stated[name] is None:
            del stated[name]
    return {
        "version": __version__,
        "scene": about | {"digest": digest},
        **{f"{noun}s": count for noun, count in counts.items()},
        "settings": stated,
        "backend": device,
        "date": current_date(),
        **camera.about,
    }
