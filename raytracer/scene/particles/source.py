"""Particle sources: the interface of a reader, and the spheres that a reader makes of a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from raytracer.files.access import OpenFile
from raytracer.scene.particles.data_file import DataFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.particles.labels import Labels

Value = str | int | float | bool | tuple[Any, ...]
"""A value of one particle; a vector is a tuple, a matrix a tuple of tuples."""

Notes = list[tuple[str, str]]
"""Warnings, each with the part that it concerns: "radius", "color", "radius+color" or ""."""


class Column(NamedTuple):
    """A quantity that a file stores for each particle.

    Args:
        kind: "number", "integer", "text" or "truth value"; "" if only reading it tells.
        shape: of the value of one particle; () is a scalar, (3,) a vector.
        unit: as the file states it, or "".
    """

    kind: str = ""
    shape: tuple[int, ...] = ()
    unit: str = ""


def kind_of(dtype: np.dtype[Any]) -> str:
    """Return the kind of column that an array of this type is."""
    kinds = {"f": "number", "i": "integer", "u": "integer", "b": "truth value"}
    return kinds.get(dtype.kind, "text" if dtype.kind in "SU" else "")


def plain_value(value: Any) -> Value:
    """Return the value of an array's item: lists as tuples, bytes as text."""
    if isinstance(value, list):
        return tuple(plain_value(item) for item in value)
    result: Value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return result


class Box(NamedTuple):
    """The simulation box of a frame, in the length unit of the file.

    Args:
        origin: (3,), the corner from which the edges start.
        edges: (3, 3), one edge vector a row.
        periodic: whether the box repeats itself along each edge; the default is that it does.
    """

    origin: tuple[float, float, float]
    edges: tuple[tuple[float, float, float], ...]
    periodic: tuple[bool, bool, bool] = (True, True, True)


class Moment(NamedTuple):
    """When a frame is, as its file states it.

    Args:
        value: finite.
        unit: "ps", "s", ... where the format fixes it; "steps" where the file states the number of
            the simulation's step alone; "" where it does not say.
    """

    value: float
    unit: str = ""


def moment_of(value: Any, unit: str = "") -> Moment | None:
    """Return a number or a text as a time, or None if it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return Moment(number, unit) if isfinite(number) else None


def no_atoms(source: str) -> tuple[str, str]:
    """Return the warning about a trajectory that holds coordinates and no atoms."""
    return ("radius+color", (
        f"{source}: holds coordinates without atoms, so all spheres have one radius and colour: "
        "for those of elements, name a file of the atoms: --topology ATOMS.pdb, or topology = "
        '"ATOMS.pdb" in the set of a scene file'
    ))  # fmt: skip


def more_frames(source: str, count: int | None = None) -> str:
    """Return the warning about a file of which the first of `count` frames is shown unasked."""
    several = "more frames follow" if count is None else f"holds {count:,} frames"
    return (
        f"{source}: {several}; the first is shown: for another one say --frame NUMBER, or frame = "
        "NUMBER in the set of a scene file"
    )


@dataclass
class Particles:
    """The spheres of a particle file. Centres and radii are checked later, by the sphere set.

    Args:
        source: name of the file in messages.
        centers: (N, 3), the file's length unit.
        radius: one or (N,), the file's length unit; None if the file has none.
        color: (N, 3), or a palette (K, 3) with `color_id`; uint8 or 0..1; None if there is none.
        color_id: integers (N,) or None.
        names: the file's own names of "centers", "radius" and "color", for messages.
        columns: the columns of the file that hold these.
        gravity: the direction in which things fall, (3,), or None.
        labels: of coordinate files; they give radii and colours where the file has none.
        notes: warnings. One about "radius" or "color" does not matter where the scene file sets
            that part.
        extra: further columns that were asked for, by the names of the file.
        about: all columns of the file, where further ones were asked for.
        origin: the object, of those that are no files.
        are_ellipsoids: whether the file has axes and orientations of its particles.
        unit: of the centres, as the names of their columns state it ("x [nm]"), or "".
        converted: the unit from which the centres were converted to angstrom, or "".
    """

    source: str
    centers: NDArray[Any]
    radius: NDArray[Any] | None = None
    color: NDArray[Any] | None = None
    color_id: NDArray[Any] | None = None
    names: dict[str, str] = field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    file: DataFile | None = None
    box: Box | None = None
    gravity: Sequence[float] | None = None
    time: Moment | None = None
    labels: Labels | None = None
    notes: Notes = field(default_factory=list)
    extra: dict[str, NDArray[Any]] = field(default_factory=dict)
    about: Mapping[str, Column] | None = None
    origin: ParticleSource | None = None
    are_ellipsoids: bool = False
    unit: str = ""
    converted: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there are no particles; an array without rows is none, which is told later."""
        return self.centers.shape[:1] == (0,)


