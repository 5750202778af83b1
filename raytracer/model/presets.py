"""Ready-made materials: `material = "gold"`, unless a scene defines a material of that name."""

from typing import NamedTuple


class Preset(NamedTuple):
    """Parameters of a `Principled`, and the default sRGB colour of spheres with it."""

    parameters: dict[str, float]
    color: str


# Metals: reflectance at normal incidence in sRGB, from measured indices of refraction
# (physicallybased.info); steel and chrome as polished alloys.
PRESETS = {
    "plastic": Preset({"roughness": 0.3, "ior": 1.5}, "#d9d9d9"),
    "rubber": Preset({"roughness": 0.9, "ior": 1.5, "specular": 0.3}, "#4d4d4d"),
    "ceramic": Preset({"roughness": 0.5, "ior": 1.5, "coat": 1.0}, "#f2efe9"),
    "gold": Preset({"roughness": 0.2, "metallic": 1.0}, "#ffe29b"),
    "silver": Preset({"roughness": 0.15, "metallic": 1.0}, "#fcfaf5"),
    "copper": Preset({"roughness": 0.2, "metallic": 1.0}, "#fad0c0"),
    "steel": Preset({"roughness": 0.35, "metallic": 1.0}, "#c4c7c7"),
    "chrome": Preset({"roughness": 0.03, "metallic": 1.0}, "#d8dadb"),
    "glass": Preset({"roughness": 0.0, "transmission": 1.0, "ior": 1.5}, "#ffffff"),
    "frosted": Preset({"roughness": 0.4, "transmission": 1.0, "ior": 1.5}, "#ffffff"),
    "water": Preset({"roughness": 0.0, "transmission": 1.0, "ior": 1.333}, "#f4fbff"),
    "wax": Preset({"roughness": 0.6, "ior": 1.44, "specular": 0.7}, "#efe0bd"),
}
PRESET_NAMES = ", ".join(PRESETS)
