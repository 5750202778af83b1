"""Grains that fall into a box, and a view that follows: `python grains.py`.

The discrete element method in NumPy: linear springs and dampers between grains that touch, and
between grains and walls, with semi-implicit Euler steps.
"""

from __future__ import annotations

import argparse

import numpy as np

import raytracer

COUNT = 300
RADIUS = 0.5
WIDTH, HEIGHT = 7.0, 11.0  # of the box
STIFFNESS, DAMPING = 2000.0, 4.0  # force per overlap and per speed, for grains of mass 1
STEP = 0.002  # seconds
GRAVITY = np.array([0.0, 0.0, -9.81])


def forces(position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return the force on each grain, (N, 3)."""
    apart = position[:, None] - position[None]
    distance = np.sqrt((apart**2).sum(axis=-1))
    np.fill_diagonal(distance, np.inf)
    first, second = np.nonzero(distance < 2.0 * RADIUS)
    normal = apart[first, second] / distance[first, second, None]
    overlap = 2.0 * RADIUS - distance[first, second]
    speed = ((velocity[first] - velocity[second]) * normal).sum(axis=1)
    force = np.tile(GRAVITY, (len(position), 1))
    np.add.at(force, first, (STIFFNESS * overlap - DAMPING * speed)[:, None] * normal)
    for axis, side in ((0, -1.0), (0, 1.0), (1, -1.0), (1, 1.0), (2, -1.0)):
        wall = 0.0 if axis == 2 else side * WIDTH / 2.0
        deep = RADIUS - side * (wall - position[:, axis])
        push = np.where(deep > 0.0, STIFFNESS * deep + DAMPING * side * velocity[:, axis], 0.0)
        force[:, axis] -= side * push
    return force


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", choices=["window", "page", "none"], default="window")
    parser.add_argument("--record", help="file of a movie, as grains.mp4")
    parser.add_argument("--steps", type=int, default=5000)
    options = parser.parse_args()

    rng = np.random.default_rng(1)
    layer = np.arange(-2.5, 3.0, 1.0)
    position = np.array([(x, y, z) for z in range(1, 10) for y in layer for x in layer])[:COUNT]
    position = position + rng.uniform(-0.05, 0.05, position.shape)
    velocity = np.zeros_like(position)

    with raytracer.live(
        open=None if options.open == "none" else options.open,
        record=options.record,
        every=8,
        color_by="speed",
        range=(0.0, 8.0),
        up="z",
        width=640,
        height=480,
        samples=16,
    ) as view:
        view.log_box((WIDTH, WIDTH, HEIGHT), origin=(-WIDTH / 2.0, -WIDTH / 2.0, 0.0))
        for step in range(options.steps):
            velocity += STEP * forces(position, velocity)
            position += STEP * velocity
            view.set_time(STEP * step)
            speed = np.linalg.norm(velocity, axis=1)
            view.log_points("grains", position, radii=RADIUS, columns={"speed": speed})
            if view.closed and options.open != "none":
                return
        if options.open != "none":
            view.wait()


if __name__ == "__main__":
    main()
