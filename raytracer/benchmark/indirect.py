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
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from raytracer.benchmark import peer_comparison, peer_scenes
from raytracer.benchmark.peer_comparison import Renderer
from raytracer.benchmark.record import Device
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

    @property
    def backend(self) -> str:
        """Ours on the same processor: OptiX alone counts camera rays."""
        return "cuda" if self.counts_camera_rays else "cpu"


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


@dataclass(frozen=True)
class Plan:
    """Parameters of the measurement; see the options of the command."""

    size: tuple[int, int]
    rounds: int
    frames: int
    threads: int


class Side:
    """Our renderer with a scene, for one kind of rays.

    Args:
        scene: spheres and view.
        kind: "ao" or "path".
        peer: with which its times are compared.
        plan: size, frames and threads.
        stack: closes what is loaded.
    """

    def __init__(
        self, scene: peer_scenes.PeerScene, kind: str, peer: Peer, plan: Plan, stack: ExitStack
    ) -> None:
        self.times, self._frames = Times(), plan.frames

        def load(kind: str) -> Renderer:
            ours = Renderer(to_scene(scene, kind, *plan.size), peer.backend, plan.threads)
            return stack.enter_context(ours)

        self.renderer = load(kind)
        self._camera = None if peer.counts_camera_rays else load("camera")

    def measure(self) -> None:
        """Add the times of a turn, without those of camera rays where the peer has none."""
        self.renderer.frames(2)
        without = 0.0
        if self._camera is not None:
            self._camera.frames(1)
            without = statistics.median(self._camera.frames(self._frames))
        self.times.ms += [time - without for time in self.renderer.frames(self._frames)]
        self.times.grey = grey(self.renderer.film)


def grey(film: Any) -> float:
    """Mean of the red channel over the hits of a film of one sample."""
    hit = film.sums[..., 3] > 0.0
    return float(film.sums[..., 0][hit].mean())


def compare(
    scene: peer_scenes.PeerScene, peer: Peer, plan: Plan
) -> tuple[Device, list[dict[str, Any]]]:
    """Measure one scene; return our device, and a row for each kind."""
    theirs = {kind: {mode: Times() for mode in peer.modes} for kind in KINDS}
    with ExitStack() as stack:
        ours = {kind: Side(scene, kind, peer, plan, stack) for kind in KINDS}
        for _ in range(plan.rounds):
            for mode in peer.modes:
                for kind, (ms, mean) in peer.run(scene, mode).items():
                    theirs[kind][mode].ms.append(ms)
                    theirs[kind][mode].grey = mean
                for side in ours.values():
                    side.measure()
        device = ours[KINDS[0]].renderer.device
    return device, [row(scene.name, kind, ours[kind].times, theirs[kind]) for kind in KINDS]


def row(scene: str, kind: str, ours: Times, modes: dict[str, Times]) -> dict[str, Any]:
    """Return the comparison with the fastest mode of the peer as JSON types."""
    best = min(modes, key=lambda mode: modes[mode].median)
    peer = modes[best]
    return {
        "scene": scene,
        "kind": kind,
        "ours_ms": ours.median,
        "ours_spread_ms": [min(ours.ms), max(ours.ms)],
        "peer_ms": peer.median,
        "peer_mode": best,
        "peer_runs_ms": {mode: side.ms for mode, side in modes.items()},
        "ratio": ours.median / peer.median,
        "grey": [ours.grey, peer.grey],
        "agree": abs(ours.grey - peer.grey) <= GREY_DIFFERS,
    }


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
        return parse_optix(
            peer_comparison.run_process([app, ir, spheres, folder / "picture.ppm", *plan.size])
        )

    return Peer("OptiX built-in spheres", ("",), run, counts_camera_rays=True)


def embree(driver: Path, modes: Sequence[str], plan: Plan, folder: Path) -> Peer:
    """Embree's sphere points; its times are of the rays that start at stored hits."""

    def run(scene: peer_scenes.PeerScene, mode: str) -> Results:
        base = peer_scenes.write_embree(scene, folder)
        width, height = plan.size
        words = [driver, base, "--mode", mode, "--threads", plan.threads, "--reps", plan.frames]
        words += ["--size", width, height, "--ao", OCCLUSION_RAYS, "--path", BOUNCES]
        return parse_embree(peer_comparison.run_process(words))

    return Peer("Embree sphere points", tuple(modes), run, counts_camera_rays=False)


def options(words: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m raytracer.benchmark.indirect")
    option = parser.add_argument
    option("--app", type=Path, help="the compiled program of the OptiX peer")
    option("--ir", type=Path, help="its device code (.optixir)")
    option("--embree", type=Path, metavar="DRIVER", help="the compiled driver of Embree")
    option("--sizes", nargs="+", default=["1e3", "1e5", "1e6", "1e7"], help="random spheres")
    option("--scenes", nargs="*", default=[], metavar="BASE", help="scenes of the Embree driver")
    option("--modes", nargs="+", default=EMBREE_MODES, choices=EMBREE_MODES,
           help="packets of the Embree driver, of which the fastest counts")  # fmt: skip
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
            embree(arguments.embree.resolve(), arguments.modes, plan, folder)
            if arguments.embree
            else optix(arguments.app.resolve(), arguments.ir.resolve(), plan, folder)
        )
        for scene in scenes:
            device, measured = compare(scene, peer, plan)
            rows += measured
            for each in measured:
                print(
                    f"{each['scene']:>16} {each['kind']:>5}: {each['ours_ms']:8.3f} ms, "
                    f"{peer.name} {each['peer_mode']} {each['peer_ms']:8.3f} ms, ratio "
                    f"{each['ratio']:.3f}; grey {each['grey'][0]:.4f} and {each['grey'][1]:.4f}",
                    flush=True,
                )
            record: Any = peer_comparison.record(peer.name, __doc__ or "", load, device, [])
            peer_comparison.save(arguments.save, {**record, "rows": rows})
    return rows


if __name__ == "__main__":
    sys.exit(main())
