"""`raytracer info`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("file", metavar="FILE.png")
@click.option("--json", "as_json", is_flag=True, help="Print the metadata as JSON.")
def info(file: str, as_json: bool) -> None:
    """Print how a picture or a movie was made: version, scene, settings, camera, backend and times.

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

    path = Path(file)
    metadata = of_movie(path) if path.suffix.lower() in MOVIES else read_metadata(path)
    if metadata is None:
        raise DataFileError(f"{file}: holds no metadata of raytracer: it was made or changed by "
                            "another program")  # fmt: skip
    if as_json:
        print_json(metadata)
        return
    print_outline(metadata)
    if toml := camera_of(metadata):
        print(f"\n{toml}")


MOVIES = (".mp4", ".m4v", ".mov", ".mkv", ".webm")
"""Endings of movies, of which the first frame beside them holds the metadata."""


def of_movie(path: Path) -> dict[str, Any]:
    """Return what a movie says of itself, and the metadata of its first frame, if that is there.

    Raises:
        DataFileError: it is no movie, or PyAV is not installed.
    """
    from raytracer.animation.animate import posters_of
    from raytracer.errors import DataFileError, UserError
    from raytracer.files.access import opened
    from raytracer.film.png import read_metadata
    from raytracer.scene.particles.loaded import library

    with opened(path) as file:
        av = library("av", file.source, "video")
        try:
            with av.open(file.name) as container:
                stream = container.streams.video[0]
                seconds = None if container.duration is None else container.duration / 1e6
                found: dict[str, Any] = {
                    "movie": {
                        "codec": stream.codec_context.name,
                        "size": [stream.width, stream.height],
                        "frames": stream.frames or None,
                        "fps": float(stream.average_rate or 0) or None,
                        "seconds": seconds,
                    }
                }
        except Exception:  # of any kind, as for all libraries that read files
            raise DataFileError(f"{file.source}: is no movie, or is damaged") from None
    for poster in posters_of(path):
        if poster.is_file():
            try:
                return found | (read_metadata(poster) or {})
            except UserError:
                return found
    return found


def camera_of(metadata: dict[str, Any]) -> str:
    """Return the camera of a picture as the table of a scene file, or "" if there is none."""
    from raytracer.errors import UserError
    from raytracer.scene.camera import Camera

    try:
        return Camera(**metadata["camera"]).to_toml()
    except (KeyError, TypeError, UserError):  # of an earlier version, or changed by hand
        return ""
