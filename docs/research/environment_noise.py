"""Noise under environment maps and lamps by the number of samples, beside Mitsuba 3's samplers.

Three diffuse balls on a ground that fills the picture, lit by a map of 512x256 pixels or a lamp;
box filter, three bounces. Noise is the variance over runs with other seeds by the squared mean of
all pixels. A record takes rows of several programs, so that an earlier state of this program
can be measured by its own copy (`--label before`):

    python docs/research/environment_noise.py --label after --record noise.json
    python docs/research/environment_noise.py --mitsuba --record noise.json  # pip install mitsuba
    python docs/research/environment_noise.py --plot noise.png --record noise.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 32
BOUNCES = 3
SAMPLES = (1, 4, 16, 64, 256)
RUNS = 16
ALBEDO = 0.5
BALLS = ((-1.3, 1.0, 0.0), (1.1, 1.0, -0.4), (0.2, 0.5, 1.5))
RADII = (1.0, 1.0, 0.5)
EYE, TARGET, FOV = (2.0, 4.5, 5.0), (0.0, 0.4, 0.2), 40.0
GROUND = 100.0  # radius of the ball that is the ground
LAMP = (1.0, 5.0, 2.0)

Array = NDArray[np.float32]


def maps() -> dict[str, Array]:
    """Return equirectangular radiance by name, (256, 512, 3)."""
    rng = np.random.default_rng(7)
    height, width = 256, 512
    theta, turn = np.meshgrid(
        (np.arange(height) + 0.5) / height * np.pi,
        (np.arange(width) + 0.5) / width * 2 * np.pi,
        indexing="ij",
    )
    way = np.stack([np.sin(theta) * np.cos(turn), np.cos(theta), np.sin(theta) * np.sin(turn)], -1)

    def spot(towards: tuple[float, float, float], degrees: float) -> Any:
        axis = np.array(towards) / np.linalg.norm(towards)
        angle = np.degrees(np.arccos(np.clip(way @ axis, -1, 1)))
        return (np.clip((degrees - angle) / 0.3 + 0.5, 0, 1))[..., None]

    def box(rows: tuple[float, float], columns: tuple[float, float]) -> Any:
        inside = (theta > rows[0]) & (theta < rows[1]) & (turn > columns[0]) & (turn < columns[1])
        return inside[..., None].astype(float)

    blue = np.clip(np.cos(theta), 0, 1)[..., None] * (0.2, 0.4, 0.9) + 0.1
    rough = rng.normal(size=(height, width))
    waves = np.zeros((height, width))
    for k in range(40):
        axis = rng.normal(size=3) * (1 + k / 8)
        waves += np.sin(way @ axis * 2 + rng.uniform(0, 7)) / (1 + k / 8)
    skies = {
        "sun": blue + spot((0.6, 0.7, 0.5), 1.5) * (900, 800, 600),
        "room": 0.02 + box((1.0, 1.7), (1.0, 1.6)) * (9, 10, 12) + box((1.1, 1.6), (3.9, 4.2)) * 6,
        "studio": 0.05
        + spot((1, 1.2, 0.3), 22) * (14, 12, 9)
        + spot((-1, 0.5, 0.8), 15) * (2, 4, 9)
        + spot((0.1, 0.3, -1), 8) * 20,
        "city": np.exp(2.0 * rough)[..., None] * (1.0, 0.8, 0.6),
        "clouds": np.exp(0.9 * waves)[..., None] * (0.6, 0.8, 1.0),
        "even": 0.6 + 0.4 * np.cos(theta)[..., None] * (0.5, 0.8, 1.0),
    }
    return {name: np.asarray(sky, np.float32) for name, sky in skies.items()}


Render = Callable[[int, int], Array]
"""Number of samples and seed to linear RGB, (SIZE, SIZE, 3)."""


def ours(name: str, sky: Array | None, bounces: int, specular: float) -> Render:
    """Return how this program renders a case."""
    import raytracer
    from raytracer import Environment

    class Sky(Environment):
        """A map that is no file."""

        def equirectangular(self) -> Array:
            assert sky is not None
            return sky.copy()

    paint = raytracer.Material(ambient=0.0, diffuse=1.0, specular=specular)
    lights: list[Any] = []
    if name == "sphere lamp":
        lights.append(raytracer.PointLight(LAMP, radius=0.8, falloff="inverse-square"))
    if name == "disk lamp":
        lights.append(raytracer.DiskLight(LAMP, direction=(-1, -5, -2), radius=1.2))
    if name == "rectangle lamp":
        lights.append(raytracer.RectangleLight(LAMP, direction=(-1, -5, -2), width=2.0, height=2.0))
    centers = [*BALLS, (0.0, -GROUND, 0.0)]
    scene = raytracer.Scene(
        spheres=[
            raytracer.SphereSet(centers, [*RADII, GROUND], (ALBEDO,) * 3, material=paint),
        ],
        camera=raytracer.Camera(position=EYE, look_at=TARGET, vertical_fov=FOV),
        background=raytracer.Background("black", up=(0, 1, 0)),
        ambient=raytracer.Ambient(intensity=0.0),
        lights=lights,
        environment=None if sky is None else Sky(color="white", rotation=-90.0),
    )

    def render(samples: int, seed: int) -> Array:
        film = raytracer.render(
            scene, width=SIZE, height=SIZE, samples=samples, seed=seed, integrator="path",
            max_depth=bounces, filter="box", backend="cpu",
        ).film  # fmt: skip
        return np.asarray(film.sums[..., :3] / samples)

    return render


def mitsuba(name: str, sky: Array | None, bounces: int, sampler: str) -> Render:
    """Return how Mitsuba renders a case."""
    import mitsuba as mi

    mi.set_variant("scalar_rgb")
    look = mi.ScalarTransform4f().look_at
    paint = {"type": "diffuse", "reflectance": {"type": "rgb", "value": linear(ALBEDO)}}
    said: dict[str, Any] = {
        "type": "scene",
        "integrator": {
            "type": "path", "max_depth": bounces + 2, "rr_depth": 50, "hide_emitters": True,
        },
    }  # fmt: skip
    centers = [*BALLS, (0.0, -GROUND, 0.0)]
    for i, (center, radius) in enumerate(zip(centers, [*RADII, GROUND], strict=True)):
        said[f"ball{i}"] = {"type": "sphere", "center": center, "radius": radius, "bsdf": paint}
    if sky is not None:
        said["sky"] = {"type": "envmap", "bitmap": mi.Bitmap(sky)}
    at = mi.ScalarTransform4f().look_at(origin=LAMP, target=(0, 0, 0), up=(1, 0, 0))
    lamp = {"type": "area", "radiance": {"type": "rgb", "value": 9.0}}
    scale = mi.ScalarTransform4f().scale
    if name == "sphere lamp":
        said["lamp"] = {"type": "sphere", "center": LAMP, "radius": 0.8, "emitter": lamp}
    if name == "disk lamp":
        said["lamp"] = {"type": "disk", "to_world": at @ scale(1.2), "emitter": lamp}
    if name == "rectangle lamp":
        said["lamp"] = {"type": "rectangle", "to_world": at, "emitter": lamp}
    said["sensor"] = {
        "type": "perspective", "fov": FOV, "fov_axis": "y",
        "to_world": look(origin=EYE, target=TARGET, up=(0, 1, 0)),
        "film": {
            "type": "hdrfilm", "width": SIZE, "height": SIZE, "pixel_format": "rgb",
            "component_format": "float32", "rfilter": {"type": "box"},
        },
        "sampler": {"type": sampler},
    }  # fmt: skip
    scene = mi.load_dict(said)

    def render(samples: int, seed: int) -> Array:
        return np.array(mi.render(scene, spp=samples, seed=seed))[..., :3]

    return render


def linear(code: float) -> float:
    """Return the linear value of an sRGB code in [0, 1]."""
    return float(((code + 0.055) / 1.055) ** 2.4)


def measured(render: Render) -> dict[str, Any]:
    """Return the noise of each number of samples, and the mean of all pictures."""
    noise, means = [], []
    for samples in SAMPLES:
        runs = np.stack([render(samples, 1000 * samples + run) for run in range(RUNS)])
        runs = runs.mean(axis=-1, dtype=np.float64)
        noise.append(float(runs.var(axis=0, ddof=1).mean() / runs.mean() ** 2))
        means.append(float(runs.mean()))
    slope = np.polyfit(np.log(SAMPLES[1:]), np.log(noise[1:]) / 2, 1)[0]
    return {"noise": noise, "mean": means[-1], "slope": round(float(slope), 3)}


def cases() -> dict[str, tuple[Array | None, int, float]]:
    """Return map, bounces and Phong's highlight by name."""
    found: dict[str, tuple[Array | None, int, float]] = {
        name: (sky, BOUNCES, 0.0) for name, sky in maps().items()
    }
    found["even, no bounces"] = (found["even"][0], 0, 0.0)
    found["even, highlights"] = (found["even"][0], BOUNCES, 0.4)
    return found | {
        f"{name} lamp": (None, BOUNCES, 0.0) for name in ("sphere", "disk", "rectangle")
    }


