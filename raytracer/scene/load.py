"""Files to scenes: scene files (.toml, .json), and particle files rendered as they are."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.arguments import whole
from raytracer.errors import DataFileError, SceneError, UserError, naming, nearest, shown
from raytracer.files.access import STANDARD_INPUT, OpenFile, opened, path_of, reading, unique
from raytracer.memory import require_room
from raytracer.scene.particles.compressed import is_compressed, stem
from raytracer.scene.particles.data_file import may_be_series, split_inner
from raytracer.scene.particles.read import OneFile, of_series, read_open
from raytracer.scene.particles.registry import SUFFIXES, by_content, start_of
from raytracer.scene.particles.sphere_set import sphere_set
from raytracer.scene.scene import Scene
from raytracer.settings import RenderSettings

if TYPE_CHECKING:
    from os import PathLike

SCENE_SUFFIXES = (".toml", ".json")
"""Endings of scene files."""

TOML_MEMORY = 36
"""Bytes of memory that a byte of TOML takes at most, the tables of its keys left out."""

KEY_MEMORY = 1200
"""Bytes of memory for each table that a header or a part of a dotted key makes."""

JSON_MEMORY = 32
"""Bytes of memory that a byte of JSON takes at most."""

SMALL = 1 << 20
"""Bytes of a scene file that are read on any machine."""

KEY_PARTS = 16
"""Most parts of a dotted key; the longest of a scene has four."""


def load(path: str | PathLike[str], frame: int | None = None) -> Scene:
    """Read a scene file, or make a scene of a particle file.

    Args:
        path: a scene file (.toml, .json), or a particle file (.npz, .csv, .xyz, .lammpstrj, ...;
            the guide lists all), which is shown by a fitted camera, with the look soft, atoms with
            the colours of elements. A pattern as in `snap_*.h5` or `frame_%04d.xyz`, or, with a
            frame, a folder, names a series of files with a frame each.
        frame: of a trajectory, from 0, or from -1 backwards; in a scene file, of each data file
            that holds several frames, before what the scene file says. None is the first one.

    Returns:
        The scene, with the arrays of all its data files.

    Raises:
        UserError: the file, or a data file that it names, is missing or wrong; the message says
            file and field, with one line for each problem.
    """
    target = path_of(path)
    if frame is not None:
        frame = whole(frame, "frame", error=UserError)
    check_there(target, frame)
    one = OneFile(target, str(target), frame)
    if may_be_series(target, frame):
        one = of_series(*one[:3])
    target, inner = split_inner(one.path)
    with (
        opened(target, error=SceneError, standard_input=True) as file,
        naming(file.source),
    ):
        suffix = _scene_suffix(file)
        if suffix:
            from raytracer.scene.compose import compose

            return compose(read_table(file, suffix), Path(file.source), frame)
        data = read_open(file, others=SCENE_SUFFIXES, inner=inner, frame=one.frame)
        one.mark(data)
        if len(data.centers) == 0:
            raise DataFileError(f"{file.source}: holds no particles, so there is nothing to show")
        return Scene(
            spheres=(sphere_set(data),),
            render=RenderSettings(look="soft"),
            title=stem(target),
            source=file.source,
        )


def _scene_suffix(file: OpenFile) -> str:
    """Return the language of a scene file, of standard input by its first bytes; "" of particles.

    What is on standard input and is neither particles nor JSON is TOML.
    """
    if not file.is_standard_input:
        suffix = file.path.suffix.lower()
        return suffix if suffix in SCENE_SUFFIXES else ""
    start = start_of(file)
    if is_compressed(start) or by_content(start):
        return ""
    return ".json" if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else ".toml"


def _is_series(path: Path, frame: int | None) -> bool:
    """Whether a path names a series of files. Raises DataFileError: it does, and there are none."""
    if not may_be_series(path, frame):
        return False
    return of_series(path, "", None if frame is None else 0).path != path


def check_there(path: Path, frame: int | None = None) -> None:
    """Refuse a path where there is no file. Raises SceneError that names the nearest one.

    A pattern is right where files match it, a folder where a frame of it is asked for.
    """
    if path == STANDARD_INPUT or _is_series(path, frame):
        return
    path, _ = split_inner(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        there = _scenes_in(path.parent)
        stems = {Path(name).stem: name for name in reversed(there)}  # of two files the scene
        near = nearest(path.name, there) or stems.get(nearest(path.stem, stems) or "")
        hint = f"; did you mean '{shown(near)}'?" if near else ""
        raise SceneError(f"{path}: there is no such file{hint}") from None
    except (OSError, ValueError):
        return  # the door says what is wrong with it
    if stat.S_ISDIR(mode):
        raise SceneError(f"{path}: is a folder; {_inside(path)}")


def read_table(file: OpenFile, suffix: str) -> dict[str, Any]:
    """Read TOML or JSON into plain values.

    Args:
        file: the open file.
        suffix: ".toml" or ".json".

    Raises:
        SceneError: not the language its ending says, with line and column; too large or too deep.
    """
    is_json = suffix == ".json"
    require_room(file.source, (JSON_MEMORY if is_json else TOML_MEMORY) * file.size)
    data = file.read(max(file.size, SMALL), SceneError)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SceneError(f"{file.source}: is not text in UTF-8: save it in this encoding") from None
    with reading(file.source, "JSON" if is_json else "TOML", SceneError):
        return _json(text, file.source) if is_json else _toml(text, file.source)


def _json(text: str, source: str) -> dict[str, Any]:
    """Parse JSON."""
    import json

    try:
        table = json.loads(text, object_pairs_hook=lambda pairs: unique(pairs, source, SceneError))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise SceneError(f"{source}: is not JSON: {error.msg} ({place})") from None
    if not isinstance(table, dict):
        raise SceneError(f"{source}: holds no object with a scene; it must begin with '{{'")
    return table


def _toml(text: str, source: str) -> dict[str, Any]:
    """Parse TOML."""
    import tomllib

    lines = text.split("\n")
    if any(line.count(".") > KEY_PARTS for line in lines) and (line := _too_deep(text)):
        raise SceneError(
            f"{source}: line {line}: a key has more than {KEY_PARTS} parts; no key of a scene does"
        )
    if len(text) > SMALL:
        tables = KEY_MEMORY * sum(map(_key_parts, lines))
        require_room(source, TOML_MEMORY * len(text) + tables)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{source}: is not TOML: {shown(str(error), 160)}") from None


_TOKENS = (
    r"""\"\"\"(?:[^"\\]|\\.|"(?!""))*+\"\"\"|'''(?:[^']|'(?!''))*+'''"""  # of several lines
    r"""|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[\w-]++|\#[^\n]*+|[ \t]++|."""
)


