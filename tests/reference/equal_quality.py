"""Time to the same error by this package and by Mitsuba 3, each on the cores of one machine.

    pip install mitsuba        # beside this package; llvm_ad_rgb needs libLLVM
    python tests/reference/equal_quality.py --save renders/records/mitsuba/equal-quality.json

Two scenes, path-traced under a gradient sky: the balls of `weekend` with glass and metal, and the
molecule of `scenes/molecule.xyz` on a plane. The programs take turns with the same numbers of
samples, after a first picture that compiles kernels and is not timed. The error of a picture is
the root mean square in 8-bit sRGB values against a reference by the same program with other seeds.
The time to an error comes from a straight line through logarithms of both, and is printed for the
error at the middle of what both reached. `--variant cuda_ad_rgb` with `--backend cuda` compares on
a GPU; `--alone` measures this package by itself, where Mitsuba is not installed. The references
take most of the time: `--references FOLDER` keeps them, so that a run after the first is short, and
`--truth 0` does without: the error is then that of two pictures with other seeds over the root of
two.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import raytracer
from raytracer.scene import generate
from raytracer.scene.colors import srgb_to_linear

if TYPE_CHECKING or "--alone" not in sys.argv:
    import mitsuba as mi

WIDTH, HEIGHT = 640, 360
DEPTH = 8
ROWS = 1024
BOTTOM, TOP = (0.9, 0.9, 0.9), (0.35, 0.55, 0.9)
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Balls:
    """Balls of one material: centers (n, 3), radii (n,), linear colors (n, 3)."""

    material: str
    centers: np.ndarray
    radii: np.ndarray
    colors: np.ndarray


@dataclass(frozen=True)
class View:
    """A scene: its balls, the height of the ground, and the camera."""

    balls: tuple[Balls, ...]
    ground: float
    position: tuple[float, float, float]
    look_at: tuple[float, float, float]
    vertical_fov: float


def weekend() -> View:
    """The balls of the example, without its lens."""
    made = []
    for part in ("matte", "metal", "glass"):
        data = generate.arrays(f"weekend/{part}", 487, 1)
        colors = srgb_to_linear(np.asarray(data["colors"], float) / 255)
        made.append(Balls(part, data["centers"], data["radii"], colors))
    return View(tuple(made), 0.0, (13.0, 2.1, 3.6), (0.0, 0.45, 0.0), 21.0)


def molecule() -> View:
    """The example's atoms, matt."""
    scene = raytracer.load(ROOT / "scenes" / "molecule.toml")
    (atoms,) = scene.spheres
    placed = np.asarray(atoms.centers, float) @ np.array(TURN).T
    radii = np.broadcast_to(np.asarray(atoms.radius, float), len(placed))
    colors = np.asarray(atoms.color, float)[np.asarray(atoms.color_id)]
    balls = Balls("matte", placed, radii, colors)
    low = float((placed[:, 1] - radii).min())
    return View((balls,), low, (0.0, 40.0, 118.0), (2.0, -2.0, 0.0), 24.0)


TURN = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
"""A quarter about y: the axis of the molecule lies along x."""

MATERIALS: dict[str, Any] = {
    "matte": raytracer.Material(diffuse=1.0, specular=0.0),
    "metal": raytracer.Material(diffuse=0.0, specular=0.0, mirror=1.0),
    "glass": raytracer.Principled(roughness=0.0, transmission=1.0),
}
"""Those of which both programs have the same formula; metal is a white mirror."""


def srgb(linear: Any) -> tuple[float, float, float]:
    """The sRGB numbers of a linear colour."""
    r, g, b = (1.055 * c ** (1 / 2.4) - 0.055 for c in linear)
    return r, g, b


def ours(view: View) -> raytracer.Scene:
    """The scene for this package."""
    return raytracer.Scene(
        spheres=[
            raytracer.SphereSet(
                b.centers, b.radii, b.colors, color_space="linear", material=MATERIALS[b.material]
            )
            for b in view.balls
        ],
        camera=raytracer.Camera(view.position, view.look_at, vertical_fov=view.vertical_fov),
        lights=[],
        ambient=raytracer.Ambient(intensity=0.0),
        environment=raytracer.Environment(bottom=srgb(BOTTOM), top=srgb(TOP), visible=True),
        ground=raytracer.Ground(height=view.ground, color=srgb((0.5, 0.5, 0.5)), material="ground"),
        materials={"ground": MATERIALS["matte"]},
        render=raytracer.RenderSettings(
            width=WIDTH, height=HEIGHT, filter="box", integrator="path", max_depth=DEPTH
        ),
    )


