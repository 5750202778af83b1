"""Registry of particle formats: a format is one line here and one module in `formats/`.

The lines state what a reader is chosen by, so that no reader is imported before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
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
        module: in `formats/`; its class `Source` is a `ParticleSource`.
        suffixes: endings of file names, in lower case.
        signature: regular expression that the start of a file matches, after a byte order mark and
            white space; "" if nothing tells the format but the suffix.
    """

    module: str
    suffixes: tuple[str, ...]
    signature: str = ""

    def open(self, file: OpenFile) -> ParticleSource:
        """Return the source of an open file. Raises DataFileError if it is of another format."""
        module = self.module
        name = f"raytracer.scene.particles.formats.{module}"
        source: type[ParticleSource] = import_module(name).Source
        return source(file)


FORMATS = (
    Format("npz", (".npz",), r"PK"),
    Format("npy", (".npy",), r"\x93NUMPY"),
    Format("csv", (".csv",), rf"(?i){_cell('x')}{_cell('y')}{_cell('z')}"),
    Format("xyz", (".xyz", ".extxyz"), r"\d+[ \t\f\v]*(?:[\r\n]|\Z)"),
)
"""The first format of those that match is chosen."""

SUFFIXES = tuple(suffix for each in FORMATS for suffix in each.suffixes)
"""Endings of the particle files that can be read."""


def by_suffix(suffix: str) -> Format | None:
    """Return the format of files with this ending (lower case), or None."""
    return next((each for each in FORMATS if suffix in each.suffixes), None)


def by_content(start: bytes) -> Format | None:
    """Return the format of a file that starts with these bytes, or None."""
    import re

    text = start[:SNIFF_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    for each in FORMATS:
        if each.signature and re.match(each.signature.encode("latin-1"), text):
            return each
    return None


def require(suffix: str, path: Path, source: str) -> Format:
    """Return the format of files with this ending.

    Raises:
        DataFileError: no reader knows it; the sentence says how to convert the file.
    """
    known = by_suffix(suffix)
    if known is None:
        raise DataFileError(f"{source}: {unknown(path, SUFFIXES)}")
    return known


def unknown(path: Path, known: tuple[str, ...]) -> str:
    """Return the sentence about a file whose ending is not known, without the file's name.

    Args:
        path: of the file.
        known: endings that are supported.
    """
    from raytracer.scene.particles.conversion import unread, way_out

    way = way_out(path)
    listed = ", ".join(known)
    return f"{unread(path.suffix.lower())}; supported are {listed}" + (f"; {way}" if way else "")
