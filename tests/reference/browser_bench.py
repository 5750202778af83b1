"""Pictures per second of the view in a browser, and the time until it is sharp.

`python tests/reference/browser_bench.py` serves 100,000 spheres, opens the page in a headless
Chromium on the same two cores, drags for some seconds, and prints what the page drew: pictures per
second and their size while dragging, and the seconds from the last movement to the first picture of
full size, and to the finished one. Other processes on the machine disturb all of it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from math import cos, sin
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.chromium import OPTIONS, executable

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVENTS = 60.0
"""Movements of the mouse per second."""

WARM = 1.0
"""Seconds of a drag that are left out: the resolution is still being found."""

RADIUS = 60.0
"""Of the circle that the mouse moves on, in pixels."""


def write_spheres(path: Path, count: int) -> None:
    """Write a ball of spheres that touch here and there."""
    random = np.random.default_rng(7)
    directions = random.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    centers = directions * random.random((count, 1)) ** (1 / 3)
    np.savez(path, centers=centers, radii=np.full(count, 0.6 * count ** (-1 / 3)))


def drag(page: Page, seconds: float, middle: tuple[int, int]) -> tuple[float, float]:
    """Drag on a circle; returns when it began and ended, in milliseconds of the page."""
    x, y = middle
    page.mouse.move(x + RADIUS, y)
    page.mouse.down()
    began = start = time.perf_counter()
    first = float(page.evaluate("performance.now()"))
    while (now := time.perf_counter()) - start < seconds:
        angle = 3.0 * (now - start)
        page.mouse.move(x + RADIUS * cos(angle), y + RADIUS * sin(angle))
        began += 1.0 / EVENTS
        time.sleep(max(began - time.perf_counter(), 0.0))
    last = float(page.evaluate("performance.now()"))
    page.mouse.up()
    return first, last


def summary(frames: list[dict[str, Any]], first: float, last: float) -> dict[str, Any]:
    """Return the figures of a drag from the frames that the page drew."""
    moving = [each for each in frames if first + 1e3 * WARM <= each["at"] <= last]
    gaps = [later["at"] - each["at"] for each, later in pairwise(moving)]
    after = [each for each in frames if each["at"] > last]
    full = next(each["at"] for each in after if each["size"] == each["full"])
    return {
        "pictures per second": 1e3 * (len(moving) - 1) / (moving[-1]["at"] - moving[0]["at"]),
        "longest gap, ms": max(gaps),
        "median size": [statistics.median_low(each["size"][i] for each in moving) for i in (0, 1)],
        "smallest size": min(each["size"] for each in moving),
        "full size after, s": 1e-3 * (full - last),
        "finished after, s": 1e-3 * (after[-1]["at"] - last),
        "samples": after[-1]["of"],
    }


def measure(
    scene: Path, size: tuple[int, int], seconds: float, options: list[str]
) -> dict[str, Any]:
    """Serve a scene, drag in a page and return the figures."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "raytracer", "serve", str(scene), "--backend", "cpu", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=executable(), args=OPTIONS)
                page = browser.new_page(viewport={"width": size[0], "height": size[1]})
                page.goto(address[0])
                page.wait_for_selector(".rt-view")
                page.click(".rt-opener")  # the picture fills the page
                page.wait_for_function(
                    "width => raytracerView.header && raytracerView.header.finished && "
                    "raytracerView.header.full[0] === width",
                    arg=size[0],
                    timeout=300_000,
                )
                first, last = drag(page, seconds, (size[0] // 2, size[1] // 2))
                page.wait_for_function(
                    "last => raytracerView.header.finished && "
                    "raytracerView.frames.at(-1).at > last",
                    arg=last,
                    timeout=300_000,
                )
                found = summary(page.evaluate("raytracerView.frames"), first, last)
                browser.close()
                return found
        finally:
            server.terminate()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="number of spheres")
    parser.add_argument("--size", type=int, nargs=2, default=(800, 600), help="of the picture")
    parser.add_argument("--seconds", type=float, default=6.0, help="of a drag")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2, help="for server and browser together")
    parser.add_argument("options", nargs="*", help="of raytracer serve, after --")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # the processes that are started inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.cores])
    width, height = given.size
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "spheres.npz"
        write_spheres(scene, given.count)
        print(f"{given.count:,} spheres, {width}x{height}, {given.cores} cores", flush=True)
        for _ in range(given.repeat):
            load = os.getloadavg()[0]
            found = measure(scene, (width, height), given.seconds, given.options)
            rounded = {
                name: round(value, 2) if isinstance(value, float) else value
                for name, value in found.items()
            }
            print(json.dumps(rounded | {"load before": round(load, 1)}), flush=True)


if __name__ == "__main__":
    main()
