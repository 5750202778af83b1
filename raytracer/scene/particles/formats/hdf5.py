"""HDF5 files: which convention they follow. Read by h5py."""

import re
from collections.abc import Sequence
from functools import partial

from raytracer.errors import shown
from raytracer.files.access import OpenFile
from raytracer.scene.particles.formats import hdf5_tables, mdtraj, openpmd
from raytracer.scene.particles.formats.hdf5_groups import Parts, Source, Steps
from raytracer.scene.particles.frames import checked
from raytracer.scene.particles.source import ParticleSource
from raytracer.scene.particles.together import Together

_STEP = re.compile(
    r"(?i)(.*?)(step|frame|time|snap|snapshot|iteration|iter|cycle|dump)[^a-z\d]*(\d+(?:\.\d+)?)(.*)"
)


def opened_source(file: OpenFile, variant: str = "") -> ParticleSource:
    """Return the source of an HDF5 file for its convention."""
    source = Source(file, variant)
    if openpmd.is_openpmd(source.root, variant):
        return openpmd.opened_source(file, variant, source.root)
    if found := source.tables():
        return hdf5_tables.Source(file, variant, found)
    if mdtraj.is_trajectory(source.root):
        return mdtraj.Source(file)
    if not variant and (alone := source.only_vectors()):
        source = Source(file, alone)
        source.note(f"'{shown(alone)}' is taken as the coordinates")
        return source
    if not variant and source.has_matrix():
        return hdf5_tables.Source(file, variant, source.root)
    if not variant and len(sets := source.sets()) > 1:
        if steps := _in_time(sets):
            return Steps(file, steps)
        return Together(file, partial(_at_frame, file, sets))
    return Parts(file, variant) if source.stated > 1 else source


def _at_frame(file: OpenFile, sets: Sequence[str], frame: int) -> dict[str, ParticleSource]:
    """Return the sources of sets at a frame; one without frames is the same in all of them."""
    sources = {name: opened_source(file, name) for name in sets}
    for each in sources.values():
        if (each.frames or 1) > 1:
            each.go_to(checked(frame, each.frames or 1, each.name))
    return sources


def _in_time(names: Sequence[str]) -> list[str]:
    """Return names that differ in the number of a step alone, in its order; else []."""
    found = [each for name in names if (each := _STEP.fullmatch(name))]
    if len(found) < len(names) or len({each.group(1, 2, 4) for each in found}) > 1:
        return []
    return [each[0] for each in sorted(found, key=lambda each: float(each[3]))]
