"""Read particle files: the spheres of a file, and the values of one particle."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, UserError, quote
from raytracer.config.inferred import current_defaults
from raytracer.files.access import OpenFile, open_file, translate_errors
from raytracer.model.arrays import ErrorContext, check_centers, find_not_finite
from raytracer.model.data_file import DataFile
from raytracer.model.elements import Element, find_symbol
from raytracer.model.particle_labels import ParticleLabels, find_label_styles
from raytracer.model.particle_source import (
    BY_LABEL,
    LAMMPS_LENGTHS,
    LAMMPS_STYLES,
    NANOMETRE,
    Column,
    FrameTime,
    Particles,
    ParticleSource,
    Value,
    describe_missing_atoms,
    describe_more_frames,
)
from raytracer.model.spacing import default_radius, nearest_distance
from raytracer.particles import registry
from raytracer.particles.celestial import explain_missing_angles, with_celestial_positions
from raytracer.particles.compressed import decompress, keep_decompressed
from raytracer.particles.locate import locate_frame
from raytracer.particles.long_table import split_by_time

ORIENTED = ("orientation", "quatw", "c_quat[1]", "c_orient[1]", "quaternion", "quaternions",
            "shapex", "c_shape[1]", "aspherical_shape")  # fmt: skip
"""Columns one of which is in every file of oriented particles, or of their axes."""

Wanted = Callable[[Mapping[str, Column]], list[str]]  # selects columns of a file
APART = 1.4  # distance to the nearest particle, in sums of two radii, above which none are atoms
AllNames = Callable[[ParticleLabels, DataFile, OpenFile, Mapping[str, str]], ParticleLabels]
BEAD = 0.75  # radius in angstrom (carbon's) of a label among elements that is not one


def read(
    file: Path | DataFile,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Element] | None = None,
    meaning: str | None = None,
    wanted: Wanted | None = None,
    stream: OpenFile | None = None,
    all_names: AllNames | None = None,
) -> Particles:
    """Read the spheres of a particle file. Raises DataFileError: there is no such file or frame, or
    it has no spheres.

    Args:
        file: a file in one of the formats of `registry.FORMATS`, and how a frame of it is read.
        names: names in the file by the keys of `arrays` in a scene file ("centers", "radii",
            "diameters", "colors", "x", ...).
        elements: the user's radii and colours, by label or symbol.
        meaning: "elements" or "types": the meaning of labels; None decides by the labels.
        wanted: selects further columns to load with the spheres.
        stream: the file, if it is open already.
        all_names: returns the labels of a frame with those of the others (`names.complete_labels`).
    """
    file = file if isinstance(file, DataFile) else locate_frame(file)
    if stream is None:
        with open_file(file.path, file.name) as stream:
            return read(file, names, elements, meaning, wanted, stream, all_names)
    if not {"centers", *"xyz"}.isdisjoint(names or {}):
        file = file._replace(stated=True)
    if names and "redshift" in names:
        file = file._replace(redshift=names["redshift"])
        names = {key: name for key, name in names.items() if key != "redshift"}
    with keep_decompressed():
        result = _read(file, names or {}, meaning, wanted, stream, all_names)
    fill_radii_and_colors(result, elements, meaning)
    if not file.is_chosen and len(file.series) > 1:
        result.notes.append(("", describe_more_frames(str(file.name), len(file.series))))
    if not stream.is_standard_input:
        result.file = file._replace(
            path=file.path.absolute(), topology=file.topology and file.topology.absolute(),
            size=stream.size, modified=stream.modified, converted=result.converted,
        )  # fmt: skip
    return result


def _read(
    file: DataFile, names: Mapping[str, str], meaning: str | None, wanted: Wanted | None,
    stream: OpenFile, all_names: AllNames | None,
) -> Particles:  # fmt: skip
    """Return the spheres of a file, without what follows from labels; arguments as of `read`."""
    with open_source(file, stream) as source:
        if wanted:
            source.also = wanted(source.columns)
        result = read_spheres(source, names)
        if source.lacks_atoms and result.labels is None:
            result.notes.append(describe_missing_atoms(source.name))
        if (source.frames or 1) > 1 and not source.is_chosen:
            result.notes.append(("", describe_more_frames(source.name, source.frames)))
        if wanted:
            left = [name for name in source.also if name not in result.extra]
            result.extra |= source.load(left) if left else {}
            result.about = dict(source.columns)
    if result.labels is not None and all_names is not None:
        labels = result.labels._replace(meaning=meaning or result.labels.meaning)
        result.labels = all_names(labels, file, stream, names)
    centers = result.centers
    if isinstance(centers, np.ndarray) and centers.dtype.kind == "f" and centers.ndim == 2 and (
        find_not_finite(centers) is not None and _has_several(file, stream)
    ):  # fmt: skip
        result.keep_finite()
    return result


def _has_several(file: DataFile, stream: OpenFile) -> bool:
    """Whether a file, or the series that it belongs to, has several frames."""
    from raytracer.particles.frames import find_frames

    with suppress(UserError), open_frame(file._replace(frame=None), stream) as source:
        return len(file.series) > 1 or find_frames(source, stream)[0] > 1
    return False


def count_frames(
    path: Path, name: str | None = None, ending: str = "", topology: Path | None = None
) -> int:
    """Return the number of frames of a particle file, or of a series of files. Raises
    DataFileError: there is no such file, or it is damaged. path, name, ending, topology: as in
    `DataFile`."""
    from raytracer.particles.frames import find_frames

    file = locate_frame(path, 0, name, ending, topology)
    if file.series:
        return len(file.series)
    with (
        open_file(file.path, name, standard_input=name is None) as stream,
        open_frame(file._replace(frame=None), stream) as it,
    ):
        return find_frames(it, stream)[0]


def read_frame_times(path: Path) -> Sequence[FrameTime | None]:
    """Return the time that each frame of a particle file or series states. Raises DataFileError:
    there is no such file, or it is damaged."""
    file = locate_frame(path, 0)
    states = []
    for each in file.series or [file.path]:
        with open_file(each) as stream:
            states.append((each, stream.size, stream.modified))
    return _frame_times(tuple(states), file.inner)


@lru_cache(4)  # each frame of a movie asks for them
def _frame_times(states: tuple[tuple[Path, int, int], ...], inner: str) -> list[FrameTime | None]:
    from raytracer.particles.frames import read_times

    times: list[FrameTime | None] = []
    for path, _, _ in states:
        with open_file(path) as stream:
            content = decompress(stream)
            with open_frame(DataFile(path, inner=inner), stream) as source:
                form = registry.detect_format(content, content.path.suffix.lower())
                times += read_times(form, source, content, stream, inner)
    return times


def count_atoms(path: Path) -> int:
    """Return the number of atoms in a topology. Raises DataFileError: there is no such file, or it
    is damaged."""
    with open_source(DataFile(path)) as atoms:
        if atoms.count is None:
            raise DataFileError(f"{atoms.name}: does not state the number of its atoms")
        return atoms.count


@contextmanager
def open_source(file: Path | DataFile, stream: OpenFile | None = None) -> Iterator[ParticleSource]:
    """Yield the source of a particle file, with the columns of its topology. Raises DataFileError:
    the format is unknown, the file is damaged, or there is no such frame. file, stream: as in
    `read`."""
    file = file if isinstance(file, DataFile) else locate_frame(file)
    with ExitStack() as stack:
        if stream is None:
            stream = stack.enter_context(open_file(file.path, file.name))
        source = stack.enter_context(open_frame(file, stream))
        if file.topology is not None:
            from raytracer.particles.together import TopologySource

            source = TopologySource(
                source, stack.enter_context(open_source(DataFile(file.topology)))
            )
        yield source


@contextmanager
def open_frame(file: DataFile, stream: OpenFile) -> Iterator[ParticleSource]:
    """Yield the source of a frame, decompressed, without its topology."""
    with open_unframed_source(file, stream) as (form, source, content):
        if file.frame is not None:
            from raytracer.particles.frames import open_at_frame

            source = open_at_frame(form, source, content, stream, file.inner, file.frame)
        if content.cut:
            source.notes.append(("", (
                f"{stream.source}: is incomplete ({content.cut}): frames before its end are read"
            )))  # fmt: skip
        yield source


@contextmanager
def open_unframed_source(
    file: DataFile, stream: OpenFile
) -> Iterator[tuple[registry.Format, ParticleSource, OpenFile]]:
    """Yield the format of a file, its source before a frame is chosen, and its content."""
    content = decompress(stream)
    if file.topology is not None:
        content.atoms = partial(count_atoms, file.topology)
    suffix = file.ending or content.path.suffix.lower()
    form = registry.find_stated(suffix) if file.ending else registry.detect_format(content, suffix)
    with translate_errors(stream.source, suffix or form.name):
        try:
            form, source = registry.open_as(form, content, file.inner, bool(file.ending))
            is_read = not content.cut or source.has_pieces
        except DataFileError:
            if not content.cut:
                raise
            is_read = False
        if not is_read:
            form_of = stream.path.suffix.lower() or "a compressed file"
            raise DataFileError(f"{stream.source}: cannot be read as {form_of} ({content.cut})")
        if not source.has_pieces and (source.frames or 1) == 1:
            state = None if stream.is_standard_input else (
                stream.path.absolute(), stream.size, stream.modified, file.inner, suffix,
                file.stated, file.redshift,
            )  # fmt: skip
            if file.redshift or not file.stated:
                source = with_celestial_positions(source, file.redshift)
            source = split_by_time(source, state)
        elif file.redshift:
            raise explain_missing_angles(source)
        yield form, source, content


def read_row(file: DataFile, row: int, count: int) -> dict[str, Value]:
    """Return the values of particle `row` of `count` that were not loaded, by column, without
    caching; empty cells are left out, and arrays of Python objects, which need pickle. Raises
    Exception: of any type, if the file is damaged. file: unchanged since it was loaded."""
    with open_source(file) as source:
        if not source.columns:
            raise source.error("has no columns")
        return dict(source.row(row, count, file.used))


def read_spheres(source: ParticleSource, names: Mapping[str, str]) -> Particles:
    """Return the spheres of a source, with box, time and warnings."""
    result = source.particles(names)
    result.box, result.gravity, result.time = source.box, source.gravity, source.time
    result.length = source.length
    if (known := LAMMPS_LENGTHS.get(source.units)) is not None:
        result.unit, result.angstroms = known
    elif source.units and source.units not in LAMMPS_STYLES:
        styles = f"{', '.join(LAMMPS_STYLES[:-1])} or {LAMMPS_STYLES[-1]}"
        result.notes.append(("", (
            f"{result.source}: the units '{quote(source.units, 40)}' are none of LAMMPS, so "
            f"lengths are not converted: write {styles} in the file"
        )))  # fmt: skip
    result.may_be_ellipsoids = any(name in source.columns for name in ORIENTED)
    result.notes += source.notes
    return result


def fill_radii_and_colors(
    result: Particles, elements: Mapping[str, Element] | None, meaning: str | None
) -> None:
    """Fill in missing radii and colours from labels."""
    if result.labels is not None:
        meaning = meaning or result.labels.meaning
        result.labels = result.labels._replace(meaning=meaning, stated=elements or {})
        if result.radius is None or result.color is None:
            _fill_from_labels(result, result.labels)


def _fill_from_labels(result: Particles, labels: ParticleLabels) -> None:
    """Fill in radii and colours that the file does not state, by its labels."""
    known = find_label_styles(labels, result.source)
    if _are_far_apart(result, labels, known.radii):
        from raytracer.particles.molecules import describe_beads

        result.labels = labels = labels._replace(meaning="types")
        known = find_label_styles(labels, result.source)
        said = describe_beads(labels.names, "they are farther apart than atoms")
        result.notes.append(("radius+color", f"{result.source}: {said}"))
    parts = [part for part in ("radius", "color") if getattr(result, part) is None]
    if known.assumed:
        # Unless the scene file states "radius" and "color", at least one is looked up.
        result.notes.append(("+".join(parts), known.assumed))
    if result.radius is None:
        radii = known.radii
        stated = (labels.stated.get(name) or labels.stated.get(find_symbol(name) or "", Element())
                  for name in labels.names)  # fmt: skip
        of_table = (each.radius is None for each in stated)  # of the elements, in angstrom
        angstroms = result.angstroms
        if angstroms is None and result.unit == "nm" and result.box is None:
            angstroms = NANOMETRE
        if angstroms is not None and np.any(np.isfinite(radii[[*of_table]])):
            _to_angstrom(result, angstroms)
        if np.isnan(radii).any():
            elements = not np.isnan(radii).all() and any(map(find_symbol, labels.names))
            where = ErrorContext(result.source, result.names)
            centers = check_centers(result.centers, where)
            other = BEAD if elements else default_radius(len(centers), lambda: centers)
            radii = np.where(np.isnan(radii), other, radii)
        result.radius = radii[labels.ids]
        result.names["radius"] = BY_LABEL
    if result.color is None:
        result.color, result.color_id = known.colors, labels.ids


def _are_far_apart(result: Particles, labels: ParticleLabels, radii: NDArray[np.float64]) -> bool:
    """Whether particles of which only some have labels of elements are too far apart for these.
    radii: of the labels, NaN for those of no element."""
    is_open = labels.meaning is None and not labels.stated and result.radius is None
    is_open = is_open and not labels.with_residues
    if not (is_open and np.isnan(radii).any() and np.isfinite(radii).any()):
        return False
    known = radii[labels.ids]
    bond = float(np.nanmedian(known) + np.nanmax(known))  # of atoms, as of hydrogen and another
    bond /= result.angstroms or 1.0
    centers = check_centers(result.centers, ErrorContext(result.source, result.names))
    name = result.source.partition(": frame ")[0]
    return current_defaults().truth(
        f"beads of {name}", lambda: nearest_distance(centers) > APART * bond
    )


def _to_angstrom(result: Particles, unit: float) -> None:
    """Convert centres and box to angstrom, the unit of the radii of elements; unit: theirs."""
    result.centers = np.asarray(result.centers) * unit
    result.converted, result.length = result.unit, unit
    if (box := result.box) is not None:
        rows = unit * np.array([box.origin, *box.edges])
        origin, a, b, c = ((x, y, z) for x, y, z in rows.tolist())
        result.box = box._replace(origin=origin, edges=(a, b, c))
    if result.angstroms is not None:
        result.notes.append(("", (
            f"{result.source}: positions and box are converted from {result.unit} to angstrom, the "
            f"unit of the radii of elements: to keep {result.unit}, set labels = \"types\" in a "
            "scene file"
        )))  # fmt: skip
