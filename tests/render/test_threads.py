"""What happens on the worker threads: memory that runs out, and settings changed meanwhile."""

import sys

import pytest

from support.commands import python

STARVED = """
import resource
import numpy as np
import raytracer
from raytracer.rendering import pipeline
scene = raytracer.Scene(spheres=[raytracer.SphereSet(np.random.rand(50, 3), 0.05)])
from raytracer.film.film import Film
with pipeline.prepare(scene, {"width": 256, "height": 256}, backend="cpu", threads=%d) as job:
    film = job.device.film(Film.blank(256, 256, None))
    pages = int(open("/proc/self/statm").read().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 300_000, limits[1]))
    try:
        job.accumulate(film, 1)
    except MemoryError:
        print("refused")
    resource.setrlimit(resource.RLIMIT_AS, limits)
    job.accumulate(film, 1)
    print("rendered")
"""


# One CPU: a thread that nobody waits for has no other on which to end.
FORKS = """
import os
import raytracer
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
scene = raytracer.Scene(spheres=[raytracer.SphereSet([[0.0, 0.0, 0.0]], 1.0)])
threads = set()
for _ in range(50):
    raytracer.render(scene, width=8, height=8, samples=1, backend="cpu", threads=1)
    child = os.fork()
    if not child:
        os._exit(0)
    threads.add(len(os.listdir("/proc/self/task")))
    os.waitpid(child, 0)
print(threads)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads in /proc")
def test_a_fork_after_a_render_finds_no_other_thread() -> None:
    """From 3.12 on, Python warns of a fork with threads; the child would lack them."""
    done = python("-c", FORKS, env={"OPENBLAS_NUM_THREADS": "1"})
    assert (done.stdout, done.stderr) == ("{1}\n", "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize("threads", [1, 3])
def test_no_memory_is_a_memory_error(threads: int) -> None:
    """An exception on a worker comes back to the caller, and the next render works."""
    # One arena: others hold address space in reserve, from which a thread would be served.
    done = python("-c", STARVED % threads, env={"MALLOC_ARENA_MAX": "1"})
    assert done.stdout.split() == ["refused", "rendered"], done.stderr
