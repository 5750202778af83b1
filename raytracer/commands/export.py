"""`raytracer export`."""

from typing import Any

import click

from raytracer.commands import options
from raytracer.commands.report import file_size, print_json, print_lines
from raytracer.config.errors import escape_controls


@click.command(
    cls=options.SettingsCommand,
    settings=(options.source_options, *options.picture_groups),
    common=("output", "frame", "backend", *options.COMMON_OF_VIEWS, "exposure"),
)
@options.scenes_argument
@options.output_option(
    help="The page, .html, or points: .usdc, .usda, .usd; default: NAME.html here."
)
@options.run_options
def export(
    scenes: tuple[str, ...], output: str | None, settings: dict[str, Any], as_json: bool,
    quiet: bool, progress: bool | None, **given: Any,
) -> None:  # fmt: skip
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

    from raytracer.commands.picture import free_path, make_stem
    from raytracer.exporting.export import export as library
    from raytracer.system.progress import StageLine

    target = Path(output) if output else free_path(make_stem(scenes[0]), ".html")
    with StageLine(False if quiet else progress) as line:
        library(options.scene_paths(scenes), target, notice=line, **settings, **given)
    if as_json:
        print_json({"output": str(target), "bytes": target.stat().st_size})
    elif not quiet:
        print_lines(f"wrote {escape_controls(str(target))}: {file_size(target)}")