def plot(record: dict[str, Any], path: Path) -> None:
    """Draw the noise by samples, a panel for each case."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(record["cases"])
    figure, axes = pyplot.subplots(3, -(-len(names) // 3), figsize=(14, 9), sharex=True)
    for axis, name in zip(axes.flat, names, strict=False):
        for label, row in record["cases"][name].items():
            error = np.sqrt(row["noise"])
            axis.loglog(record["samples"], error, "o-", ms=3, label=f"{label}: N^{row['slope']}")
        axis.set_title(name)
        axis.legend(fontsize=7)
    figure.supxlabel("samples per pixel")
    figure.supylabel("root mean square error by mean")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--label", help="measure this program under that name")
    parser.add_argument("--mitsuba", action="store_true", help="measure Mitsuba")
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    record: dict[str, Any] = {"samples": SAMPLES, "runs": RUNS, "cases": {}}
    if given.record.exists():
        record = json.loads(given.record.read_text())
    for name, (sky, bounces, specular) in cases().items():
        if given.only and name not in given.only:
            continue
        rows = record["cases"].setdefault(name, {})
        if given.label:
            rows[given.label] = measured(ours(name, sky, bounces, specular))
            print(name, given.label, rows[given.label], flush=True)
        if given.mitsuba and not specular:
            for sampler in ("independent", "multijitter"):
                label = f"Mitsuba, {sampler}"
                rows[label] = measured(mitsuba(name, sky, bounces, sampler))
                print(name, label, rows[label], flush=True)
        given.record.write_text(json.dumps(record, indent=1) + "\n")
    if given.plot:
        plot(record, given.plot)


if __name__ == "__main__":
    main()
