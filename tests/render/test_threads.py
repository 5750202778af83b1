"""What happens on the worker threads: memory that runs out, and settings changed meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from support.project import to_project
from support.scenes import random_scene

STARVED = """
import resource
import numpy as np
import raytracer
from raytracer import pipeline
scene = raytracer.Scene(spheres=[raytracer.SphereSet(np.random.rand(50, 3), 0.05)])
from raytracer.film.film import Film
with pipeline.prepare(scene, {"width": 256, "height": 256}, backend="cpu", threads=%d) as job:
    film = job.film(Film.blank(256, 256, None))
    pages = int(open("/proc/self/statm").read().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 300_000, limits[1]))
    try:
        job.expose(film, 1)
    except MemoryError:
        print("refused")
    resource.setrlimit(resource.RLIMIT_AS, limits)
    job.expose(film, 1)
    print("rendered")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize("threads", [1, 3])
def test_no_memory_is_a_memory_error(threads: int) -> None:
    """An exception on a worker comes back to the caller, and the next render works."""
    # One arena: others hold address space in reserve, from which a thread would be served.
    done = subprocess.run(
        [sys.executable, "-c", STARVED % threads],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MALLOC_ARENA_MAX": "1"},
    )
    assert done.stdout.split() == ["refused", "rendered"], done.stderr


def test_tile_size_changed_while_rendering() -> None:
    """One call of the kernel reads the size once."""
    from raytracer import _core, pipeline
    from raytracer.backends.cpu import CpuScene
    from raytracer.film.film import Film

    stop = threading.Event()

    def meddle() -> None:
        side = 8
        while not stop.wait(0.0003):
            _core.set_tile(side)
            side = 72 - side

    scene = to_project(random_scene(43, 200))
    with pipeline.prepare(scene, {"width": 200, "height": 150}, backend="cpu") as job:
        view = job.view.with_samples(0, 8)
        assert isinstance(job.scene, CpuScene)
        arrays = job.scene.arrays
        seen = view.camera, view.lights, view.materials, view.frame
        films = [Film.blank(200, 150, None) for _ in range(6)]
        meddler = threading.Thread(target=meddle)
        try:
            for film in films:
                arrays.render(*seen, film.sums, 0, 1e9, 2)
                if film is films[0]:
                    meddler.start()
        finally:
            stop.set()
            meddler.join()
            _core.set_tile(64)
    for film in films[1:]:
        np.testing.assert_array_equal(films[0].sums, film.sums)
