"""Colours, sizes and selections by columns of particles."""

OF_SCALE = (
    "map", "range", "color_scale", "color_steps", "color_threshold", "missing_color", "color_label",
    "color_unit",
)  # fmt: skip
"""Fields of `style.StyleSettings` that say how values become colours."""

OF_BONDS = ("style", "bonds", "bond_radius", "bond_color", "bond_select", "bond_orders")

OF_SETS = ("palette", "select", "rest", "wrap", "replicate", *OF_BONDS)
"""Fields that are keys of a set of spheres in a scene file."""

SETTINGS = ("color_by", *OF_SCALE, *OF_SETS)
"""All fields, listed here so that commands need not import them."""

STYLE = "raytracer.scene.coloring.style:StyleSettings"
