"""The project's own picture of a reference scene, through the public API alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import raytracer
from reference import Light, RefScene, View
from reference.curves import srgb_encode


def srgb(linear: tuple[float, float, float]) -> tuple[float, float, float]:
    """The colour a user would write for a linear one."""
    red, green, blue = srgb_encode(np.array(linear)).tolist()
    return (red, green, blue)


def _camera(view: View) -> raytracer.Camera:
    place: dict[str, Any] = {"position": view.position, "look_at": view.look_at, "up": view.up}
    if view.vertical_fov is None:
        return raytracer.Camera(type="orthographic", height=view.height, **place)
    return raytracer.Camera(type="perspective", vertical_fov=view.vertical_fov, **place)


def _light(light: Light) -> raytracer.Light:
    color, intensity = srgb(light.color), light.intensity
    if light.kind == "directional":
        return raytracer.DirectionalLight(light.vector, color=color, intensity=intensity)
    falloff = "inverse-square" if light.inverse_square else "none"
    return raytracer.PointLight(light.vector, color=color, intensity=intensity, falloff=falloff)


def to_project(scene: RefScene) -> raytracer.Scene:
    """The scene as a user would build it: one sphere set for each material."""
    from raytracer.model.lights import Ambient

    sets = []
    for index, material in enumerate(scene.materials):
        own = scene.material_id == index
        if own.any():
            sets.append(
                raytracer.SphereSet(
                    scene.centers[own],
                    scene.radii[own],
                    scene.colors[own],
                    color_space="linear",
                    material=raytracer.Material(**vars(material)),
                )
            )
    background = (
        raytracer.Background(transparent=True, up=scene.world_up)
        if scene.transparent
        else raytracer.Background(bottom=srgb(scene.bottom), top=srgb(scene.top), up=scene.world_up)
    )
    return raytracer.Scene(
        spheres=sets,
        camera=_camera(scene.view),
        lights=[_light(light) for light in scene.lights],
        ambient=Ambient(color=srgb(scene.ambient), intensity=1.0),
        background=background,
    )


def shoot(
    scene: RefScene,
    width: int,
    height: int,
    *,
    backend: str = "cpu",
    samples: int = 1,
    filter: str = "point",  # noqa: A002 - the name of the setting
    **settings: Any,
) -> NDArray[np.float32]:
    """The project's linear picture, float32 (height, width, 4)."""
    image = raytracer.render(
        to_project(scene),
        backend=backend,
        width=width,
        height=height,
        samples=samples,
        filter=filter,
        **settings,
    )
    return np.asarray(image.array)
