"""Scenes that this package and Mitsuba 3 can both render: one description, two builders.

A ball of the material in question, radius 1, and a small matt one stand on a matt plane. The
camera looks down, so that every camera ray meets something.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import mitsuba as mi
import numpy as np

import raytracer
from raytracer.scene.colors import srgb_to_linear

WIDTH, HEIGHT = 96, 64
FAR = 1e5
"""Distance of the disk that stands for a directional light with an angle. A plane alone reflects
0.004% less light than in closed form, by the finite distance; ours agrees to 1e-6. At 1e4 it is
0.04%. At 1e6 Mitsuba's single precision loses 0.03% and at 1e7 2.8%."""

CAMERA: dict[str, Any] = {
    "position": (0.4, 2.3, 5.5),
    "look_at": (0.25, -0.35, 0.0),
    "vertical_fov": 30.0,
}
GOLD, WHITE, BLUE = (1.0, 0.78, 0.34), (1.0, 1.0, 1.0), (0.2, 0.4, 0.8)
SMALL: dict[str, Any] = {"center": (1.45, -0.5, 0.7), "radius": 0.5, "color": (0.7, 0.15, 0.1)}
GROUND = (0.5, 0.5, 0.5)
ROWS = 1024
"""Of images of environments."""

DEPTH = 24
"""Bounces after the first surface, so many that what is cut off is nothing. Mitsuba counts the
segments of a path, and follows the last one to lights, also from a mirror."""


@dataclass(frozen=True)
class Case:
    """What is compared.

    Args:
        material: fields of `raytracer.Principled`, or `phong` with those of `raytracer.Material`.
        color: linear RGB of the ball.
        light: kind, and its fields.
        factor: of the samples; more where there is more noise.
        differs: why the programs do not agree, where they are not meant to.
        peer: Mitsuba's BSDF: `facets` is the one of `mitsuba_facets`, others are its own.
    """

    name: str
    light: dict[str, Any]
    material: dict[str, Any] = field(default_factory=lambda: {"phong": True})
    color: tuple[float, float, float] = BLUE
    peer: str = "diffuse"
    factor: float = 1.0
    aperture: float = 0.0
    differs: str = ""


RECTANGLE = {"kind": "rectangle", "position": (1.5, 4.0, 2.0), "direction": (-0.3, -0.9, -0.4),
             "width": 2.0, "height": 1.5, "intensity": 8.0}  # fmt: skip
GRADIENT = {"kind": "gradient", "bottom": (0.1, 0.1, 0.15), "top": (0.9, 1.0, 1.3)}


