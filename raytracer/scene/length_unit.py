"""The unit of length of particles, from the names of their columns, their format or elements."""

from collections.abc import Sequence
from contextlib import suppress

from raytracer.errors import RaytracerError
from raytracer.scene.particles import naming
from raytracer.scene.particles.labels import element_symbols
from raytracer.scene.scene import Scene
from raytracer.scene.sphere_set import SphereSet
from raytracer.warning import warn


def length_unit(scene: Scene) -> str:
    """Return the unit of length of all sets of particles, or "" if it is unknown."""
    units = {unit_of(spheres) for spheres in scene.spheres if spheres.count}
    return units.pop() if len(units) == 1 else ""


def unit_of(spheres: SphereSet) -> str:
    """Return the unit of the centres of a set in the scene, or ""."""
    if spheres.transform.scale != 1.0:
        return ""
    spheres = spheres.cell or spheres
    if spheres.labels is not None and None not in element_symbols(spheres.labels):
        return "Å"  # the unit of the radii of elements
    with suppress(RaytracerError):
        units = {name: each.unit for name, each in spheres.columns.about.items() if each.unit}
        return units.get(naming.usual("centers", units) or naming.usual("x", units) or "", "")
    return ""


def warn_of_units(sets: Sequence[SphereSet]) -> None:
    """Warn if the files of some sets state different units of length, which are not converted."""
    units: dict[str, str] = {}
    for spheres in sets:
        if unit := unit_of(spheres):
            units.setdefault(unit, spheres.source)
    if len(units) > 1:
        stated = ", ".join(f"{source} in {unit}" for unit, source in units.items())
        warn(
            f"the files have different units of length ({stated}), which are not converted: to "
            "scale one, write a scene file with transform = { scale = 0.001 } in its [[spheres]]"
        )
