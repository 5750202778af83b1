"""Error and time of drafts: the pictures that are shown while the camera moves or frames play.

`python docs/research/draft_noise.py --backend cuda` turns a molecule and a hundred thousand
random spheres, and plays a trajectory, as a session does it. It prints the root mean square
difference in 8-bit sRGB values between each draft, stretched to the size of the window, and the
converged picture of the same camera and frame, with the seconds and the processor time of a draft:
rendering and tone mapping. The resolution is that of `--level`, and the one to which the preview
adapts. `--shots FOLDER` keeps drafts beside converged pictures.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import raytracer.viewer.panel  # noqa: F401  # the actions of sessions
from raytracer.film.film import Film
from raytracer.viewer.messages import RenderRequest
from raytracer.viewer.progressive_film import LEVELS, ResolutionController
from raytracer.viewer.session import Session

MOLECULE = Path(__file__).parents[2] / "scenes" / "molecule.xyz"
COUNT, ATOMS, FRAMES = 100_000, 2_000, 24
WARM_UP = 12
"""Drafts before those that are measured, in which the preview adapts its resolution."""


class Fixed(ResolutionController):
    """A resolution that does not adapt."""

    def record(self, pixels: int, rendering: float, presenting: float = 0.0) -> None:
        """Keep the level."""


def write_spheres(path: Path) -> Path:
    """Write places alone, in a cube."""
    np.savez(path, centers=np.random.default_rng(1).random((COUNT, 3), np.float32))
    return path


def write_trajectory(path: Path) -> Path:
    """Write atoms on a lattice that shake more and more."""
    random = np.random.default_rng(2)
    side = round(ATOMS ** (1 / 3)) + 1
    places = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3)[:ATOMS] * 2.6
    steps = random.normal(size=(ATOMS, 3)) * 0.06
    with path.open("w") as file:
        for frame in range(FRAMES):
            now = places + steps * frame + random.normal(size=places.shape) * 0.05
            file.write(f"{ATOMS}\nframe {frame}\n")
            file.writelines(f"Ar {x:.4f} {y:.4f} {z:.4f}\n" for x, y, z in now)
    return path


class Drafts:
    """A session whose drafts are rendered in this thread, one for each action."""

    def __init__(self, scene: Path, size: tuple[int, int], backend: str, level: float | None):
        self.session = Session.open(
            scene, width=size[0], height=size[1], backend=backend, say=lambda _: None
        )
        self.worker = self.session.worker
        self.worker.stop()
        self.worker._stopped = False
        at = LEVELS.index(level if level is not None else 0.25)
        self.worker.resolution = ResolutionController(at) if level is None else Fixed(at)

    def request(self) -> RenderRequest:
        """Return the picture that was asked for last."""
        self.session.receive()
        request = self.worker._request
        assert request is not None
        if self.worker.loaded_scenes[0] is not request.loaded_scene:
            self.worker._replace_scenes(request.loaded_scene)
        return request

    def draft(self) -> tuple[NDArray[np.uint8], float, float]:
        """Render a draft; returns the picture, its seconds and its processor time."""
        request, worker = self.request(), self.worker
        start, used = perf_counter(), process_time()
        worker._film.restart(request, worker.resolution.choose(request.size, 0.0), draft=True)
        worker._film.add(request, 1, worker._check_stop)
        worker._publish(request)
        used, seconds = process_time() - used, perf_counter() - start
        worker.resolution.record(worker._film.pixels, seconds)
        frame = worker.take_frame()
        assert frame is not None
        assert frame.draft
        pixels: NDArray[np.uint8] = frame.picture.to_host()
        worker.release(frame)
        return pixels, seconds, used

    def converged(self, samples: int) -> NDArray[np.uint8]:
        """Return the picture that samples add up to."""
        request = self.request()
        job = request.loaded_scene.job
        picture = job.device.picture()
        with job.device.film(Film.blank(*request.size)) as film:
            film.add(job.scene, request.job.view, samples)
            film.develop_into(replace(request.tone, bloom=0.0), picture)
            return picture.to_host()


def turn(drafts: Drafts, number: int) -> None:
    """Drag a little."""
    drafts.session.do("orbit", 0.05, 0.01 if number % 8 < 4 else -0.01)


def play(drafts: Drafts, number: int) -> None:
    """Show the next frame."""
    while (before := drafts.request()) and drafts.session.time.count < FRAMES:
        sleep(0.001)  # they are counted
    drafts.session.do("frame", (number + 1) % FRAMES)
    while drafts.request() is before:
        sleep(0.001)


def stretched(pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.float64]:
    """Return a picture at the size of the window, interpolated as the canvas does it."""
    found = pixels[..., :3].astype(float)
    for axis, count in ((1, size[0]), (0, size[1])):
        have = found.shape[axis]
        place = np.clip((np.arange(count) + 0.5) * have / count - 0.5, 0, have - 1)
        low = np.minimum(place.astype(int), max(have - 2, 0))
        part = (place - low).reshape([-1 if each == axis else 1 for each in range(3)])
        high = np.minimum(low + 1, have - 1)
        found = np.take(found, low, axis) * (1 - part) + np.take(found, high, axis) * part
    return found


def measure(
    drafts: Drafts, move: Callable[[Drafts, int], None], args: Any, shot: Path | None
) -> str:
    """Return error, size and times of drafts as a line of text."""
    errors, seconds, used = [], [], []
    size = drafts.request().size
    for number in range(WARM_UP + args.drafts):
        move(drafts, number)
        pixels, elapsed, processor = drafts.draft()
        if number < WARM_UP:
            continue
        seconds.append(elapsed)
        used.append(processor)
        if number % args.every == 0:
            truth = drafts.converged(args.samples)[..., :3]
            shown = stretched(pixels, size)
            errors.append(float(np.sqrt(np.square(shown - truth).mean())))
            if shot is not None:
                both = np.concatenate([shown.round().astype(np.uint8), truth], axis=1)
                Image.fromarray(both).save(shot)
    height, width = pixels.shape[:2]
    took = 1e3 * median(seconds), 1e3 * median(used), 1 / median(seconds)
    times = "{:7.2f} ms  processor {:7.2f} ms  {:6.1f} drafts/s".format(*took)
    return f"{width:4} x {height:<4}  error {mean(errors):6.2f}  {times}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--size", default="1280x720", help="of the window")
    parser.add_argument("--level", type=float, nargs="*", choices=LEVELS, default=[1.0, 0.5, 0.25])
    parser.add_argument("--drafts", type=int, default=16, help="that are measured")
    parser.add_argument("--every", type=int, default=5, help="of these, the one that is compared")
    parser.add_argument("--samples", type=int, default=128, help="of converged pictures")
    parser.add_argument("--shots", type=Path, help="folder for pictures")
    args = parser.parse_args()
    width, height = map(int, args.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        cases: list[tuple[str, Path, Callable[[Drafts, int], None]]] = [
            ("molecule", MOLECULE, turn),
            ("spheres", write_spheres(Path(folder) / "spheres.npz"), turn),
            ("trajectory", write_trajectory(Path(folder) / "atoms.xyz"), play),
        ]
        for name, scene, move in cases:
            for level in (*args.level, None):
                shot = args.shots and args.shots / f"{name}_{level or 'adaptive'}.png"
                drafts = Drafts(scene, (width, height), args.backend, level)
                with drafts.session:
                    print(f"{name:10} {measure(drafts, move, args, shot)}"
                          f"{'  adaptive' if level is None else ''}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
