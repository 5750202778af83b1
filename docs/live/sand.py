"""Sand that falls on a plane, by Newton's position-based solver, and a view: `python sand.py`.

Needs `pip install newton`. Newton runs on the GPU where Warp finds one, else on the CPU, where the
compilation of its kernels takes a minute at the first start.
"""

from __future__ import annotations

import argparse

import newton
import warp as wp

import raytracer

SIDE, HEIGHT = 8, 24  # grains of the column
RADIUS = 0.05
STEP = 1.0 / 240.0
STEPS_PER_VIEW = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", choices=["window", "page", "none"], default="window")
    parser.add_argument("--record", help="file of a movie, as sand.mp4")
    parser.add_argument("--steps", type=int, default=600)
    options = parser.parse_args()

    builder = newton.ModelBuilder()
    builder.default_particle_radius = RADIUS
    builder.add_particle_grid(
        pos=wp.vec3(-SIDE * RADIUS, -SIDE * RADIUS, RADIUS), rot=wp.quat_identity(),
        vel=wp.vec3(0.0), dim_x=SIDE, dim_y=SIDE, dim_z=HEIGHT, cell_x=2.0 * RADIUS,
        cell_y=2.0 * RADIUS, cell_z=2.0 * RADIUS, mass=0.1, jitter=0.2 * RADIUS,
        radius_mean=RADIUS,
    )  # fmt: skip
    builder.add_ground_plane()
    model = builder.finalize()
    solver = newton.solvers.SolverXPBD(model, iterations=4)
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    state, other, control = model.state(), model.state(), model.control()
    height = state.particle_q.numpy()[:, 2].copy()  # at the start

    with raytracer.live(
        open=None if options.open == "none" else options.open,
        record=options.record,
        every=8,
        color_by="height",
        up="z",
        ground=0.0,
        zoom=0.7,
        width=640,
        height=480,
        samples=16,
    ) as view:
        for _ in range(options.steps):
            for _ in range(STEPS_PER_VIEW):
                state.clear_forces()
                pipeline.collide(state, contacts)
                solver.step(state, other, control, contacts, STEP)
                state, other = other, state
            positions = state.particle_q.numpy()
            view.log_points("sand", positions, radii=RADIUS, columns={"height": height})
            if view.closed and options.open != "none":
                return
        if options.open != "none":
            view.wait()


if __name__ == "__main__":
    main()
