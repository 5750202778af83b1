"""`raytracer info`."""

from __future__ import annotations

import click


@click.command()
@click.argument("file", metavar="FILE.png")
@click.option("--json", "as_json", is_flag=True, help="Print the metadata as JSON.")
def info(file: str, as_json: bool) -> None:
    """Print how a picture was made: version, scene, settings, backend and times.

    \b
    Examples:
      raytracer info renders/three_balls.png
      raytracer info renders/three_balls.png --json
    """
    from pathlib import Path

    from raytracer.commands.report import print_json, print_outline
    from raytracer.errors import DataFileError
    from raytracer.film.png import read_metadata

    metadata = read_metadata(Path(file))
    if metadata is None:
        raise DataFileError(f"{file}: holds no metadata of raytracer: it was made or changed by "
                            "another program")  # fmt: skip
    if as_json:
        print_json(metadata)
    else:
        print_outline(metadata)
