"""`python tests/reference/peers NAME`: measures ours beside a peer, and writes the record."""

import argparse
import importlib
import secrets
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from raytracer.benchmark.report import to_json
from raytracer.benchmark.sphere_kinds import KINDS
from raytracer.config.arguments import check_real, check_whole
from raytracer.config.errors import RaytracerError, UserError
from raytracer.files import output
from raytracer.model.settings import MAX_SEED
from raytracer.system.resources import choose_thread_count
from reference.peers import turns
from reference.peers.ours import digests_of, open_ours, our_device
from reference.peers.programs import compile_all
from reference.peers.scenes import DISTANT, LIGHT, WORKS, PeerScene, draw

FOLDER = Path(__file__).parent
DIRECTIONAL = ("mitsuba", "newton")  # peers without point lights that do not fall off


class PeerModule(Protocol):
    """The module `peer` of a folder."""

    MODES: dict[str, dict[str, tuple[str, ...]]]
    """The modes of each work on "cpu" or "cuda", the default first. All modes are run."""

    def open_peer(self, scene: PeerScene, threads: int, backend: str) -> turns.Peer:
        """Start the peer with a scene; raise RaytracerError, with what is missing."""


def names() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob("*/peer.py"))


def options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python tests/reference/peers", description=__doc__)
    option = parser.add_argument
    option("peer", choices=[*names(), "compile"], help="compile: checks that programs compile")
    option("--save", type=Path, metavar="FILE.json", help="write the record")
    option("--work", nargs="+", choices=WORKS, metavar="WORK", help=f"of {', '.join(WORKS)}")
    option("--scene", nargs="+", choices=KINDS, default=["uniform"], metavar="KIND",
           help=f"of {', '.join(KINDS)}")  # fmt: skip
    option("--spheres", nargs="+", type=count, default=[1000, 100_000, 1_000_000], metavar="N")
    option("--size", nargs=2, type=count, default=[1920, 1080], metavar=("W", "H"), help="pixels")
    option("--seed", type=int, help="of the spheres and the random rays; by default a new one")
    option("--backend", choices=["cpu", "cuda"], help="of both sides, where the peer has both")
    option("--threads", type=int, default=0, help="of both sides on the CPU; by default all cores")
    option("--min-time", type=float, default=0.5, metavar="S", help="of each row, at least")
    return parser.parse_args(words)


def count(text: str) -> int:
    """Return a whole number from 1 on, also of a text like 1e6; raise ValueError for others."""
    number = float(text)
    if not (number >= 1.0 and number == int(number)):
        raise ValueError
    return int(number)


def load_peer(name: str) -> PeerModule:
    module: Any = importlib.import_module(f"reference.peers.{name}.peer")
    found: PeerModule = module
    return found


def run(
    peer: PeerModule, arguments: argparse.Namespace, seed: int, backend: str
) -> Iterator[turns.PeerResult]:
    """Yield the results of all scenes and works of a peer."""
    threads = choose_thread_count(arguments.threads)
    modes = peer.MODES[backend]
    works = arguments.work or list(modes)
    if unknown := [work for work in works if work not in modes]:
        known = ", ".join(modes)
        raise UserError(f"{arguments.peer} does not do the work {unknown[0]}: choose of {known}")
    device = our_device(backend, threads)
    for number in arguments.spheres:
        check_whole(number, "--spheres", 1, device.max_spheres)
    width, height = arguments.size
    light = DISTANT if arguments.peer in DIRECTIONAL else LIGHT
    for kind in arguments.scene:
        for number in arguments.spheres:
            scene = replace(draw(kind, number, width, height, seed), light=light)
            with closing(peer.open_peer(scene, threads, backend)) as other:
                for work in works:
                    print(f"{work}: {kind}, {number:,} spheres", file=sys.stderr)
                    load = turns.load_average()
                    with open_ours(scene, work, device) as (turn, answer):
                        found = turns.measure(
                            work, scene, turn, answer, other, modes[work], arguments.min_time
                        )
                    found["load_average"], found["kernels"] = load, digests_of(backend, work)
                    yield found


def command_of(words: Sequence[str], seed: int) -> str:
    """Return the command that does the same again, paths as names."""
    named = [Path(word).name if Path(word).is_absolute() else word for word in words]
    said = [] if "--seed" in words else ["--seed", str(seed)]
    return shlex.join(["python", "tests/reference/peers", *named, *said])


def main(words: Sequence[str]) -> int:
    """Run the command; return 0, 1 if an answer of the peer is not ours, 2 for invalid input."""
    arguments, load, results = options(words), turns.load_average(), list[turns.PeerResult]()
    seed = secrets.randbits(31) if arguments.seed is None else arguments.seed
    try:
        check_whole(seed, "--seed", 0, MAX_SEED)
        check_real(arguments.min_time, "--min-time", 0.0, above=True)
        if arguments.peer == "compile":
            return compile_all()
        if arguments.save:
            output.check_file(arguments.save)
        peer = load_peer(arguments.peer)
        backend = arguments.backend or next(iter(peer.MODES))
        if backend not in peer.MODES:
            raise UserError(f"{arguments.peer} does not run on {backend}")
        record = None
        for found in run(peer, arguments, seed, backend):
            print(turns.rows_of(found) if results else f"{turns.HEADER}\n{turns.rows_of(found)}")
            results.append(found)
            if arguments.save:  # after each, because a run takes long
                record = record or turns.to_record(backend, command_of(words, seed), load, results)
                output.write(arguments.save, to_json(record))
    except RaytracerError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 1 if any(row["status"] != "ok" for each in results for row in each["rows"]) else 0
