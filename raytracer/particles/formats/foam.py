"""Clouds of OpenFOAM: positions in TIME/lagrangian/CLOUD, with the fields beside them, in text."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile, is_file, open_file
from raytracer.files.references import resolve_part
from raytracer.model.particle_source import parse_time
from raytracer.particles.array_source import ArraySource, FrameContent
from raytracer.particles.compressed import decompress
from raytracer.system.memory import require_room

MEMORY = 12  # bytes of memory per byte of a file while it is parsed
HEAD = 1 << 12  # most bytes before the values
WIDTHS = {"scalarField": 1, "labelField": 1, "vectorField": 3}
"""Numbers of a particle by the class of a field."""

_HEADER = r"FoamFile\s*\{([^}]*)\}"
_COMMENT = r"/\*[\s\S]*?\*/|//[^\n]*"
_LIST = r"\s*(\d+)\s*([({])"
_PLACE = r"\(\s*\S+\s+\S+\s+\S+\s*\)"


class Source(ArraySource):
    def read(self) -> FrameContent:
        _, values = _read_field(self.file)
        columns = {"position": values[:, :3]}
        for path in sorted(self.further_files):
            if path.name.split(".")[0] in ("positions", "coordinates"):
                continue
            with open_file(resolve_part(self.file, path.name)) as packed:
                width, values = _read_field(decompress(packed))
            if len(values) == len(columns["position"]) and width:
                name = path.name.removesuffix(".gz")
                columns[name] = values[:, 0] if width == 1 else values
        folders = self.file.path.absolute().parents
        is_case = len(folders) > 2 and folders[1].name == "lagrangian"
        return FrameContent(columns, time=parse_time(folders[2].name, "s") if is_case else None)

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        if "d" in self.columns and not {"radii", "diameters"} & set(names):
            names = {**names, "diameters": "d"}  # of all clouds of OpenFOAM
        return super().choose(names)

    @property
    def further_files(self) -> list[Path]:
        if self.file.is_standard_input:  # the files of the current folder are not its fields
            return []
        return [path for path in self.file.path.parent.iterdir() if is_file(path)]


def _read_field(file: OpenFile) -> tuple[int, NDArray[np.float64]]:
    """Return the width of a field and its values, (N, width); 0 for other classes.

    Positions have the width 0: each has three numbers and those of its cell.
    """
    file.file.seek(0)
    head = re.search(_HEADER, file.file.read(HEAD).decode("latin-1"))
    kind = re.search(r"class\s+(\S+?);", head[1]) if head else None
    width = WIDTHS.get(kind[1], 0) if kind else 0
    is_cloud = kind is not None and "Cloud" in kind[1]
    if head is None or not (width or is_cloud):
        return 0, np.zeros((0, 1))
    if re.search(r"format\s+binary", head[1]):
        raise DataFileError(
            f"{file.source}: is binary: convert the case to text by foamFormatConvert with "
            "writeFormat ascii in system/controlDict"
        )
    require_room(file.source, MEMORY * file.size)
    file.file.seek(head.end())
    body = re.sub(_COMMENT, "", file.file.read().decode("latin-1"))
    found = re.match(_LIST, body)
    if found is None:
        raise DataFileError(f"{file.source}: has no list of values after its header")
    count, end = int(found[1]), body.rfind(")" if found[2] == "(" else "}")
    inner = body[found.end() : max(end, found.end())]
    if is_cloud and count and not re.match(rf"\s*{_PLACE}", inner):
        raise DataFileError(
            f"{file.source}: has no positions x, y and z, but coordinates in cells: convert the "
            "case by foamToVTK"
        )
    try:
        words = np.array(inner.replace("(", " ").replace(")", " ").split(), np.float64)
    except ValueError as problem:
        raise DataFileError(f"{file.source}: {quote(str(problem), 80)}") from None
    if found[2] == "{":  # one value for all
        words = np.tile(words, count)
    per_row = words.size // max(count, 1)
    if words.size != per_row * count or (width and count and per_row != width):
        raise DataFileError(
            f"{file.source}: states {count:,} values, but has {words.size:,} numbers"
        )
    return width, words.reshape(count, per_row or max(width, 3))
