"""Figures of several GPUs of one machine: frames without encoding, and one large picture.

    python tests/reference/two_gpus.py [--devices 2] [--backend cuda]

The first figure is the elapsed time of frames, each read, packed, rendered and developed by a
worker that has a GPU of its own; nothing is encoded or written. Workers are warm: the clock starts
when each has returned some frames. The second one is the device time of one picture of a million
spheres, 3840x2160 pixels with 64 samples: rendered whole by one GPU, and in bands by workers, of
whose sums of times the largest one counts. Both compare the pictures, which must have the same
bytes. `--backend cpu` tries the script where there is no GPU; its workers share the cores.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

import raytracer
from raytracer.animation.farmed import Order, ShotWorker
from raytracer.animation.numbered import NumberedPictures
from raytracer.animation.shots import Renderer, Shot
from raytracer.farm.choice import crew_of
from raytracer.farm.crew import in_order
from raytracer.farm.shared import Shared, opened
from raytracer.farm.tiles import TileCrew, TileOrder
from raytracer.film.film import Film
from raytracer.pipeline import prepare

WARM = 8
"""Frames of each worker before the clock starts."""

NOWHERE = Path("/nonexistent/####.png")
"""Pictures that nobody writes."""

ROUNDS = 3
"""Pictures of which the fastest counts."""


def rendered(shared: Shared, shot: Shot) -> tuple[float, str]:
    """Render and develop a frame on a worker, and return its device time (s) and its digest."""
    with opened(shared, ShotWorker) as worker:
        renderer: Renderer = worker.renderer
        renderer.exposure = 0.0
        pixels = renderer.image(shot, 8).to_uint8()
        digest = hashlib.blake2b(np.ascontiguousarray(pixels).tobytes(), digest_size=16)
        return renderer.seconds[-1], digest.hexdigest()


def frames(options: argparse.Namespace) -> None:
    """Compare the elapsed time of frames by one worker and by several."""
    rng = np.random.default_rng(11)
    start = rng.uniform(size=(options.particles, 3)).astype(np.float32)
    way = rng.normal(scale=0.002, size=start.shape).astype(np.float32)
    count = options.frames + WARM * options.devices
    moving = np.stack([start + way * t for t in range(count)])
    width, height = options.frame_size
    animation = raytracer.animate(
        moving, backend=options.backend, width=width, height=height, samples=8, radius=0.008
    )
    plan = animation._plan
    taken, digests = [], []
    with Renderer(plan) as renderer:
        keeper = NumberedPictures(NOWHERE, "0" * 16, count)
        order = Order(replace(plan, threads=0), renderer.fixed, keeper, NOWHERE, 8,
                      plan.source.signature())  # fmt: skip
        for workers in (1, options.devices):
            with crew_of(workers, None, options.backend, 0) as crew:
                shared = crew.share(Shared.of(order))
                first, rest = plan.shots[: WARM * workers], plan.shots[-options.frames :]
                list(in_order(crew, rendered, ((shared, shot) for shot in first)))
                begun = time.perf_counter()
                found = list(in_order(crew, rendered, ((shared, shot) for shot in rest)))
                taken.append(time.perf_counter() - begun)
                digests.append([digest for _, digest in found])
                device = sum(seconds for seconds, _ in found)
            print(
                f"{workers} worker(s): {options.frames} frames of {options.particles:,} particles "
                f"in {taken[-1]:.3f} s, of it {device:.3f} s of device time in all", flush=True
            )  # fmt: skip
    same = "the same pictures" if digests[0] == digests[1] else "OTHER PICTURES"
    print(f"frames: {taken[0] / taken[1]:.3f} times as fast, {same}", flush=True)


def picture(options: argparse.Namespace) -> None:
    """Compare the device time of one picture by one worker and by several."""
    rng = np.random.default_rng(5)
    scene = raytracer.Scene.from_arrays(
        rng.uniform(size=(options.spheres, 3)), 0.3 / options.spheres ** (1 / 3)
    )
    width, height = options.picture_size
    size = {"width": width, "height": height, "samples": options.samples}
    with prepare(scene, size, backend=options.backend, keep=True) as job:
        assert job.kept is not None
        alone, whole, digest = [], [], ""
        for _ in range(1 + ROUNDS):
            begun = time.perf_counter()
            with job.film(Film.blank(width, height)) as film:
                alone.append(film.add(job.scene, job.view, options.samples))
                digest = film_digest(film.to_host())
            whole.append(time.perf_counter() - begun)
        with crew_of(options.devices, None, options.backend, 0) as crew:
            order = TileOrder(job.kept[1], job.view, options.backend, 0, bands=True)
            helpers = TileCrew(crew, order)
            shared, elapsed, other = [], [], ""
            for _ in range(1 + ROUNDS):  # in the first round workers build their trees
                helpers.seconds.clear()
                with job.film(Film.blank(width, height)) as film:
                    elapsed.append(helpers.add(film, options.samples, None, None))
                    other = film_digest(film.to_host())
                shared.append(max(helpers.seconds.values()))
    one, several = min(alone[1:]), min(shared[1:])
    print(
        f"a picture of {options.spheres:,} spheres, {width}x{height}, {options.samples} samples: "
        f"{one:.3f} s of device time, {min(whole[1:]):.3f} s elapsed; by {options.devices} workers "
        f"{several:.3f} s of device time at most, {min(elapsed[1:]):.3f} s elapsed", flush=True
    )  # fmt: skip
    same = "the same film" if digest == other else "OTHER FILM"
    print(f"picture: {one / several:.3f} times as fast in device time, {same}", flush=True)


def film_digest(film: Film) -> str:
    """Return the digest of the sums of a film."""
    return hashlib.blake2b(film.sums.tobytes()).hexdigest()


def size_of(text: str) -> tuple[int, int]:
    """Return width and height of "1280x720"."""
    width, height = text.split("x")
    return int(width), int(height)


def main() -> None:
    """Run both figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--backend", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--particles", type=int, default=100_000)
    parser.add_argument("--frame-size", type=size_of, default=(1280, 720))
    parser.add_argument("--spheres", type=int, default=1_000_000)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--picture-size", type=size_of, default=(3840, 2160))
    options = parser.parse_args()
    picture(options)
    frames(options)


if __name__ == "__main__":
    # By its name, because workers find the functions by the name of their module.
    import_module("two_gpus").main()
