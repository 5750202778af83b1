"""Occlusion and diffuse paths beside OptiX or Embree: `python -m raytracer.benchmark.indirect`.

`--app APP --ir FILE.optixir` compares the CUDA backend with OptiX, `--embree DRIVER` the CPU
backend with Embree. A frame has one sample per pixel: from each hit of the camera rays 8 occlusion
rays of any length, or a diffuse path of at most 4 bounces (albedo 0.7) under a white sky. Both
sides run alternately. The mean grey over the hits must agree.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from raytracer.benchmark import peer_comparison, peer_scenes
from raytracer.benchmark.peer_comparison import Renderer
from raytracer.errors import RaytracerError, UserError
from raytracer.files import output
from raytracer.resources import thread_count
from raytracer.scene.scene import Ambient, Background, Camera, Material, Scene
from raytracer.settings import RenderSettings

OCCLUSION_RAYS, BOUNCES, ALBEDO = 8, 4, 0.7
KINDS = ("ao", "path")
EMBREE_MODES = ("1", "4", "8", "16")
# Tolerated difference of the mean grey: noise of one sample per pixel, and bytes rounded down.
GREY_DIFFERS = 0.006
OPTIX_LINE = re.compile(r"optix-(ao|path)\d N=\d+ \d+x\d+: ([\d.]+) ms .*mean grey ([\d.]+)")

Results = dict[str, tuple[float, float]]  # by kind: milliseconds and mean grey


@dataclass
class Times:
    """Milliseconds of one side, and its mean grey."""

    ms: list[float] = field(default_factory=list)
    grey: float = 0.0

    @property
    def median(self) -> float:
        """Median of the frames, or of the medians of processes."""
        return statistics.median(self.ms)


@dataclass(frozen=True)
class Peer:
    """The other renderer.

    Attributes:
        name: of the library.
        modes: of which the fastest counts.
        run: called with a scene and a mode; renders in a process of its own.
        counts_camera_rays: whether its times contain the camera rays.
    """

    name: str
    modes: tuple[str, ...]
    run: Callable[[peer_scenes.PeerScene, str], Results]
    counts_camera_rays: bool


def to_scene(scene: peer_scenes.PeerScene, kind: str, width: int, height: int) -> Scene:
    """Convert to our scene; kind: "ao", "path", or "camera" for the camera rays alone."""
    view = scene.view
    settings: dict[str, Any] = {"integrator": "direct" if kind == "camera" else kind}
    if kind == "ao":
        settings["ao_samples"] = OCCLUSION_RAYS
    if kind == "path":
        settings["max_depth"] = BOUNCES
    return Scene.from_arrays(
        scene.spheres[:, :3],
        scene.spheres[:, 3],
        "white",
        material=Material(ambient=1.0, diffuse=ALBEDO if kind == "path" else 1.0, specular=0.0),
        camera=Camera(view.eye, view.look_at, view.up, vertical_fov=view.vertical_fov),
        lights=(),
        # Paths meet the background; with occlusion it is the ambient light that comes through.
        ambient=Ambient(intensity=0.0 if kind == "path" else 1.0),
        background=Background((1.0, 1.0, 1.0)),
        render=RenderSettings(width=width, height=height, samples=1, filter="point", **settings),
    )


def our_times(
    scene: peer_scenes.PeerScene, kind: str, peer: Peer, plan: Plan
) -> tuple[Renderer, Renderer | None]:
    """Load the scene for a kind, and for the camera rays if those are to be subtracted."""
    backend = "cuda" if peer.counts_camera_rays else "cpu"
    renderer = Renderer(to_scene(scene, kind, *plan.size), backend, plan.threads)
    if peer.counts_camera_rays:
        return renderer, None
    return renderer, Renderer(to_scene(scene, "camera", *plan.size), backend, plan.threads)


@dataclass(frozen=True)
class Plan:
    """Parameters of the measurement; see the options of the command."""

    size: tuple[int, int]
    rounds: int
    frames: int
    threads: int


def grey(film: Any) -> float:
    """Mean of the red channel over the hits of a film of one sample."""
    hit = film.sums[..., 3] > 0.0
    return float(film.sums[..., 0][hit].mean())


def compare(scene: peer_scenes.PeerScene, peer: Peer, plan: Plan) -> Iterator[dict[str, Any]]:
    """Measure one scene; yield a row for each kind."""
    sides = {kind: {mode: Times() for mode in peer.modes} for kind in KINDS}
    ours = {kind: Times() for kind in KINDS}
    loaded = {kind: our_times(scene, kind, peer, plan) for kind in KINDS}

    def our_turn() -> None:
        for kind, (renderer, camera) in loaded.items():
            renderer.frames(2)
            times = renderer.frames(plan.frames)
            if camera is not None:
                camera.frames(1)
                without = statistics.median(camera.frames(plan.frames))
                times = [time - without for time in times]
            ours[kind].ms += times
            ours[kind].grey = grey(renderer.film)

    for turn in range(plan.rounds):
        for mode in peer.modes:
            for kind, (ms, mean) in peer.run(scene, mode).items():
                sides[kind][mode].ms.append(ms)
                sides[kind][mode].grey = mean
            our_turn() if turn or mode == peer.modes[-1] else None
    for renderer, camera in loaded.values():
        renderer.__exit__(None, None, None)
        if camera is not None:
            camera.__exit__(None, None, None)
    for kind in KINDS:
        best = min(sides[kind], key=lambda mode: sides[kind][mode].median)
        theirs = sides[kind][best]
        yield {
            "scene": scene.name,
            "kind": kind,
            "ours_ms": ours[kind].median,
            "ours_spread_ms": [min(ours[kind].ms), max(ours[kind].ms)],
            "peer_ms": theirs.median,
            "peer_mode": best,
            "peer_runs_ms": {mode: side.ms for mode, side in sides[kind].items()},
            "ratio": ours[kind].median / theirs.median,
            "grey": [ours[kind].grey, theirs.grey],
            "agree": abs(ours[kind].grey - theirs.grey) <= GREY_DIFFERS,
        }


def run_process(words: Sequence[object]) -> str:
    """Run a peer and return its output; raise RaytracerError if that fails."""
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True)
    except OSError as error:
        raise RaytracerError(f"{words[0]}: cannot be run ({error.strerror})") from error
    except subprocess.CalledProcessError as error:
        text = f"{error.stdout}{error.stderr}".strip()[-300:]
        raise RaytracerError(f"{words[0]} failed: {text}") from error
    return done.stdout


def parse_optix(text: str) -> Results:
    """Parse the lines of the OptiX peer; raise RaytracerError if one is missing."""
    found = {
        m[1]: (float(m[2]), float(m[3])) for m in map(OPTIX_LINE.match, text.splitlines()) if m
    }
    if set(found) != set(KINDS):
        raise RaytracerError(f"the peer printed no result: {text[-200:]!r}")
    return found


def parse_embree(text: str) -> Results:
    """Parse the JSON line of the Embree peer; raise RaytracerError if it lacks a result."""
    try:
        values = json.loads(text.strip().splitlines()[-1])
        return {
            kind: (float(values[f"{kind}_ms"]), float(values[f"{kind}_grey"])) for kind in KINDS
        }
    except (IndexError, KeyError, ValueError, TypeError) as error:
        raise RaytracerError(f"the peer printed no result: {text[-200:]!r}") from error


def optix(app: Path, ir: Path, plan: Plan, folder: Path) -> Peer:
    """OptiX's built-in spheres."""

    def run(scene: peer_scenes.PeerScene, mode: str) -> Results:
        spheres = peer_scenes.write_optix(scene, folder)
        return parse_optix(run_process([app, ir, spheres, folder / "picture.ppm", *plan.size]))

    return Peer("OptiX built-in spheres", ("",), run, counts_camera_rays=True)


