"""Registry of particle formats: a format is one line here and one module in `formats/`.

The lines state what a reader is chosen by, so that no reader is imported before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.scene.particles.source import ParticleSource

SNIFF_BYTES = 1 << 12
"""Bytes at the start of a file that are compared with signatures."""


def _cell(name: str) -> str:
    """Return a regular expression: the first line has a cell of this name."""
    return rf'(?=(?:[^\r\n]*[,;\t])?[ "#]*{name}[ "#]*(?:[,;\t\r\n]|\Z))'


class Format(NamedTuple):
    """A format of particle files.

    Args:
        name: what messages call it.
        module: in `formats/`; its class `Source` is a `ParticleSource`.
        suffixes: endings of file names, in lower case.
        magic: starts of the content that no other format has; they decide before the suffix does.
        pattern: regular expression of the start of the content, for files whose suffix is unknown.
        variant: which of the formats of a module it is, for those that read several.
    """

    name: str
    module: str
    suffixes: tuple[str, ...]
    magic: tuple[bytes, ...] = ()
    pattern: str = ""
    variant: str = ""

    def open(self, file: OpenFile) -> ParticleSource:
        """Return the source of an open file. Raises DataFileError if it is of another format."""
        module = self.module
        name = f"raytracer.scene.particles.formats.{module}"
        source: type[ParticleSource] = import_module(name).Source
        return source(file, self.variant)


FORMATS = (
    Format("NumPy archive", "npz", (".npz",), pattern=r"PK\x03\x04"),
    Format("NumPy array", "npy", (".npy",), (b"\x93NUMPY",)),
    Format("table", "csv", (".csv", ".tsv"), pattern=rf"(?i){_cell('x')}{_cell('y')}{_cell('z')}"),
    Format("table", "csv", (".txt", ".dat", ".asc"), variant="bare"),
    Format("XYZ", "xyz", (".xyz", ".extxyz"), pattern=r"\d+[ \t\f\v]*(?:[\r\n]|\Z)"),
    Format(
        "LAMMPS dump",
        "lammps_dump",
        (".lammpstrj", ".dump", ".lammpsdump"),
        (b"ITEM: TIMESTEP", b"ITEM: UNITS", b"ITEM: TIME"),
    ),
)
"""The first format of those that match is chosen."""

SUFFIXES = tuple(suffix for each in FORMATS for suffix in each.suffixes)
"""Endings of the particle files that can be read."""


def by_suffix(suffix: str) -> Format | None:
    """Return the format of files with this ending (lower case), or None."""
    return next((each for each in FORMATS if suffix in each.suffixes), None)


def by_magic(start: bytes) -> Format | None:
    """Return the format whose files alone start with these bytes, or None."""
    return next((each for each in FORMATS if start.startswith(each.magic)), None)


def by_content(start: bytes) -> Format | None:
    """Return the format of a file that starts with these bytes, or None."""
    if found := by_magic(start):
        return found
    import re

    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    for each in FORMATS:
        if each.pattern and re.match(each.pattern.encode("latin-1"), text):
            return each
    return None


def start_of(file: OpenFile) -> bytes:
    """Return the start of a file."""
    file.file.seek(0)
    start = file.file.read(SNIFF_BYTES)
    file.file.seek(0)
    return start


def format_of(file: OpenFile, suffix: str, others: tuple[str, ...] = ()) -> Format:
    """Return the format of an open file: by its first bytes, by its ending, or by its content.

    Args:
        file: the file.
        suffix: its ending, in lower case.
        others: endings of files that are no particles, which the message lists too.

    Raises:
        DataFileError: no reader knows the file; the sentence says how to convert it.
    """
    start = start_of(file)
    found = by_magic(start) or by_suffix(suffix)
    if found is not None:
        return found
    from raytracer.scene.particles.conversion import unread, way_out

    way = way_out(file.path)
    found = None if way else by_content(start)
    if found is None:
        known = ", ".join((*others, *SUFFIXES))
        raise DataFileError(
            f"{file.source}: {unread(suffix)}; supported are {known}" + (f"; {way}" if way else "")
        )
    return found
