"""Tables of astropy, one row per particle; FITS and VOTable files that it reads."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles import celestial, naming
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.objects.source import Entry, Frame, LibraryFile, ObjectSource
from raytracer.scene.particles.source import Column, kind_of


class Source(ObjectSource):
    """A `Table` or `QTable`."""

    def take(self) -> Frame:
        entries: dict[str, Entry] = {}
        for name in self.value.colnames:
            values = self.value[name]
            kind, unit = kind_of(values.dtype), str(getattr(values, "unit", None) or "")
            if kind:
                column = Column(kind, values.shape[1:], unit)
                entries[name] = Entry(column, partial(_values, values))
        return Frame(len(self.value), entries)


class FileSource(LibraryFile, Source):
    lacks_atoms = False

    def opened(self, frame: int) -> tuple[Any, int]:
        table = library("astropy.table", self.name, "astropy").Table
        self.require_frame()
        if self.variant != ".fits":
            return table.read(self.file.name, format="votable"), 1
        fits = library("astropy.io.fits", self.name, "astropy")
        with fits.open(self.file.name, memmap=False) as units:
            tables = [table.read(each, format="fits", unit_parse_strict="silent")
                      for each in units if hasattr(each, "columns")]  # fmt: skip
        if not tables:
            raise self.error("has no table: its data are images")
        known = (each for each in tables if naming.usual("x", each.colnames)
                 or celestial.directions(each.colnames))  # fmt: skip
        return next(known, tables[0]), 1


def _values(column: Any) -> NDArray[Any]:
    """Return the values of a column without unit; masked numbers are NaN."""
    values = getattr(column, "value", column)
    if getattr(values, "mask", None) is not None and np.any(values.mask):
        empty: Any = b"" if values.dtype.kind == "S" else "" if values.dtype.kind == "U" else np.nan
        values = values.astype(float).filled(empty) if empty is np.nan else values.filled(empty)
    return np.asarray(values)
