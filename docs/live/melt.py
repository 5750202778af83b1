"""A Lennard-Jones crystal that melts, in JAX-MD, and a view that follows: `python melt.py`.

Needs `pip install jax jax-md`.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
from jax_md import energy, simulate, space

import raytracer

CELLS = 5  # of four atoms along each axis
CELL = 1.7  # lengths of sigma
STEP = 0.004
COLD, HOT = 0.2, 2.0  # temperatures at the beginning and at the end
STEPS_PER_VIEW = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", choices=["window", "page", "none"], default="window")
    parser.add_argument("--record", help="file of a movie, as melt.mp4")
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args()

    size = CELLS * CELL
    corners = jnp.stack(jnp.meshgrid(*3 * [jnp.arange(CELLS)], indexing="ij"), -1).reshape(-1, 1, 3)
    basis = jnp.array([[0.0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    positions = CELL * (corners + basis + 0.25).reshape(-1, 3)
    displacement, shift = space.periodic(size)
    start, step_once = simulate.nvt_nose_hoover(
        energy.lennard_jones_pair(displacement), shift, STEP, COLD
    )
    state = start(jax.random.PRNGKey(1), positions)

    @jax.jit
    def advance(state, temperature):
        def once(_, state):
            return step_once(state, kT=temperature)

        return jax.lax.fori_loop(0, STEPS_PER_VIEW, once, state)

    with raytracer.live(
        open=None if options.open == "none" else options.open,
        record=options.record,
        every=8,
        color_by="speed",
        range=(0.0, 4.0),
        width=640,
        height=480,
        samples=16,
    ) as view:
        view.log_box((size, size, size))
        for step in range(options.steps):
            state = advance(state, COLD + (HOT - COLD) * step / options.steps)
            speed = jnp.linalg.norm(state.velocity, axis=1)
            view.set_time(STEP * STEPS_PER_VIEW * step)
            view.log_points("atoms", state.position, radii=0.5, columns={"speed": speed})
            if view.closed and options.open != "none":
                return
        if options.open != "none":
            view.wait()


if __name__ == "__main__":
    main()
