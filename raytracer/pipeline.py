"""The data flow: scene -> buffers -> BVH -> backend -> film -> image."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from raytracer import memory
from raytracer.arguments import function, is_a, items, of_kind, text, whole
from raytracer.backends.select import select
from raytracer.errors import SceneError, UserError, counted, naming, type_name
from raytracer.fields import check_names, takes
from raytracer.files.access import is_path, path_of
from raytracer.film.film import Crop, Film, checked_crop
from raytracer.film.film_file import check_aovs
from raytracer.film.image import Image
from raytracer.film.tone_settings import ToneSettings
from raytracer.job import Job, about
from raytracer.resources import thread_count
from raytracer.settings import RenderSettings
from raytracer.warning import warn

if TYPE_CHECKING:
    from typing import Unpack

    from raytracer.backends.base import Device, ProgressCall
    from raytracer.buffers import SceneBuffers
    from raytracer.files.output import OutputSet
    from raytracer.scene.scene import Scene
    from raytracer.settings import Overrides

Notice = Callable[[str], None]


@takes(RenderSettings)
def render(
    scene: Scene | str | Path,
    *,
    backend: str = "auto",
    crop: Crop | None = None,
    threads: int = 0,
    first_sample: int | None = None,
    film: Film | None = None,
    aovs: Sequence[str] = (),
    tone: ToneSettings | None = None,
    progress: ProgressCall | None = None,
    **settings: Unpack[Overrides],
) -> Image:
    """Render a scene.

    Settings that are None or left out, those of `RenderSettings`, are the scene's.

    Args:
        scene: a Scene, or the path of a scene or particle file.
        backend: "auto" (CUDA where it works, else the CPU), "cpu", "cuda", or "cuda:1" for the
            GPU with number 1.
        crop: x0, y0, x1, y1 in pixels, half open: render only that part.
        threads: threads on the CPU; 0 takes every core that the process may use.
        first_sample: number of the first sample; by default it follows those of `film`.
        film: add to a copy of the film of an earlier picture of the same scene. n samples and then
            m more give the same sums as n + m at once.
        aovs: output variables to put on the film: "depth", "normal", "albedo", "id", "position",
            "samples"; see `Film.aovs`.
        tone: exposure and curve of the picture; None leaves colours alone. They can be changed
            later with `Image.tonemap`.
        progress: called now and then with the fraction done; what it raises stops the render.

    Returns:
        The picture.

    Raises:
        UserError: the scene or an argument cannot be rendered.
        TypeError: there is no argument of that name.
    """
    check_names(render, settings)
    names = [] if aovs is None else items(aovs, "aovs", UserError)
    wanted = check_aovs(",".join(text(name, "aovs", UserError) for name in names))
    if film is not None:
        of_kind(film, "film", Film, UserError)
    if tone is not None:
        of_kind(tone, "tone", ToneSettings, UserError)
    function(progress, "progress")
    if first_sample is not None:
        first_sample = whole(first_sample, "first_sample", error=UserError)
    made = memory.Output(aovs=wanted)
    with (
        prepare(
            scene, dict(settings), backend=backend, crop=crop, threads=threads, memory_of=made
        ) as job,
        job.film(film_for(job.settings, crop, film)) as exposed,
    ):
        return job.render(exposed, first=first_sample, aovs=wanted, tone=tone, progress=progress)


def prepare(
    scene: Scene | str | Path,
    overrides: dict[str, Any] | None = None,
    *,
    backend: str | Device = "auto",
    crop: Crop | None = None,
    threads: int = 0,
    transparent: bool = False,
    notice: Notice | None = None,
    keep: bool = False,
    memory_of: memory.Output | None = None,
    outputs: OutputSet | None = None,
) -> Job:
    """Load, pack, build and upload a scene.

    overrides: settings by name; None keeps the scene's.
    backend: by name, or the device of an earlier job.
    transparent: leave the background out, whatever the scene says.
    notice: told of each stage that may take long when it begins, in a few words.
    keep: keep scene and buffers with the job, for a camera that moves.
    outputs: files that will be written, which must not be among those that the scene is made of.
    memory_of: what will be made of the film, for the estimate of memory.
    Memory of one stage that the next does not need is given back in between.
    """
    from raytracer.scene.pack import nbytes

    if is_path(scene):
        scene = path_of(scene, "scene")
    stage = _Stages(notice)
    with stage("start", "looking for a GPU"):
        if is_path(scene) and Path(scene).suffix.lower() in (".npz", ".npy"):
            # Takes as long as reading 100,000 spheres does, and is no part of that.
            from raytracer.files import npz  # noqa: F401
        thread_count(threads)
        chosen: Any = backend
        if not _is_device(backend):
            chosen = select(chosen, threads)
        device = {"name": chosen.name} | chosen.describe()
    with stage("load", "loading the scene"):
        loaded = _loaded(scene)
        inputs = _inputs(scene, loaded)
        if outputs is not None:
            outputs.reads(*inputs)
        settings = loaded.render.override(**(overrides or {}))
    if loaded.count == 0:
        warn("the scene has no spheres: the picture shows the background alone")
    source = loaded.source
    with naming(source):
        memory.require_count(loaded.count, chosen.max_spheres, chosen.name)
    spheres = counted(loaded.count, "sphere")
    with stage("pack", f"packing {spheres}"):
        need = _need(loaded, settings, crop, threads, memory_of or memory.Output())
        if keep:
            need = replace(need, kept=memory.PACKED * loaded.count)
        elif is_path(scene):
            need = replace(need, scene=nbytes(loaded))
        with naming(source):
            memory.require_host(need)
            if (free := device.get("memory_free")) is not None:
                memory.require_device(need, free)
        buffers = _packed(loaded, settings, transparent)
    kept = (loaded, buffers) if keep else None
    del loaded
    with stage("digest", f"hashing {spheres}"):
        digest = buffers.digest()
    with stage("build", f"building the hierarchy over {spheres}"):
        tree = chosen.build(buffers)
    with stage("upload", f"bringing {spheres} to the {chosen.name} backend"), naming(source):
        if free is not None:
            memory.require_device(replace(need, tree=tree.nbytes), free)
        on_device = chosen.scene(buffers, tree)
    sizes = {
        "buffers": buffers.nbytes,
        "bvh": tree.nbytes,
        "bvh_per_sphere": round(tree.nbytes / max(buffers.count, 1), 2),
        "resident": on_device.nbytes,
    }
    path = Path(scene) if is_path(scene) else None
    made_by = about(path, digest, buffers.count, settings, device)
    space = buffers.center, buffers.scale
    job = Job(
        settings, chosen, on_device, buffers.view, threads, stage.timings, sizes, made_by, space,
        kept, inputs,
    )  # fmt: skip
    del buffers, tree  # of which the device and the job keep what they need
    with naming(source):
        _require_rest(job, need, on_host=free is None)
    return job


def _require_rest(job: Job, need: memory.Need, on_host: bool) -> None:
    """Refuse what the render still needs if it will not fit beside the scene that is ready.

    need: of the whole job. on_host: whether the device has the scene there.
    Raises MemoryNeedError.
    """
    try:
        memory.require_host(replace(need, ready=job.scene.nbytes if on_host else 0))
    except BaseException:
        job.scene.close()
        raise


def _is_device(value: Any) -> bool:
    """Whether a value is the device of an earlier job."""
    try:
        return hasattr(value, "max_spheres") and not is_a(value, type)
    except Exception:  # whatever a foreign object raises
        return False


def _packed(scene: Scene, settings: RenderSettings, transparent: bool) -> SceneBuffers:
    """Scene and settings as buffers."""
    from raytracer.scene.pack import pack

    buffers = pack(scene, settings)
    return buffers.seen(buffers.view.without_background()) if transparent else buffers


def _loaded(scene: Scene | str | Path) -> Scene:
    if is_path(scene):
        from raytracer.scene.load import load

        return load(scene)
    from raytracer.scene.scene import Scene as Kind

    if not is_a(scene, Kind):
        raise SceneError(f"scene: give a raytracer.Scene or a path, not a {type_name(scene)}")
    return cast(Kind, scene)


def _inputs(source: Scene | str | Path, scene: Scene) -> tuple[Path, ...]:
    """The files that a scene was made of: its own and those of its sphere sets, absolute."""
    own = [Path(source).absolute()] if is_path(source) else []
    return (*own, *(spheres.file.path for spheres in scene.spheres if spheres.file))


def _need(
    scene: Scene,
    settings: RenderSettings,
    crop: Crop | None,
    threads: int,
    output: memory.Output,
) -> memory.Need:
    """What a job allocates from here on, if it keeps no scene and gives none back."""
    from raytracer.scene.pack import packed_looks

    x0, y0, x1, y1 = checked_crop(settings.width, settings.height, crop)
    looks = packed_looks(scene)
    return memory.Need(
        scene.count,
        x1 - x0,
        y1 - y0,
        looks=looks,
        lights=1 if scene.lights is None else len(scene.lights),
        threads=threads,
        output=output,
    )


def film_for(
    settings: RenderSettings, crop: Crop | None, film: Film | None, own: bool = False
) -> Film:
    """A blank film, or a copy of an earlier one that must be of the same pixels.

    own: the earlier film itself, which the caller does not need as it is.
    """
    blank = Film.blank(settings.width, settings.height, crop)
    if film is None:
        return blank
    with naming(film.source):
        _check_pixels(film, blank)
    return film if own else film.copy()


def _check_pixels(film: Film, blank: Film) -> None:
    """Refuse a film to which nothing can be added, or of other pixels. Raises UserError."""
    if film.metadata.get("half"):
        raise UserError(
            "the film was stored with 16-bit floats, which keep no sums to add to: resume one "
            "that was saved as .npz or as .exr with 32-bit floats"
        )
    if (film.crop, film.width, film.height) != (blank.crop, blank.width, blank.height):
        raise UserError(
            f"the film holds pixels {film.crop} of {film.width}x{film.height} and the render asks "
            f"for {blank.crop} of {blank.width}x{blank.height}: use the same size and crop"
        )


class _Stages:
    """Times the stages of a job, in seconds, and tells of each when it begins."""

    def __init__(self, notice: Notice | None) -> None:
        self.timings: dict[str, float] = {}
        self._notice = notice

    @contextmanager
    def __call__(self, name: str, text: str) -> Iterator[None]:
        """One stage; `text` says in a few words what is being done."""
        if self._notice is not None:
            self._notice(text)
        start = time.perf_counter()
        yield
        self.timings[name] = time.perf_counter() - start
