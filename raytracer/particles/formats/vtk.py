"""Points of VTK's files (.vtk, .vtp, .vtu, .vts) with the arrays of point data. Read by vtk.

Lists of files (.pvd, .series; .pvtu, .pvtp, .vtm of parts) are frames by their times; files of the
same time are its parts. Their entries are read here, since the files that they name must be opened
as any other.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, pluralize, quote
from raytracer.files.access import OpenFile, load_json, open_file
from raytracer.files.references import read_xml_root, resolve_part
from raytracer.model.particle_source import Notes, ParticleSource, parse_time
from raytracer.particles.array_source import ArraySource, FrameContent, import_library
from raytracer.particles.formats.vtk_sizes import require_sizes
from raytracer.system.memory import require_room

GHOSTS = "vtkGhostType"
HIDDEN = 1 | 2
"""Bits of points that are copies of those of another piece, and of hidden points."""

GHOSTS_LEFT_OUT = f"{{}} that '{GHOSTS}' marks as copies of another piece, or as hidden, left out"

LEGACY = ".vtk"  # variant of files with sections after lines of words
MAX_LIST = 1 << 26  # most bytes of a list of files
MAX_LEVELS = 3  # most lists that name lists
_ENTRY = r"<(?:DataSet|Piece)\b([^>]*)>"
_ATTRIBUTE = r"([\w.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')"
KINDS = ("PolyData", "UnstructuredGrid", "StructuredGrid", "RectilinearGrid", "ImageData", "Table")
PARTS = ("Scalars", "Vectors", "Normals", "Tensors", "ColorScalars", "TCoords", "Fields")


def make_source(file: OpenFile, variant: str) -> ParticleSource:
    """Return the source of a file, or of a list of files."""
    listed = [] if variant == LEGACY else _list_files(file)
    return Collection(file, variant, listed) if listed else Source(file, variant)


class Source(ArraySource):
    memory = 10

    def read(self) -> dict[str, NDArray[Any]]:
        core = import_library("vtkmodules.vtkCommonCore", self.name, "vtk")
        numbers = import_library("vtkmodules.util.numpy_support", self.name, "vtk").vtk_to_numpy
        self.require_memory()
        messages = core.vtkStringOutputWindow()
        core.vtkOutputWindow.SetInstance(messages)
        data = self._data()
        if "ERR" in (said := messages.GetOutput()):
            raise ValueError(said[said.index("ERR") :].partition("): ")[2])
        points: Any = data.GetPoints() if hasattr(data, "GetPointData") else None
        if not hasattr(points, "GetData"):
            raise self.error(f"has no points: it is {quote(data.GetClassName())}")
        columns = {"position": numbers(points.GetData())}
        arrays = data.GetPointData()
        for place in range(arrays.GetNumberOfArrays()):
            if (array := arrays.GetArray(place)) is not None and array.GetName():
                columns.setdefault(array.GetName(), numbers(array))
        columns, ghosts = drop_ghosts(columns)
        if ghosts:
            self.note(GHOSTS_LEFT_OUT.format(pluralize(ghosts, "point")))
        return columns

    def _data(self) -> Any:
        is_legacy = self.variant == LEGACY or self.file.path.suffix.lower() == LEGACY
        require_sizes(self.file, is_xml=not is_legacy)
        if is_legacy:
            module = import_library("vtkmodules.vtkIOLegacy", self.name, "vtk")
            reader = module.vtkGenericDataObjectReader()
            for part in PARTS:
                getattr(reader, f"ReadAll{part}On")()
        else:
            module = import_library("vtkmodules.vtkIOXML", self.name, "vtk")
            kind = read_xml_root(self.file)[1].get("type", "")
            if kind not in KINDS:  # the readers of others open files that these name
                raise self.error(f"has no points: it is {quote(kind) or 'no XML of VTK'}")
            reader = getattr(module, f"vtkXML{kind}Reader")()
        reader.SetFileName(self.file.name)
        reader.Update()
        return reader.GetOutput()


def drop_ghosts(columns: dict[str, NDArray[Any]]) -> tuple[dict[str, NDArray[Any]], int]:
    """Return the columns, (N, ...), without hidden points and those that another piece has, and how
    many these are."""
    kinds = columns.get(GHOSTS)
    if kinds is None or kinds.dtype != np.uint8 or not (ghosts := kinds & HIDDEN > 0).any():
        return columns, 0
    return {name: each[~ghosts] for name, each in columns.items()}, int(ghosts.sum())


class Collection(ArraySource):
    """The files of a list, each with its time; those of one time are the parts of a frame."""

    def __init__(self, file: OpenFile, variant: str, listed: Sequence[tuple[float, Path]]) -> None:
        super().__init__(file, variant)
        self._listed = listed
        self._times = sorted({time for time, _ in listed})

    frames = property(lambda self: len(self._times))

    @property
    def further_files(self) -> Sequence[Path]:
        return [path for time, path in self._listed if time == self._times[self.frame]]

    def read(self) -> FrameContent:
        parts = list(_read_parts(self.further_files, MAX_LEVELS, self.notes))
        parts = [part for part in parts if len(part["position"])] or parts[:1]
        common = {name: values.shape[1:] for name, values in parts[0].items()
                  if all(name in part and part[name].shape[1:] == values.shape[1:]
                         for part in parts)}  # fmt: skip
        count = sum(len(part["position"]) for part in parts)
        require_room(self.name, 8 * count * sum(map(prod, common.values())))
        time = parse_time(self._times[self.frame]) if len(self._times) > 1 else None
        return FrameContent(
            {name: np.concatenate([part[name] for part in parts]) for name in common}, time=time
        )


def _read_parts(
    paths: Sequence[Path], levels: int, notes: Notes
) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the columns of files, and of those that they list; warnings are added to notes."""
    for path in paths:
        with open_file(path) as file:
            inner = [each for _, each in _list_files(file)]
            if inner and not levels:
                raise DataFileError(f"{file.source}: its lists of files contain each other")
            if inner:
                yield from _read_parts(inner, levels - 1, notes)
            else:
                part = Source(file, "")
                yield part.read()
                notes += part.notes


def _list_files(file: OpenFile) -> list[tuple[float, Path]]:
    """Return the files that a list names, with their times; [] if a file is none."""
    is_xml = bool(re.match("Collection|P[A-Z]|vtk", read_xml_root(file)[1].get("type", "")))
    start = file.file.read(1 << 12).lstrip()
    if not (is_xml or start.startswith(b"{")) or file.size > MAX_LIST:
        return []
    file.file.seek(0)
    text = file.file.read(MAX_LIST).decode("utf-8", "replace")
    if is_xml:
        found = [re.findall(_ATTRIBUTE, attributes) for attributes in re.findall(_ENTRY, text)]
        entries = [{name: unescape(one or other) for name, one, other in each} for each in found]
    else:
        entries = [each for each in load_json(text, file.source)["files"] if isinstance(each, dict)]
    listed = []
    for entry in entries:
        name = entry.get("file", entry.get("Source", entry.get("name")))
        moment = parse_time(entry.get("timestep", entry.get("time", 0.0)))
        if name:
            listed.append((moment.value if moment else 0.0, resolve_part(file, str(name))))
    if not listed:
        raise DataFileError(f"{file.source}: lists no files")
    return listed
