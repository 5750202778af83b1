"""Time and error of a picture of a million particles in the default look.

`python docs/research/default_look.py` writes random particles to a file and runs
`raytracer render FILE --size 1280x720` on two threads, with several numbers of samples, as it is
and denoised. It prints the seconds of the whole process, its processor time, and the root mean
square error in 8-bit sRGB values, measured against 4,096 other samples, in a part of the picture.
Other processes on the machine disturb the seconds, and the processor time less.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

COUNT = 1_000_000
SIZE = "1280x720"
CROP = (480, 270, 800, 450)
"""The part that is compared, x0, y0, x1, y1: the reference takes most of the time."""

THREADS = "2"
OTHER_SEED = "77"


class Run(NamedTuple):
    """A picture, uint8 (h, w, 3), with the seconds and the processor time of its process."""

    picture: NDArray[np.uint8]
    seconds: float
    processor: float


def write_particles(path: Path, count: int) -> None:
    """Write equal spheres at random places in a cube, a third of its volume."""
    centers = np.random.default_rng(1).random((count, 3))
    radius = (0.3 / (count * 4 / 3 * np.pi)) ** (1 / 3)
    np.savez(path, centers=centers.astype(np.float32), radii=np.full(count, radius, np.float32))


def run(path: Path, *options: str) -> Run:
    """Render a picture in a process of its own."""
    target = path.with_name("picture.png")
    command = [sys.executable, "-m", "raytracer", "render", str(path), "--backend", "cpu",
               "--threads", THREADS, "--size", SIZE, "-q", "-o", str(target), *options]  # fmt: skip
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True)
    seconds, after = time.perf_counter() - start, os.times()
    used = after.children_user + after.children_system
    with Image.open(target) as image:
        picture = np.asarray(image.convert("RGB"))
    return Run(picture, seconds, used - before.children_user - before.children_system)


def error(picture: NDArray[np.uint8], truth: NDArray[np.uint8]) -> float:
    """Return the root mean square difference of two pictures."""
    return float(np.sqrt(np.square(picture.astype(float) - truth).mean()))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=COUNT, help="particles")
    parser.add_argument("--samples", type=int, nargs="+", default=[8, 16, 32, 40], metavar="N")
    parser.add_argument("--truth", type=int, default=4096, help="samples of the reference")
    args = parser.parse_args()
    x0, y0, x1, y1 = CROP
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "particles.npz"
        write_particles(path, args.count)
        crop = ",".join(map(str, CROP))
        many = "--samples", str(args.truth), "--seed", OTHER_SEED, "--crop", crop
        truth = run(path, *many).picture
        print(f"{args.count:,} particles, {SIZE}, error against {args.truth:,} samples", flush=True)
        for samples in args.samples:
            for denoise in ((), ("--denoise",)):
                made = run(path, "--samples", str(samples), *denoise)
                found = error(made.picture[y0:y1, x0:x1], truth)
                print(f"{samples:3} samples {'denoised' if denoise else '':8}  error {found:5.2f}"
                      f"  {made.seconds:6.2f} s  processor time {made.processor:6.2f} s",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
