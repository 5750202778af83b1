"""Colours, sizes and selections by columns of particles."""

KEYS = {
    "by": "color_by", "map": "map", "range": "range", "scale": "color_scale",
    "steps": "color_steps", "threshold": "color_threshold", "missing": "missing_color",
    "label": "color_label", "unit": "color_unit",
}  # fmt: skip
"""Fields of `style.StyleSettings` by the keys of the table `color` in a scene file."""

OF_SCALE = tuple(KEYS.values())[1:]
"""Fields that say how values become colours."""

OF_BONDS = ("style", "bonds", "bond_radius", "bond_color", "bond_select", "bond_orders")

OF_SETS = ("palette", "select", "rest", "wrap", "replicate", *OF_BONDS)
"""Fields that are keys of a set of spheres in a scene file."""

SETTINGS = (*KEYS.values(), *OF_SETS)
"""All fields, listed here so that commands need not import them."""

STYLE = "raytracer.appearance.coloring.style:StyleSettings"
