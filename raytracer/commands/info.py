"""`raytracer info`."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.argument("file", metavar="FILE.png")
@click.option("--json", "as_json", is_flag=True, help="Print the metadata as JSON.")
def info(file: str, as_json: bool) -> None:
    """Print how a picture was made: version, scene, settings, camera, backend and times.

    The camera comes last as TOML: in a scene file it makes the same picture again.

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
        return
    print_outline(metadata)
    if toml := camera_of(metadata):
        print(f"\n{toml}")


def camera_of(metadata: dict[str, Any]) -> str:
    """Return the camera of a picture as the table of a scene file, or "" if there is none."""
    from raytracer.errors import UserError
    from raytracer.scene.camera import Camera

    try:
        return Camera(**metadata["camera"]).to_toml()
    except (KeyError, TypeError, UserError):  # of an earlier version, or changed by hand
        return ""
