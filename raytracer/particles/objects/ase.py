"""Atoms of ASE, in angstrom, with its arrays and cell; files that ASE reads."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.files.access import OpenFile
from raytracer.model.elements import load_elements
from raytracer.model.particle_source import parse_time
from raytracer.particles.array_source import (
    FrameContent,
    LazyColumn,
    LibraryFile,
    ObjectSource,
    import_library,
)
from raytracer.particles.cell import box_from_cell

DATABASES = ("db", "json")  # formats of databases; each row is a frame

ALIASES = {
    ".xv": "siesta-xv", ".incoor": "dmol-incoor", ".axsf": "xsf", ".cub": "cube",
    ".abi": "abinit-in", ".onetep": "onetep-in", ".vasp": "vasp", ".contcar": "vasp",
}  # fmt: skip
"""Formats of endings that ASE does not know, or uses for another format."""

GRID = r"\s*[1-9]\d*\s+[1-9]\d*\s+[1-9]\d*\s*"
"""Line with the numbers of values along each axis of a grid."""

START = 1 << 12  # bytes of a file by which ASE recognises its format


class Source(ObjectSource):
    noun = "array"

    def read(self) -> FrameContent:
        atoms, arrays = self.value, dict(self.value.arrays)
        numbers = np.asarray(arrays.pop("numbers"))
        results = getattr(getattr(atoms, "calc", None), "results", None)
        columns = {**(results if isinstance(results, Mapping) else {}), **arrays}
        if "momenta" in columns and "velocity" not in columns:
            columns["velocity"] = LazyColumn(np.dtype(float), (len(atoms), 3), atoms.get_velocities)
        # ASE takes the types of LAMMPS for atomic numbers, and keeps both.
        if "type" not in arrays or not np.array_equal(arrays["type"], numbers):
            columns = {"element": find_symbols(numbers), **columns}
        box, time = box_from_cell(atoms.cell, atoms.pbc), parse_time(atoms.info.get("time"))
        return FrameContent(columns, box, time, rows=len(atoms))


class FileSource(LibraryFile, Source):
    @cached_property
    def form(self) -> str:
        import_library("ase", self.name, "ase")
        if name := _find_format(self.file, self.variant):
            return name
        raise self.error("has a format that ASE cannot read")

    def open_frame(self, frame: int) -> tuple[Any, int]:
        form = self.form  # imports ASE, or reports how to install it
        from ase.io import iread

        self.require_memory()
        path: Any = self.structure() if form == "vasp" else self.file.name
        images = _rows(path, form) if form in DATABASES else iread(path, ":", format=form)
        chosen, count = None, 0
        for image in images:
            chosen = image if count == frame else chosen
            count += 1
        if chosen is None:
            raise ValueError("there are no atoms")
        if form == "prismatic":  # cells of multislice programs are periodic
            chosen.pbc = True
        return chosen, count

    def structure(self) -> StringIO:
        """Return the text of a structure of VASP without the values on a grid that follow it in a
        CHGCAR, LOCPOT or ELFCAR, which ASE takes for velocities."""
        lines = list[str]()
        self.file.file.seek(0)
        for line in map(partial(str, encoding="utf-8", errors="replace"), self.file.file):
            if lines and not lines[-1].strip() and re.fullmatch(GRID, line):
                break
            lines.append(line)
        text = StringIO("".join(lines))
        text.name = self.file.name  # near which ASE looks for elements
        return text


def knows(file: OpenFile, ending: str) -> bool:
    """Whether ASE reads a file with this name, ending or content."""
    return bool(_find_format(file, ending))


def _find_format(file: OpenFile, ending: str) -> str:
    """Return ASE's name of the format, by ending, name or content, or ""."""
    from ase.io.formats import ioformats

    name, word = file.path.name, ending[1:]
    if name.upper().startswith("XDATCAR"):
        return "vasp-xdatcar"
    if ending in ALIASES:
        return ALIASES[ending]
    file.file.seek(0)
    start = file.file.read(START)
    known: Any = [each for each in ioformats.values() if each.can_read]
    rules: tuple[Callable[[Any], Any], ...] = (
        lambda each: word and (word in each.extensions or word == each.name),
        lambda each: each.match_name(name) or each.match_name(f"x{ending}"),
        lambda each: word and (each.match_name(word) or each.match_name(word.upper())),
        lambda each: each.match_magic(start),
    )
    for fits in rules:
        if names := [each.name for each in known if fits(each)]:
            return str(names[0])
    return ""


def _rows(path: str, kind: str) -> Iterator[Any]:
    """Yield the atoms of a database; `kind` is one of `DATABASES`. A copy, since ASE goes by the
    ending of the path, which has none."""
    from shutil import copyfile
    from tempfile import NamedTemporaryFile

    import ase.db

    connect: Any = ase.db.connect
    with NamedTemporaryFile(suffix=f".{kind}") as copy:
        copyfile(path, copy.name)
        for row in connect(copy.name, type=kind, use_lock_file=False).select():
            yield row.toatoms()


def find_symbols(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the symbols of atomic numbers, (N,); "X" for unknown ones."""
    known = np.array([b"X", *(symbol.encode() for symbol in load_elements())], "S2")
    inside = np.where((numbers > 0) & (numbers < len(known)), numbers, 0)
    symbols: NDArray[Any] = known[inside]
    return symbols
