"""Ours and a peer in turns in one run: times, ratios, differences of their output, and the record.

A record is one of `raytracer bench` (`raytracer/benchmark/record.py`, `raytracer bench FILE.json`
prints it) with a row for each mode of the peer, and more keys in its results (`PeerResult`).
"""

import math
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from raytracer._version import __version__
from raytracer.backends.cuda.compile import describe_compiler
from raytracer.benchmark import record, statistics
from raytracer.benchmark.record import FORMAT, Record, Result, Row
from raytracer.benchmark.run import describe_backend, kernel_digest
from raytracer.config.errors import RaytracerError
from reference.peers.scenes import WORKS, PeerScene

Turn = Callable[[float], list[float]]
"""Takes seconds; returns the seconds of each repetition, for at least so long, after one that is
not timed."""

OURS = "raytracer"
NOTHING = 2**32 - 1  # id of a ray without a hit
# The largest shares of pixels that may differ. Grazing rays depend on rounding, and whether a point
# is lit on where its shadow ray starts; each light of a pixel with random rays is noise.
SHARES = {"hits": 1e-4, "ids": 5e-4, "distances": 5e-4, "light": 1e-3}
FEWEST = 4  # pixels that may differ in any case
DISTANCE = 1e-3  # relative difference of distances from which on they count
LIGHT = 0.01  # difference of a linear value, of 0 to 1, from which on it counts
NOISY = ("ao", "path")  # works whose rays are drawn at random
MEAN = 0.002  # difference of the means of light, beside four times its standard error


@dataclass(frozen=True)
class Answer:
    """What a frame has found; None is what a peer does not tell.

    ids: of the first hits, uint32 (h, w), numbered as the spheres are.
    distances: of unit directions, float32 (h, w); infinity without a hit.
    film: linear, float32 (h, w, 4).
    seen: whether a pixel shows a sphere, (h, w), for peers that tell no more.
    """

    ids: NDArray[np.uint32] | None
    distances: NDArray[np.float32] | None
    film: NDArray[np.float32] | None
    seen: NDArray[np.bool_] | None = None

    @property
    def hit(self) -> NDArray[np.bool_]:
        """Whether the ray of a pixel hits a sphere, (h, w)."""
        if self.seen is not None:
            return self.seen
        if self.ids is not None:
            return np.asarray(self.ids != NOTHING)
        if self.distances is not None:
            return np.asarray(np.isfinite(self.distances))
        assert self.film is not None
        return np.asarray(self.film[..., 3] > 0.5)


@dataclass(frozen=True)
class Differences:
    """Pixels in which two answers differ, None for what one of them does not tell; and the means of
    their light over the hits."""

    pixels: int
    hits: int  # one hits a sphere, the other none
    ids: int | None  # they hit different spheres
    distances: int | None  # the same sphere, at distances that differ by more than DISTANCE
    light: int | None  # the same sphere, and light that differs by more than LIGHT; None: noise
    means: tuple[float, float] | None
    error: float  # standard error of the difference of the means, as if both sides were random

    @property
    def wrong(self) -> str:
        """A sentence on what differs too much; "" if nothing does."""
        for name, share in SHARES.items():
            count: int | None = getattr(self, name)
            if count is not None and count > max(FEWEST, share * self.pixels):
                return f"{name} differ in {count:,} of {self.pixels:,} pixels"
        if self.means and abs(self.means[0] - self.means[1]) > MEAN + 4.0 * self.error:
            return f"the mean of the light is {self.means[1]:.4f}, ours {self.means[0]:.4f}"
        return ""


def compare(ours: Answer, peer: Answer, work: str) -> Differences:
    """Count the pixels in which a peer's answer differs from ours."""
    hit, other = ours.hit, peer.hit
    same = hit & other
    ids = distances = light = means = None
    error = 0.0
    if ours.ids is not None and peer.ids is not None:
        ids = int((same & (ours.ids != peer.ids)).sum())
        same &= ours.ids == peer.ids
    if ours.distances is not None and peer.distances is not None:
        one, two = ours.distances[same], peer.distances[same]
        distances = int((np.abs(one - two) > DISTANCE * one).sum())
    if ours.film is not None and peer.film is not None:
        one, two = ours.film[..., 0], peer.film[..., 0]
        light = None if work in NOISY else int((np.abs(one[same] - two[same]) > LIGHT).sum())
        means = _mean(one[hit]), _mean(two[other])
        error = math.sqrt((_variance(one[hit]) + _variance(two[other])) / max(hit.sum(), 1))
    differing = int((hit != other).sum())
    return Differences(hit.size, differing, ids, distances, light, means, error)


def _mean(light: NDArray[np.float32]) -> float:
    return float(light.mean(dtype=np.float64)) if light.size else 0.0


def _variance(light: NDArray[np.float32]) -> float:
    return float(light.var(dtype=np.float64)) if light.size else 0.0


class Peer(Protocol):
    """Another renderer with a scene."""

    name: str
    """With its version."""

    def time(self, work: str, mode: str, seconds: float) -> list[float]:
        """A `Turn` of a work in a mode."""

    def answer(self, work: str, mode: str) -> Answer | None:
        """What a frame finds; None for trees."""

    def close(self) -> None: ...


