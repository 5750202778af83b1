"""`raytracer measure`."""

from typing import Any

import click

from raytracer.commands import options
from raytracer.commands.report import file_size, print_json, print_outline
from raytracer.config.errors import escape_controls


@click.command(
    cls=options.SettingsCommand,
    settings=(
        options.measure_options, options.source_options, options.view_options,
        options.style_options,
    ),
    common=("output", "samples", "distance", "probe", "frame", "radius", "select", "backend"),
)  # fmt: skip
@options.scenes_argument
@options.output_option(help="Write the measurements with the columns of the file, .npz or .csv.")
@options.backend_option
@options.threads_option
@options.json_option
def measure(
    scenes: tuple[str, ...], output: str | None, as_json: bool, settings: dict[str, Any],
    **given: Any,
) -> None:  # fmt: skip
    """Measure occlusion, accessible and visible area of each particle.

    occlusion: part of an even sky's light that does not reach the surface, 0 to 1.
    accessible_area: area outside of all other particles, with --probe where the middle of a ball of
    that radius can go. visible_area: area that the camera sees. Each with its error.

    \b
    Examples:
      raytracer measure protein.pdb --probe 1.4 -o measured.npz
      raytracer render measured.npz --color-by occlusion -o occlusion.png
      raytracer measure heap.csv --distance 0.1 -o measured.csv
    """  # fmt: skip
    from raytracer.rendering.measurements import measure as library
    from raytracer.rendering.measurements import summary, validate_path

    target = validate_path(output) if output is not None else None
    measured = library(options.scene_paths(scenes), **settings, **given)
    about = summary(measured)
    if target is not None:
        measured.save(target)
    if as_json:
        print_json(about | ({"file": str(target)} if target else {}))
        return
    print_outline(about)
    if target is not None:
        print(f"{escape_controls(str(target))}  {file_size(target)}")