def _too_deep(text: str) -> int:
    """Return the line of the first key of more than `KEY_PARTS` parts, or 0.

    Time and memory that TOML takes grow with the square of a key's parts.
    """
    dots = 0
    for token in re.finditer(_TOKENS, text, re.DOTALL):
        word = token[0]
        if word == ".":
            dots += 1
            if dots >= KEY_PARTS:
                return text.count("\n", 0, token.start()) + 1
        elif word[0] in "=,[]{}\n#":
            dots = 0
    return 0


def _key_parts(line: str) -> int:
    """Return how many tables the header or the dotted key on a line may make; rather too many."""
    key, equals, _ = line.partition("=")
    if equals and "." in key and "," not in key:
        return key.count(".")
    header = key.lstrip().startswith("[") and ("," not in key or '"' in key or "'" in key)
    return 1 + key.count(".") if header else 0


def _scenes_in(folder: Path) -> list[str]:
    """Return the names of the files in a folder that can be rendered, scene files first."""
    known = (*SCENE_SUFFIXES, *SUFFIXES)
    try:
        found = [p.name for p in folder.iterdir() if p.suffix.lower() in known and p.is_file()]
    except (OSError, ValueError):
        return []
    return sorted(found, key=lambda name: (Path(name).suffix not in SCENE_SUFFIXES, name))


def _inside(folder: Path) -> str:
    """Return what to name instead of a folder."""
    found = _scenes_in(folder)
    return f"name a file, for example {folder / found[0]}" if found else "name a file"
