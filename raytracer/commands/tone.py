"""`raytracer tone`; only the options are imported with the module, so that help is fast."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from raytracer.commands import options
from raytracer.commands.report import print_json, print_lines, print_warning, print_warnings
from raytracer.config.errors import UserError, escape_controls
from raytracer.config.tone_settings import ToneSettings
from raytracer.config.warning import collect_warnings
from raytracer.system.resources import peak_memory

if TYPE_CHECKING:
    from raytracer.film.film import Film
    from raytracer.film.image import Image

Call = SimpleNamespace  # options of a call by name, with `films` and `settings`


@click.command(cls=options.SettingsCommand, settings=[options.tone_options])
@click.argument("films", type=options.FILE, metavar="FILM...", nargs=-1, required=True)
@options.output_option(
    help="The picture, of one film: .png, .tiff, .jpg, .webp or .avif; `-` for PNG on standard "
    "output; default: NAME.png in the current folder."
)
@options.picture_options
@click.option(
    "--denoise",
    is_flag=True,
    help="Remove noise, guided by albedo and normal if the film has them.",
)
@options.threads_option
@options.json_option
@options.quiet_option
def tone(films: tuple[str, ...], tone: dict[str, Any], **given: Any) -> None:
    """Make pictures of films that `raytracer render --film` saved (.npz).

    \b
    Examples:
      raytracer tone galaxy.npz --exposure auto --tone agx --stats
      raytracer tone galaxy.npz --exposure 0.5 --bits 16 -o brighter.png
      raytracer tone frame*.npz --exposure 1.5
    """
    call = SimpleNamespace(films=films, settings=ToneSettings.of(tone), **given)
    records = [write_picture(call, *each) for each in zip(films, choose_targets(call), strict=True)]
    if call.as_json:
        print_json({"films": records, "memory": {"peak": peak_memory()}})


def choose_targets(call: Call) -> list[Path]:
    """Check options and files; return the path of each film's picture."""
    from raytracer.commands.picture import check_target, default_picture
    from raytracer.film import film_file
    from raytracer.film.denoise import require_denoiser
    from raytracer.film.film import check_bits

    check_bits(call.bits, call.settings)
    if call.denoise:
        require_denoiser()
    if len(call.films) > 1 and call.output:
        raise UserError("--output is for a single film")
    names = [call.output] if call.output else []
    for film in call.films:
        film_file.check_source(film)
        if call.output:
            continue
        about = film_file.read_metadata(film).get("scene")
        scene = str(about.get("file", "")) if isinstance(about, dict) else ""
        names.append(str(default_picture(film, scene=scene)))
    if len(set(names)) < len(names):
        raise UserError("two of the films have the same name: tone them one by one with -o")
    targets = list(map(Path, names))
    for target in targets:
        check_target(target, call)
    return targets


def write_picture(call: Call, name: str, target: Path) -> dict[str, Any]:
    """Write the picture of a film; return what the JSON says of it."""
    from raytracer.commands.picture import STANDARD_OUTPUT, save_picture
    from raytracer.film.aovs import GUIDES
    from raytracer.film.denoise import find_guides
    from raytracer.film.film import Film
    from raytracer.system import memory

    film = Film.load(name, (*GUIDES, *GUIDES.values()) if call.denoise else ())
    height, width = film.sums.shape[:2]
    need = memory.MemoryEstimate(
        0, width, height, threads=call.threads, bits=call.bits, begun=True, denoise=call.denoise,
        bloom=call.settings.bloom > 0,
    )  # fmt: skip
    memory.require_room(name, need.extra, "to be developed")
    image = develop_image(film, call)
    if call.denoise and not call.quiet and find_guides(film) is None:
        print_warning(
            f"{name}: has no albedo and normal, so edges may blur: render the film with "
            "--denoise, or with --aov denoising-albedo,denoising-normal"
        )
    with collect_warnings() as warnings:
        save_picture(image, target, call)
    if not call.quiet:
        print_warnings(warnings)
    about = {"film": name, "output": str(target), "timings": image.timings} | image.record()
    if not (call.quiet or call.as_json):
        summary = _summarize_picture(image, target, call.stats)
        print_lines(summary, sys.stderr if target == STANDARD_OUTPUT else None)
    return about


def develop_image(film: Film, call: Call) -> Image:
    """Return the picture of a film, with an alpha channel if it was rendered with one."""
    from raytracer.film.film import describe_samples
    from raytracer.film.image import Image

    about: dict[str, Any] = film.metadata | describe_samples(film) | {"crop": list(film.crop)}
    transparent = film.backdrop is None and bool(film.metadata.get("transparent", True))
    return Image(film, transparent, {}, about, call.threads, call.settings, denoise=call.denoise)


def _summarize_picture(image: Image, target: Path, stats: bool) -> str:
    from raytracer.film.film import format_samples

    height, width = image.film.sums.shape[:2]
    statistics, place = image.statistics, "standard output" if str(target) == "-" else target
    lines = [
        f"wrote {escape_controls(str(place))}: {width}x{height}, {format_samples(image.film)}, "
        f"{image.settings.tone}, exposure {statistics.exposure:+.2f}"
    ]
    return "\n".join([*lines, *(statistics.lines() if stats else [])])
