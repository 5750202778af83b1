"""Particle sources: the interface of readers, and the spheres that they return."""

from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.model import particle_names as naming
from raytracer.model.data_file import DataFile

if TYPE_CHECKING:
    from raytracer.model.particle_labels import ParticleLabels

Value = str | int | float | bool | tuple[Any, ...]
"""A value of one particle; a vector is a tuple, a matrix a tuple of tuples."""

NANOMETRE = 10.0  # angstrom, the unit of the radii of elements
LAMMPS_LENGTHS = {"si": ("m", 1e10), "cgs": ("cm", 1e8), "micro": ("µm", 1e4),
                  "nano": ("nm", NANOMETRE), "electron": ("bohr", 0.529177210903)}  # fmt: skip
"""Units of length of the unit styles of LAMMPS, and these in angstrom; others have angstrom or
none."""

LAMMPS_STYLES = ("lj", "real", "metal", *LAMMPS_LENGTHS)

BY_LABEL = "species"  # `Particles.names["radius"]` of radii that follow from the labels

Notes = list[tuple[str, str]]  # warnings, each with the affected part: "radius", "radius+color", ""


class Column(NamedTuple):
    """A quantity that a file stores per particle."""

    kind: str = ""  # "number", "integer", "text" or "truth value"; "" if unknown before reading
    shape: tuple[int, ...] = ()  # shape of one particle's value; () is a scalar, (3,) a vector
    unit: str = ""  # unit in the file, or ""


def column_kind(dtype: np.dtype[Any]) -> str:
    """Return the `Column.kind` of an array type."""
    kinds = {"f": "number", "i": "integer", "u": "integer", "b": "truth value"}
    return kinds.get(dtype.kind, "text" if dtype.kind in "SUM" else "")  # M: dates


def plain_value(value: Any) -> Value:
    """Convert an array's item: lists to tuples, bytes to text."""
    if isinstance(value, list):
        return tuple(plain_value(item) for item in value)
    result: Value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return result


class Box(NamedTuple):
    """The simulation box of a frame, in the length unit of the file."""

    origin: tuple[float, float, float]  # (3,), the corner from which the edges start
    edges: tuple[tuple[float, float, float], ...]  # (3, 3), one edge vector per row
    # whether the box is periodic along each edge
    periodic: tuple[bool, bool, bool] = (True, True, True)


class FrameTime(NamedTuple):
    """The time of a frame in its file."""

    value: float  # finite
    # "ps", "s", ... if the format defines it; "steps" if the file states only the step of the
    # simulation; "" if unknown
    unit: str = ""