class Program:
    """A peer in a process of its own, which is told what to do by lines of text (program.h)."""

    def __init__(
        self, words: Sequence[str], scene: PeerScene, threads: int,
        env: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Start the program and wait until it has read the scene.

        Raises RaytracerError where it cannot be run, or fails.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="peer-")
        self._at, self._shape = Path(self._folder.name), (scene.height, scene.width)
        self._words = [*words, *scene.words(self._at / "spheres.f32", threads)]
        try:
            self._process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=os.environ | dict(env or {}),
            )  # fmt: skip
        except OSError as error:
            self._folder.cleanup()
            raise RaytracerError(f"{words[0]}: cannot be run ({error.strerror})") from error
        self.name = self._read()

    def time(self, work: str, mode: str, seconds: float) -> list[float]:
        return [float(word) for word in self._ask(f"time {work} {mode} {seconds:.9g}").split()]

    def answer(self, work: str, mode: str) -> Answer | None:
        if work in ("build", "refit"):
            return None
        path = self._at / "answer"
        self._ask(f"answer {work} {mode} {path}")
        data, pixels = path.read_bytes(), self._shape[0] * self._shape[1]
        if len(data) != 24 * pixels:
            raise RaytracerError(f"{self._words[0]} wrote {len(data):,} bytes, not {24 * pixels:,}")
        ids = np.frombuffer(data, np.uint32, pixels).reshape(self._shape)
        rest = np.frombuffer(data, np.float32, 5 * pixels, 4 * pixels)
        film = rest[pixels:].reshape(*self._shape, 4)
        return Answer(ids, rest[:pixels].reshape(self._shape), film)

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has ended, and what it said is read
        return self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line or line.startswith("error"):
            code = self._process.wait() if not line else 1
            self.close()
            why = line.removeprefix("error: ") or f"it ended with code {code}"
            raise RaytracerError(f"{self._words[0]}: {why}")
        return line

    def close(self) -> None:
        """End the process and remove its files."""
        self._process.terminate()
        self._process.communicate()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        at: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()


class PeerResult(Result, total=False):
    """One work on one scene.

    ratio: our median by that of the fastest mode of the peer; below 1 ours is faster.
    """

    ratio: float
    fastest: str
    differences: dict[str, dict[str, object]]  # from our answer, by mode
    load_average: float  # at its start, that of this run included


def measure(
    work: str, scene: PeerScene, ours: Turn, answer: Answer | None, peer: Peer,
    modes: Sequence[str], min_time: float,
) -> PeerResult:  # fmt: skip
    """Check the answers of a peer's modes, then time ours and those that agree in turns."""
    axes: dict[str, int | str] = {"scene": scene.kind, "spheres": len(scene.spheres)}
    axes |= {"width": scene.width, "height": scene.height, "seed": scene.seed}
    rows, turns = [record.row(OURS, f"raytracer {__version__}")], [ours]
    differences: dict[str, dict[str, object]] = {}
    timed = [rows[0]]
    for mode in modes:
        row = record.row(f"{peer.name}, {mode}", WORKS[work], "peer")
        row["version"] = peer.name
        rows.append(row)
        try:
            theirs = peer.answer(work, mode)
        except RaytracerError as error:
            row["status"], row["reason"] = "failed", str(error)
            continue
        if answer is not None and theirs is not None:
            found = compare(answer, theirs, work)
            differences[row["label"]] = asdict(found)
            if why := found.wrong:
                row["status"], row["reason"] = "wrong", why
                continue
        timed.append(row)
        turns.append(partial(peer.time, work, mode))
    for row, groups in zip(timed, statistics.in_turns(turns, min_time), strict=True):
        statistics.timed(row, groups)
    result = cast(PeerResult, record.result(work, axes, rows, "warm", scene.kind))
    if differences:
        result["differences"] = differences
    if len(timed) > 1:
        fastest = min(timed[1:], key=lambda row: row["time"]["median"])
        result["fastest"] = fastest["label"]
        result["ratio"] = rows[0]["time"]["median"] / fastest["time"]["median"]
    return result


def to_record(
    backend: str, command: str, load: float, results: list[PeerResult]
) -> Record:  # fmt: skip
    """Return the record of a run, with a list that may grow; load: that at its start."""
    return {
        "format": FORMAT,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "backend": cast(Literal["cpu", "cuda"], backend),
        "device": describe_backend(backend),
        "why_no_gpu": "",
        "compiler": describe_compiler() or "none",
        "kernel_digest": kernel_digest(),
        "load_average": load,
        "versions": {
            "raytracer": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "results": cast(list[Result], results),
    }


def load_average() -> float:
    """Return the load of the last minute."""
    return round(os.getloadavg()[0], 2)


HEADER = "| work | scene | spheres | ours | peer | ratio | differ |\n" + "| --- " * 7 + "|"


def rows_of(result: PeerResult) -> str:
    """Return rows of a table in Markdown under `HEADER`: ours, each mode of the peer, the ratio to
    the fastest one, and the numbers of pixels that differ, by `SHARES`."""
    lines = []
    ours, count = _ms(result["rows"][0]), int(result["axes"]["spheres"])
    where = f"{result['op']} | {result['axes']['scene']} | {count:,}"
    for row in result["rows"][1:]:
        found = result.get("differences", {}).get(row["label"], {})
        counts = ["–" if found[name] is None else found[name] for name in SHARES if found]
        ratio = f"{result['ratio']:.2f}" if row["label"] == result.get("fastest") else ""
        shown = _ms(row) if row["status"] == "ok" else f"{row['status']}: {row['reason']}"
        differ = ", ".join(map(str, counts))
        lines.append(f"| {where} | {ours} | {row['label']}: {shown} | {ratio} | {differ} |")
    return "\n".join(lines)


def _ms(row: Row) -> str:
    time = row["time"]
    return f"{1e3 * time['median']:.3g} ms ({1e3 * time['q1']:.3g} to {1e3 * time['q3']:.3g})"
