"""`raytracer bench render`: the example scenes on a backend, frames and builds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from raytracer import resources
from raytracer.benchmark import noise
from raytracer.benchmark.measure import Renderer
from raytracer.scene.load import load
from raytracer.scene.scene import Background, Scene

SIZE = (1280, 720)
NOTE = (
    "One sample a pixel, no reflections. Primary: one ray a pixel. With shadows: one more ray "
    "counted for each pixel that is hit and each light, although surfaces that face away from the "
    "light cast none."
)
FRAMES, BUILDS = 20, 3


def names() -> list[str]:
    """The example scenes, sorted."""
    folder = Path(str(resources.scenes()))
    return sorted(path.stem for path in folder.glob("*.toml"))


def result(name: str, backend: str, min_time: float, size: tuple[int, int] = SIZE) -> Any:
    """One example scene as a record's result: rows of primary rays, and of shadows as well."""
    path = Path(str(resources.scenes())) / f"{name}.toml"
    scene = _plain(load(path), size)
    with Renderer(scene, backend) as renderer:
        count, lights = renderer.job.about["spheres"], len(scene.lights or ()) or 1
        pixels = size[0] * size[1]
        rows = []
        hits = 0
        for label, shadows in (("primary", False), ("primary + shadow", True)):
            samples = _frames(renderer, shadows, min_time)
            hits = int((renderer.film.sums[..., 3] > 0).sum())
            rays = pixels + (hits * lights if shadows else 0)
            rows.append(_row(label, samples, rays))
        builds = [1e-3 * taken for taken in renderer.builds(BUILDS)]
        device = renderer.device
    rows.append(_row("build", builds, None, spheres=count))
    return {
        "op": "render",
        "axes": {"scene": name, "width": size[0], "height": size[1], "spheres": count},
        "dtype": "float32",
        "input": name,
        "mode": "frames",
        "backend": backend,
        "work": {"flop": 0, "bytes_read": 0, "bytes_written": 0},
        "hits": hits,
        "note": NOTE,
        "device": device,
        "rows": rows,
    }


def _plain(scene: Scene, size: tuple[int, int]) -> Scene:
    """The scene with one sample a pixel and nothing behind it, so that coverage counts hits."""
    width, height = size
    settings = scene.render.override(
        width=width, height=height, samples=1, filter="point", max_depth=0
    )
    return replace(scene, render=settings, background=Background(transparent=True))


def _frames(renderer: Renderer, shadows: bool, min_time: float) -> list[float]:
    renderer.frames(1, shadows)
    samples: list[float] = []
    while not noise.settled(samples, sum(samples), min_time):
        samples += [1e-3 * taken for taken in renderer.frames(2, shadows)]
    return samples


def _row(
    label: str, samples: list[float], rays: int | None, spheres: int | None = None
) -> dict[str, Any]:
    time = noise.statistics(samples)
    row: dict[str, Any] = {"label": label, "title": label, "kind": "render", "status": "ok"}
    if rays is not None:
        row["mrays"] = 1e-6 * rays / time["median"]
    if spheres is not None:
        row["mspheres"] = 1e-6 * spheres / time["median"]
    return row | {"reason": "", "time": time, "samples": samples}
