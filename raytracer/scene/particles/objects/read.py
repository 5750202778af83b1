"""Particles of objects of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from raytracer.arguments import mapping
from raytracer.errors import SceneError, shown_value, suggestion
from raytracer.scene.particles.labels import MEANINGS
from raytracer.scene.particles.read import read_object

if TYPE_CHECKING:
    from raytracer.scene.particles.source import Particles

KEYS = ("centers", "radii", "diameters", "colors", *"xyzrgb")
"""Names of `arrays`."""


def particles_of(
    value: Any,
    arrays: Mapping[str, str] | None = None,
    labels: str | None = None,
    frame: int | None = None,
) -> Particles:
    """Return the particles of an object; arguments and errors are those of `Scene.from_object`."""
    names = {} if arrays is None else mapping(arrays, "arrays")
    for key, name in names.items():
        if key not in KEYS:
            hint = suggestion(str(key), KEYS)
            raise SceneError(f"arrays: there is no {shown_value(key)}; {hint}")
        if not isinstance(name, str):
            raise SceneError(f"arrays.{key}: {shown_value(name)} is not the name of a column")
    if labels is not None and labels not in MEANINGS:
        raise SceneError(f"labels: {shown_value(labels)} is neither 'elements' nor 'types'")
    return read_object(value, names, None, labels, frame)
