"""Measurements of particles: how far the surface of each is exposed, and what occludes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from io import TextIOWrapper
from math import pi
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring import STYLE
from raytracer.appearance.coloring.expression import Texts
from raytracer.appearance.columns import shared_names, shared_values
from raytracer.appearance.glyphs.shared import broadcast_radii, to_scene_units
from raytracer.config.errors import SceneError, UserError
from raytracer.config.fields import accept_settings, check_names, split_settings
from raytracer.files import output
from raytracer.files.access import check_path
from raytracer.model.scene import Scene
from raytracer.model.settings import MeasureSettings
from raytracer.model.source_settings import SourceSettings
from raytracer.model.sphere_set import SphereSet
from raytracer.rendering.pipeline import VIEW_SETTINGS, prepare
from raytracer.scene_files.source import InputSource
from raytracer.system.memory import MemoryEstimate

if TYPE_CHECKING:
    from raytracer.keywords import MeasureKeywords

    Doubles = NDArray[np.float64]

ENDINGS = (".csv", ".npz")
"""Of files of measurements."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """What was measured of each sphere; arrays (N,), float64 but for `set`.

    An `_error` is the standard deviation that independent points would give; those that are drawn
    are stratified, so that it is an upper bound of the mean error.

    Args:
        positions: (N, 3), scene units.
        radius: scene units.
        set: int64, the number of the sphere's set in the scene.
        occlusion: ambient occlusion, 0 to 1: the part of the light of an even sky that does not
            reach the exposed surface; 1 where nothing is exposed.
        accessible_area: area of the sphere of radius `radius + probe` that lies in no other such
            sphere, in square scene units. Without a probe it is the exposed area.
        visible_area: area of the exposed surface that faces the camera with nothing in between, in
            square scene units, whether it is in the picture or not.
        columns: further values of the spheres by name, of the file, (N,) or (N, K).
    """

    positions: Doubles
    radius: Doubles
    set: NDArray[np.int64]
    occlusion: Doubles
    occlusion_error: Doubles
    accessible_area: Doubles
    accessible_area_error: Doubles
    visible_area: Doubles
    visible_area_error: Doubles
    columns: Mapping[str, NDArray[Any]]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name: positions, radius, columns of the file, and measurements."""
        measured = {each.name: getattr(self, each.name) for each in fields(self)[:-1]}
        if not self.set.any():
            del measured["set"]
        first = {name: measured.pop(name) for name in ("positions", "radius")}
        return first | {k: v for k, v in self.columns.items() if k not in first} | measured

    def save(self, path: str | PathLike[str]) -> Path:
        """Write all arrays to a .npz or .csv file, which `raytracer render` takes; return its path.

        Raises:
            UserError: the path cannot be written, or has another ending.
        """
        target = output.check_file(validate_path(path))
        arrays = self.arrays()
        with output.replace_file(target) as file:
            if target.suffix.lower() == ".npz":
                np.savez(file, **arrays)  # type: ignore[arg-type]
            else:
                _write_table(file, arrays)
        return target


def validate_path(path: str | PathLike[str]) -> Path:
    """Return the path of a file of measurements. Raises UserError for another ending."""
    target = check_path(path)
    if target.suffix.lower() not in ENDINGS:
        raise UserError(f"{target}: must end in .npz or .csv")
    return target


