"""`raytracer export`."""

from __future__ import annotations

from typing import Any

import click

from raytracer.commands.options import (
    COMMON_OF_VIEWS,
    FILE,
    SettingsCommand,
    annotation_options,
    backend_option,
    json_option,
    progress_option,
    quiet_option,
    render_options,
    scene_paths,
    scenes_argument,
    source_options,
    style_options,
    take_annotations,
    take_render,
    take_tone,
    take_view,
    threads_option,
    tone_options,
    view_options,
)
from raytracer.commands.report import file_size, print_json, print_lines


@click.command(
    cls=SettingsCommand,
    settings=(view_options, style_options, render_options, annotation_options, tone_options),
    common=("output", "frame", "backend", *COMMON_OF_VIEWS, "exposure"),
)
@scenes_argument
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="The page, .html, or points: .usdc, .usda, .usd; default: NAME.html here.",
)
@source_options()
@backend_option
@threads_option
@json_option
@quiet_option
@progress_option
def export(scenes: tuple[str, ...], **options: Any) -> None:
    """Write a scene or a particle file as one HTML page that needs no server, or as USD points.

    The page shows spheres, bonds and the box in any browser with WebGL 2, with the camera, light
    and texts of the picture that `raytracer render` makes. One turns it by mouse, fingers and keys,
    and picks particles for their values.

    \b
    Examples:
      raytracer export atoms.xyz -o atoms.html --size 1200x800
      raytracer export run.gsd --frame -1 --color-by speed --legend -o run.html
      raytracer export atoms.xyz -o atoms.usdc
    """
    from pathlib import Path

    from raytracer.commands.picture import free_path, stem_of
    from raytracer.exporting.export import export as library
    from raytracer.files.output import OutputSet
    from raytracer.progress import StageLine

    as_json, quiet = options.pop("as_json"), options.pop("quiet")
    progress = False if quiet else options.pop("progress", None)
    options.pop("progress", None)
    output, tone = options.pop("output"), take_tone(options)
    settings = take_view(options) | take_render(options)
    annotations = take_annotations(options)
    path = scene_paths(scenes)
    with OutputSet() as outputs, StageLine(progress) as line:
        target = Path(output) if output else free_path(stem_of(scenes[0]), ".html")
        outputs.writes(target, "the export")
        library(
            path, target, tone=tone, annotations=annotations, notice=line, **settings, **options
        )
    if as_json:
        print_json({"output": str(target), "bytes": target.stat().st_size})
    elif not quiet:
        print_lines(f"wrote {target}: {file_size(target)}")
