"""Scenes: their model, scene files, particle files, and packing for a backend."""

from __future__ import annotations

from typing import Any

_MOVED = (
    "Ambient", "Background", "Camera", "Clip", "DirectionalLight", "Environment", "Ground", "Light",
    "Material", "PointLight", "Scene", "SphereSet", "Transform",
)  # fmt: skip


GLYPHS = {
    "arrows": "vector", "trails": "last", "contacts": "file", "shape": "kind", "ribbons": "color",
    "polyhedra": "pairs", "isosurface": "level",
}  # fmt: skip
"""Parts of a scene that are made of the data of particles, each with the field that a value alone
sets."""


def __getattr__(name: str) -> Any:
    """Return a public name that has moved to `raytracer`, with a warning."""
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import raytracer
    from raytracer.warning import warn

    warn(f"raytracer.scene.{name} is deprecated: import raytracer.{name}")
    return getattr(raytracer, name)
