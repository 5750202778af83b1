"""Time to the same error by this package and by Mitsuba 3, each on the cores of one machine.

    pip install mitsuba        # beside this package; llvm_ad_rgb needs libLLVM
    python tests/reference/equal_quality.py --save renders/records/mitsuba/equal-quality.json

Two scenes, path-traced under a gradient sky: the balls of `weekend` with glass and metal, and the
molecule of `scenes/molecule.xyz` on a plane. The programs take turns with the same numbers of
samples, after a first picture that compiles kernels and is not timed. The error of a picture is
the root mean square in 8-bit sRGB values against a reference by the same program with other seeds.
The time to an error is interpolated between logarithms of both, and is printed for the largest, the
middle and the smallest error that both reached. `--variant cuda_ad_rgb` with `--backend cuda`
compares on a GPU; `--alone` measures this package by itself, where Mitsuba is not installed. The
references take most of the time: `--references FOLDER` keeps them, so that a run after the first is
short, and `--truth 0` does without: the error is then the standard deviation of a pixel between
pictures with other seeds.

Mitsuba's scene is loaded once. Ours is packed, its tree built and uploaded for every picture, as a
call of `raytracer.render` does; `--loaded` loads ours once, too, and takes the time from the scene
on the device to the picture in the memory of the host for both. The record has then what loading
takes: the seconds from a description of the scene to a picture of the fewest samples.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import raytracer
from raytracer.film.film import Film
from raytracer.pipeline import Job, prepare
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

    def glass(color: Any) -> dict[str, Any]:
        tint = rgb(np.sqrt(color))  # of each crossing
        return {"type": "dielectric", "int_ior": 1.5, "ext_ior": 1.0,
                "specular_transmittance": tint}  # fmt: skip

    height = 0.5 + 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, ROWS))
    sky = np.array(BOTTOM) + height[:, None] * (np.array(TOP) - np.array(BOTTOM))
    bitmap = mi.Bitmap(np.repeat(sky[:, None], 16, axis=1).astype(np.float32))
    reach = 1e4 * float(np.linalg.norm(np.subtract(view.position, view.look_at)))
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
        "metal": {"type": "conductor", "material": "none"},
    }  # fmt: skip
    made: dict[Any, str] = {}
    for b in view.balls:
        for i, (center, radius, color) in enumerate(zip(b.centers, b.radii, b.colors, strict=True)):
            bsdf = b.material
            if bsdf != "metal":
                bsdf = made.setdefault((bsdf, *color), f"color{len(made)}")
                scene.setdefault(bsdf, (matt if b.material == "matte" else glass)(color))
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

AT_ONCE = {"llvm": 64, "cuda": 256}
"""Most samples of one call of Mitsuba: a wavefront of more does not fit in memory."""


def calls(scene: raytracer.Scene, backend: str, threads: int) -> Render:
    """This package by its public call, which loads the scene for each picture."""

    def render(samples: int, seed: int) -> np.ndarray:
        film = raytracer.render(
            scene, samples=samples, seed=seed, backend=backend, threads=threads
        ).film
        return np.asarray(film.sums[..., :3] / film.samples)

    return render


def on_device(job: Job) -> Render:
    """This package with a scene on the device; other seeds are other samples of one seed."""
    device_film = job.film(Film.blank(WIDTH, HEIGHT))

    def render(samples: int, seed: int) -> np.ndarray:
        device_film.clear()
        job.expose(device_film, samples, first=seed << 20)
        film = device_film.to_host()
        return np.asarray(film.sums[..., :3] / film.samples)

    return render


def peer(scene: Any, at_once: int) -> Render:
    """Mitsuba."""

    def render(samples: int, seed: int) -> np.ndarray:
        parts = -(-samples // at_once)
        made = [np.array(mi.render(scene, spp=samples // parts, seed=seed * 1000 + k))
                for k in range(parts)]  # fmt: skip
        return np.asarray(np.mean(made, axis=0))

    return render


def makers(view: View, args: argparse.Namespace) -> dict[str, Callable[[], Render]]:
    """How each program loads the scene."""
    scene = ours(view)

    def mine() -> Render:
        if not args.loaded:
            return calls(scene, args.backend, args.threads)
        job = prepare(scene, backend=args.backend, threads=args.threads)
        return on_device(job)

    def other() -> Render:
        return peer(theirs(view), AT_ONCE[args.variant.split("_")[0]])

    return {"raytracer": mine} if args.alone else {"raytracer": mine, "mitsuba": other}


def time_to(rows: list[dict[str, float]], error: float, name: str) -> float:
    """Seconds to an error, interpolated between the logarithms."""
    points = sorted((np.log(row["error"]), np.log(row[name])) for row in rows)
    errors, seconds = zip(*points, strict=True)
    return float(np.exp(np.interp(np.log(error), errors, seconds)))


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


def clock(which: str) -> float:
    """Seconds, of a clock or of this process on all cores."""
    now = os.times()
    return now.user + now.system if which == "processor" else time.perf_counter()


def load(
    make: Callable[[], Render], samples: int, args: argparse.Namespace
) -> tuple[Render, float]:
    """Load a scene twice; return its pictures, and seconds of the second time with a picture."""
    make()(samples, 0)  # compiles kernels
    start = clock(args.clock)
    render = make()
    render(samples, 0)
    return render, clock(args.clock) - start


def error_of(pictures: list[np.ndarray], truth: np.ndarray) -> float:
    """Root mean square error of pictures with other seeds, 8-bit sRGB values."""
    made = np.array([codes(picture) for picture in pictures])
    square = np.square(made - truth) if truth.size else made.var(axis=0, ddof=1)
    return float(np.sqrt(square.mean()))


def measure(
    both: dict[str, Render], samples: int, truth: dict[str, np.ndarray], args: argparse.Namespace
) -> dict[str, dict[str, float]]:
    """Render by both programs in turns, after a picture that is not timed; return a row of each."""
    times: dict[str, list[float]] = {name: [] for name in both}
    pictures: dict[str, list[np.ndarray]] = {name: [] for name in both}
    for turn in range(args.runs + 1):
        for name, render in both.items():
            start = clock(args.clock)
            picture = render(samples, turn + 1)
            if turn:
                times[name].append(clock(args.clock) - start)
                pictures[name].append(picture)
    return {
        name: {
            "samples": samples,
            "error": round(error_of(pictures[name], truth[name]), 3),
            "seconds": round(min(seconds), 5),
            "median": round(float(np.median(seconds)), 5),
            "slowest": round(max(seconds), 5),
            "mean": round(float(np.mean(pictures[name])), 5),
        }
        for name, seconds in times.items()
    }


def ratios(rows: dict[str, list[dict[str, float]]]) -> list[dict[str, float]]:
    """Times to errors that both programs reached, the largest first, fastest runs and medians."""
    ends = [sorted(row["error"] for row in each) for each in rows.values()]
    low, high = max(e[0] for e in ends), min(e[-1] for e in ends)
    found = []
    for error in (high, float(np.sqrt(low * high)), low):
        row = {"error": round(error, 2)}
        for kind in ("seconds", "median"):
            times = {name: time_to(each, error, kind) for name, each in rows.items()}
            row |= {f"{name}_{kind}": round(value, 5) for name, value in times.items()}
            row[f"ratio_{kind}"] = round(times["raytracer"] / times["mitsuba"], 3)
        print(row)
        found.append(row)
    return found


def compare(scene: str, view: View, args: argparse.Namespace) -> dict[str, Any]:
    """Measure both programs in turns."""
    found: dict[str, Any] = {}
    both, loading = {}, {}
    for name, make in makers(view, args).items():
        both[name], loading[name] = load(make, min(args.samples), args)
    if args.loaded:
        found["loading"] = {name: round(seconds, 3) for name, seconds in loading.items()}
        print("loading", found["loading"])
    truth = {name: reference(f"{scene}-{name}", render, args) for name, render in both.items()}
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in both}
    found["rows"] = rows
    for samples in args.samples:
        for name, row in measure(both, samples, truth, args).items():
            rows[name].append(row)
            print(name, row, flush=True)
    if args.alone:
        return found
    found["times"] = ratios(rows)
    if args.truth:
        apart = float(np.square(truth["raytracer"] - truth["mitsuba"]).mean()) ** 0.5
        print(f"references differ by {apart:.2f}")
        found["references_differ"] = round(apart, 3)
    return found


def machine(args: argparse.Namespace) -> dict[str, Any]:
    """The device and the versions."""
    scene = raytracer.Scene(spheres=[raytracer.SphereSet(np.zeros((1, 3)), 1.0)])
    with prepare(scene, backend=args.backend, threads=args.threads) as job:
        about = {k: v for k, v in job.about["backend"].items() if k != "memory_free"}
    found = {"device": about, "python": platform.python_version(),
             "raytracer": raytracer.__version__}  # fmt: skip
    if not args.alone:
        import drjit as dr

        mi.set_variant(args.variant)
        found |= {"mitsuba": mi.__version__, "drjit": dr.__version__, "variant": args.variant}
        if args.variant.startswith("llvm"):
            dr.set_thread_count(args.threads)
    return found


def main() -> None:
    """Compare both scenes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[8, 16, 32, 64], metavar="N")
    parser.add_argument("--truth", type=int, default=2048, help="samples of the references, or 0")
    parser.add_argument("--runs", type=int, default=3, help="in turns, after one not counted")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--variant", default="llvm_ad_rgb")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--clock", choices=("elapsed", "processor"), default="elapsed")
    parser.add_argument("--loaded", action="store_true", help="ours is loaded once, too")
    parser.add_argument("--alone", action="store_true", help="without Mitsuba")
    parser.add_argument("--references", type=Path, help="folder that keeps the references")
    parser.add_argument("--save", type=Path, help="JSON file for the record")
    args = parser.parse_args()
    if not args.truth and args.runs < 2:
        parser.error("--truth 0 needs two runs")
    about = machine(args)
    print(about)
    busy = round(os.getloadavg()[0], 2)
    found = {}
    for make in (weekend, molecule):
        print(make.__name__)
        found[make.__name__] = compare(make.__name__, make(), args)
    if args.save:
        record = {"command": " ".join(["python", *sys.argv]), **about, "clock": args.clock,
                  "load_average": busy, "scenes": found}  # fmt: skip
        args.save.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
