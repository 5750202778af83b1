"""Colours, sizes and selections by columns of particles."""

from __future__ import annotations

SETTINGS = (
    "color_by", "map", "range", "color_scale", "color_steps", "color_threshold", "missing_color",
    "color_label", "color_unit", "palette", "select", "rest", "wrap", "replicate", "style", "bonds",
    "bond_radius", "bond_color", "bond_select", "bond_orders",
)  # fmt: skip
"""Fields of `style.StyleSettings`, listed here so that commands need not import it."""

STYLE = "raytracer.scene.coloring.style:StyleSettings"
