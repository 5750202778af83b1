"""Files to scenes: scene files (.toml, .json), and particle files rendered as they are."""

from __future__ import annotations

from collections.abc import Mapping
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataFileError, MemoryNeedError, SceneError, UserError, nearest
from ..memory import require_room
from ..warning import warn
from . import particles
from .elements import Element
from .scene import Scene
from .spheres import SphereSet

if TYPE_CHECKING:
    from os import PathLike

    from .particles import Particles

SCENE_SUFFIXES = (".toml", ".json")
"""Endings of scene files."""


def load(path: str | PathLike[str]) -> Scene:
    """Read a scene file, or make a scene of a particle file.

    Args:
        path: a scene file (.toml, .json), or particles (.npz, .npy, .csv, .xyz, .extxyz), which
            are shown by a fitted camera, in a plain light, atoms with the colours of elements.

    Returns:
        The scene, with the arrays of all its data files.

    Raises:
        UserError: the file, or a data file that it names, is missing or wrong; the message says
            file and field, with one line for each problem.
    """
    target = Path(fspath(path))
    suffix = target.suffix.lower()
    check_there(target)
    if suffix in particles.SUFFIXES:
        return load_particles(target)
    if suffix not in SCENE_SUFFIXES:
        known = [*SCENE_SUFFIXES, *particles.SUFFIXES]
        raise SceneError(
            f"{target}: '{suffix}' is no kind of scene or particle file; known are "
            f"{', '.join(known)}"
        )
    from .compose import compose

    return compose(read_table(target), target)


def check_there(path: Path) -> None:
    """Refuse a path where there is no file. Raises SceneError that names the nearest one."""
    if path.is_dir():
        raise SceneError(f"{path}: is a folder; {_inside(path)}")
    if not path.exists():
        near = nearest(path.name, _scenes_in(path.parent))
        hint = f"; did you mean '{near}'?" if near else ""
        raise SceneError(f"{path}: there is no such file{hint}")


def read_table(path: Path) -> dict[str, Any]:
    """Read TOML or JSON into plain values.

    Raises:
        SceneError: no such file, or not the language its ending says, with line and column.
    """
    try:
        require_room(str(path), 2 * path.stat().st_size)  # bytes and text
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SceneError(f"{path}: is not text in UTF-8") from None
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror})") from None
    return _parse(text, path)


def _parse(text: str, path: Path) -> dict[str, Any]:
    """Parse TOML or JSON by the file's ending."""
    if path.suffix.lower() == ".json":
        import json

        try:
            table = json.loads(text)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise SceneError(f"{path}: is not JSON: {error.msg} ({place})") from None
        if not isinstance(table, dict):
            raise SceneError(f"{path}: holds a {type(table).__name__}, not an object with a scene")
        return table
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{path}: is not TOML: {error}") from None


def _scenes_in(folder: Path) -> list[str]:
    """Return the names of the files in a folder that can be rendered, scene files first."""
    known = (*SCENE_SUFFIXES, *particles.SUFFIXES)
    try:
        found = [p.name for p in folder.iterdir() if p.suffix.lower() in known and p.is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda name: (Path(name).suffix not in SCENE_SUFFIXES, name))


def _inside(folder: Path) -> str:
    """Return what to name instead of a folder."""
    found = _scenes_in(folder)
    return f"name a file, for example {folder / found[0]}" if found else "name a file"


def load_particles(path: Path) -> Scene:
    """Make a scene of a particle file.

    Raises:
        DataFileError: the file is missing or wrong.
    """
    spheres = sphere_set(particles.read(path), default_radius=True)
    return Scene(spheres=(spheres,), title=path.stem)


def sphere_set(
    data: Particles,
    radius: float | None = None,
    color: Any = None,
    default_radius: bool = False,
    **options: Any,
) -> SphereSet:
    """Return the sphere set of a particle file.

    Args:
        data: from `particles.read`.
        radius: one for all, before the file's radii.
        color: one for all, before the file's colours.
        default_radius: whether particles without radii get one from their spacing.
        **options: for `SphereSet`.

    Raises:
        DataFileError: the arrays make no spheres, or nothing says a radius.
    """
    size: Any = data.radius if radius is None else radius
    if size is None:
        if not default_radius:
            raise DataFileError(f"{data.source}: holds no radii; add radius = ... to the set")
        size = particles.spaced(data)
    own_color = color is not None
    # What the scene file says instead leaves the file's own values to be looked up.
    replaced = {"radius": radius is not None, "color": own_color}
    for parts, note in data.notes:
        if not parts or not all(replaced.get(part) for part in parts.split("+")):
            warn(note)
    used = [n for part, names in data.columns.items() if not replaced.get(part) for n in names]
    return SphereSet(
        data.centers,
        size,
        color if own_color else data.color,
        color_id=None if own_color else data.color_id,
        source=data.source,
        names=data.names,
        file=data.file and data.file.using(used),
        **options,
    )


def read_set(
    folder: Path,
    name: str,
    arrays: Mapping[str, str],
    elements: Mapping[str, Element],
    meaning: str | None = None,
) -> Particles:
    """Read the data file that a scene file names, relative to the scene file.

    Raises:
        UserError: the file is missing or wrong.
    """
    try:
        return particles.read(folder / name, arrays, elements, source=name, meaning=meaning)
    except UserError:
        raise
    except MemoryError:
        raise MemoryNeedError(f"{name}: is larger than the memory there is") from None
