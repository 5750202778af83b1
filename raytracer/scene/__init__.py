"""Scenes: their model, scene files, particle files, and packing for a backend."""

from __future__ import annotations

GLYPHS = {
    "arrows": "vector", "trails": "last", "contacts": "file", "shape": "kind", "ribbons": "color",
    "polyhedra": "pairs", "isosurface": "level",
}  # fmt: skip
"""Parts of a scene that are made of the data of particles, each with the field that a value alone
sets."""
