"""Colours, sizes and selections that follow the columns of particles."""

from __future__ import annotations

SETTINGS = (
    "color_by", "map", "range", "color_scale", "color_steps", "color_threshold", "missing_color",
    "color_label", "color_unit", "palette", "select", "rest", "wrap", "replicate", "style", "bonds",
    "bond_radius", "bond_color", "bond_select", "bond_orders",
)  # fmt: skip
"""Names of the settings, which `style.StyleSettings` defines.

They are listed here so that a command without them does not import their definitions.
"""

STYLE = "raytracer.scene.coloring.style:StyleSettings"
"""Where the settings are defined."""
