"""Reading of particle files: the spheres of a file, and the values of one particle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile, opened, reading
from raytracer.scene.arrays import Where, check_centers
from raytracer.scene.elements import Element, symbol_of
from raytracer.scene.particles import registry
from raytracer.scene.particles.compressed import unpacked
from raytracer.scene.particles.data_file import DataFile
from raytracer.scene.particles.locate import locate
from raytracer.scene.particles.source import (
    Column,
    Particles,
    ParticleSource,
    Value,
    more_frames,
)
from raytracer.scene.spacing import default_radius

if TYPE_CHECKING:
    from raytracer.scene.particles.labels import Labels

ORIENTED = ("orientation", "quatw", "c_quat[1]", "c_orient[1]", "quaternion", "quaternions")
"""Columns of which one is in every file of oriented particles."""

Wanted = Callable[[Mapping[str, Column]], list[str]]
"""Chooses some of the columns of a file."""

NANOMETRE = 10.0
"""Angstrom."""

BEAD = 0.75
"""Radius of a label that is no element among elements, in angstrom: that of carbon."""


def read(
    file: Path | DataFile,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Element] | None = None,
    meaning: str | None = None,
    wanted: Wanted | None = None,
    stream: OpenFile | None = None,
    others: tuple[str, ...] = (),
) -> Particles:
    """Read the spheres of a particle file.

    Args:
        file: a file in one of the formats of `registry.FORMATS`, and how a frame of it is read.
        names: the file's own names by the keys of `arrays` in a scene file ("centers", "radii",
            "diameters", "colors", "x", ...).
        elements: radii and colours of the user's own, by label or symbol.
        meaning: "elements" or "types": what the labels of a coordinate file are; None decides by
            them.
        wanted: which further columns to load with the spheres, of those that the file has.
        stream: the file, if it is open already.
        others: endings of files that are no particles, which a message lists too.

    Raises:
        DataFileError: there is no such file or frame, or it does not hold spheres.
    """
    file = _located(file)
    if stream is None:
        with opened(file.path, file.name) as stream:
            return read(file, names, elements, meaning, wanted, stream)
    with source_of(file, stream, others) as source:
        if wanted:
            source.also = wanted(source.columns)
        result = spheres_of(source, names or {})
        if any(name in source.columns for name in ORIENTED):
            from raytracer.scene.glyphs.shape_columns import are_ellipsoids  # few files have any

            result.are_ellipsoids = are_ellipsoids(source.columns)
        if wanted:
            left = [name for name in source.also if name not in result.extra]
            result.extra |= source.load(left) if left else {}
            result.about = dict(source.columns)
    complete(result, elements, meaning)
    if not file.is_chosen and file.series > 1:
        result.notes.append(("", more_frames(str(file.name), file.series)))
    if not stream.is_standard_input:
        result.file = file._replace(
            path=file.path.absolute(), topology=file.topology and file.topology.absolute(),
            size=stream.size, modified=stream.modified, converted=result.converted,
        )  # fmt: skip
    return result


def frame_count(
    path: Path, name: str | None = None, ending: str = "", topology: Path | None = None
) -> int:
    """Return the number of frames of a particle file, or of a series of files.

    Args:
        path, name, ending, topology: as of `DataFile`.

    Raises:
        DataFileError: there is no such file, or it is damaged.
    """
    from raytracer.scene.particles.frames import frames_of

    file = locate(path, 0, name, ending, topology)
    if file.series:
        return file.series
    with opened(file.path, name) as stream, frame_source(file._replace(frame=None), stream) as it:
        return frames_of(it, stream).count


def atom_count(path: Path) -> int:
    """Return the number of atoms that a topology lists.

    Raises:
        DataFileError: there is no such file, it is damaged, or it lists no atoms.
    """
    with source_of(DataFile(path)) as atoms:
        if atoms.count is not None:
            return atoms.count
        labels = atoms.labels_of_atoms()
        if labels is None:
            raise DataFileError(f"{atoms.name}: has no elements or types of atoms")
        return len(labels.ids)


@contextmanager
def source_of(
    file: Path | DataFile, stream: OpenFile | None = None, others: tuple[str, ...] = ()
) -> Iterator[ParticleSource]:
    """Give the columns of a particle file, with those of its topology.

    Args:
        file, stream, others: as in `read`.

    Raises:
        DataFileError: the file is of no known format, or damaged, or there is no such frame.
    """
    file = _located(file)
    with ExitStack() as stack:
        if stream is None:
            stream = stack.enter_context(opened(file.path, file.name))
        source = stack.enter_context(frame_source(file, stream, others))
        if file.topology is not None:
            from raytracer.scene.particles.topology import SourceWithAtoms

            source = SourceWithAtoms(
                source, stack.enter_context(source_of(DataFile(file.topology)))
            )
        yield source


@contextmanager
def frame_source(
    file: DataFile, stream: OpenFile, others: tuple[str, ...] = ()
) -> Iterator[ParticleSource]:
    """Give the columns of a frame, unpacked if it is compressed, without those of a topology."""
    with unpacked(stream) as content:
        if file.topology is not None:
            content.atoms = partial(atom_count, file.topology)
        suffix = file.ending or content.path.suffix.lower()
        if file.ending:
            form = registry.stated(suffix)
        else:
            form = registry.format_of(content, suffix, others)
        with reading(stream.source, suffix or form.name):
            if file.frame is None:
                yield form.open(content, file.inner)
                return
            from raytracer.scene.particles.frames import at_frame

            with at_frame(form, content, stream, file.inner, file.frame) as source:
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
    with source_of(file) as source:
        pairs = source.row(row, count, file.used)
        return {name: value for name, value in pairs if name not in file.used}


def _located(file: Path | DataFile) -> DataFile:
    return file if isinstance(file, DataFile) else locate(file)


def spheres_of(source: ParticleSource, names: Mapping[str, str]) -> Particles:
    """Return the spheres of a source, with box, time and warnings."""
    result = source.particles(names)
    result.box, result.gravity, result.time = source.box, source.gravity, source.time
    result.notes += source.notes
    return result


def complete(
    result: Particles, elements: Mapping[str, Element] | None, meaning: str | None
) -> None:
    """Fill in radii and colours that the particles lack, where they have labels."""
    if result.labels is not None:
        says = meaning or result.labels.says
        result.labels = result.labels._replace(says=says, own=elements or {})
        if result.radius is None or result.color is None:
            _look_up(result, result.labels)


def _look_up(result: Particles, labels: Labels) -> None:
    """Fill in radii and colours that the file does not state, by its labels."""
    from raytracer.scene.particles.labels import looks  # few scenes need it

    known = looks(labels, result.source)
    parts = [part for part in ("radius", "color") if getattr(result, part) is None]
    if known.assumed:
        # Without "radius" and "color" in the scene file, one of the two at least is looked up.
        result.notes.append(("+".join(parts), known.assumed))
    if result.radius is None:
        radii = known.radii
        if result.unit == "nm" and result.box is None and _of_table(labels, radii):
            result.centers = np.asarray(result.centers) * NANOMETRE
            result.converted = result.unit
        if np.isnan(radii).any():
            elements = not np.isnan(radii).all() and any(map(symbol_of, labels.names))
            radii = np.where(np.isnan(radii), BEAD if elements else spaced(result), radii)
        result.radius = radii[labels.ids]
        result.names["radius"] = "species"
    if result.color is None:
        result.color, result.color_id = known.colors, labels.ids


def _of_table(labels: Labels, radii: NDArray[np.float64]) -> bool:
    """Whether a radius of some labels is that of an element, in angstrom, and not the user's."""
    for name, radius in zip(labels.names, radii.tolist(), strict=True):
        own = labels.own.get(name) or labels.own.get(symbol_of(name) or "")
        if radius == radius and (own is None or own.radius is None):
            return True
    return False


def spaced(result: Particles) -> float:
    """Return the radius of particles that have none of their own, from their mean spacing.

    Raises:
        DataFileError: the centres are none.
    """
    return default_radius(check_centers(result.centers, Where(result.source, result.names)))
