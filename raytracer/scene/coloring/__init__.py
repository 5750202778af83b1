"""Colours, sizes and selections that follow the columns of particles."""

from __future__ import annotations

SETTINGS: dict[str, type] = {
    "color_by": str,
    "map": str,
    "range": str,
    "color_scale": str,
    "color_steps": int,
    "color_threshold": float,
    "missing_color": str,
    "color_label": str,
    "color_unit": str,
    "palette": str,
    "select": str,
    "rest": float,
    "wrap": bool,
    "replicate": str,
    "style": str,
    "bonds": str,
    "bond_radius": float,
    "bond_color": str,
    "bond_select": str,
    "bond_orders": bool,
}
"""Names of the settings, which `style.StyleSettings` defines, and their types as options.

They are listed here so that a command without them does not import their definitions.
"""

STYLE = "raytracer.scene.coloring.style.StyleSettings"
"""Where the settings are defined."""