def parse_time(value: Any, unit: str = "") -> FrameTime | None:
    """Return a number or a text as a time, or None."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return FrameTime(number, unit) if isfinite(number) else None


def describe_missing_atoms(source: str) -> tuple[str, str]:
    """Return the warning about a trajectory without atom types."""
    return ("radius+color", (
        f"{source}: has coordinates without atoms, so all spheres have one radius and colour: "
        "for radii and colours of elements, give a topology: --topology ATOMS.pdb, or topology = "
        '"ATOMS.pdb" in a scene file'
    ))  # fmt: skip


def describe_more_frames(source: str, count: int | None = None) -> str:
    """Return the warning that the first of `count` frames is shown by default."""
    several = "more frames follow" if count is None else f"has {count:,} frames"
    return (
        f"{source}: {several}; the first is shown: for another one give --frame NUMBER, or frame = "
        "NUMBER in a scene file"
    )


@dataclass
class Particles:
    """The spheres of a particle file. The sphere set checks centres and radii later."""

    source: str  # name of the file in messages
    centers: NDArray[Any]  # (N, 3), the file's length unit
    radius: NDArray[Any] | None = None  # one or (N,), the file's length unit, or None
    # (N, 3), or a palette (K, 3) with `color_id`; uint8 or 0..1; or None
    color: NDArray[Any] | None = None
    color_id: NDArray[Any] | None = None  # integers (N,) or None
    # names in the file for "centers", "radius" and "color", for messages
    names: dict[str, str] = field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the file columns with these
    file: DataFile | None = None
    box: Box | None = None
    gravity: Sequence[float] | None = None  # direction of gravity, (3,), or None
    time: FrameTime | None = None
    # labels of coordinate files, for radii and colours that the file lacks
    labels: "ParticleLabels | None" = None
    # warnings. One about "radius" or "color" is dropped if the scene file sets that part
    notes: Notes = field(default_factory=list)
    # further requested columns, by their names in the file
    extra: dict[str, NDArray[Any]] = field(default_factory=dict)
    # all columns of the file, if further ones were requested
    about: Mapping[str, Column] | None = None
    origin: "ParticleSource | None" = None  # the object, if there is no file
    may_be_ellipsoids: bool = False  # whether the file may have axes of its particles
    unit: str = ""  # unit of the centres as the file states it ("x [nm]"), or ""
    angstroms: float | None = None  # that unit and the one of the box in angstrom, if it is certain
    converted: str = ""  # the unit from which the centres were converted to angstrom, or ""
    length: float = 1.0  # the unit of length of the other columns, in that of the centres
    # rows of the particles in the file if some are left out, and their number there
    rows: NDArray[np.int64] | None = None
    total: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there are no particles; an invalid array is reported later."""
        return self.centers.shape[:1] == (0,)

    def taken(self, rows: NDArray[np.intp]) -> "Particles":
        """Return some of the particles, (M,)."""
        parts = {name: getattr(self, name) for name in ("centers", "radius", "color", "color_id")}
        if self.color_id is not None:
            del parts["color"]  # a palette
        taken = {name: values[rows] for name, values in parts.items() if np.ndim(values)}
        labels = self.labels and self.labels._replace(ids=self.labels.ids[rows])
        extra = {name: values[rows] for name, values in self.extra.items()}
        return replace(self, **taken, labels=labels, extra=extra)

    def keep_finite(self) -> None:
        """Leave out the particles whose positions are not finite."""
        finite = np.isfinite(self.centers).all(axis=1)
        rows, total = np.flatnonzero(finite), len(finite)
        self.centers, self.rows, self.total = self.centers[rows], rows, total
        for name in ("radius", "color", "color_id"):
            values = getattr(self, name)
            is_palette = name == "color" and self.color_id is not None
            if not is_palette and np.ndim(values) and len(values) == total:
                setattr(self, name, values[rows])
        if self.labels is not None:
            self.labels = self.labels._replace(ids=self.labels.ids[rows])


def parse_direction(values: Sequence[Any]) -> list[float] | None:
    """Return three numbers or texts as a direction, or None."""
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        return None
    is_direction = len(numbers) == 3 and any(numbers) and all(map(isfinite, numbers))
    return numbers if is_direction else None


