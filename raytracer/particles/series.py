"""Series of files, one per frame: named by a pattern, all files of a folder, or a case of OpenFOAM.

A pattern has shell wildcards, as in `snap_*.h5`, or a number, as in `frame_%04d.xyz`. Files are
sorted by the numbers in their names: `snap_9` precedes `snap_10`.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from fnmatch import translate
from pathlib import Path
from typing import NamedTuple

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import is_file
from raytracer.model.data_file import CASE
from raytracer.particles.compressed import SUFFIXES as COMPRESSED
from raytracer.particles.frames import check_frame
from raytracer.particles.registry import SUFFIXES, list_added_formats

DOCUMENTS = frozenset((".md", ".txt"))  # endings of files that are probably documents beside others
SCENES = (".toml", ".json")  # a folder with one is a series only if a frame is requested
LISTS = frozenset((".pvd", ".series"))  # endings of lists of the files beside them
BOXES = "boundingbox"  # in the names of files of the domain, which LIGGGHTS writes beside others
CLOUD = r"positions(\.gz)?"  # names of files with the positions of a cloud of OpenFOAM
_TIME = r"\d+(\.\d+)?(e[-+]?\d+)?"
_NUMBER = re.compile(r"%0?\d*d")
_WILD = re.compile(rf"[*?\[]|{_NUMBER.pattern}")


class Series(NamedTuple):
    """The files of a series."""

    name: str  # the pattern or the folder, for messages
    files: list[Path]  # in order
    inner: str = ""  # path of the particles in each, or ""

    def file(self, frame: int) -> Path:
        """Return the path of a frame. Raises DataFileError if there is no such frame."""
        path = self.files[check_frame(frame, len(self.files), self.name)]
        return Path(f"{path}:{self.inner}") if self.inner else path


def find_series(path: str | Path, folders: bool = True) -> Series | None:
    """Return the files of a pattern or folder; None for a plain path. Raises DataFileError: there
    are no files, or they have different formats. path: its last part may be a pattern; an existing
    file of that name takes precedence. folders: whether any folder is a series, or only folders of
    snapshots: several particle files of one format, and no scene file."""
    path = Path(path)
    if files := _list_clouds(path):
        return Series(str(path), files)
    try:
        if str(path) == "-" or is_file(path):
            return None
        if path.is_dir():
            return _list_folder(path, folders)
    except (OSError, ValueError):
        return None  # opening it reports the error
    text = str(path)
    ends = [len(text), *(place for place, each in enumerate(text) if each == ":")]
    parts = [(text[:place], text[place + 1 :]) for place in ends]
    patterns = [each for each in parts if _WILD.search(Path(each[0]).name)]
    for name, inner in patterns:
        if files := _match_files(Path(name)):
            return Series(name, files, inner)
    if patterns:
        raise DataFileError(f"{quote(patterns[-1][0], 200)}: no file matches this pattern")
    return None


def _list_clouds(path: Path) -> list[Path]:
    """Return the positions of a cloud at the times of a case of OpenFOAM, [] for another path than
    its folder, or a file there that marks it."""
    folder = path.parent if path.suffix == CASE else path
    try:
        if folder == path and not is_file(folder / "system" / "controlDict"):
            return []
        found = [each for each in folder.glob("*/lagrangian/*/*") if re.fullmatch(CLOUD, each.name)
                 and re.fullmatch(_TIME, each.parents[2].name)]  # fmt: skip
    except (OSError, ValueError):
        return []
    clouds = sorted({each.parent.name for each in found})
    if len(clouds) != 1:
        held = f"several clouds ({', '.join(map(quote, clouds))})" if clouds else "no cloud"
        raise DataFileError(
            f"{path}: the case has {held} at TIME/lagrangian/CLOUD/positions: name such a file, "
            "after reconstructPar if the case is decomposed"
        )
    return sorted(found, key=lambda each: float(each.parents[2].name))


def _match_files(path: Path) -> list[Path]:
    parts = _NUMBER.split(path.name)
    text = r"\d+".join(map(re.escape, parts)) if len(parts) > 1 else translate(path.name)
    with suppress(OSError):
        names = (each for each in path.parent.iterdir() if re.fullmatch(text, each.name)
                 and (BOXES not in each.name.lower() or BOXES in path.name.lower()))  # fmt: skip
        return _sort_files(filter(is_file, names))
    return []


def _list_folder(folder: Path, is_asked: bool) -> Series | None:
    """Return the particle files of a folder, which have the same ending.

    None if the folder was not asked for as a series, and has other files or a scene.
    """

    def ending(path: Path) -> str:
        whole = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
        return whole.suffix.lower()

    there = [path for path in folder.iterdir() if not path.name.startswith(".")]
    added = (suffix for form in list_added_formats() for suffix in form.suffixes)
    known = frozenset((*SUFFIXES, *added)) - DOCUMENTS - LISTS
    files = [path for path in there if ending(path) in known and is_file(path)
             and BOXES not in path.stem.lower()]  # fmt: skip
    endings = sorted({ending(path) for path in files})
    if not is_asked and (
        len(files) < 2 or len(endings) > 1 or any(path.suffix.lower() in SCENES for path in there)
    ):
        return None
    if not files:
        raise DataFileError(f"{folder}: is a folder without particle files; name a file")
    if len(endings) > 1:
        raise DataFileError(
            f"{folder}: is a folder with files of several formats ({', '.join(endings[:8])}), but "
            "a series has one: select files by a pattern, for example "
            f"'{folder / ('*' + endings[0])}'"
        )
    return Series(str(folder), _sort_files(files))


def _sort_files(files: Iterable[Path]) -> list[Path]:
    def rank(path: Path) -> list[tuple[int, str]]:
        parts = re.split(r"(\d+)", str(path))
        return [(int(p) if place % 2 else 0, p) for place, p in enumerate(parts)]

    return sorted(files, key=rank)