def cases() -> list[Case]:
    """Every material under two lights, and every light on matt surfaces."""
    materials: list[tuple[str, dict[str, Any], tuple[float, float, float], str, float]] = [
        ("diffuse", {"specular": 0.0}, BLUE, "diffuse", 1),
        ("phong", {"phong": True}, BLUE, "diffuse", 1),
        *((f"plastic {r}", {"roughness": r}, BLUE, "facets", 1) for r in (0.1, 0.3, 0.6, 1.0)),
        *((f"gold {r}", {"roughness": r, "metallic": 1.0}, GOLD, "facets", 1)
          for r in (0.1, 0.3, 0.6, 1.0)),
        ("mirror", {"roughness": 0.0, "metallic": 1.0}, WHITE, "roughconductor", 1),
        ("phong mirror", {"phong": True, "mirror": 1.0}, WHITE, "conductor", 1),
        ("coat", {"roughness": 0.5, "coat": 1.0}, BLUE, "facets", 1),
        ("glass", {"roughness": 0.0, "transmission": 1.0}, WHITE, "dielectric", 2),
        ("green glass", {"roughness": 0.0, "transmission": 1.0}, (0.3, 0.9, 0.5), "dielectric", 2),
        ("water", {"roughness": 0.0, "transmission": 1.0, "ior": 1.33}, WHITE, "dielectric", 2),
        ("frosted glass 0.1", {"roughness": 0.1, "transmission": 1.0}, WHITE, "roughdielectric", 2),
    ]  # fmt: skip
    found = [
        Case(f"{name}, {lit['kind']}", lit, made, color, peer, factor)
        for name, made, color, peer, factor in materials
        for lit in (RECTANGLE, GRADIENT)
    ]
    found += [
        Case("emission, its own light", {"kind": "none"}, {"specular": 0.0, "emission": 3.0},
             (1.0, 0.8, 0.5), "diffuse"),
        Case("point", {"kind": "point", "position": (2.0, 4.0, 3.0), "intensity": 20.0}),
        Case("point with radius", {"kind": "point", "position": (2.0, 4.0, 3.0),
                                   "intensity": 20.0, "radius": 0.8}),
        Case("directional", {"kind": "directional", "direction": (-0.5, -1.0, -0.6)}),
        Case("directional with angle", {"kind": "directional", "direction": (-0.5, -1.0, -0.6),
                                        "angle": 12.0}),
        Case("rectangle", RECTANGLE),
        Case("disk", {"kind": "disk", "position": (-2.0, 4.0, 1.0), "direction": (0.5, -1.0, -0.2),
                      "radius": 0.9, "intensity": 6.0}),
        Case("constant environment", {"kind": "constant", "color": (0.8, 0.9, 1.0)}),
        Case("gradient environment", GRADIENT),
        Case("image environment", {"kind": "image"}),
        Case("turned image environment", {"kind": "image", "rotation": 70.0}),
        Case("rectangle through a lens", RECTANGLE, aperture=0.25),
    ]  # fmt: skip
    return found + [
        Case(f"white metal {r}, a conductor of Mitsuba's own", GRADIENT,
             {"roughness": r, "metallic": 1.0}, WHITE, "roughconductor",
             differs="Mitsuba's loses light of further bounces, and masks facets otherwise")
        for r in (0.3, 0.6, 1.0)
    ]  # fmt: skip


def image(rows: np.ndarray) -> np.ndarray:
    """A sky with a bright lobe and a coloured one, float32 (ROWS, 2 ROWS, 3), linear RGB.

    Args:
        rows: where they are, from 0 at the zenith to 1.
    """
    v, u = np.meshgrid(rows, (np.arange(2 * ROWS) + 0.5) / (2 * ROWS), indexing="ij")
    theta, phi = np.pi * v, 2 * np.pi * u
    way = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1)
    sky = 0.2 + 0.2 * way[..., 2:] + np.zeros(3)
    for axis, sharp, color in (
        ((0.5, 0.3, 0.8), 60.0, (12.0, 10.0, 7.0)),
        ((-0.6, -0.6, 0.5), 10.0, (0.2, 0.5, 1.5)),
    ):
        cosine = way @ (np.array(axis) / np.linalg.norm(axis))
        sky += np.exp(sharp * (cosine - 1.0))[..., None] * np.array(color)
    return sky.astype(np.float32)


def ours(case: Case, folder: Path) -> raytracer.Scene:
    """The scene for this package."""
    light, lights, environment = dict(case.light), [], None
    kind = light.pop("kind")
    if kind in ("point", "directional", "rectangle", "disk"):
        kinds = {"point": raytracer.PointLight, "directional": raytracer.DirectionalLight,
                 "rectangle": raytracer.RectangleLight, "disk": raytracer.DiskLight}  # fmt: skip
        if kind == "point":
            light["falloff"] = "inverse-square"
        lights = [kinds[kind](**light)]
    elif kind != "none":
        environment = raytracer.Environment(**our_environment(light, kind, folder), visible=True)
    fields = dict(case.material)
    matt = raytracer.Material(diffuse=1.0, specular=0.0)
    tested: Any = replace(matt, mirror=fields.pop("mirror", 0.0))
    if not fields.pop("phong", False):
        tested = raytracer.Principled(**fields)

    def ball(center: Any, radius: float, color: Any, material: Any) -> raytracer.SphereSet:
        return raytracer.SphereSet(
            np.array([center]), radius, np.array([color]), color_space="linear", material=material
        )

    return raytracer.Scene(
        spheres=[
            ball((0.0, 0.0, 0.0), 1.0, case.color, tested),
            ball(SMALL["center"], SMALL["radius"], SMALL["color"], matt),
        ],
        camera=raytracer.Camera(
            **CAMERA, aperture=case.aperture, focus=(0.0, 0.0, 1.0) if case.aperture else None
        ),
        lights=lights,
        ambient=raytracer.Ambient(intensity=0.0),
        background=raytracer.Background(color="#000000"),
        environment=environment,
        ground=raytracer.Ground(height=-1.0, color=srgb(GROUND), material="ground"),
        materials={"ground": matt},
        render=raytracer.RenderSettings(
            width=WIDTH, height=HEIGHT, filter="box", integrator="path", max_depth=DEPTH
        ),
    )


