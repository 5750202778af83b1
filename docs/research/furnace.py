"""Prints the furnace table: how much of an even light of radiance 1 a white ball returns.

A ball of a lossless material in an even environment has the radiance 1 everywhere. The table has
the mean over the ball and the mean of the ring that is farthest from 1, of ten rings of equal
area, with the default depth of paths and with a large one, through an orthographic and a
perspective camera.

    python docs/research/furnace.py [--random 40] [--seed 1] [--samples 256] [--only TEXT]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import raytracer
from raytracer import Ambient, Background, Camera, Material, Principled, Scene, SphereSet

SIZE = 48
RINGS = 10
DEEP = 256
"""Bounces of a path that is not cut."""

CAMERAS = {
    "orthographic": Camera((0.0, 0.0, 5.0), (0, 0, 0), type="orthographic", height=2.0),
    "perspective": Camera((0.0, 0.0, 5.0), (0, 0, 0), vertical_fov=23.07),
}
"""Cameras whose picture the unit ball fills."""


def named() -> Iterator[tuple[str, Material | Principled]]:
    """Yield materials of each kind, and those at the ends of their parameters."""
    yield "diffuse", Material(ambient=1.0, diffuse=1.0, specular=0.0)
    yield "half a mirror", Material(ambient=1.0, diffuse=1.0, specular=0.0, mirror=0.5)
    for coat in (0.0, 1.0):
        for roughness in (0.0, 0.2, 0.5, 1.0):
            name = f"roughness {roughness} coat {coat:.0f}"
            yield f"metal {name}", Principled(roughness=roughness, metallic=1.0, coat=coat)
            yield f"dielectric {name}", Principled(roughness=roughness, coat=coat)
            for ior in (1.33, 1.5, 2.4):
                glass = Principled(roughness=roughness, transmission=1.0, ior=ior, coat=coat)
                yield f"glass {ior} {name}", glass


def drawn(count: int, seed: int) -> Iterator[tuple[str, Principled]]:
    """Yield materials whose parameters are drawn at random."""
    random = np.random.default_rng(seed)
    for number in range(count):
        shares = random.choice([0.0, 1.0, -1.0], size=3)
        part = np.where(shares < 0, random.random(3), shares).round(2)
        values: dict[str, Any] = {
            "roughness": round(float(random.random()), 2),
            "ior": round(float(1 + 1.6 * random.random()), 2),
            "metallic": float(part[0]),
            "coat": float(part[1]),
            "transmission": float(part[2]),
        }
        text = " ".join(f"{key} {value:g}" for key, value in values.items())
        yield f"{number + 1}: {text}", Principled(**values)


def furnace(
    material: Material | Principled, camera: Camera, samples: int, depth: int | None = None
) -> NDArray[np.float64]:
    """Return the mean radiance of rings of equal area, float64 (RINGS,), from the centre outwards.

    depth: None is the default.
    """
    ball = SphereSet([(0.0, 0.0, 0.0)], 1.0, ["white"], material=material)
    room = Scene(
        [ball],
        camera=camera,
        background=Background("black"),
        ambient=Ambient(intensity=1.0),
        lights=(),
    )
    settings: dict[str, Any] = {} if depth is None else {"max_depth": depth}
    picture = raytracer.render(
        room,
        integrator="path",
        width=SIZE,
        height=SIZE,
        samples=samples,
        filter="box",
        backend="cpu",
        **settings,
    )
    radiance = np.asarray(picture.array, np.float64)[..., :3]
    axis = np.abs((2 * np.arange(SIZE) + 1) / SIZE - 1)
    corner = axis + 1 / SIZE
    ring = ((axis**2 + axis[:, None] ** 2) * RINGS).astype(int)
    # The ball does not fill the pixels at its silhouette.
    whole = corner**2 + corner[:, None] ** 2 < 1.0
    return np.array([radiance[whole & (ring == k)].mean() for k in range(RINGS)])


def main() -> None:
    """Print the table as it is found."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--random", type=int, default=40, help="materials drawn at random")
    arguments.add_argument("--seed", type=int, default=1, help="of the random materials")
    arguments.add_argument("--samples", type=int, default=256, help="of each pixel")
    arguments.add_argument("--only", default="", help="text in the names of the materials")
    chosen = arguments.parse_args()
    print("| material | camera | default depth: ball, worst ring | deep: ball, worst ring |")
    print("| --- | --- | --- | --- |")
    for name, material in [*named(), *drawn(chosen.random, chosen.seed)]:
        if chosen.only not in name:
            continue
        for camera in CAMERAS:
            cells = []
            for depth in (None, DEEP):
                rings = furnace(material, CAMERAS[camera], chosen.samples, depth)
                worst = rings[np.abs(rings - 1).argmax()]
                cells.append(f"{rings.mean():.4f}, {worst:.4f}")
            print(f"| {name} | {camera} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
