"""Objects of other packages as particles.

An object is recognised by the package and name of its class, or of a base class, so that no package
is imported. The module of a package here is in `MODULES`, or has its name in lower case.
"""

from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from raytracer.config.errors import SceneError, quote, quote_value, type_name
from raytracer.files.access import translate_errors
from raytracer.model.arrays import is_array, is_table
from raytracer.model.particle_labels import MEANINGS
from raytracer.model.particle_source import Particles, ParticleSource
from raytracer.model.source_settings import COLUMN_NAMES
from raytracer.particles.array_source import ObjectSource
from raytracer.particles.frames import check_frame
from raytracer.particles.read import fill_radii_and_colors, read_spheres

KINDS = {
    "ase": ("Atoms",),
    "MDAnalysis": ("Universe", "AtomGroup"),
    "chemfiles": ("Frame",),
    "rdkit": ("Mol",),
    "ovito": ("DataCollection", "Pipeline"),
    "gsd": ("Frame", "Snapshot"),
    "pandas": ("DataFrame",),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table", "RecordBatch"),
    "pyvista": ("DataSet", "MultiBlock"),
    "astropy": ("Table",),
}
"""Classes of objects that are particles, by package."""

MODULES = dict.fromkeys(("pandas", "polars", "astropy", "pyvista"), "tables")

TRAJECTORIES = {"gsd": ("HOOMDTrajectory",), "ase": ("TrajectoryReader",)}
"""Classes whose items are such objects, by package."""


def read_object(
    value: Any,
    arrays: Mapping[str, str] | None = None,
    labels: str | None = None,
    frame: int | None = None,
) -> Particles:
    """Return the particles of an object; arguments and errors as for `Scene.from_object`."""
    names = {} if arrays is None else COLUMN_NAMES.checked(arrays, "arrays")
    if labels is not None and labels not in MEANINGS:
        raise SceneError(f"labels: {quote_value(labels)} is neither 'elements' nor 'types'")
    source = open_object(value, frame)
    with translate_errors(source.name, "particles"):
        result = read_spheres(source, names)
    fill_radii_and_colors(result, None, labels)
    result.origin = source
    return result


def is_sequence(value: Any) -> bool:
    """Whether an object is a trajectory, or a list or tuple of objects, one per frame."""
    if _find_package(value, TRAJECTORIES):
        return True
    try:
        return isinstance(value, (list, tuple)) and len(value) > 0 and bool(_find_package(value[0]))
    except Exception:  # whatever a foreign object raises
        return False


def open_object(value: Any, frame: int | None = None) -> ParticleSource:
    """Return the source of an object of `KINDS`, a sequence of them, an array, or a dictionary of
    arrays. frame: from 0, or from -1 backwards; None is the first one, with a warning if there are
    more, or the package's current one. Raises SceneError: the object is of another type;
    DataFileError: there is no such frame."""
    if is_sequence(value):
        name = f"{type_name(value)} of {len(value):,} frames"
        source = _open_single(value[check_frame(frame or 0, len(value), name)])
        if frame is None and len(value) > 1:
            text = f"{name}: the first is shown: for another one give frame=NUMBER"
            source.notes.append(("", text))
        return source
    source = _open_single(value)
    if frame is not None:
        source.go_to(check_frame(frame, source.frames or 1, source.name))
    return source


TO_KNOWN = ("compute", "to_pandas", "toPandas", "to_pandas_df", "_to_pandas")
"""Methods of tables of other packages (dask, cuDF, PySpark, vaex, Modin) that return one of a
package in `KINDS`."""


def _open_single(value: Any) -> ObjectSource:
    if is_table(value) and not _find_package(value):
        value = _convert_table(value)
    if package := _find_package(value):
        module = MODULES.get(package, package.lower())
        name = f"{package}.{type(value).__name__}"
    elif isinstance(value, Mapping):
        module, name = "arrays", "dictionary"
    elif isinstance(value, (list, tuple)) or is_array(value):
        module, name = "arrays", "array"
    else:
        packages = ", ".join(f"{name} ({', '.join(classes)})" for name, classes in KINDS.items())
        raise SceneError(
            f"scene: {type_name(value)} is not a scene: give a raytracer.Scene, a path, an array "
            f"(N, 3), or an object of {packages}"
        )
    source: ObjectSource = import_module(f"{__package__}.{module}").Source(value, name)
    return source


def _convert_table(value: Any) -> Any:
    """Return the table of an unknown package as one of a known package: as an array it would lose
    the names of its columns. Raises SceneError."""
    for name in TO_KNOWN:
        if callable(getattr(type(value), name, None)):
            with suppress(Exception):  # whatever a foreign object raises
                table = getattr(value, name)()
                if _find_package(table):
                    return table
    package = str(type(value).__module__).partition(".")[0]
    raise SceneError(
        f"scene: {quote(package)}.{type_name(value)} is a table of a package that is not known: "
        "convert it to a DataFrame of pandas or polars, or to a Table of pyarrow"
    )


def _find_package(value: Any, known: Mapping[str, tuple[str, ...]] = KINDS) -> str:
    for base in type(value).__mro__:
        package = str(base.__module__).partition(".")[0]
        if base.__name__ in known.get(package, ()):
            return package
    return ""
