"""Comparison of the CUDA backend with the sphere primitives of OptiX, on an NVIDIA GPU.

`python -m raytracer.benchmark.optix --app PATH --ir PATH.optixir` takes the compiled program of the
peer and its device code. Frames are timed by events on both sides, alternately (A B A).
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from raytracer.benchmark import peer_comparison, peer_scenes
from raytracer.benchmark.comparison_record import Comparison, ComparisonRow
from raytracer.benchmark.peer_comparison import Renderer, Side
from raytracer.benchmark.record import Device
from raytracer.errors import RaytracerError
from raytracer.files import output

NOTE = (
    "The H200 has no ray-tracing cores; the figures do not apply to GPUs that have them. One "
    "sample at the pixel's centre, 0.05 ambient + 0.9 diffuse; device time between events, 60 "
    "frames, the first 15 dropped. Our BVH is built on the host, that of the peer on the GPU."
)
FRAMES, DROPPED = 60, 15
BUILDS = 3
# The picture of the peer is in bytes, rounded down: lit pixels are brighter than the ambient 12.
AMBIENT_BYTE = int(255 * peer_scenes.AMBIENT)
LIT = (AMBIENT_BYTE + 1) / 255
ROWS = {False: "primary", True: "primary + shadow"}
LINE = re.compile(
    r"optix N=(?P<n>\d+) (?P<width>\d+)x(?P<height>\d+) shadows=(?P<shadows>[01]): "
    r"(?P<frame>[\d.]+) ms .*build (?P<build>[\d.]+) ms .*\((?P<bytes>[\d.]+) B/sphere\)"
)


@dataclass(frozen=True)
class Plan:
    """Parameters of the measurement; see the options of the command."""

    app: Path
    ir: Path
    rounds: int
    size: tuple[int, int]


def parse(text: str) -> dict[bool, dict[str, float]]:
    """Parse the lines of the peer, by shadows; raise RaytracerError if one is missing."""
    results = {
        match["shadows"] == "1": {key: float(match[key]) for key in ("frame", "build", "bytes")}
        for match in map(LINE.match, text.splitlines())
        if match
    }
    if set(results) != {False, True}:
        raise RaytracerError(f"the peer printed no result: {text[-200:]!r}")
    return results


def read_counts(path: Path) -> tuple[int, int]:
    """Count hits and lit pixels of the picture of the peer (PPM), in which misses are green."""
    _, _, _, pixels = path.read_bytes().split(b"\n", 3)
    red, green, _ = np.frombuffer(pixels, np.uint8).reshape(-1, 3).T
    hit = (green != 255) | (red == 255)
    return int(hit.sum()), int((hit & (red > AMBIENT_BYTE)).sum())


def run_peer(plan: Plan, spheres: Path, peers: dict[bool, Side]) -> None:
    """Run one process of the peer and add its results to `peers`."""
    picture = spheres.with_suffix(".ppm")
    words = [plan.app, plan.ir, spheres, picture, *plan.size]
    text = peer_comparison.run_process(words, spheres.name)
    for shadows, values in parse(text).items():
        side = peers[shadows]
        side.frame_ms.append(values["frame"])
        side.build_ms.append(values["build"])
        side.bytes_per_sphere = values["bytes"]
    # The picture is that with shadows.
    peers[True].hits, peers[True].lit = read_counts(picture)


def compare(scene: peer_scenes.PeerScene, plan: Plan, ours: Renderer) -> list[ComparisonRow]:
    """Measure one scene: primary rays alone, and with shadow rays."""
    peers = {False: Side(), True: Side()}
    frames: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="raytracer-") as folder:
        spheres = peer_scenes.write_optix(scene, Path(folder))
        run_peer(plan, spheres, peers)
        for _ in range(plan.rounds):
            for shadows, times in frames.items():
                times += ours.frames(FRAMES, shadows)[DROPPED:]
            run_peer(plan, spheres, peers)
    builds = ours.builds(BUILDS)
    rows = []
    for shadows, rays in ROWS.items():
        side = ours.side(frames[shadows], builds, LIT if shadows else None)
        name = f"{scene.name}, {rays}"
        sides = {"OptiX": peers[shadows]}
        rows.append(peer_comparison.compare(name, scene.count, plan.size, side, sides))
    return rows


def scenes(sizes: Sequence[str], names: Sequence[str]) -> list[peer_scenes.PeerScene]:
    """Return random spheres of each size, then files (.bin) and generated scenes by name."""
    random = [peer_scenes.random_cube(int(float(size))) for size in sizes]
    named = [
        peer_scenes.read_optix(Path(name)) if name.endswith(".bin") else peer_scenes.generated(name)
        for name in names
    ]
    return random + named


def run(scenes: Sequence[peer_scenes.PeerScene], plan: Plan, backend: str = "cuda") -> Comparison:
    """Measure all scenes. The backend is "cuda", and "cpu" in tests."""
    load = peer_comparison.load_average()
    rows: list[ComparisonRow] = []
    device: Device = {}
    for scene in scenes:
        print(f"{scene.name} …", file=sys.stderr)
        with Renderer(peer_scenes.to_scene(scene, *plan.size), backend) as ours:
            rows += compare(scene, plan, ours)
            device = ours.device
    return peer_comparison.record("OptiX built-in spheres", NOTE, load, device, rows)


def options(words: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m raytracer.benchmark.optix")
    option = parser.add_argument
    option("--app", type=Path, required=True, help="the compiled program of the peer")
    option("--ir", type=Path, required=True, help="its device code (.optixir)")
    option("--sizes", nargs="*", default=["1e3", "1e5", "1e6", "1e7"], help="random spheres")
    names, default = "sphereflake, pile, inside, each with :COUNT, or .bin", peer_scenes.GENERATED
    option("--scenes", nargs="*", default=list(default), metavar="SCENE", help=names)
    option("--rounds", type=int, default=1, help="our turns; the peer has one more")
    option("--size", type=int, nargs=2, default=[1920, 1080], metavar=("W", "H"), help="pixels")
    option("--save", type=Path, metavar="FILE.json", help="write the record")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0, 1 if the hits of both sides differ, 2 for invalid input.
    """
    arguments = options(words)
    size = arguments.size[0], arguments.size[1]
    plan = Plan(arguments.app.resolve(), arguments.ir.resolve(), max(arguments.rounds, 1), size)
    try:
        if arguments.save:
            output.check_file(arguments.save)
        record = run(scenes(arguments.sizes, arguments.scenes), plan)
        peer_comparison.save(arguments.save, record)
    except RaytracerError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    from raytracer.benchmark.table import show

    show(record)
    return 0 if all(row["agree"] is not False for row in record["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
