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
    from raytracer.scene.clip import Clip
    from raytracer.scene.coloring.scale import ColorScale
    from raytracer.scene.columns import Columns
    from raytracer.scene.environment import Environment
    from raytracer.scene.glyphs.settings import Arrows, Contacts, Shape, Trails
    from raytracer.scene.ground import Ground
    from raytracer.scene.load import load
    from raytracer.scene.scene import (
        Ambient,
        Background,
        Camera,
        CapsuleSet,
        DirectionalLight,
        DiskLight,
        Light,
        Material,
        PointLight,
        Principled,
        RectangleLight,
        Scene,
        SphereSet,
        Transform,
    )
    from raytracer.scene.solids import ConeSet, EllipsoidSet
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

# Where each public name lives.
_HOMES = {
    "Ambient": "raytracer.scene.scene",
    "Animation": "raytracer.animation.animate",
    "AnimationSettings": "raytracer.scene.animation",
    "Annotations": "raytracer.scene.annotations",
    "Arrows": "raytracer.scene.glyphs.settings",
    "Axes": "raytracer.scene.annotations",
    "Background": "raytracer.scene.scene",
    "Camera": "raytracer.scene.scene",
    "CapsuleSet": "raytracer.scene.scene",
    "ColorScale": "raytracer.scene.coloring.scale",
    "Columns": "raytracer.scene.columns",
    "ConeSet": "raytracer.scene.solids",
    "Contacts": "raytracer.scene.glyphs.settings",
    "DepthCue": "raytracer.scene.annotations",
    "DirectionalLight": "raytracer.scene.scene",
    "DiskLight": "raytracer.scene.scene",
    "Film": "raytracer.film.film",
    "Clip": "raytracer.scene.clip",
    "EllipsoidSet": "raytracer.scene.solids",
    "Environment": "raytracer.scene.environment",
    "Ground": "raytracer.scene.ground",
    "Image": "raytracer.film.image",
    "Keyframe": "raytracer.scene.animation",
    "Labels": "raytracer.scene.annotations",
    "Legend": "raytracer.scene.annotations",
    "Light": "raytracer.scene.scene",
    "Material": "raytracer.scene.scene",
    "Outline": "raytracer.scene.annotations",
    "PointLight": "raytracer.scene.scene",
    "PreviewResult": "raytracer.viewer.preview",
    "Principled": "raytracer.scene.scene",
    "RaytracerError": "raytracer.errors",
    "RaytracerWarning": "raytracer.warning",
    "RectangleLight": "raytracer.scene.scene",
    "RenderSettings": "raytracer.settings",
    "ScaleBar": "raytracer.scene.annotations",
    "Scene": "raytracer.scene.scene",
    "Shape": "raytracer.scene.glyphs.settings",
    "SimulationBox": "raytracer.scene.annotations",
    "SphereSet": "raytracer.scene.scene",
    "Statistics": "raytracer.film.statistics",
    "TextLabel": "raytracer.scene.annotations",
    "ToneSettings": "raytracer.film.tone_settings",
    "Trails": "raytracer.scene.glyphs.settings",
    "Transform": "raytracer.scene.scene",
    "UserError": "raytracer.errors",
    "animate": "raytracer.animation.animate",
    "bench": "raytracer.benchmark.run",
    "devices": "raytracer.backends.select",
    "load": "raytracer.scene.load",
    "preview": "raytracer.viewer.preview",
    "render": "raytracer.pipeline",
    "serve": "raytracer.browser.serve",
    "show": "raytracer.browser.notebook",
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
