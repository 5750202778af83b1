"""Renders spheres, from three to hundreds of millions.

>>> import raytracer
>>> image = raytracer.render(raytracer.load("scenes/three_balls.toml"))
>>> image.save("three_balls.png")

The public names are imported on first use, so that `import raytracer` costs nothing.
"""

from __future__ import annotations

from importlib import import_module

from raytracer._version import __version__

# That of `typing`, which takes longer to import than all the rest, and Ctrl-C is not taken yet.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from raytracer.animation.animate import Animation, animate
    from raytracer.backends.select import devices
    from raytracer.benchmark.run import bench
    from raytracer.browser.notebook import show
    from raytracer.browser.serve import serve
    from raytracer.errors import RaytracerError, UserError
    from raytracer.film.film import Film
    from raytracer.film.image import Image
    from raytracer.film.statistics import Statistics
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.pipeline import render
    from raytracer.scene.animation import AnimationSettings, Keyframe
    from raytracer.scene.annotations import (
        Annotations,
        Axes,
        DepthCue,
        Labels,
        Legend,
        Outline,
        ScaleBar,
        SimulationBox,
        TextLabel,
    )
    from raytracer.scene.background import Background
    from raytracer.scene.camera import Camera
    from raytracer.scene.clip import Clip
    from raytracer.scene.coloring.scale import ColorScale
    from raytracer.scene.columns import Columns
    from raytracer.scene.environment import Environment
    from raytracer.scene.glyphs.settings import Arrows, Contacts, Shape, Trails
    from raytracer.scene.ground import Ground
    from raytracer.scene.lights import (
        Ambient,
        DirectionalLight,
        DiskLight,
        Light,
        PointLight,
        RectangleLight,
    )
    from raytracer.scene.load import load
    from raytracer.scene.materials import Material, Principled
    from raytracer.scene.scene import CapsuleSet, Scene, SphereSet
    from raytracer.scene.solids import ConeSet, EllipsoidSet
    from raytracer.scene.transform import Transform
    from raytracer.settings import RenderSettings
    from raytracer.viewer.preview import PreviewResult, preview
    from raytracer.warning import RaytracerWarning

__all__ = [
    "Ambient",
    "Animation",
    "AnimationSettings",
    "Annotations",
    "Arrows",
    "Axes",
    "Background",
    "Camera",
    "CapsuleSet",
    "Clip",
    "ColorScale",
    "Columns",
    "ConeSet",
    "Contacts",
    "DepthCue",
    "DirectionalLight",
    "DiskLight",
    "EllipsoidSet",
    "Environment",
    "Film",
    "Ground",
    "Image",
    "Keyframe",
    "Labels",
    "Legend",
    "Light",
    "Material",
    "Outline",
    "PointLight",
    "PreviewResult",
    "Principled",
    "RaytracerError",
    "RaytracerWarning",
    "RectangleLight",
    "RenderSettings",
    "ScaleBar",
    "Scene",
    "Shape",
    "SimulationBox",
    "SphereSet",
    "Statistics",
    "TextLabel",
    "ToneSettings",
    "Trails",
    "Transform",
    "UserError",
    "__version__",
    "animate",
    "bench",
    "devices",
    "load",
    "preview",
    "render",
    "serve",
    "show",
]

# Where the public names live.
_HOMES = {
    name: f"raytracer.{module}"
    for module, names in {
        "animation.animate": "Animation animate",
        "backends.select": "devices",
        "benchmark.run": "bench",
        "browser.notebook": "show",
        "browser.serve": "serve",
        "errors": "RaytracerError UserError",
        "film.film": "Film",
        "film.image": "Image",
        "film.statistics": "Statistics",
        "film.tone_settings": "ToneSettings",
        "pipeline": "render",
        "scene.animation": "AnimationSettings Keyframe",
        "scene.annotations": "Annotations Axes DepthCue Labels Legend Outline ScaleBar "
        "SimulationBox TextLabel",
        "scene.background": "Background",
        "scene.camera": "Camera",
        "scene.clip": "Clip",
        "scene.coloring.scale": "ColorScale",
        "scene.columns": "Columns",
        "scene.environment": "Environment",
        "scene.glyphs.settings": "Arrows Contacts Shape Trails",
        "scene.ground": "Ground",
        "scene.lights": "Ambient DirectionalLight DiskLight Light PointLight RectangleLight",
        "scene.load": "load",
        "scene.materials": "Material Principled",
        "scene.scene": "CapsuleSet Scene SphereSet",
        "scene.solids": "ConeSet EllipsoidSet",
        "scene.transform": "Transform",
        "settings": "RenderSettings",
        "viewer.preview": "PreviewResult preview",
        "warning": "RaytracerWarning",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'raytracer' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    if hasattr(value, "__dict__"):
        import_module("raytracer.fields").document(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