@accept_settings(MeasureSettings, SourceSettings, VIEW_SETTINGS, STYLE)
def measure(
    scene: object,
    *,
    backend: str = "auto",
    threads: int = 0,
    **settings: Unpack[MeasureKeywords],
) -> Measurements:
    """Measure how far the surface of each sphere is exposed.

    The points are uniform on each sphere. A point is exposed if it lies in no other sphere or solid
    (A. Shrake, J. A. Rupley, "Environment and Exposure to Solvent of Protein Atoms", Journal
    of Molecular Biology 79, 1973). From each exposed point one cosine-weighted ray is traced
    (S. Zhukov, A. Iones, G. Kronin, "An Ambient Light Illumination Model", Rendering Techniques
    1998), and one to the camera. Everything counts as opaque, and clipping planes do not cut.

    Args:
        scene, backend, threads: as for `raytracer.render`.
        **settings: points and rays; camera, spheres and colours, as for `raytracer.render`.

    Returns:
        The measurements, in the order of the spheres.

    Raises:
        UserError: the scene or an argument is invalid.
        TypeError: there is no argument of that name.
    """
    check_names(measure, settings)
    own, others = split_settings(settings, MeasureSettings)
    chosen = MeasureSettings(**own)
    count, ball = chosen.samples, chosen.probe
    traced: dict[str, Any] = {
        "integrator": "ao", "seed": chosen.seed, "ao_distance": chosen.distance, "brightness": 1.0,
    }  # fmt: skip
    source, given = InputSource.from_call(scene, others)
    options: dict[str, Any] = {
        "backend": backend, "threads": threads, "keep": True, "hashed": False, "blurs": False,
        "memory_of": MemoryEstimate(numbered=True),
    }  # fmt: skip
    with prepare(source, given | traced, **options) as job:
        assert job.kept is not None
        loaded = job.kept[0]
        counts = job.scene.count_visible_points(job.view.with_samples(0, count), loaded.count)
        columns = collect_columns(loaded.spheres)
    positions = np.concatenate([np.zeros((0, 3)), *map(to_scene_units, loaded.spheres)])
    radius = np.concatenate([np.zeros(0), *map(broadcast_radii, loaded.spheres)])
    exposed = accessible = counts["exposed"]
    if ball:
        with prepare(_enlarge_by_probe(loaded, ball), traced, **options) as job:
            view = job.view.with_samples(0, count)
            accessible = job.scene.count_visible_points(view, loaded.count)["exposed"]
    occlusion, occlusion_error = _estimate_shares(
        exposed - counts["open"], exposed, np.ones_like(radius)
    )
    occlusion[exposed == 0] = 1.0
    sets = np.repeat(np.arange(len(loaded.spheres)), [each.count for each in loaded.spheres])
    return Measurements(
        positions, radius, sets, occlusion, occlusion_error,
        *_estimate_shares(accessible, count, 4.0 * pi * (radius + ball) ** 2),
        *_estimate_shares(counts["visible"], count, 4.0 * pi * radius**2), columns,
    )  # fmt: skip


def _estimate_shares(
    found: NDArray[np.int32], drawn: NDArray[np.int32] | int, whole: Doubles
) -> tuple[Doubles, Doubles]:
    """Return shares of points times what all are, and their standard errors: of a binomial
    distribution whose share is estimated by Laplace's rule, so that none is 0."""
    drawn = np.asarray(drawn, np.float64)
    share = found / np.maximum(drawn, 1.0)
    likely = (found + 1.0) / (drawn + 2.0)
    return share * whole, np.sqrt(likely * (1.0 - likely) / np.maximum(drawn, 1.0)) * whole


def _enlarge_by_probe(scene: Scene, probe: float) -> Scene:
    return Scene([
        SphereSet(
            each.centers, each.radius + probe / each.transform.scale, transform=each.transform
        )
        for each in scene.spheres
    ])  # fmt: skip


def collect_columns(sets: Sequence[SphereSet]) -> dict[str, NDArray[Any]]:
    """Return what all sets have besides centres and radii, and in the same shape, by name; warns of
    what is left out."""
    columns = {name: shared_values(name, sets) for name in shared_names(sets)}
    return {name: np.concatenate([np.array(v.names)[v.ids] if isinstance(v, Texts) else v
                                  for v in each])
            for name, each in columns.items() if each is not None}  # fmt: skip


def _write_table(file: BinaryIO, arrays: Mapping[str, NDArray[Any]]) -> None:
    import csv

    flat = _flatten_columns(arrays)
    lines = TextIOWrapper(file, "utf-8", newline="", write_through=True)
    rows = csv.writer(lines)
    rows.writerow(flat)
    rows.writerows(zip(*(column.tolist() for column in flat.values()), strict=True))
    lines.detach()  # the file is closed by who has opened it


def _flatten_columns(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return columns of one number per row, of which a table consists, by names of their own."""
    columns: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        wide = array[:, None] if array.ndim == 1 else array
        parts = [name] if array.ndim == 1 else [f"{name}_{k}" for k in range(wide.shape[1])]
        for part, column in zip("xyz" if name == "positions" else parts, wide.T, strict=True):
            while part in columns or (part in arrays and part != name):
                part += "_"
            columns[part] = column
    return columns


def summary(measured: Measurements) -> dict[str, Any]:
    """Return number, means and extremes of the measurements, as JSON types."""
    count = len(measured.radius)
    if not count:
        raise SceneError("there are no spheres to measure")
    named = ("occlusion", "accessible_area", "visible_area")
    return {"spheres": count} | {
        name: {
            "least": float(values.min()),
            "mean": float(values.mean()),
            "greatest": float(values.max()),
            "error": float(getattr(measured, f"{name}_error").mean()),
        }
        for name, values in ((name, getattr(measured, name)) for name in named)
    }