def srgb(linear: tuple[float, float, float]) -> tuple[float, float, float]:
    """The sRGB numbers of a linear colour."""
    r, g, b = (1.055 * c ** (1 / 2.4) - 0.055 if c > 0.0031308 else 12.92 * c for c in linear)
    made = r, g, b
    assert np.allclose(srgb_to_linear(made), linear, atol=1e-6)
    return made


def our_environment(light: dict[str, Any], kind: str, folder: Path) -> dict[str, Any]:
    """Fields of this package's environment; colours are at most 1 there."""
    if kind == "image":
        path = folder / "sky.exr"
        picture = image((np.arange(ROWS) + 0.5) / ROWS)
        mi.util.write_bitmap(str(path), picture, write_async=False)
        return {"image": str(path), "rotation": light.get("rotation", 0.0)}
    most = max(max(color) for color in light.values())
    scaled = {name: srgb(tuple(c / most for c in color)) for name, color in light.items()}
    return {**scaled, "intensity": most}


def their_image(given: dict[str, Any]) -> np.ndarray:
    """An environment as an image for Mitsuba, which has its first and last row at the poles."""
    rows = np.linspace(0.0, 1.0, ROWS)
    if given["kind"] == "image":
        return image(rows)
    height = 0.5 + 0.5 * np.cos(np.pi * rows)
    bottom, top = np.array(given["bottom"]), np.array(given["top"])
    colors = bottom + height[:, None] * (top - bottom)
    return np.repeat(colors[:, None], 64, axis=1).astype(np.float32)


def theirs(case: Case) -> Any:
    """The scene for Mitsuba."""
    rgb: Any = lambda c: {"type": "rgb", "value": list(c)}  # noqa: E731
    matt: Any = lambda c: {"type": "diffuse", "reflectance": rgb(c)}  # noqa: E731
    at = mi.ScalarTransform4f
    ball = {"type": "sphere", "radius": 1.0, "bsdf": peer_bsdf(case, rgb, matt)}
    if "emission" in case.material:
        radiance = [case.material["emission"] * c for c in case.color]
        ball["emitter"] = {"type": "area", "radiance": rgb(radiance)}
    lens: dict[str, Any] = {"type": "perspective"}
    if case.aperture:
        lens = {"type": "thinlens", "aperture_radius": case.aperture * focus_distance() / 2,
                "focus_distance": focus_distance()}  # fmt: skip
    scene: dict[str, Any] = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": DEPTH + 2},
        "ball": ball,
        "small": {"type": "sphere", "center": list(SMALL["center"]), "radius": SMALL["radius"],
                  "bsdf": matt(SMALL["color"])},
        # Ours has no end. Embree's hits on a larger rectangle would be imprecise.
        "ground": {"type": "rectangle", "bsdf": matt(GROUND),
                   "to_world": at().translate([0, -1, 0]).rotate([1, 0, 0], -90).scale(1e3)},
        "sensor": {
            **lens,
            "fov": CAMERA["vertical_fov"], "fov_axis": "y",
            "to_world": at().look_at(origin=list(CAMERA["position"]),
                                     target=list(CAMERA["look_at"]), up=[0, 1, 0]),
            "film": {"type": "hdrfilm", "width": WIDTH, "height": HEIGHT,
                     "rfilter": {"type": "box"}, "pixel_format": "rgb"},
            "sampler": {"type": "independent"},
        },
    }  # fmt: skip
    light = peer_light(case.light, rgb)
    if light:
        scene["light"] = light
    return mi.load_dict(scene)


