"""Processor time of what is added to a picture, by that of the plain picture.

`python docs/research/picture_costs.py --spheres 100000 --samples 4`: user and system time of this
process for `raytracer.render` of 1,280 x 720, all cases in turns, medians and the quarters of the
ratios.
"""

import argparse
import statistics
import time
from typing import Any

import numpy as np

import raytracer

CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "opacity": {"opacity": 0.5},
    "almost opaque": {"opacity": 0.999},
    "clip": {"clip": "x < 0"},
    "outline": {"annotations": {"outline": True}},
    "box of rods": {"box": "rods"},
    "box of lines": {"box": "lines"},
    "ground": {"ground": "below"},
}
"""Settings of `raytracer.render`; the opacity is that of the spheres, the box that around them."""


def scene(count: int, opacity: float) -> raytracer.Scene:
    """Return spheres at random places of a cube, a third of its volume."""
    side = count ** (1 / 3)
    centers = np.random.default_rng(1).uniform(-side / 2, side / 2, (count, 3))
    return raytracer.Scene([raytracer.SphereSet(centers, np.full(count, 0.43), opacity=opacity)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spheres", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    options = parser.parse_args()
    cases = {name: CASES[name] for name in dict.fromkeys(["plain", *options.cases])}
    side = options.spheres ** (1 / 3)
    edges = (side * np.eye(3)).tolist()
    times: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(options.turns + 1):
        for name, given in cases.items():
            settings = dict(given)
            made = scene(options.spheres, settings.pop("opacity", 1.0))
            if style := settings.pop("box", None):
                box = {"style": style, "origin": [-side / 2] * 3, "edges": edges}
                settings["annotations"] = {"box": box}
            begin = time.process_time()
            raytracer.render(
                made, width=1280, height=720, samples=options.samples, backend="cpu", **settings
            ).to_uint8()
            if turn:  # the first one warms up
                times[name].append(time.process_time() - begin)
    plain = statistics.median(times["plain"])
    print(f"{options.spheres} spheres, {options.samples} samples; plain {plain:.3f} s")
    for name in cases:
        ratios = sorted(a / b for a, b in zip(times[name], times["plain"], strict=True))
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        print(f"{name:14} {middle:.2f} ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
