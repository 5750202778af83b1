"""Registry of kinds of objects: a kind is one line here and one module in this folder.

An object is recognised by the package and the name of its class, or of a class that it derives
from, so that no package is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from raytracer.arguments import is_a
from raytracer.errors import SceneError, type_name
from raytracer.scene.particles.objects.source import ObjectSource


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
    ObjectKind("rdkit", ("Mol",), "rdkit"),
    ObjectKind("ovito", ("DataCollection", "Pipeline"), "ovito"),
    ObjectKind("gsd", ("Frame", "Snapshot"), "gsd"),
    ObjectKind("pandas", ("DataFrame",), "pandas"),
    ObjectKind("polars", ("DataFrame", "LazyFrame"), "polars"),
    ObjectKind("pyarrow", ("Table", "RecordBatch"), "pyarrow"),
    ObjectKind("pyvista", ("DataSet",), "pyvista"),
)
"""The packages whose objects are particles."""


def object_source(value: Any) -> ObjectSource:
    """Return the source of an object.

    Args:
        value: an object of one of `KINDS`, an array, or a dictionary of arrays.

    Raises:
        SceneError: it is none of them.
    """
    kind = _kind_of(type(value))
    if kind is not None:
        return _source(kind.module, value, f"{kind.package}.{type(value).__name__}")
    if is_a(value, Mapping) or _is_array(value):
        return _source("arrays", value, "dictionary" if is_a(value, Mapping) else "array")
    packages = ", ".join(f"{each.package} ({', '.join(each.classes)})" for each in KINDS)
    raise SceneError(
        f"scene: a {type_name(value)} is no scene: give a raytracer.Scene, a path, an array "
        f"(N, 3), or an object of {packages}"
    )


def _source(module: str, value: Any, name: str) -> ObjectSource:
    source: type[ObjectSource] = import_module(f"{__package__}.{module}").Source
    return source(value, name)


def _kind_of(value: type) -> ObjectKind | None:
    """Return the kind of a class, or None."""
    for base in value.__mro__:
        package = str(base.__module__).partition(".")[0]
        for kind in KINDS:
            if package == kind.package and base.__name__ in kind.classes:
                return kind
    return None


def _is_array(value: Any) -> bool:
    """Whether an object is an array, or gives one, by its type."""
    return is_a(value, (list, tuple)) or hasattr(type(value), "__array__")
