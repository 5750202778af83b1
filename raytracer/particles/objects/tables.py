"""Tables of pandas, polars and astropy, one row per particle, and the points of data sets of
PyVista; FITS and VOTable files, which astropy reads."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import pluralize, quote
from raytracer.model import particle_names as naming
from raytracer.model.quantities import fill_masked, find_unit, objects_to_numbers
from raytracer.particles import celestial
from raytracer.particles.array_source import (
    FrameContent,
    LazyColumn,
    LibraryFile,
    ObjectSource,
    import_library,
)
from raytracer.particles.formats.vtk import GHOSTS_LEFT_OUT, drop_ghosts

ROWS = rb"""<(?:\w+:)?TABLE\b[^<>]*?\snrows\s*=\s*["']\s*(\d{1,40})"""
"""Number of rows that a table of VOTable states."""


class Source(ObjectSource):
    """A table; a `LazyFrame` of polars is collected. Of a `MultiBlock` of PyVista the arrays are
    shown that all blocks have."""

    noun = "column"

    def read(self) -> FrameContent:
        table, kind = self.value, type(self.value)  # a column may have any name
        if hasattr(kind, "colnames"):
            return FrameContent(dict(_astropy_columns(table)), rows=len(table))
        if hasattr(kind, "n_blocks") or hasattr(kind, "n_points"):
            points = table.combine() if hasattr(kind, "n_blocks") else table
            data = points.point_data
            arrays = {name: data[name] for name in data.keys()}  # noqa: SIM118
            columns, ghosts = drop_ghosts(
                {name: np.asarray(each) for name, each in arrays.items()}
                | {"position": np.asarray(points.points)}
            )
            if ghosts:
                self.note(GHOSTS_LEFT_OUT.format(pluralize(ghosts, "point")))
            return FrameContent(columns, rows=len(columns["position"]))
        table = table.collect() if hasattr(kind, "collect") else table
        columns = dict[str, NDArray[Any]]()
        for place, label in enumerate(table.columns):
            series = table.iloc[:, place] if hasattr(kind, "iloc") else table[label]
            columns.setdefault(str(label), _to_array(series))
        return FrameContent(columns, rows=len(table))


def _to_array(series: Any) -> NDArray[Any]:
    """Return numbers, NaN if missing, or texts, None if missing; others as objects."""
    if hasattr(series, "hasnans"):  # of pandas
        if series.dtype.kind in "iub" and series.hasnans:
            return np.asarray(series.to_numpy(dtype=float, na_value=np.nan))
        if series.dtype.kind == "M":  # dates, in UTC
            return np.asarray(series.to_numpy(dtype="M8[ns]"))
        if series.dtype.kind not in "iufb":
            series = series.astype(object).where(series.notna(), None)
    elif str(series.dtype) == "Null":
        return np.full(len(series), None)
    return objects_to_numbers(np.asarray(series.to_numpy()), f"column '{quote(str(series.name))}'")


def _astropy_columns(table: Any) -> Iterator[tuple[str, LazyColumn]]:
    for name in table.colnames:
        values = table[name]
        unit, place = find_unit(values), f"column '{quote(name)}'"
        read = partial(_plain_column, values, place)
        yield name, LazyColumn(values.dtype, values.shape, read, str(unit or ""), unit)


def _plain_column(column: Any, place: str) -> NDArray[Any]:
    """Return the values of a column without unit; masked numbers are NaN."""
    return fill_masked(getattr(column, "value", column), place)


class FileSource(LibraryFile, Source):
    lacks_atoms = False

    def open_frame(self, frame: int) -> tuple[Any, int]:
        table = import_library("astropy.table", self.name, "astropy").Table
        self.require_memory()
        if self.variant != ".fits":
            self._check_rows()
            return table.read(self.file.name, format="votable"), 1
        fits = import_library("astropy.io.fits", self.name, "astropy")
        with fits.open(self.file.name, memmap=False) as units:
            tables = [self._make_table(each, table) for each in units if hasattr(each, "columns")]
        if not tables:
            raise self.error("has no table: its data are images")
        known = (each for each in tables if naming.find_usual_name("x", each[0].colnames)
                 or celestial.find_angle_columns(each[0].colnames))  # fmt: skip
        chosen, varying = next(known, tables[0])
        if varying:
            what = (
                f"columns of arrays of variable length, {naming.quote_names(varying)}, are left out"
            )
            remedy = "write the values that are needed as columns of a fixed length"
            if not chosen.colnames:
                raise self.error(f"{what}, and there are no others: {remedy}")
            self.note(f"{what}: {remedy}")
        return chosen, 1

    def _make_table(self, unit: Any, table: Any) -> tuple[Any, list[str]]:
        """Return a table of FITS, and its columns of variable length, which are not read: their
        descriptors may share bytes, and so stand for any number of them. Raises DataFileError: the
        file has fewer rows than it states."""
        size, rows = unit.header["NAXIS1"], unit.header["NAXIS2"]
        room = max(self.file.size - unit.fileinfo()["datLoc"], 0)
        if size * rows > room:
            raise self.error(
                f"its table states {rows:,} rows of {size:,} bytes (NAXIS2, NAXIS1), and the file "
                f"has {room:,} bytes for them: it is cut off or damaged"
            )
        varying = [each.name for each in unit.columns if re.match(r"\d*[PQ]", each.format)]
        for name in varying:
            unit.data.columns.del_col(name)
        return table.read(unit, format="fits", unit_parse_strict="silent"), varying

    def _check_rows(self) -> None:
        """Raise DataFileError if a VOTable states more rows than it can have: astropy allocates
        them before it reads any."""
        for rows in re.findall(ROWS, self.content()):
            if int(rows) > self.file.size:
                raise self.error(
                    f"its table states {int(rows):,} rows (nrows), and the file has "
                    f"{self.file.size:,} bytes: correct nrows, or leave it out"
                )
