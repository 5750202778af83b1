"""Our side of a comparison: the same interface as a peer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import numpy as np

from raytracer.backends.base import Device
from raytracer.backends.cuda.transfer import upload
from raytracer.backends.select import select_device
from raytracer.benchmark.render_benchmark import expose
from raytracer.benchmark.sources import digests, list_sources
from raytracer.benchmark.statistics import make_timer, repeated
from raytracer.benchmark.tree_benchmark import _build_there, _on_device
from raytracer.film.aovs import compute_aov
from raytracer.film.film import Film
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.pack import pack
from raytracer.packing.sphere_update import SphereUpdate
from raytracer.rendering.pipeline import prepare
from reference.peers.scenes import PeerScene, to_scene
from reference.peers.turns import Answer, Turn

STEP = 0.1  # of the radius of a sphere: what it moves along each axis in a step, at most
PARTS = {"primary": "direct", "shadow": "direct", "ao": "direct"}
"""The part of the renderer that does a work, where it has another name."""


def digests_of(backend: str, work: str) -> dict[str, str]:
    """Return the digest of each source of a work, with all that it includes, by its path."""
    return digests(list_sources(backend, PARTS.get(work, work)))


def stepped(scene: PeerScene) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return centres after a step in a random direction, float32 (N, 3)."""
    steps = np.random.default_rng(scene.seed).uniform(-STEP, STEP, (len(scene.spheres), 3))
    return (scene.spheres[:, :3] + steps * scene.spheres[:, 3:]).astype(np.float32)


@contextmanager
def open_ours(scene: PeerScene, work: str, device: Device) -> Iterator[tuple[Turn, Answer | None]]:
    """Yield what times our side, and its answer where the work is a picture."""
    if work == "build":
        yield _turn(_builder(pack(to_scene(scene, "primary")), device)), None
        return
    if work == "refit":
        with _refitter(scene, device) as refit:
            yield _turn(refit), None
        return
    with (
        prepare(to_scene(scene, work), backend=device, threads=0) as job,
        job.device.film(Film.blank(scene.width, scene.height)) as film,
    ):

        def frame() -> float:
            return expose(film, job.scene, job.view)

        frame()
        hits = job.scene.trace_first_hits(job.view)
        sums = film.to_host().sums.copy()
        yield _turn(frame), Answer(hits["id"], compute_aov("depth", hits, job.space), sums)


def _turn(run: Callable[[], float]) -> Turn:
    """Return a turn: seconds of each call, after one that is not timed."""

    def turn(seconds: float) -> list[float]:
        run()
        return repeated(run, seconds)

    return turn


def _builder(buffers: SceneBuffers, device: Device) -> Callable[[], float]:
    if device.name == "cpu":
        return make_timer(lambda: device.build(buffers))
    tree = _on_device(device.number, buffers)
    return make_timer(lambda: _build_there(tree))


@contextmanager
def _refitter(scene: PeerScene, device: Device) -> Iterator[Callable[[], float]]:
    buffers = pack(to_scene(scene, "primary"))
    places: list[Any] = [stepped(scene), scene.spheres[:, :3].copy()]
    moves = cycle(places if device.name == "cpu" else [upload(device.number, x) for x in places])
    with device.scene(buffers, device.build(buffers)) as on_device:
        on_device.max_excess = 1e300  # built once

        def refit() -> None:
            on_device.update(SphereUpdate(0, buffers.count, next(moves)))
            on_device.find_moved_radii()  # waits until the tree of a GPU has followed

        yield make_timer(refit)


def our_device(backend: str, threads: int) -> Device:
    return select_device(backend, threads)