class ParticleSource(ABC):
    """An open particle file. Only its layout is read until columns are loaded; `variant` says which
    format of a reader of several it is.

    A format either states which pieces of its files are frames (`has_pieces`), each of which is
    then read as a separate file, or finds a frame itself (`go_to`). Raises DataFileError: the file
    is not of this format.
    """

    has_pieces: ClassVar[bool] = False  # whether `frame_starts` is available
    lacks_atoms: ClassVar[bool] = False  # whether files of its format may have coordinates alone
    # Whether text before the first and after the last frame belongs to each.
    surrounded: ClassVar[bool] = False
    of_frame: ClassVar[tuple[str, ...]] = ()  # cached properties that another frame clears
    also: Sequence[str] = ()  # columns that `particles` may load with the spheres, to parse once
    format: str = ""  # name of its format; "" for objects
    units: str = ""  # style of units of LAMMPS, which may be stated in the first frame alone

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        self.file = file
        self.name = file.source
        self.variant = variant
        self.frame = 0
        self.is_chosen = False
        self.notes: Notes = []

    def error(self, text: str) -> DataFileError:
        """Return an error about the file."""
        return DataFileError(f"{self.name}: {text}")

    def note(self, text: str, part: str = "") -> None:
        """Keep a warning about the file, or about a part of its spheres; see `Notes`."""
        self.notes.append((part, f"{self.name}: {text}"))

    def frame_starts(self) -> NDArray[np.int64] | Sequence[int]:
        """Return the start of each complete frame, and the end of the last, (F + 1,).

        Reads the whole file. Called at the first frame, if `has_pieces`.
        """
        raise NotImplementedError

    def go_to(self, frame: int) -> None:
        """Select another frame, 0 to `frames` - 1, before anything is loaded."""
        self.frame = frame
        self.is_chosen = True
        for name in self.of_frame:
            vars(self).pop(name, None)

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """The columns by name, in the order of the file."""

    @property
    def count(self) -> int | None:
        """Number of particles in the frame; None if unknown before a column is loaded."""
        return None

    @property
    def frames(self) -> int | None:
        return 1

    @property
    def length(self) -> float:
        """Unit of length of columns such as velocities, in that of the centres."""
        return 1.0

    @property
    def box(self) -> Box | None:
        """The periodic cell of the frame, or None."""
        return None

    @property
    def gravity(self) -> Sequence[float] | None:
        """Direction of gravity, (3,), not 0, or None."""
        return None

    @property
    def further_files(self) -> Sequence[Path]:
        """Other files that are read as well."""
        return ()

    @property
    def time(self) -> FrameTime | None:
        return None

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        """Pairs of bonded particles, counted from 0, int64 (M, 2), or None."""
        return None

    @property
    def bond_columns(self) -> dict[str, NDArray[Any]]:
        """Values per bond: "order" (1, 2, 3; 1.5 if aromatic), "type"."""
        return {}

    @abstractmethod
    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns of the frame by name, each (N, *shape). Raises DataFileError: a value is
        not of the column's type, or the file is damaged; MemoryNeedError: the columns do not fit
        into memory."""

    @abstractmethod
    def particles(self, names: Mapping[str, str]) -> Particles:
        """Return the spheres of the frame; `names` are the file's by the keys of `arrays`. Raises
        DataFileError: the file has no spheres, or a column does not exist."""

    def labels_of_atoms(self) -> "ParticleLabels | None":
        """Return the labels of the particles, or None."""
        return self.particles({}).labels

    def atom_ids(self) -> NDArray[np.int64] | None:
        """Return the ids of the particles, (N,), or None."""
        by_plain = {naming.normalize_name(name): name for name in reversed(list(self.columns))}
        name = next((by_plain[each] for each in naming.IDS if each in by_plain), None)
        if name is None or self.columns[name].shape:
            return None
        ids = self.load([name])[name]
        is_whole = ids.dtype.kind in "iuf" and bool((ids == np.floor(ids)).all())
        return ids.astype(np.int64) if is_whole else None

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the nonempty values of particle `index` of the `count` that were loaded, by column,
        without those in `used`. Raises Exception: of any type, if the file is damaged."""
        names = [name for name in self.columns if name not in used]
        try:
            columns = self.load(names)
        except DataFileError:  # as of texts among the numbers of a column that is not used
            columns = {}
            for name in names:
                with suppress(DataFileError):
                    columns |= self.load([name])
        for name, values in columns.items():
            value = plain_value(values[index].tolist()) if len(values) == count else ""
            if value != "":
                yield name, value


def forward_property(inner: str, name: str) -> Any:
    """Return a property that is one of the source `inner`, an attribute."""
    return property(lambda source: getattr(getattr(source, inner), name))


class ParticleRecord(NamedTuple):
    """A sphere set's record of its file or object."""

    total: int  # number of particles of the file
    arrays: dict[str, NDArray[Any]]  # columns in memory, for all particles, by name
    # the columns of the file; None before they were looked up
    about: Mapping[str, Column] | None = None
    origin: "ParticleSource | None" = None  # the object, whose columns are in memory
    box: Box | None = None  # the simulation box, in the length unit of the file, or None
    time: FrameTime | None = None  # time of the frame, or None
    length: float = 1.0  # the unit of length of the other columns, in that of the centres
