"""`raytracer render`; only the options are imported with the module, so that help is fast."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from operator import mul
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from raytracer.commands import options
from raytracer.commands.report import describe_written, print_json, print_lines, print_warnings
from raytracer.config.errors import UserError, pluralize
from raytracer.config.field_types import Number
from raytracer.config.tone_settings import ToneSettings
from raytracer.config.warning import collect_warnings
from raytracer.system.memory import MemoryEstimate
from raytracer.system.resources import peak_memory

if TYPE_CHECKING:
    from raytracer.film.film import Crop, Film
    from raytracer.film.image import Image
    from raytracer.rendering.pipeline import PreparedScene

Call = SimpleNamespace  # options of a call by name, and `scene`, `settings`, `tone`, `annotations`
FRAMING = "change position and look_at under [camera], or set fit = true there to frame the spheres"
SECONDS = Number(0.0, above=True)
CAMERA = ("up", "view", "camera")  # options of which each says what is up


@click.command(
    cls=options.SettingsCommand,
    settings=(options.source_options, *options.picture_groups, options.motion_options),
    common=("output", "frame", "backend", *options.COMMON_OF_VIEWS, "exposure"),
)
@options.scenes_argument
@options.output_option(
    help="The picture: .png, .jpg, .tiff, .webp, .avif, .exr; `-` for PNG on standard output; "
    "default: NAME.png in the current folder, or NAME-2.png if that shows another scene."
)
@options.run_options
@options.picture_options
@options.file_option("--film", help="Also save the film, .npz, or .exr for others.")
@click.option("--aov", metavar="LIST",
              help="Output variables to save with the film: depth,normal,albedo,id,position,"
              "samples.")  # fmt: skip
@options.file_option("--resume", help="Add --samples more samples to a saved film.", metavar="FILM")
@click.option("--time", type=options.SettingType(SECONDS, "--time"), metavar="SECONDS",
              help="Render for this time, with as many samples as it allows.")  # fmt: skip
@options.numbers_option("--crop", "x0,y0,x1,y1",
                        help="Render only these pixels; x1 and y1 are excluded.")  # fmt: skip
@options.numbers_option("--only", "x,y,sample",
                        help="Replay one sample and print its radiance.")  # fmt: skip
@options.numbers_option("--pick", "x,y",
                        help="Print what the centre of a pixel shows: a particle and its values."
                        )  # fmt: skip
@click.option("--repeat", type=click.IntRange(1), default=1, metavar="N",
              help="Render the frame N times and print statistics of the time.")  # fmt: skip
def render(scenes: tuple[str, ...], **given: Any) -> None:
    """Render a scene file (TOML or JSON) or a particle file (npz, csv, xyz, ...) to a PNG.

    \b
    Examples:
      raytracer render scenes/three_balls.toml
      raytracer render atoms.xyz -o atoms.png --size 1920x1080 --samples 64
      raytracer render atoms.xyz --view front --up z --ortho --background black
      raytracer render cloud.npz --backend cuda --json --repeat 5
      raytracer render scenes/three_balls.toml --crop 600,300,700,400
      raytracer render scenes/three_balls.toml --only 640,360,3
      raytracer render scenes/three_balls.toml --pick 640,360
      raytracer render trajectory.gsd --frame -1
      raytracer render trajectory.gsd --frame 20 --shutter 0.5 --samples 64
      raytracer render scenes/galaxy.toml --exposure auto --tone agx --stats
      raytracer render scenes/galaxy.toml --film galaxy.npz --aov depth,id
      raytracer render scenes/galaxy.toml --resume galaxy.npz --film galaxy.npz
      raytracer render atoms.xyz --noise 0.01
      raytracer render atoms.xyz --samples 4 --denoise
      raytracer render atoms.xyz -o - > atoms.png

    Settings that are not given come from the scene file. The name of an example scene without a
    folder is enough: raytracer render three_balls.
    """
    from raytracer.rendering.overrides import SceneOverrides
    from raytracer.scene_files.source import InputSource

    call = SimpleNamespace(scene=scenes[0], **given)
    call.source, call.settings = InputSource.from_call(options.scene_paths(scenes), call.settings)
    with collect_warnings() as call.warnings:
        call.overrides = SceneOverrides.of(call.settings, call.annotations)
    call.shows_progress = False if call.quiet else call.progress
    if call.only is not None or call.pick is not None:
        run_pixel(call)
        return
    run(call)


def check(call: Call) -> Path:
    """Check options and output files before anything is loaded; return the path of the picture."""
    from raytracer.commands.picture import STANDARD_OUTPUT, check_target, default_picture
    from raytracer.files.output import OutputSet
    from raytracer.film import film_file
    from raytracer.film.film import check_bits
    from raytracer.rendering.pipeline import describe_scene_file

    check_bits(call.bits, ToneSettings.of(call.tone))
    if call.aov and not call.film:
        raise UserError("--aov changes what the film contains: give --film FILE too")
    others = {"resume": call.resume, "time": call.time, "noise": call.settings.get("noise")}
    if call.repeat > 1 and (given := [name for name, value in others.items() if value]):
        raise UserError(f"--repeat renders the same frame again: give either it or --{given[0]}")
    outputs, target = OutputSet(), Path(call.output or "")
    if not call.output:
        file = describe_scene_file(call.source.scene)["file"]
        target = default_picture(call.scene, call.source.frame, file)
    if call.film:
        outputs.declare(call.film, "--film")
        film_file.check_target(call.film, call.resume)
    if target != STANDARD_OUTPUT:
        target = outputs.declare(target, "the picture")
    check_target(target, call, call.settings.get("transparent") is True)
    return target


def prepare_scene(
    call: Call, crop: Crop | None, output: MemoryEstimate, keep: bool = False
) -> PreparedScene:
    """Load, pack and upload the scene; print its warnings, or keep them for the JSON."""
    from raytracer.rendering.pipeline import prepare
    from raytracer.system.progress import StageLine

    with collect_warnings() as warnings, StageLine(call.shows_progress) as line:
        job = prepare(
            call.source, call.overrides, backend=call.backend, crop=crop, threads=call.threads,
            notice=line, keep=keep, memory_of=output,
        )  # fmt: skip
    tell(call, job, [*call.warnings, *warnings])
    return job


def tell(call: Call, job: PreparedScene, warnings: list[str]) -> None:
    job.warnings += warnings
    if not (call.quiet or call.as_json):
        print_warnings(warnings)


def run(call: Call) -> None:
    from raytracer.commands.picture import STANDARD_OUTPUT, check_target, save_picture
    from raytracer.config.errors import OutputError
    from raytracer.film import film_file
    from raytracer.film.aovs import AOVS, check_aovs, count_channels
    from raytracer.film.film import Film
    from raytracer.system.progress import ProgressBar

    start = time.perf_counter()
    aovs, target = check_aovs(call.aov), check(call)
    # The film is written, too, for a picture in OpenEXR.
    exr = ".exr" if target.suffix.lower() == ".exr" else ""
    unchanged = tuple(name for name in AOVS if call.film and name not in aovs)
    resumed = Film.load(call.resume, unchanged) if call.resume else None
    crop = call.crop or find_crop(resumed)
    output = MemoryEstimate(
        bits=call.bits, aov_channels=count_channels([*aovs, *(resumed.aovs if resumed else ())]),
        film=Path(call.film or "").suffix.lower() or exr,
        begun=resumed is not None, bloom=bool(call.tone.get("bloom")),
    )  # fmt: skip
    with prepare_scene(call, crop, output) as job:
        film = Film.blank(*job.view.size, crop, resumed)
        # Before the time is spent, and now that the scene's files are known.
        check_target(target, call, job.view.transparent, max(film.sums.shape[:2]))
        if call.film:
            film_file.check_target(call.film, call.resume)
        samples = film.sums[..., 0].size * job.settings.samples * call.repeat
        with collect_warnings() as warnings, ProgressBar(samples, call.shows_progress) as bar:
            image = job.render(
                job.device.film(film), repeat=call.repeat, aovs=aovs,
                tone=ToneSettings.of(call.tone, job.tone), bits=call.bits,
                keep_film=bool(call.film or exr), seconds=call.time, progress=bar,
            )  # fmt: skip
        if _describe_solids(job) and find_crop(film) is None and not image.statistics.covered:
            remedy = "check clipping planes and opacities of 0" if job.view.hides else FRAMING
            warnings.append(
                f"no camera ray hit a sphere, so the picture shows only the background: {remedy}"
            )
    with collect_warnings() as of_picture:
        try:  # the film first, since the picture can be made from it
            if call.film:
                film.save(call.film)
        except OutputError:
            save_picture(image, target, call)
            raise
        save_picture(image, target, call)
    tell(call, job, [*warnings, *of_picture])
    job.timings["total"] = time.perf_counter() - start
    if call.as_json:
        files = {"output": str(target)} | ({"film": call.film} if call.film else {})
        print_json(_make_record(job, image) | image.record() | files)
    elif not call.quiet:
        films = [Path(call.film)] if call.film else []
        lines = image.statistics.lines() if call.stats else []
        text = "\n".join(
            [*_summarize_render(job, film, target, films), *_describe_inferred(call, job), *lines]
        )
        print_lines(text, sys.stderr if target == STANDARD_OUTPUT else None)


def find_crop(film: Film | None) -> Crop | None:
    """Return the crop of a film; None if it is a whole picture."""
    whole = film is None or film.crop == (0, 0, film.width, film.height)
    return None if whole or film is None else film.crop


def run_pixel(call: Call) -> None:
    """Print what one pixel shows, or the radiance of one of its samples."""
    option = "--pick" if call.only is None else "--only"
    names = ("crop", "time", "output", "film", "resume")
    others = [name for name in names if getattr(call, name)]
    others += ["repeat"] * (call.repeat > 1) + ["pick"] * bool(call.only and call.pick)
    if others:
        given = " and ".join(f"--{name}" for name in others)
        raise UserError(f"{option} writes no picture: leave out {given}")
    x, y, *sample = call.pick if call.only is None else call.only
    if sample and sample[0] < 0:
        raise UserError(f"--only {x},{y},{sample[0]}: samples are counted from 0")
    # The estimate of memory counts one pixel; whether that pixel exists depends on the scene.
    with prepare_scene(call, (0, 0, 1, 1), MemoryEstimate(bits=call.bits), not sample) as job:
        width, height = job.settings.width, job.settings.height
        if not (0 <= x < width and 0 <= y < height):
            place = ",".join(map(str, (x, y, *sample)))
            raise UserError(f"{option} {place}: the picture has {width}x{height} pixels, "
                            "counted from 0 at the upper left")  # fmt: skip
        if sample:
            about, line = _render_sample(job, x, y, sample[0])
        else:
            picked = job.pick(x, y)
            about = {"particle": None if picked is None else asdict(picked)}
            line = ": no particle" if picked is None else "\n".join([":", *picked.lines()])
    if call.as_json:
        print_json({"pixel": [x, y]} | about)
    elif not call.quiet:
        print_lines(f"pixel {x},{y}{line}")


def _render_sample(job: PreparedScene, x: int, y: int, sample: int) -> tuple[dict[str, Any], str]:
    """Render one sample of a pixel; return its radiance for JSON and in words."""
    from raytracer.film.film import Film

    size = job.settings.width, job.settings.height
    film = job.device.film(Film.blank(*size, (x, y, x + 1, y + 1)))
    job.frames = [job.accumulate(film, 1, first=sample)]
    job.timings["frame"] = job.frames[0]
    image = job.image(film)
    red, green, blue, coverage = image.film.sums[0, 0].tolist()
    about = {"sample": sample, "radiance": [red, green, blue], "coverage": coverage}
    line = f" sample {sample}: radiance {red:.9g} {green:.9g} {blue:.9g}, coverage {coverage:.9g}"
    return _make_record(job, image) | about, line


def _make_record(job: PreparedScene, image: Image) -> dict[str, Any]:
    return image.metadata | {
        "timings": job.timings,
        "frames": job.frame_times() | {"count": len(job.frames)},
        "memory": job.memory | {"film": image.film.sums.nbytes, "peak": peak_memory()},
        "warnings": job.warnings,
    }


def _describe_solids(job: PreparedScene) -> list[str]:
    from raytracer.film.film import NOUNS

    counts = {noun: job.about.get(f"{noun}s") for noun in NOUNS}
    return [pluralize(count, noun) for noun, count in counts.items() if count]


def _summarize_render(
    job: PreparedScene, film: Film, picture: Path, others: list[Path]
) -> list[str]:
    from raytracer.film.film import format_samples

    height, width = film.sums.shape[:2]
    size, backend = f"{width}x{height}", job.about["backend"]
    if find_crop(film):
        size += f" at {film.x0},{film.y0} of {film.width}x{film.height}"
    times = {name: _format_seconds(value) for name, value in job.frame_times().items()}
    noise = "" if job.noise is None else f"noise {job.noise:.2g}, "
    work = ", ".join(_describe_solids(job)) or "0 spheres"
    device = backend["device"] + ", scene striped" * ("striped_over" in backend)
    lines = [
        f"{describe_written(picture)}, {size}, {format_samples(film)}, "
        f"{work}, {backend['name']} ({device}), "
        f"{noise}frame {times['median']}, total {_format_seconds(job.timings['total'])}",
        *map(describe_written, others),
    ]
    if len(job.frames) > 1:
        lines.append(
            f"frame of {len(job.frames)}: median {times['median']}, min {times['min']}, "
            f"quartiles {times['q1']} and {times['q3']}"
        )
    return lines


def _describe_inferred(call: Call, job: PreparedScene) -> list[str]:
    """Return what is shown of particles without a scene and the call does not state, as a line."""
    from raytracer.model.views import AXES
    from raytracer.scene_files.load import is_scene

    path = call.source.path
    if path is None or str(path) == "-" or is_scene(path):
        return []
    found = []
    camera = job.camera
    if camera is not None and all(call.settings.get(name) is None for name in CAMERA):
        up = max(AXES, key=lambda name: sum(map(mul, AXES[name], camera.upward)))
        found.append((f"{up} is up", "--up"))
    if job.plan is not None:
        from raytracer.model.annotations import PLAIN_BOX

        if job.plan.annotations.box is PLAIN_BOX:
            found.append(("the simulation box is drawn", "--box=off"))
    factor = job.settings.brightness
    if factor not in (1.0, "auto") and call.settings.get("brightness") is None:
        found.append((f"the light is {factor:.3g} times that of the look", "--brightness"))
    words, flags = (", ".join(each) for each in zip(*found, strict=True)) if found else ("", "")
    return [f"inferred: {words} ({flags})"] if found else []


def _format_seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1.0 else f"{value * 1e3:.3g} ms"