def theirs(view: View) -> Any:
    """The scene for Mitsuba: a `sphere` for each ball."""
    at = mi.ScalarTransform4f
    rgb: Any = lambda c: {"type": "rgb", "value": [float(x) for x in c]}  # noqa: E731
    matt: Any = lambda c: {"type": "diffuse", "reflectance": rgb(c)}  # noqa: E731
    height = 0.5 + 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, ROWS))
    sky = np.array(BOTTOM) + height[:, None] * (np.array(TOP) - np.array(BOTTOM))
    bitmap = mi.Bitmap(np.repeat(sky[:, None], 16, axis=1).astype(np.float32))
    reach = 100 * float(np.linalg.norm(np.subtract(view.position, view.look_at)))
    lie = at().translate([0, view.ground, 0]).rotate([1, 0, 0], -90).scale(reach)
    scene: dict[str, Any] = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": DEPTH + 2},
        "sky": {"type": "envmap", "bitmap": bitmap},
        "ground": {"type": "rectangle", "bsdf": matt((0.5, 0.5, 0.5)), "to_world": lie},
        "sensor": {
            "type": "perspective", "fov": view.vertical_fov, "fov_axis": "y",
            "to_world": at().look_at(origin=list(view.position), target=list(view.look_at),
                                     up=[0, 1, 0]),
            "film": {"type": "hdrfilm", "width": WIDTH, "height": HEIGHT,
                     "rfilter": {"type": "box"}, "pixel_format": "rgb"},
            "sampler": {"type": "independent"},
        },
        "glass": {"type": "dielectric", "int_ior": 1.5, "ext_ior": 1.0},
        "metal": {"type": "conductor", "material": "none"},
    }  # fmt: skip
    made: dict[Any, str] = {}
    for b in view.balls:
        for i, (center, radius, color) in enumerate(zip(b.centers, b.radii, b.colors, strict=True)):
            bsdf = b.material
            if bsdf == "matte":
                bsdf = made.setdefault(tuple(color), f"color{len(made)}")
                scene.setdefault(bsdf, matt(color))
            scene[f"{b.material}{i}"] = {
                "type": "sphere", "center": [float(x) for x in center], "radius": float(radius),
                "bsdf": {"type": "ref", "id": bsdf},
            }  # fmt: skip
    shapes = {k: v for k, v in scene.items() if isinstance(v, dict) and v["type"] == "sphere"}
    return mi.load_dict({**{k: v for k, v in scene.items() if k not in shapes}, **shapes})


def codes(linear: np.ndarray) -> np.ndarray:
    """8-bit sRGB values, not rounded."""
    c = np.clip(linear, 0.0, 1.0)
    return np.asarray(255 * np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055))


Render = Callable[[int, int], np.ndarray]
"""A picture of some samples and a seed, linear (h, w, 3)."""


