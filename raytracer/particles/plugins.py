"""Formats of particle files that other packages read, by entry points of the group `GROUP`.

An entry point is a `ParticleFormat`. They are looked for where our formats do not know a file by
its name and content: reading the metadata of all installed packages takes as long as a small file.
"""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from raytracer.config.arguments import check_function, check_items, check_text
from raytracer.config.errors import SceneError, UserError, quote, quote_value
from raytracer.config.field_types import FieldType
from raytracer.config.fields import Defined, setting
from raytracer.config.warning import warn

GROUP = "raytracer.formats"
METADATA = (".dist-info", ".egg-info")  # folders of the metadata of packages


@dataclass(frozen=True)
class ParticleFrame:
    """A frame of a particle file, as a `ParticleFormat` returns it.

    Args:
        columns: arrays by name, each (N, ...): `positions` (N, 3) or `x`, `y` and `z`; as far as
            there are, `radius` or `diameter`, `color` (N, 3; uint8 or 0..1), `element` or `type`
            (texts), and any others, by which particles can be coloured and selected.
        frames: number of frames of the file.
        box: edges of the simulation box, (3, 3), one per row, or their lengths, (3,); None: none.
        origin: corner of the box from which the edges start.
        periodic: whether the box is periodic along each edge.
        time: of the frame, or None.
        time_unit: of it: "ps", "s", "steps"; "" if unknown.
        bonds: pairs of particles, counted from 0, (M, 2), or None.
    """

    columns: Mapping[str, Any]
    frames: int = 1
    box: Any = None
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    periodic: tuple[bool, bool, bool] = (True, True, True)
    time: float | None = None
    time_unit: str = ""
    bonds: Any = None


Read = Callable[[IO[bytes], int], ParticleFrame | Mapping[str, Any]]


def _check_read(value: Any, name: str) -> Read:
    read = check_function(value, name)
    if read is None:
        raise SceneError(f"{name}: None is not a function")
    return read


def _check_name(value: Any, name: str) -> str:
    if not (word := check_text(value, name).strip()):
        raise SceneError(f"{name}: is empty")
    return quote(word)


def _check_suffixes(value: Any, name: str) -> tuple[str, ...]:
    suffixes = [check_text(each, f"{name}[{i}]") for i, each in enumerate(check_items(value, name))]
    for each in suffixes:
        if each[:1] != "." or "." in each[1:] or len(each) < 2 or each != each.lower():
            raise SceneError(f"{name}: {quote_value(each)} is not an ending in lower case, '.abc'")
    return tuple(suffixes)


def _check_magic(value: Any, name: str) -> bytes:
    if not isinstance(value, bytes):
        raise SceneError(f"{name}: {quote_value(value)} are not bytes")
    return value


@dataclass(frozen=True, repr=False, eq=False)
class ParticleFormat(Defined, place="ParticleFormat"):
    """A format of particle files that another package reads: an entry point of the group
    `raytracer.formats`.

    Args:
        name: In messages and lists.
        read: Function of a file, opened in binary mode at its start, and of the number of a frame,
            from 0; returns the frame, a `ParticleFrame`, or its columns alone. It runs in a process
            without network, which may open the files beside the file and installed packages;
            `file.name` is a path for libraries. What it raises is told as one sentence.
        suffixes: Endings of file names, in lower case: `(".grains",)`. Those of other formats stay
            theirs, unless `magic` decides.
        magic: Bytes at the start of every file of the format, and of no other's.
        summary: One sentence for `raytracer info --formats`.
    """

    name: str = setting(MISSING, FieldType({str: {}}, _check_name, noun="text"))
    read: Read = setting(MISSING, FieldType({}, _check_read, noun="a function"))
    suffixes: tuple[str, ...] = setting((), FieldType({list: {}}, _check_suffixes, noun="endings"))
    magic: bytes = setting(b"", FieldType({bytes: {}}, _check_magic, noun="bytes"))
    summary: str = setting("", FieldType({str: {}}, check_text, noun="text"))


class Plugin(NamedTuple):
    """An entry point of an installed package."""

    name: str
    value: str  # "package.module:NAME"
    package: str  # with its version
    form: ParticleFormat

    @property
    def title(self) -> str:
        return format_title(self.name, self.package)


def format_title(name: str, package: str) -> str:
    return f"format '{quote(name)}' of the package {package}"


def load_plugins() -> list[Plugin]:
    """Return the formats of installed packages; of those that cannot be used, warn."""
    if not _is_named():
        return []
    from importlib.metadata import entry_points

    found = list[Plugin]()
    for entry in entry_points(group=GROUP):
        about = entry.dist
        package = "?" if about is None else quote(f"{about.name} {about.version}")
        try:
            form = entry.load()
            if not isinstance(form, ParticleFormat):
                raise TypeError(f"{entry.value} is no raytracer.ParticleFormat")
            found.append(Plugin(entry.name, entry.value, package, form))
        except (Exception, SystemExit) as problem:  # whatever a foreign module raises
            why = str(problem) if isinstance(problem, UserError) else (
                f"{type(problem).__name__}: {problem}"
            )  # fmt: skip
            title = format_title(entry.name, package)
            warn(f"{title}: cannot be used ({quote(why, 200)}): update or uninstall the package")
    return sorted(found, key=lambda each: (each.package, each.name))


def _is_named() -> bool:
    """Whether the metadata of an installed package names the group. Most have none, and importing
    `importlib.metadata` takes ten times as long as this."""
    for folder in map(Path, sys.path):
        with suppress(OSError):
            for each in folder.iterdir():
                if each.name.endswith(METADATA):
                    with suppress(OSError):
                        if GROUP in (each / "entry_points.txt").read_text("utf-8", "replace"):
                            return True
    return False
