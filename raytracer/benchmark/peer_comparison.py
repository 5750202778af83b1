"""Measurements of our renderer for comparisons with peers, and the record of a comparison."""

from __future__ import annotations

import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from raytracer._version import __version__
from raytracer.benchmark.comparison_record import Comparison, ComparisonRow, SideRecord
from raytracer.benchmark.digests import kernel_digest, sources_digest
from raytracer.benchmark.peer_scenes import LIT, counts
from raytracer.benchmark.record import Device
from raytracer.benchmark.timing import summary
from raytracer.errors import RaytracerError
from raytracer.files import output
from raytracer.film.film import Film
from raytracer.pipeline import prepare
from raytracer.scene.packing.pack import pack
from raytracer.scene.scene import Scene

# Tolerated shares of differing hits and lit pixels: grazing rays depend on rounding, and lit pixels
# on the offset of shadow rays.
HITS_DIFFER, LIT_DIFFER = 5e-6, 3e-4


class Renderer:
    """A scene on a backend, and the film to which it is rendered."""

    def __init__(self, scene: Scene, backend: str = "cpu", threads: int = 0) -> None:
        """Load, build and upload; raise UserError if the backend cannot be used."""
        self.job = prepare(scene, backend=backend, threads=threads)
        self._film = self.job.film(Film.blank(scene.render.width, scene.render.height))
        self._buffers = pack(scene)

    def frames(self, count: int, shadows: bool = True) -> list[float]:
        """Return milliseconds of each of `count` frames, from the first ray to the linear film."""
        self.job.view = self.job.view.with_shadows(shadows)
        return [self._frame() for _ in range(count)]

    def _frame(self) -> float:
        self._film.clear()
        return 1e3 * self.job.expose(self._film, 1)

    @property
    def film(self) -> Film:
        """The film of the last frame."""
        return self._film.to_host()

    def builds(self, count: int) -> list[float]:
        """Return milliseconds of each of `count` builds of the BVH on the host."""
        times = []
        for _ in range(count):
            start = time.perf_counter()
            self.job.device.build(self._buffers)
            times.append(1e3 * (time.perf_counter() - start))
        return times

    def side(self, frames: list[float], builds: list[float], lit: float | None = LIT) -> Side:
        """Return the measurements, with the counts of the film unless `lit` is None."""
        hits = (None, None) if lit is None else counts(self.film.sums, lit)
        return Side(frames, builds, self.job.memory["bvh_per_sphere"], *hits)

    @property
    def device(self) -> Device:
        """The device, without the memory that happens to be free."""
        details: dict[str, Any] = self.job.about["backend"]
        return cast(Device, {key: details[key] for key in details if key != "memory_free"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Release the memory of the backend."""
        self._film.close()
        self.job.scene.close()


@dataclass
class Side:
    """Measurements of one renderer: milliseconds of frames and builds, bytes per sphere, hits."""

    frame_ms: list[float] = field(default_factory=list)
    build_ms: list[float] = field(default_factory=list)
    bytes_per_sphere: float | None = None
    hits: int | None = None
    lit: int | None = None

    def record(self) -> SideRecord:
        """Return times and their statistics as JSON types."""
        return {
            "frame": summary(self.frame_ms),
            "build": summary(self.build_ms),
            "frame_ms": self.frame_ms,
            "build_ms": self.build_ms,
            "bytes_per_sphere": self.bytes_per_sphere,
            "hits": self.hits,
            "lit": self.lit,
        }


def compare(
    name: str, spheres: int, size: tuple[int, int], ours: Side, peers: dict[str, Side]
) -> ComparisonRow:
    """Compare our measurements with those of a peer.

    Args:
        name: of the scene.
        spheres: their number.
        size: of the picture, in pixels.
        ours: our measurements.
        peers: those of each mode of the peer. The ratios refer to the mode with the lowest median
            frame time, and to the builds of all modes.
    """
    fastest = min(peers, key=lambda mode: statistics.median(peers[mode].frame_ms))
    best = peers[fastest]
    peer_builds = [build for side in peers.values() for build in side.build_ms]
    return {
        "scene": name,
        "spheres": spheres,
        "size": list(size),
        "ours": ours.record(),
        "peers": {mode: side.record() for mode, side in peers.items()},
        "fastest": fastest,
        "peer_build": summary(peer_builds),
        "frame_ratio": statistics.median(ours.frame_ms) / statistics.median(best.frame_ms),
        "build_ratio": statistics.median(ours.build_ms) / statistics.median(peer_builds),
        "agree": agree(ours, best, size[0] * size[1]),
    }


def agree(ours: Side, peer: Side, rays: int) -> bool | None:
    """Whether hits and lit pixels are equal within rounding; None if they were not counted."""
    if ours.hits is None or ours.lit is None or peer.hits is None or peer.lit is None:
        return None
    return (
        abs(ours.hits - peer.hits) <= max(HITS_DIFFER * rays, 1)
        and abs(ours.lit - peer.lit) <= max(LIT_DIFFER * peer.lit, 1)
    )  # fmt: skip


def run_process(words: Sequence[object], scene: str = "") -> str:
    """Run the program of a peer and return what it prints.

    Args:
        words: the program and its arguments.
        scene: named if it fails.

    Raises:
        RaytracerError: it cannot be run, or fails.
    """
    try:
        process = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
    except OSError as error:
        raise RaytracerError(f"{words[0]}: cannot be run ({error.strerror})") from error
    except subprocess.CalledProcessError as error:
        text, where = f"{error.stdout}{error.stderr}".strip(), f" on {scene}" if scene else ""
        raise RaytracerError(f"{words[0]} failed{where}: {text}") from error
    return process.stdout


def load_average() -> float:
    """Return the load average of the last minute; above about 0.2 a record is unreliable."""
    return round(os.getloadavg()[0], 2)


def record(
    peer: str, note: str, load: float, device: Device, rows: list[ComparisonRow]
) -> Comparison:
    """Return a comparison as JSON types.

    Args:
        peer: name and version.
        note: printed with the table.
        load: load average at the start.
        device: on which our renderer ran.
        rows: one for each scene.
    """
    import numpy

    return {
        "peer": peer,
        "note": note,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command(sys.argv),
        "device": device,
        "load_average": load,
        "kernel_digest": kernel_digest(),
        "sources_digest": sources_digest(),
        "versions": {
            "raytracer": __version__,
            "python": platform.python_version(),
            "numpy": numpy.__version__,
        },
        "rows": rows,
    }


def command(argv: list[str]) -> str:
    """Return the command line for a record, with absolute paths reduced to file names."""
    module = f"raytracer.benchmark.{Path(argv[0]).stem}"
    words = [Path(word).name if Path(word).is_absolute() else word for word in argv[1:]]
    return f"python -m {shlex.join([module, *words])}"


def save(path: Path | None, content: Any) -> None:
    """Write a record unless `path` is None."""
    if path is not None:
        output.write(path, json.dumps(content, indent=1) + "\n")