def focus_distance() -> float:
    """Along the view axis, to the front of the ball."""
    eye, target = np.array(CAMERA["position"]), np.array(CAMERA["look_at"])
    axis = (target - eye) / np.linalg.norm(target - eye)
    return float((np.array([0.0, 0.0, 1.0]) - eye) @ axis)


def peer_bsdf(case: Case, rgb: Any, matt: Any) -> dict[str, Any]:
    """Mitsuba's material of the ball."""
    if case.peer == "diffuse":
        made: dict[str, Any] = matt(case.color)
        return made
    if case.peer == "conductor":
        return {"type": "conductor", "material": "none",
                "specular_reflectance": rgb(case.color)}  # fmt: skip
    if case.peer == "dielectric":
        tint = [c**0.5 for c in case.color]  # of each crossing
        return {"type": "dielectric", "int_ior": case.material.get("ior", 1.5), "ext_ior": 1.0,
                "specular_transmittance": rgb(tint)}  # fmt: skip
    if case.peer == "roughdielectric":
        return {"type": "roughdielectric", "distribution": "ggx", "ext_ior": 1.0, "int_ior": 1.5,
                "alpha": case.material["roughness"] ** 2}  # fmt: skip
    if case.peer == "roughconductor":
        return {"type": "roughconductor", "material": "none", "distribution": "ggx",
                "alpha": max(case.material["roughness"] ** 2, 1e-3)}  # fmt: skip
    full = {"roughness": 0.5, "metallic": 0.0, "ior": 1.5, "specular": 1.0, "coat": 0.0}
    return {"type": "facets", "color": list(case.color), **full, **case.material}


def peer_light(given: dict[str, Any], rgb: Any) -> dict[str, Any] | None:
    """Mitsuba's light. A white surface that faces ours of intensity 1 has a radiance of 1."""
    at, kind = mi.ScalarTransform4f, given["kind"]
    strength = given.get("intensity", 1.0)
    black = {"type": "diffuse", "reflectance": rgb((0, 0, 0))}

    def area(shape: dict[str, Any], radiance: float) -> dict[str, Any]:
        emitter = {"type": "area", "radiance": rgb([radiance] * 3)}
        return {**shape, "bsdf": black, "emitter": emitter}

    if kind == "none":
        return None
    if kind == "point" and "radius" not in given:
        return {"type": "point", "position": list(given["position"]),
                "intensity": rgb([np.pi * strength] * 3)}  # fmt: skip
    if kind == "point":
        shape = {"type": "sphere", "center": list(given["position"]), "radius": given["radius"]}
        return area(shape, strength / given["radius"] ** 2)
    if kind == "directional" and "angle" not in given:
        return {"type": "directional", "direction": list(given["direction"]),
                "irradiance": rgb([np.pi * strength] * 3)}  # fmt: skip
    if kind in ("directional", "rectangle", "disk"):
        way = np.array(given["direction"]) / np.linalg.norm(given["direction"])
        if kind == "directional":
            half = np.radians(given["angle"] / 2)
            where, scale = -FAR * way, [FAR * np.tan(half)] * 2
            strength /= np.sin(half) ** 2
        else:
            where = np.array(given["position"])
            flat = [given["width"] / 2, given["height"] / 2] if kind == "rectangle" else None
            scale = flat or [given["radius"]] * 2
        to_world = at().look_at(origin=list(where), target=list(where + way), up=[0, 1, 0])
        shape = {"type": "rectangle" if kind == "rectangle" else "disk",
                 "to_world": to_world.scale([*scale, 1.0])}  # fmt: skip
        return area(shape, strength)
    if kind == "constant":
        return {"type": "constant", "radiance": rgb(given["color"])}
    # The middle of Mitsuba's image lies towards +z, that of ours towards +x.
    turn = at().rotate([0, 1, 0], given.get("rotation", 0.0) + 90.0)
    return {"type": "envmap", "bitmap": mi.Bitmap(their_image(given)), "to_world": turn}
