"""How it is measured: one warm renderer of ours, statistics, and the record of a comparison."""

from __future__ import annotations

import json
import os
import platform
import shlex
import statistics
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from raytracer._version import __version__
from raytracer.benchmark.comparison_record import Comparison, ComparisonRow, SideRecord, Summary
from raytracer.benchmark.digests import kernel_digest, sources_digest
from raytracer.benchmark.peer_scenes import LIT, counts
from raytracer.benchmark.record import Device
from raytracer.files import output
from raytracer.film.film import Film
from raytracer.pipeline import prepare
from raytracer.scene.pack import pack
from raytracer.scene.scene import Scene

# "A few rays in a million" may hit otherwise, and this share of the lit ones be lit otherwise:
# rays that graze a sphere, and the shadow ray's offset, are decided by the last bits.
HITS_DIFFER, LIT_DIFFER = 5e-6, 3e-4


class Renderer:
    """A scene made ready once on a backend, and the film that it is rendered to."""

    def __init__(self, scene: Scene, backend: str = "cpu", threads: int = 0) -> None:
        """Load, build and upload; raises UserError where the backend cannot be used."""
        self.job = prepare(scene, backend=backend, threads=threads)
        self._film = self.job.film(Film.blank(scene.render.width, scene.render.height))
        self._buffers = pack(scene)

    def frames(self, count: int, shadows: bool = True) -> list[float]:
        """Milliseconds of each of `count` frames, from the first ray to the linear film."""
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
        """Milliseconds of each of `count` builds of the BVH, on the cores of the host."""
        times = []
        for _ in range(count):
            start = time.perf_counter()
            self.job.device.build(self._buffers)
            times.append(1e3 * (time.perf_counter() - start))
        return times

    def side(self, frames: list[float], builds: list[float], lit: float | None = LIT) -> Side:
        """What was measured, with the counts of the film; without them where `lit` is None."""
        hits = (None, None) if lit is None else counts(self.film.sums, lit)
        return Side(frames, builds, self.job.memory["bvh_per_sphere"], *hits)

    @property
    def device(self) -> Device:
        """What it ran on; memory that happened to be free is left out."""
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
        """Give back the backend's memory."""
        self._film.close()
        self.job.scene.close()


@dataclass
class Side:
    """One renderer's figures: milliseconds of frames and builds, bytes a sphere, rays."""

    frame_ms: list[float] = field(default_factory=list)
    build_ms: list[float] = field(default_factory=list)
    bytes_per_sphere: float | None = None
    hits: int | None = None
    lit: int | None = None

    def record(self) -> SideRecord:
        """As JSON types, with the statistics of the times beside the times."""
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
    """One row of a record.

    name: of the scene. size: of the picture, in pixels. peers: each of the peer's modes; the
        fastest by the median frame counts, and all builds together.
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
    """Whether both hit and lit the same but for rounding; None where nothing was counted."""
    if ours.hits is None or ours.lit is None or peer.hits is None or peer.lit is None:
        return None
    return (
        abs(ours.hits - peer.hits) <= max(HITS_DIFFER * rays, 1)
        and abs(ours.lit - peer.lit) <= max(LIT_DIFFER * peer.lit, 1)
    )  # fmt: skip


def summary(times: list[float]) -> Summary:
    """Median, least and quartiles of one time or more, interpolated between neighbours."""
    if len(times) == 1:
        return {"median": times[0], "min": times[0], "q1": times[0], "q3": times[0]}
    q1, median, q3 = statistics.quantiles(times, n=4, method="inclusive")
    return {"median": median, "min": min(times), "q1": q1, "q3": q3}


def load_average() -> float:
    """How busy the machine was in the last minute: a record is worth nothing above about 0.2."""
    return round(os.getloadavg()[0], 2)


def record(
    peer: str, note: str, load: float, device: Device, rows: list[ComparisonRow]
) -> Comparison:
    """A comparison as JSON types.

    peer: name and version. note: stands beside the table. load: the load average at the start.
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
    """The command line for a record: of absolute paths the name alone."""
    module = f"raytracer.benchmark.{Path(argv[0]).stem}"
    words = [Path(word).name if Path(word).is_absolute() else word for word in argv[1:]]
    return f"python -m {shlex.join([module, *words])}"


def save(path: Path | None, content: Any) -> None:
    """Write a record, if a path is given."""
    if path is not None:
        output.write(path, json.dumps(content, indent=1) + "\n")
