"""Measure live scenes on the CPU: updates, pictures, and when a tree is to be built anew.

Times are processor time in ms, medians of calls in turns, so that other programs matter little.

    python docs/research/live_bench.py [--counts 1000,10000] [--limits] [--frames 40]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import raytracer

SIZE: dict[str, Any] = {"width": 640, "height": 480, "samples": 1, "backend": "cpu"}
LIMITS = (0.1, 0.3, 1.0, 3.0, 10.0)
Motion = Callable[[int], NDArray[np.float64]]


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def gas(count: int, spacings: float) -> Motion:
    """Return particles that fly through a box and are reflected: spacings, that each flies."""
    rng = np.random.default_rng(1)
    x, v = rng.uniform(-1.0, 1.0, (count, 3)), rng.normal(size=(count, 3))
    step = spacings * 2.0 * count ** (-1 / 3)
    return lambda frame: np.abs((x + 1.0 + frame * step * v) % 4.0 - 2.0) - 1.0


def vortex(count: int) -> Motion:
    """Return particles that turn about an axis, the inner ones faster."""
    x, y, z = np.random.default_rng(1).uniform(-1.0, 1.0, (3, count))
    rate = 0.05 / (0.3 + np.hypot(x, y))

    def at(frame: int) -> NDArray[np.float64]:
        c, s = np.cos(rate * frame), np.sin(rate * frame)
        return np.stack([c * x - s * y, s * x + c * y, z], axis=1)

    return at


def motions(count: int) -> Iterator[tuple[str, Motion]]:
    for spacings in (0.01, 0.05, 0.2, 1.0):
        yield f"gas, {spacings:g}", gas(count, spacings)
    yield "vortex", vortex(count)


def live(motion: Motion, radius: float) -> raytracer.LiveScene:
    return raytracer.LiveScene(raytracer.Scene.from_arrays(motion(0), radius), **SIZE)


def calls(count: int, frames: int) -> None:
    """Print the times of an update, a picture, both, and of `render` of a new scene."""
    motion, radius = gas(count, 0.05), 0.6 * count ** (-1 / 3)
    times: dict[str, list[float]] = {"update": [], "picture": [], "build": [], "render": []}
    with live(motion, radius) as scene:
        device, buffers = scene._open().device, scene._kept[1]
        scene.pixels()
        for frame in range(1, frames + 1):
            x = motion(frame)
            times["update"].append(seconds(lambda x=x: scene.update(positions=x)))  # type: ignore[misc]
            times["picture"].append(seconds(scene.pixels))
            if frame % 4 == 0:
                times["build"].append(seconds(lambda: device.build(buffers)))
                new = raytracer.Scene.from_arrays(x, radius)
                times["render"].append(
                    seconds(lambda new=new: raytracer.render(new, **SIZE).to_uint8())  # type: ignore[misc]
                )
    row = [f"{1e3 * np.median(each):.2f}" for each in times.values()]
    mean = 1e3 * (np.mean(times["update"]) + np.mean(times["picture"]))
    print(f"| {count:,} | {' | '.join(row)} | {mean:.2f} |", flush=True)


def limits(count: int, frames: int) -> None:
    """Print the mean time of update and picture for each limit of what a tree may grow."""
    for name, motion in motions(count):
        scenes = [live(motion, 0.6 * count ** (-1 / 3)) for _ in LIMITS]
        for limit, scene in zip(LIMITS, scenes, strict=True):
            scene._open().scene.max_excess = limit
        totals = np.zeros(len(LIMITS))
        for frame in range(frames):
            x = motion(frame)
            for place, scene in enumerate(scenes):
                totals[place] += seconds(lambda: scene.update(positions=x))  # noqa: B023
                totals[place] += seconds(scene.pixels)
        for scene in scenes:
            scene.close()
        row = " | ".join(f"{1e3 * total / frames:.1f}" for total in totals)
        print(f"| {count:,} | {name} | {row} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", default="1000,10000,100000,1000000")
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--limits", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for count in map(int, options.counts.split(",")):
        (limits if options.limits else calls)(count, options.frames)


if __name__ == "__main__":
    main()
