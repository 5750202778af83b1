"""Reading of particle files: the spheres of a file, and the values of one particle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile, opened, reading
from raytracer.scene.arrays import Where, check_centers
from raytracer.scene.elements import Element, symbol_of
from raytracer.scene.particles import registry
from raytracer.scene.particles.compressed import unpacked
from raytracer.scene.particles.data_file import DataFile, may_be_series, split_inner
from raytracer.scene.particles.source import (
    Column,
    Particles,
    ParticleSource,
    Value,
    more_frames,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.particles.labels import Labels

ORIENTED = ("orientation", "quatw", "c_quat[1]", "c_orient[1]", "quaternion", "quaternions")
"""Columns of which one is in every file of oriented particles."""

Wanted = Callable[[Mapping[str, Column]], list[str]]
"""Names some of the columns of a file."""

NANOMETRE = 10.0
"""Angstrom."""

BEAD = 0.75
"""Radius of a label that is no element among elements, in angstrom: that of carbon."""


def read(
    path: Path,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Element] | None = None,
    source: str | None = None,
    meaning: str | None = None,
    topology: Path | None = None,
    frame: int | None = None,
    wanted: Wanted | None = None,
    ending: str = "",
) -> Particles:
    """Read the spheres of a particle file.

    Args:
        path: a file in one of the formats of `registry.FORMATS`; or a pattern that matches one file
            for each frame, or a folder of such files.
        names: the file's own names by the keys of `arrays` in a scene file ("centers", "radii",
            "diameters", "colors", "x", ...).
        elements: radii and colours of the user's own, by label or symbol.
        source: what to call the file in messages; the path if None.
        meaning: "elements" or "types": what the labels of a coordinate file are; None decides by
            them.
        topology: a file whose atoms are those of a trajectory, in the same order.
        frame: number of the frame, from 0, or from -1 backwards; None is the first one, with a
            warning where others follow.
        wanted: which further columns to load with the spheres, of those that the file has.
        ending: the ending that says its format, ".xyz"; "" leaves it to the name and the content.

    Raises:
        DataFileError: there is no such file or frame, or it does not hold spheres.
    """
    one = of_series(path, source or str(path), frame)
    path, inner = split_inner(one.path)
    with opened(path, one.source) as file:
        file.ending = ending
        result = read_open(
            file,
            names,
            elements,
            meaning,
            inner=inner,
            topology=topology,
            frame=one.frame,
            wanted=wanted,
        )
    one.mark(result)
    return result


class OneFile(NamedTuple):
    """The file of a frame.

    Args:
        path: of the file.
        source: what to call it in messages.
        frame: number of the frame in that file; None is the first one.
        series: number of files of the series of which it is one; 0 if it is no part of one.
        unasked: whether the first of several files was taken unasked.
    """

    path: Path
    source: str
    frame: int | None
    series: int = 0
    unasked: bool = False

    def mark(self, result: Particles) -> None:
        """Add to the particles of the file that others follow."""
        if self.unasked:
            result.notes.append(("", more_frames(self.source, self.series)))
        if result.file is not None:
            result.file = result.file._replace(series=self.series)


def of_series(path: Path, source: str, frame: int | None) -> OneFile:
    """Return the file of a frame; of a series of files, that of its number.

    Args:
        path: perhaps a pattern or a folder.
        source: what to call it in messages.
        frame: as in `read`.

    Raises:
        DataFileError: no file matches, or there is no such frame.
    """
    if not may_be_series(path, frame):
        return OneFile(path, source, frame)
    from raytracer.scene.particles.series import series_of

    found = series_of(path, folders=frame is not None)
    if found is None:
        return OneFile(path, source, frame)
    file = found.file(frame or 0)
    count = len(found.files)
    return OneFile(file, str(file), None, count, frame is None and count > 1)


def read_open(
    file: OpenFile,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Element] | None = None,
    meaning: str | None = None,
    others: tuple[str, ...] = (),
    inner: str = "",
    topology: Path | None = None,
    frame: int | None = None,
    wanted: Wanted | None = None,
) -> Particles:
    """Read the spheres of an open particle file; otherwise as `read`.

    Args:
        others: endings of files that are no particles, which a message lists too.
        inner: path of the particles in the file, for formats with several sets, or "".
    """
    with source_of(file, others, inner, frame, topology) as found:
        if wanted:
            found.also = wanted(found.columns)
        result = found.particles(names or {})
        result.box, result.gravity, result.time = found.box, found.gravity, found.time
        result.notes += found.notes
        result.are_ellipsoids = _are_ellipsoids(found.columns)
        if wanted:
            _add_columns(result, found)
    _complete(result, elements, meaning)
    if not file.is_standard_input:
        made = DataFile.of(file, inner, frame, topology)
        result.file = made._replace(converted=result.converted)
    return result


def read_object(
    value: Any,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Element] | None = None,
    meaning: str | None = None,
    frame: int | None = None,
) -> Particles:
    """Read the spheres of an object of another package, or of arrays; otherwise as `read`.

    Args:
        value: of one of the kinds in `objects.registry.KINDS`, a sequence of them, an array or a
            dictionary of arrays.
        frame: of what has several; see `objects.registry.object_source`.

    Raises:
        SceneError: it is no such object.
        DataFileError: it does not hold spheres.
    """
    from raytracer.scene.particles.objects.registry import object_source

    found = object_source(value, frame)
    with reading(found.name, "particles"):
        result = found.particles(names or {})
        result.box, result.gravity, result.time = found.box, found.gravity, found.time
        result.notes += found.notes
    _complete(result, elements, meaning)
    result.origin = found
    return result


def _are_ellipsoids(columns: Mapping[str, Column]) -> bool:
    """Whether columns hold the axes and orientations of ellipsoids."""
    if all(name not in columns for name in ORIENTED):
        return False
    from raytracer.scene.glyphs.shape_columns import are_ellipsoids  # few files have any

    return are_ellipsoids(columns)


def _add_columns(result: Particles, source: ParticleSource) -> None:
    """Add the columns that were asked for to the particles, if the reader has not done so."""
    left = [name for name in source.also if name not in result.extra]
    if left:
        result.extra |= source.load(left)
    result.about = dict(source.columns)


def _complete(
    result: Particles, elements: Mapping[str, Element] | None, meaning: str | None
) -> None:
    """Fill in radii and colours that the particles lack, where they have labels."""
    if result.labels is not None:
        says = meaning or result.labels.says
        result.labels = result.labels._replace(says=says, own=elements or {})
    if result.labels is not None and (result.radius is None or result.color is None):
        _look_up(result, result.labels, elements or {}, meaning)


def frame_count(
    path: Path, source: str | None = None, ending: str = "", topology: Path | None = None
) -> int:
    """Return the number of frames of a particle file, or of a series of files.

    Args:
        path, ending, topology: as in `read`.
        source: what to call it in messages; the path if None.

    Raises:
        DataFileError: there is no such file, or it is damaged.
    """
    from raytracer.scene.particles.frames import frames_of
    from raytracer.scene.particles.series import series_of

    if series := series_of(path):
        return len(series.files)
    path, inner = split_inner(path)
    with opened(path, source) as file:
        file.ending = ending
        file.atoms = None if topology is None else partial(atom_count, topology)
        with source_of(file, inner=inner) as found:
            return frames_of(found, file).count


def atom_count(path: Path) -> int:
    """Return the number of atoms that a topology lists.

    Raises:
        DataFileError: there is no such file, it is damaged, or it lists no atoms.
    """
    with opened(path) as file, source_of(file) as atoms:
        if atoms.count is not None:
            return atoms.count
        labels = atoms.labels_of_atoms()
        if labels is None:
            raise DataFileError(f"{atoms.name}: has no elements or types of atoms")
        return len(labels.ids)


@contextmanager
def source_of(
    file: OpenFile,
    others: tuple[str, ...] = (),
    inner: str = "",
    frame: int | None = None,
    topology: Path | None = None,
) -> Iterator[ParticleSource]:
    """Give the columns of an open particle file, unpacked if it is compressed.

    Args:
        file: the file.
        others, inner, frame, topology: as in `read_open`.

    Raises:
        DataFileError: the file is of no known format, or damaged, or there is no such frame.
    """
    if topology is not None:
        from raytracer.scene.particles.topology import SourceWithAtoms

        file.atoms = partial(atom_count, topology)
        with (
            source_of(file, others, inner, frame) as moving,
            opened(topology) as listed,
            source_of(listed) as atoms,
        ):
            yield SourceWithAtoms(moving, atoms)
            return
    with unpacked(file) as content:
        content.atoms = file.atoms
        suffix = file.ending or content.path.suffix.lower()
        found = registry.stated(suffix) if file.ending else None
        found = found or registry.format_of(content, suffix, others)
        with reading(file.source, suffix or found.name):
            if frame is None:
                yield found.open(content, inner)
                return
            from raytracer.scene.particles.frames import at_frame

            with at_frame(found, content, file, inner, frame) as source:
                yield source


@contextmanager
def reopened(file: DataFile) -> Iterator[ParticleSource]:
    """Give the columns of a file that was read before. Raises DataFileError as `source_of`."""
    with opened(file.path) as stream:
        stream.ending = file.ending
        with source_of(
            stream, inner=file.inner, frame=file.frame, topology=file.topology
        ) as source:
            yield source


def read_row(file: DataFile, row: int, count: int) -> dict[str, Value]:
    """Return the values of one particle that were not loaded. Nothing is kept between calls.

    Args:
        file: unchanged since it was loaded.
        row: of the particle, from 0.
        count: number of particles that were loaded.

    Returns:
        By array, property or column, in the order of the file. Arrays of Python objects, which
        only pickle could read, and empty cells are left out.

    Raises:
        Exception: of any kind, if the file is damaged.
    """
    with reopened(file) as source:
        pairs = source.row(row, count, file.used)
        return {name: value for name, value in pairs if name not in file.used}


def _look_up(
    result: Particles, labels: Labels, elements: Mapping[str, Element], meaning: str | None
) -> None:
    """Fill in radii and colours that the file does not say, by its labels."""
    import numpy as np

    from raytracer.scene.particles.labels import looks

    found = looks(labels, elements, meaning, result.source)
    parts = [part for part in ("radius", "color") if getattr(result, part) is None]
    if found.assumed:
        # Without "radius" and "color" in the scene file, one of the two at least is looked up.
        result.notes.append(("+".join(parts), found.assumed))
    if result.radius is None:
        radii = found.radii
        if result.unit == "nm" and result.box is None and _of_table(labels, elements, radii):
            result.centers = np.asarray(result.centers) * NANOMETRE
            result.converted = result.unit
        if np.isnan(radii).any():
            known = not np.isnan(radii).all() and any(map(symbol_of, labels.names))
            radii = np.where(np.isnan(radii), BEAD if known else spaced(result), radii)
        result.radius = radii[labels.ids]
        result.names["radius"] = "species"
    if result.color is None:
        result.color, result.color_id = found.colors, labels.ids


def _of_table(labels: Labels, elements: Mapping[str, Element], radii: NDArray[np.float64]) -> bool:
    """Whether a radius of some labels is that of an element, in angstrom, and not the user's."""
    for name, radius in zip(labels.names, radii.tolist(), strict=True):
        own = elements.get(name) or elements.get(symbol_of(name) or "")
        if radius == radius and (own is None or own.radius is None):
            return True
    return False


def spaced(result: Particles) -> float:
    """Return the radius of particles that have none of their own, from their mean spacing.

    Raises:
        DataFileError: the centres are none.
    """
    from raytracer.scene.spacing import default_radius

    return default_radius(check_centers(result.centers, Where(result.source, result.names)))