def embree(driver: Path, plan: Plan, folder: Path) -> Peer:
    """Embree's sphere points; its times are of the rays that start at stored hits."""

    def run(scene: peer_scenes.PeerScene, mode: str) -> Results:
        base = peer_scenes.write_embree(scene, folder)
        width, height = plan.size
        words = [driver, base, "--mode", mode, "--threads", plan.threads, "--reps", plan.frames]
        words += ["--size", width, height, "--ao", OCCLUSION_RAYS, "--path", BOUNCES]
        return parse_embree(run_process(words))

    return Peer("Embree sphere points", EMBREE_MODES, run, counts_camera_rays=False)


def options(words: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m raytracer.benchmark.indirect")
    option = parser.add_argument
    option("--app", type=Path, help="the compiled program of the OptiX peer")
    option("--ir", type=Path, help="its device code (.optixir)")
    option("--embree", type=Path, metavar="DRIVER", help="the compiled driver of Embree")
    option("--sizes", nargs="+", default=["1e3", "1e5", "1e6", "1e7"], help="random spheres")
    option("--scenes", nargs="*", default=[], metavar="BASE", help="scenes of the Embree driver")
    option("--rounds", type=int, default=2, help="turns of each side")
    option("--frames", type=int, default=20, help="timed frames in a turn")
    option("--size", type=int, nargs=2, metavar=("W", "H"), help="pixels")
    option("--threads", type=int, default=0, help="of the CPU; default: every core")
    option("--save", type=Path, metavar="FILE.json", help="write the record")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0, 1 if the mean greys of both sides differ, 2 for invalid input.
    """
    arguments = options(words)
    size = arguments.size or ([1024, 1024] if arguments.embree else [1920, 1080])
    threads = thread_count(arguments.threads)
    plan = Plan((size[0], size[1]), max(arguments.rounds, 1), max(arguments.frames, 1), threads)
    try:
        if not arguments.embree and not (arguments.app and arguments.ir):
            raise UserError("no peer: give --embree DRIVER, or --app APP and --ir FILE.optixir")
        if arguments.save:
            output.check_file(arguments.save)
        rows = run(arguments, plan)
    except RaytracerError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0 if all(row["agree"] for row in rows) else 1


def run(arguments: argparse.Namespace, plan: Plan) -> list[dict[str, Any]]:
    """Measure all scenes, print a line for each row, and save the record after each scene."""
    scenes = [peer_scenes.read_embree(Path(base)) for base in arguments.scenes]
    scenes = [peer_scenes.without_ground(scene) for scene in scenes]
    if not scenes:
        scenes = [peer_scenes.random_cube(int(float(size))) for size in arguments.sizes]
    load = peer_comparison.load_average()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="raytracer-") as name:
        folder = Path(name)
        peer = (
            embree(arguments.embree.resolve(), plan, folder)
            if arguments.embree
            else optix(arguments.app.resolve(), arguments.ir.resolve(), plan, folder)
        )
        for scene in scenes:
            for row in compare(scene, peer, plan):
                rows.append(row)
                print(
                    f"{row['scene']:>16} {row['kind']:>5}: {row['ours_ms']:8.3f} ms, "
                    f"{peer.name} {row['peer_mode']} {row['peer_ms']:8.3f} ms, ratio "
                    f"{row['ratio']:.3f}; grey {row['grey'][0]:.4f} and {row['grey'][1]:.4f}",
                    flush=True,
                )
            record: Any = peer_comparison.record(peer.name, __doc__ or "", load, {}, [])
            peer_comparison.save(arguments.save, {**record, "rows": rows})
    return rows


if __name__ == "__main__":
    sys.exit(main())
