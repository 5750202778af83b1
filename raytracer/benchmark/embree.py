"""Comparison of the CPU backend with Embree: `python -m raytracer.benchmark.embree --peer PATH`.

PATH is the compiled driver of the peer. Both sides run alternately (A B B A) on all cores, each
after one untimed frame. A frame is timed from the first ray to the linear film.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raytracer.benchmark import peer_comparison, peer_scenes
from raytracer.benchmark.comparison_record import Comparison, ComparisonRow
from raytracer.benchmark.peer_comparison import Renderer, Side
from raytracer.errors import RaytracerError
from raytracer.files import output
from raytracer.resources import thread_count

MODES = ("1", "4", "8", "16", "stream")
# Bytes per sphere that the peer shares with the caller and does not count.
SHARED_BYTES = 16
# The peer prints megabytes with one decimal, too coarse for fewer spheres.
COUNTED_BYTES = 100_000
NOTE = (
    "One sample at the pixel's centre, 0.05 ambient + 0.9 diffuse, a shadow ray where the surface "
    "faces the light. Times of the peer are medians over processes of their medians; its build has "
    "medium quality, its bytes include the 16 of the shared sphere. * marks its fastest mode, to "
    "which the ratio refers."
)
NO_GROUND = "{names}: without the ground square on both sides."


@dataclass(frozen=True)
class Plan:
    """Parameters of the measurement; see the options of the command."""

    peer: Path
    modes: tuple[str, ...]
    rounds: int
    repeats: int
    size: tuple[int, int]
    threads: int


def find(name: str, folder: Path) -> peer_scenes.PeerScene:
    """Find a scene by path or by name in the folder (NAME.f32 with NAME.cfg), else generate it."""
    for base in (Path(name), folder / name):
        base = base.with_suffix("") if base.suffix in (".f32", ".cfg") else base
        if base.with_name(base.name + ".f32").is_file():
            return peer_scenes.read_embree(base)
    return peer_scenes.generated(name)


def run_peer(plan: Plan, base: Path, mode: str) -> dict[str, Any]:
    """Run one process of the peer and parse its output."""
    width, height = plan.size
    options = ["--mode", mode, "--threads", plan.threads, "--reps", plan.repeats]
    words = [plan.peer, base, *options, "--size", width, height]
    return parse(peer_comparison.run_process(words, base.name))


def parse(text: str) -> dict[str, Any]:
    """Parse the JSON line of the peer; raise RaytracerError if there is none."""
    try:
        values: dict[str, Any] = json.loads(text.strip().splitlines()[-1])
        _ = [values[k] for k in ("peer", "n", "frame_ms", "build_ms", "bvh_mb", "hits", "lit")]
    except (IndexError, KeyError, ValueError, TypeError) as error:
        raise RaytracerError(f"the peer printed no result: {text[-200:]!r}") from error
    return values


def add(side: Side, values: dict[str, Any]) -> None:
    """Add the results of one process of the peer to those of its mode."""
    side.frame_ms.append(values["frame_ms"])
    side.build_ms.append(values["build_ms"])
    if values["n"] >= COUNTED_BYTES:
        side.bytes_per_sphere = values["bvh_mb"] * 1e6 / values["n"] + SHARED_BYTES
    side.hits, side.lit = values["hits"], values["lit"]


def compare(scene: peer_scenes.PeerScene, plan: Plan, ours: Renderer) -> tuple[str, ComparisonRow]:
    """Measure one scene; return the version of the peer and the row."""
    peers = {mode: Side() for mode in plan.modes}
    frames: list[float] = []
    builds: list[float] = []
    version = ""

    def our_turn() -> None:
        builds.extend(ours.builds(1))
        ours.frames(1)
        frames.extend(ours.frames(plan.repeats))

    with tempfile.TemporaryDirectory(prefix="raytracer-") as folder:
        base = peer_scenes.write_embree(scene, Path(folder))
        turns = [mode for _ in range(plan.rounds) for mode in plan.modes]
        for turn, mode in enumerate(turns):
            if turn % 2:
                our_turn()
            values = run_peer(plan, base, mode)
            version = values["peer"]
            add(peers[mode], values)
            if not turn % 2:
                our_turn()
    side = ours.side(frames, builds)
    return version, peer_comparison.compare(scene.name, scene.count, plan.size, side, peers)


def run(names: Sequence[str], folder: Path, plan: Plan, save: Path | None = None) -> Comparison:
    """Measure all scenes; save the record after each, as a run takes long."""
    load, record = peer_comparison.load_average(), None
    rows, grounds = [], []
    for name in names:
        print(f"{name} …", file=sys.stderr)
        scene = find(name, folder)
        if scene.ground:
            grounds.append(scene.name)
            scene = peer_scenes.without_ground(scene)
        with Renderer(peer_scenes.to_scene(scene, *plan.size), "cpu", plan.threads) as ours:
            version, row = compare(scene, plan, ours)
            device = ours.device
        rows.append(row)
        note = " ".join([NOTE, *([NO_GROUND.format(names=", ".join(grounds))] if grounds else [])])
        record = peer_comparison.record(version, note, load, device, rows)
        peer_comparison.save(save, record)
    if record is None:
        raise RaytracerError("no scene to compare: give one with --scenes")
    return record


def options(words: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m raytracer.benchmark.embree")
    option = parser.add_argument
    option("--peer", type=Path, required=True, help="the compiled driver of the peer")
    option("--folder", type=Path, help="where its scenes are; default: scenes beside the driver")
    scenes = "names or paths of its scenes; sphereflake, pile, inside, each with :COUNT"
    option("--scenes", nargs="+", default=["r1k", "r100k", "r1m"], metavar="SCENE", help=scenes)
    option("--modes", nargs="+", default=list(MODES), choices=MODES, help="of the peer")
    option("--rounds", type=int, default=5, help="turns of each mode")
    option("--repeats", type=int, default=5, help="timed frames in a turn, of either side")
    option("--size", type=int, nargs=2, default=[1024, 1024], metavar=("W", "H"), help="pixels")
    option("--threads", type=int, default=0, help="of both sides; default: every core")
    option("--save", type=Path, metavar="FILE.json", help="write the record")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0, 1 if the hits of both sides differ, 2 for invalid input.
    """
    arguments = options(words)
    plan = Plan(
        arguments.peer.resolve(),
        tuple(arguments.modes),
        max(arguments.rounds, 1),
        max(arguments.repeats, 1),
        (arguments.size[0], arguments.size[1]),
        thread_count(arguments.threads),
    )
    try:
        if arguments.save:
            output.check_file(arguments.save)
        folder = arguments.folder or plan.peer.parent / "scenes"
        record = run(arguments.scenes, folder, plan, arguments.save)
    except RaytracerError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    from raytracer.benchmark.table import show

    show(record)
    return 0 if all(row["agree"] is not False for row in record["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