def direction_of(values: Sequence[Any]) -> list[float] | None:
    """Return three numbers or texts as a direction, or None if they are none."""
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        return None
    is_direction = len(numbers) == 3 and any(numbers) and all(map(isfinite, numbers))
    return numbers if is_direction else None


class ParticleSource(ABC):
    """A particle file that is open. Only its layout is read until columns are loaded.

    A format either states which pieces of its files are frames (`has_pieces`), each of which is
    then read as a separate file, or goes to a frame by itself (`go_to`).

    Args:
        file: the file, open for as long as the source is in use.
        variant: which of its formats it is, for readers of several.

    Attributes:
        format: name of its format; "" of what is no file.
        also: columns that `particles` may load together with those of spheres, to parse once.
        has_pieces: whether `frame_starts` returns where frames are.
        surrounded: whether what is before the first frame and after the last one belongs to each.

    Raises:
        DataFileError: the file is not of this format.
    """

    has_pieces: ClassVar[bool] = False
    surrounded: ClassVar[bool] = False
    also: Sequence[str] = ()
    format: str = ""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        self.file = file
        self.name = file.source
        self.variant = variant
        self.frame = 0
        self.is_chosen = False
        self.notes: Notes = []

    def frame_starts(self) -> NDArray[np.int64] | Sequence[int]:
        """Return the bytes at which whole frames begin, and where the last one ends, (F + 1,).

        The whole file is read. It is called where `has_pieces`, for the first frame.
        """
        raise NotImplementedError

    def go_to(self, frame: int) -> None:
        """Take another frame, 0 to `frames` - 1; it is called before anything is loaded."""
        self.frame = frame
        self.is_chosen = True

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """The columns by name, in the order of the file."""

    @property
    def count(self) -> int | None:
        """Number of particles in the frame; None if only loading a column tells."""
        return None

    @property
    def frames(self) -> int | None:
        """Number of frames; None if only reading the whole file tells."""
        return 1

    @property
    def box(self) -> Box | None:
        """The periodic cell of the frame, or None."""
        return None

    @property
    def gravity(self) -> Sequence[float] | None:
        """The direction in which things fall, (3,), not 0, or None if the file does not say it."""
        return None

    @property
    def further_files(self) -> Sequence[Path]:
        """The files that are read beside the one that was named."""
        return ()

    @property
    def time(self) -> Moment | None:
        """The time of the frame, or None if the file does not say it."""
        return None

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        """Pairs of particles, counted from 0, int64 (M, 2), or None if the file has none."""
        return None

    @property
    def bond_columns(self) -> dict[str, NDArray[Any]]:
        """What the file says of each of its bonds: "order" (1, 2, 3; 1.5 of aromatic ones), "type".

        The arrays have as many rows as `bonds`.
        """
        return {}

    @abstractmethod
    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns of the frame by name, each (N, *shape).

        Raises:
            DataFileError: a value is not of the column's kind, or the file is damaged.
            MemoryNeedError: the columns do not fit.
        """

    @abstractmethod
    def particles(self, names: Mapping[str, str]) -> Particles:
        """Return the spheres of the frame; names: the file's own by the keys of `arrays`.

        Raises:
            DataFileError: the file does not hold spheres, or a column does not exist.
        """

    def labels_of_atoms(self) -> Labels | None:
        """Return the labels of the particles, or None if the file has none."""
        return self.particles({}).labels

    @abstractmethod
    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the values of one particle by column; those of `used` may be left out.

        Args:
            index: of the particle, from 0.
            count: number of particles that were loaded.
            used: names of columns.

        Raises:
            Exception: of any kind, if the file is damaged.
        """


def values_at(
    source: ParticleSource, names: Sequence[str], index: int, count: int
) -> Iterator[tuple[str, Value]]:
    """Yield the values of one particle in some columns, as `row` does; empty ones are left out."""
    for name, values in (source.load(names) if names else {}).items():
        value = plain_value(values[index].tolist()) if len(values) == count else ""
        if value != "":
            yield name, value


class Data(NamedTuple):
    """What a sphere set keeps of its file, or of the object that it was made of.

    Args:
        total: number of particles of the file.
        arrays: columns in memory, for all particles, by name.
        about: the columns of the file, None as long as they were not looked up.
        origin: the object, whose columns are in memory already.
        box: the simulation box, in the unit of length of the file; None if there is none.
        time: of the frame; None if the file does not state it.
    """

    total: int
    arrays: dict[str, NDArray[Any]]
    about: Mapping[str, Column] | None = None
    origin: ParticleSource | None = None
    box: Box | None = None
    time: Moment | None = None
