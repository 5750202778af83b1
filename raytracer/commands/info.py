"""`raytracer info`; only the options are imported with the module, so that help is fast."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from raytracer.commands.options import FILE, SettingsCommand, json_option, scene_path, still_options
from raytracer.commands.report import print_json, print_lines, print_outline, print_warnings
from raytracer.config.errors import DataFileError, UserError, escape_controls
from raytracer.config.warning import collect_warnings
from raytracer.files.access import is_file


@click.command(cls=SettingsCommand, settings=[still_options])
@click.argument("files", nargs=-1, type=FILE, metavar="FILE...")
@click.option(
    "--formats",
    "lists_formats",
    is_flag=True,
    help="List the formats of particle files, with the packages that read or add them.",
)
@json_option
def info(
    files: tuple[str, ...], lists_formats: bool, as_json: bool, settings: dict[str, Any]
) -> None:  # fmt: skip
    """Print the contents of a data file or scene, or how a picture or film was made.

    Of data: format, particles, frames, box, columns with their ranges, and what is drawn. Of large
    files, only headers are read.

    Of pictures: version, scene, settings, camera, backend and times. The camera comes last, as
    TOML: a scene file with it makes the same picture again. Several files are described one by one.

    \b
    Examples:
      raytracer info trajectory.gsd
      raytracer info renders/three_balls.png
      raytracer info atoms.xyz --json
      raytracer info --formats
    """
    if lists_formats:
        if files:
            raise UserError("--formats lists all formats: leave out the files")
        print_formats(as_json)
        return
    if not files:
        context = click.get_current_context()
        raise click.MissingParameter(ctx=context, param=context.command.params[0])
    from raytracer.model.camera import Camera

    rows = []
    for file in files:
        with collect_warnings() as warnings:
            contents = _describe_file(file, settings)
        rows.append((contents, warnings))
    if as_json:
        made = [each | ({"warnings": warnings} if warnings else {}) for each, warnings in rows]
        print_json(made[0] if len(made) == 1 else made)
        return
    for number, (contents, warnings) in enumerate(rows):
        print_warnings(warnings)
        if len(files) > 1:
            print_lines(("\n" if number else "") + f"{escape_controls(files[number])}:")
        print_outline(contents)
        with suppress(KeyError, TypeError, UserError):  # earlier versions, or changed by hand
            print(f"\n{Camera(**contents['camera']).to_toml()}")


def print_formats(as_json: bool) -> None:
    """Print the formats of particle files; first ours, then those that packages add."""
    from raytracer.particles.registry import list_formats

    with collect_warnings() as warnings:
        rows = list_formats()
    if as_json:
        print_json({"formats": rows} | ({"warnings": warnings} if warnings else {}))
        return
    print_warnings(warnings)
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        library, package = row.get("library"), row.get("package")
        about = f"read by {library}" if library else f"of {package}" if package else ""
        endings = " ".join(row["endings"]) or "known by its content"
        words = (endings, about and f"({about})", row.get("summary"))
        print_lines(f"{row['name']:{width}}  {' '.join(filter(None, words))}")


WHOLE_BYTES = 1 << 25  # maximum size of files that are read completely, for about a second


def _describe_file(name: str, options: dict[str, Any]) -> dict[str, Any]:
    from raytracer.film import film_file
    from raytracer.film.formats import read_metadata
    from raytracer.particles.registry import PICTURES

    path = Path(name)
    suffix = path.suffix.lower()
    if suffix in film_file.SUFFIXES and (film := film_file.read_metadata(path)):
        return film
    if suffix not in PICTURES and name != "-":
        return describe_data(name, options)
    metadata = read_metadata(path) if suffix != ".exr" else {}
    if not metadata:
        raise DataFileError(f"{name}: has no metadata of raytracer: another program made or "
                            "changed it")  # fmt: skip
    return metadata


def describe_data(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the contents of a scene or particle file, and what would be drawn."""
    from raytracer.commands.scene import describe_contents
    from raytracer.model.data_file import DataFile, split_inner
    from raytracer.particles.locate import locate_frame
    from raytracer.scene_files.load import find_named_files, is_scene
    from raytracer.scene_files.source import InputSource
    from raytracer.scene_files.summary import summarize_file

    path, frame = scene_path(name), options.get("frame")
    source = InputSource.of(path, **options)
    files = find_named_files(path, "file") if is_scene(path) else [locate_frame(path, frame).named]
    parts = {str(each): split_inner(each) for each in files}
    if sum(part.stat().st_size for part, _ in parts.values() if is_file(part)) <= WHOLE_BYTES:
        contents = describe_contents(source)
        drawn = {key: contents[key] for key in contents if key not in NOT_DRAWN}
        about = {"files": contents["files"], "read": "all of it", "data": contents["data"]}
        return about | {"drawn": drawn}
    heads = {
        each: DataFile(
            part, None, inner, source.frame, ending=source.ending, topology=source.topology
        )
        for each, (part, inner) in parts.items()
    }
    return {
        "files": [
            {"file": name, "bytes": each.path.stat().st_size} for name, each in heads.items()
        ],
        "read": f"starts and headers; `raytracer scene check {name}` reads all, with frames, "
        "ranges, bonds and what is drawn",
        "data": {name: summarize_file(each, whole=False) for name, each in heads.items()},
    }


NOT_DRAWN = ("title", "caption", "files", "data", "camera", "camera_toml")
"""Entries of `scene check` that do not describe what is drawn."""