def renders(view: View, backend: str, threads: int, alone: bool) -> dict[str, Render]:
    """Both programs, or this one alone."""
    scene = ours(view)

    def mine(samples: int, seed: int) -> np.ndarray:
        film = raytracer.render(
            scene, samples=samples, seed=seed, backend=backend, threads=threads
        ).film
        return np.asarray(film.sums[..., :3] / film.samples)

    if alone:
        return {"raytracer": mine}
    peer = theirs(view)

    def other(samples: int, seed: int) -> np.ndarray:
        parts = -(-samples // 64)  # its wavefront of more samples does not fit in memory
        made = [np.array(mi.render(peer, spp=samples // parts, seed=seed * 1000 + k))
                for k in range(parts)]  # fmt: skip
        return np.asarray(np.mean(made, axis=0))

    return {"raytracer": mine, "mitsuba": other}


def time_to(rows: list[dict[str, float]], error: float) -> float:
    """Seconds to an error, by a line through the logarithms."""
    errors, seconds = (np.log([row[name] for row in rows]) for name in ("error", "seconds"))
    slope, start = np.polyfit(errors, seconds, 1)
    return float(np.exp(start + slope * np.log(error)))


def reference(name: str, render: Render, args: argparse.Namespace) -> np.ndarray:
    """8-bit sRGB values of a picture of many samples, kept in a folder if there is one."""
    if not args.truth:
        return np.zeros(0)
    path = args.references / f"{name}-{args.truth}.npy" if args.references else None
    if path and path.exists():
        return np.asarray(np.load(path))
    made = codes(render(args.truth, 77))
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, made.astype(np.float32))
    return made


def compare(scene: str, view: View, args: argparse.Namespace) -> dict[str, Any]:
    """Measure both programs in turns."""
    both = renders(view, args.backend, args.threads, args.alone)
    for render in both.values():
        render(min(args.samples), 0)
    truth = {name: reference(f"{scene}-{name}", render, args) for name, render in both.items()}
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in both}
    for samples in args.samples:
        best: dict[str, float] = {}
        before_it: dict[str, np.ndarray] = {}
        for turn in range(args.runs):
            for name, render in both.items():
                start, before = time.perf_counter(), os.times()
                picture = render(samples, turn + 1)
                seconds, after = time.perf_counter() - start, os.times()
                if args.clock == "processor":
                    seconds = after.user + after.system - before.user - before.system
                best[name] = min(seconds, best.get(name, np.inf))
                made = codes(picture)
                if turn == (0 if args.truth else 1):
                    other = truth[name] if args.truth else before_it[name]
                    mean = float(np.square(made - other).mean()) / (1 if args.truth else 2)
                    rows[name].append({"samples": samples, "error": round(mean**0.5, 3)})
                before_it[name] = made
        for name, seconds in best.items():
            rows[name][-1]["seconds"] = round(seconds, 4)
            print(name, rows[name][-1], flush=True)
    if args.alone:
        return {"rows": rows}
    ends = [sorted(row["error"] for row in each) for each in rows.values()]
    low, high = max(e[0] for e in ends), min(e[-1] for e in ends)
    middle = float(np.sqrt(low * high))
    times = {name: round(time_to(each, middle), 3) for name, each in rows.items()}
    ratio = times["raytracer"] / times["mitsuba"]
    print(f"error {middle:.2f}: {times}, ratio {ratio:.2f}")
    found = {"rows": rows, "error": round(middle, 2), "seconds": times, "ratio": round(ratio, 3)}
    if args.truth:
        apart = float(np.square(truth["raytracer"] - truth["mitsuba"]).mean()) ** 0.5
        print(f"references differ by {apart:.2f}")
        found["references_differ"] = round(apart, 3)
    return found


def main() -> None:
    """Compare both scenes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[8, 16, 32, 64], metavar="N")
    parser.add_argument("--truth", type=int, default=2048, help="samples of the references, or 0")
    parser.add_argument("--runs", type=int, default=3, help="in turns, of which the fastest counts")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--variant", default="llvm_ad_rgb")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--clock", choices=("elapsed", "processor"), default="elapsed")
    parser.add_argument("--alone", action="store_true", help="without Mitsuba")
    parser.add_argument("--references", type=Path, help="folder that keeps the references")
    parser.add_argument("--save", type=Path, help="JSON file for the record")
    args = parser.parse_args()
    versions = {"raytracer": raytracer.__version__}
    if not args.alone:
        mi.set_variant(args.variant)
        versions["mitsuba"] = mi.__version__
    if not args.alone and args.variant.startswith("llvm"):
        import drjit as dr

        dr.set_thread_count(args.threads)
    load = round(os.getloadavg()[0], 2)
    if not args.truth and args.runs < 2:
        parser.error("--truth 0 needs two runs")
    found = {}
    for make in (weekend, molecule):
        print(make.__name__)
        found[make.__name__] = compare(make.__name__, make(), args)
    if args.save:
        record = {"command": " ".join(["python", *sys.argv]), **versions, "clock": args.clock,
                  "load_average": load, "scenes": found}  # fmt: skip
        args.save.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
