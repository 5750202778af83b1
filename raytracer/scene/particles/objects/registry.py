"""Registry of kinds of objects: a kind is one line here and one module in this folder.

An object is recognised by the package and the name of its class, or of a class that it derives
from, so that no package is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from raytracer.errors import SceneError, type_name
from raytracer.scene.particles.objects.source import ObjectSource
from raytracer.scene.particles.source import ParticleSource


class ObjectKind(NamedTuple):
    """A kind of objects.

    Args:
        package: that defines the class, and what people call it.
        classes: names of its classes.
        module: in this folder; its class `Source` is an `ObjectSource`.
    """

    package: str
    classes: tuple[str, ...]
    module: str


KINDS = (
    ObjectKind("ase", ("Atoms",), "ase"),
    ObjectKind("MDAnalysis", ("Universe", "AtomGroup"), "mdanalysis"),
    ObjectKind("chemfiles", ("Frame",), "chemfiles"),
    ObjectKind("rdkit", ("Mol",), "rdkit"),
    ObjectKind("ovito", ("DataCollection", "Pipeline"), "ovito"),
    ObjectKind("gsd", ("Frame", "Snapshot"), "gsd"),
    ObjectKind("pandas", ("DataFrame",), "pandas"),
    ObjectKind("polars", ("DataFrame", "LazyFrame"), "polars"),
    ObjectKind("pyarrow", ("Table", "RecordBatch"), "pyarrow"),
    ObjectKind("pyvista", ("DataSet", "MultiBlock"), "pyvista"),
)
"""The packages whose objects are particles."""


SEQUENCES = (
    ObjectKind("gsd", ("HOOMDTrajectory",), ""),
    ObjectKind("ase", ("TrajectoryReader",), ""),
)
"""Trajectories of packages, whose items are objects of `KINDS`."""


def is_sequence(value: Any) -> bool:
    """Whether an object is a trajectory, or a list or tuple of objects, with a frame each."""
    if _kind_of(type(value), SEQUENCES) is not None:
        return True
    if not isinstance(value, (list, tuple)):
        return False
    try:
        return len(value) > 0 and _kind_of(type(value[0])) is not None
    except Exception:  # whatever a foreign object raises
        return False


def object_source(value: Any, frame: int | None = None) -> ParticleSource:
    """Return the source of an object.

    Args:
        value: an object of one of `KINDS`, a sequence of them, an array, or a dictionary of arrays.
        frame: of what has several, from 0, or from -1 backwards; None is the first one, or the
            current one of a package, with a warning where others follow.

    Raises:
        SceneError: it is none of them.
        DataFileError: there is no such frame.
    """
    from raytracer.scene.particles.frames import checked

    if is_sequence(value):
        name = f"{type_name(value)} of {len(value):,} frames"
        source = _single(value[checked(frame or 0, len(value), name)])
        if frame is None and len(value) > 1:
            source.notes.append(("", (
                f"{name}: the first is shown: for another one say frame=NUMBER"
            )))  # fmt: skip
        return source
    source = _single(value)
    if frame is not None:
        source.go_to(checked(frame, source.frames or 1, source.name))
    return source


def _single(value: Any) -> ObjectSource:
    """Return the source of one object."""
    kind = _kind_of(type(value))
    if kind is not None:
        return _source(kind.module, value, f"{kind.package}.{type(value).__name__}")
    if isinstance(value, Mapping) or _is_array(value):
        return _source("arrays", value, "dictionary" if isinstance(value, Mapping) else "array")
    packages = ", ".join(f"{each.package} ({', '.join(each.classes)})" for each in KINDS)
    raise SceneError(
        f"scene: a {type_name(value)} is no scene: give a raytracer.Scene, a path, an array "
        f"(N, 3), or an object of {packages}"
    )


def _source(module: str, value: Any, name: str) -> ObjectSource:
    source: type[ObjectSource] = import_module(f"{__package__}.{module}").Source
    return source(value, name)


def _kind_of(value: type, kinds: tuple[ObjectKind, ...] = KINDS) -> ObjectKind | None:
    """Return the kind of a class, or None."""
    for base in value.__mro__:
        package = str(base.__module__).partition(".")[0]
        for kind in kinds:
            if package == kind.package and base.__name__ in kind.classes:
                return kind
    return None


def _is_array(value: Any) -> bool:
    """Whether an object is an array, or gives one, by its type."""
    return isinstance(value, (list, tuple)) or hasattr(type(value), "__array__")
