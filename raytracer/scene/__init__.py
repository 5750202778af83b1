"""Scenes: what can be said, read from files, and packed for a backend."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raytracer.scene.background import Background
    from raytracer.scene.camera import Camera
    from raytracer.scene.clip import Clip
    from raytracer.scene.ground import Ground
    from raytracer.scene.lights import Ambient, DirectionalLight, Light, PointLight
    from raytracer.scene.materials import Material
    from raytracer.scene.scene import Scene, SphereSet
    from raytracer.scene.transform import Transform

_HOMES = {
    "Ambient": "lights",
    "Background": "background",
    "Camera": "camera",
    "Clip": "clip",
    "DirectionalLight": "lights",
    "Ground": "ground",
    "Light": "lights",
    "Material": "materials",
    "PointLight": "lights",
    "Scene": "scene",
    "SphereSet": "scene",
    "Transform": "transform",
}

__all__ = [
    "Ambient",
    "Background",
    "Camera",
    "Clip",
    "DirectionalLight",
    "Ground",
    "Light",
    "Material",
    "PointLight",
    "Scene",
    "SphereSet",
    "Transform",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first asked for."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
