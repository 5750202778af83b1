"""Live scenes: pictures of particles that moved are those of a scene that was packed anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import raytracer
from raytracer.film.film import Film
from raytracer.scene.packing.pack import repack
from raytracer.scene.packing.pose import posed
from raytracer.scene.packing.render_space import Space

SIZE = {"width": 48, "height": 36}


def fresh(live: raytracer.LiveScene, scene: raytracer.Scene) -> np.ndarray:
    """Return the sums of a scene that is packed in the space of a live one and gets a new tree."""
    job = live._job
    before = job.kept[1]
    settings = job.settings
    stated = replace(scene, render=settings, camera=live.camera)
    pose = posed(live.camera, before.balls, Space.of(before), SIZE["width"] / SIZE["height"])[0]
    buffers = repack(before, stated, settings, pose)
    with job.device.scene(buffers) as on_device:
        film = job.device.film(Film.blank(**SIZE))
        film.add(on_device, buffers.view, settings.samples)
        return film.to_host().sums


@pytest.mark.parametrize("count", [1, 2, 7, 63, 512, 5000])
def test_a_moved_scene_has_the_picture_of_a_new_one(count):
    rng = np.random.default_rng(count)
    x = rng.uniform(-1.0, 1.0, (count, 3))
    r = rng.uniform(0.3, 0.6, count) * count ** (-1 / 3)
    colors = rng.uniform(0.0, 1.0, (count, 3))
    scene = raytracer.Scene.from_arrays(x, r, colors)
    with raytracer.LiveScene(scene, backend="cpu", samples=2, **SIZE) as live:
        for step in range(4):
            x = x + rng.normal(0.0, 0.1, (count, 3))
            if step % 2:
                r = r * rng.uniform(0.9, 1.1, count)
                colors = rng.uniform(0.0, 1.0, (count, 3))
                live.update(positions=x, radii=r, colors=colors)
            else:
                live.update(positions=x)
            sums = live.render().film.sums
            assert np.array_equal(sums, fresh(live, raytracer.Scene.from_arrays(x, r, colors)))
