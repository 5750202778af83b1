"""What a benchmark is, and the options of a run with their validation."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeVar

import numpy as np

from raytracer.backends.cuda.compile import NoCompilerError
from raytracer.backends.kernel_sources import Kernel, Variant
from raytracer.benchmark.cuda.session import Enqueue, RefusedError, Session
from raytracer.benchmark.op import DISTRIBUTIONS, Op
from raytracer.benchmark.record import Result, Row
from raytracer.config.arguments import (
    MAX_WHOLE,
    check_items,
    check_mapping,
    check_real,
    check_text,
    check_truth,
    check_whole,
    check_word,
)
from raytracer.config.errors import RaytracerError, UserError
from raytracer.files.access import check_path

WIDTH = 96  # characters of a line of ideas
MODES = ("cold", "hot")
CHECKS = {
    "small sizes": "results at sizes with incomplete tiles and odd addresses",
    "timed size": "the result at the timed size, before the runs",
    "timed runs": "the outputs of the last launch of each group of timed runs",
    "poison": "outputs are overwritten before each launch that is timed alone",
    "two inputs": "two sets of inputs, at different addresses, take turns, and change places "
    "between groups of runs",
    "rounding": "each value is as exact as its type",
    "inputs": "the inputs are unchanged at the end",
    "guards": "nothing is written beside the arrays",
    "persisting lines": "the L2 cache keeps no lines from one launch to the next",
    "ceiling": "no row is faster than the GPU can copy or multiply",
}
"""What is checked of a kernel, with its meaning."""
_SIZE = re.compile(r"(\d{1,19})(?:(?:\^|\*\*)(\d{1,2})|e(\d{1,2}))?")
T = TypeVar("T")


class WrongError(RaytracerError):
    """The outputs of a kernel are not those of its operation."""


RANDOM, SPAN = "random", 1024  # random sizes span this factor by default
MAX_COUNT = 10_000


@dataclass(frozen=True)
class RandomSizes:
    """Sizes of an axis that are drawn log-uniformly."""

    count: int
    low: int = 0  # 0: a 1,024th of `high`
    high: int = 0  # 0: the default size of the axis

    def draw(self, name: str, default: int, seed: int, known: Sequence[int] = ()) -> list[int]:
        """Draw the sizes of an axis by name; the same ones for the same seed, whatever other axes
        are drawn. known: the only sizes that the axis has. Raises UserError if none can be."""
        high = self.high or default
        if high < 1:
            raise UserError(f"{name}: give the range of random sizes, like random:20:1:15")
        low = self.low or max(1, high // SPAN)
        generator = np.random.default_rng([seed, *name.encode()])
        if known:
            allowed = [each for each in known if low <= each <= high]
            if not allowed:
                words = ", ".join(map(str, known))
                raise UserError(f"{name}: none of {words} is from {low} to {high}")
            return [int(each) for each in generator.choice(allowed, self.count)]
        logs = generator.uniform(math.log(low), math.log(high + 1), self.count)
        return [min(max(int(each), low), high) for each in np.exp(logs).tolist()]


Sizes = list[int] | RandomSizes
Tell = Callable[[str], None]  # called with a line before each step


@dataclass(frozen=True)
class BenchOptions:
    """Options of a run, common to all benchmarks."""

    variant: tuple[str, ...] = ()
    axes: Mapping[str, Sizes] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=list)
    seed: int = 1  # of random sizes
    dtype: str | None = None
    distribution: str = "normal"
    mode: str = "cold"
    min_time: float = 0.5
    peers: bool = True
    user_kernel: Path | None = None
    scenes: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()  # checks that are left out, for tests

    def checks(self, name: str) -> bool:
        """Whether a check of CHECKS is made."""
        assert name in CHECKS
        return name not in self.without

    def points(self, op: Op) -> list[Op]:
        """Return an operation at every combination of sizes; raise UserError if it does not support
        one of them or the data type.

        `sizes` are those of all axes whose default size is the largest.
        """
        dtype = "" if self.dtype is None else check_word(self.dtype, op.name, op.dtypes, "dtype")
        known = self.distribution in op.distributions  # if all operations run, not of each
        distribution = self.distribution if known else "normal"
        largest = [name for name, size in op.axes.items() if size == max(op.axes.values())]
        points = []
        for size, *swept in self._combinations(op):
            sizes = dict.fromkeys(largest, size) if self.sizes else {}
            sizes |= dict(zip(self.axes, swept, strict=True))
            points.append(op.at(sizes, dtype, distribution=distribution))
        return points

    def _combinations(self, op: Op) -> list[tuple[int, ...]]:
        """Return the size of the largest axes, 0 without one, and those of the others, at each
        point. Random sizes are drawn together: one of each axis for a point."""
        given: list[Sizes] = [self.sizes or [0], *self.axes.values()]
        names = ["size", *self.axes]
        defaults = {"size": max(op.axes.values()), **op.axes}
        drawn = {
            i: each.draw(name, defaults.get(name, 0), self.seed, op.macro_sizes.get(name, ()))
            for i, (name, each) in enumerate(zip(names, given, strict=True))
            if isinstance(each, RandomSizes)
        }
        counts = {len(each) for each in drawn.values()}
        if len(counts) > 1:
            raise UserError(f"{op.name}: random sizes are drawn together: give one number of them")
        found = []
        fixed = [each if isinstance(each, list) else [0] for each in given]
        for sizes in product(*fixed):
            for number in range(max(counts, default=1)):
                point = (drawn[i][number] if i in drawn else size for i, size in enumerate(sizes))
                found.append(tuple(point))
        return list(dict.fromkeys(found))

    @property
    def is_random(self) -> bool:
        return any(isinstance(each, RandomSizes) for each in (self.sizes, *self.axes.values()))

    def counts(self, defaults: Sequence[int]) -> Sequence[int]:
        """Return the sizes of a benchmark with a single axis."""
        if isinstance(self.sizes, RandomSizes):
            drawn = self.sizes.draw("size", max(defaults), self.seed)
            return list(dict.fromkeys(drawn))
        return self.sizes or defaults


def validated(given: Mapping[str, Any]) -> BenchOptions:
    """Return the options of a call of `raytracer.bench`, its arguments by name; raise UserError for
    invalid ones."""
    axes = {} if given["axes"] is None else check_mapping(given["axes"], "axes")
    dtype, kernel = given["dtype"], given["with_file"]
    options = BenchOptions(
        variant=texts(given["variant"], "variant"),
        axes={name: _sizes(value, f"axes[{name!r}]") for name, value in axes.items()},
        sizes=_sizes(given["size"], "size"),
        seed=1 if given["seed"] is None else check_whole(given["seed"], "seed", 0, MAX_WHOLE),
        dtype=None if dtype is None else check_text(dtype, "dtype"),
        distribution=check_word(given["input"], "input", DISTRIBUTIONS, "input"),
        mode=check_word(given["mode"], "mode", MODES, "mode"),
        min_time=check_real(given["min_time"], "min_time", 0, 3600, above=True),
        peers=check_truth(given["peers"], "peers"),
        user_kernel=None if kernel is None else check_path(kernel, "with_file"),
        scenes=texts(given["scene"], "scene"),
    )
    if given["seed"] is not None and not options.is_random:
        raise UserError("--seed is of random sizes: give some, like --axis n=random:20")
    return options


def _sizes(value: Any, name: str) -> Sizes:
    """Return one or several numbers, or a text like "1e6,2^20" or "random:20", as sizes."""
    if isinstance(value, str) and value.strip().partition(":")[0] == RANDOM:
        return _random_sizes(value.strip(), name)
    if isinstance(value, str):
        return [parse_size(word) for word in value.split(",") if word]
    several = [value] if isinstance(value, (int, float)) else check_items(value, name)
    numbers = [int(v) if isinstance(v, float) and v.is_integer() else v for v in several]
    return [check_whole(number, name) for number in numbers]


def _random_sizes(value: str, name: str) -> RandomSizes:
    """Parse "random:COUNT" or "random:COUNT:LOW:HIGH"; raise UserError for other texts."""
    words = value.split(":")[1:]
    if len(words) not in (1, 3):
        raise UserError(f"{name} {value!r}: write random:COUNT or random:COUNT:LOW:HIGH")
    numbers = [check_whole(parse_size(word), name, 1) for word in words]
    found = RandomSizes(*numbers)
    if found.count > MAX_COUNT or found.low > found.high:
        raise UserError(f"{name} {value!r}: give at most {MAX_COUNT} sizes, and LOW before HIGH")
    return found


def texts(value: str | Sequence[str], name: str) -> tuple[str, ...]:
    """Return one or several texts as a tuple."""
    if isinstance(value, str):
        return (check_text(value, name),)
    return tuple(check_text(each, name) for each in check_items(value, name))


def matching(
    every: Sequence[T], words: Sequence[str], names: Callable[[T], Sequence[str]], what: str
) -> list[T]:
    """Return what some words name, in their order, each once; all if there are no words. Raises
    UserError for other words; `names` returns the names of one."""
    known = {name: each for each in every for name in names(each)}
    labels = [names(each)[0] for each in every]
    for word in words:
        check_word(word, what, known if word in known else labels, "variant")
    return list(dict.fromkeys(known[word] for word in words) if words else every)


def list_names(variant: Variant) -> tuple[str, ...]:
    """Return the names of a variant on the command line."""
    number = f"{variant.number}{variant.letter}"
    return variant.label, variant.name, number, number.zfill(2 + len(variant.letter))


def parse_size(text: str) -> int:
    """Parse a whole number: 4096, 1e6, 2^28, 2**28, 1_000; raise UserError for other text."""
    if match := _SIZE.fullmatch(text.strip().replace("_", "")):
        size: int = int(match[1]) ** int(match[2] or 1) * 10 ** int(match[3] or 0)
        if size < 2**62:
            return size
    raise UserError(f"size {text!r}: write a whole number like 4096, 1e6 or 2^20")


def parse_axes(words: Sequence[str]) -> dict[str, str]:
    """Return the sizes of words like "n=1e6,1e7" by axis; raise UserError for other words."""
    axes = {}
    for word in words:
        name, _, sizes = map(str.strip, word.partition("="))
        if not name or not sizes:
            raise UserError(f"axis {word!r}: write NAME=SIZE, for instance n=1e6")
        axes[name] = sizes
    return axes


def picture_size(name: str, axes: Mapping[str, Sizes], default: tuple[int, int]) -> tuple[int, int]:
    """Return width and height of the timed pictures; raise UserError for other axes and sizes."""
    for axis, values in axes.items():
        check_word(axis, name, ("width", "height"), "axis")
        if isinstance(values, RandomSizes) or len(values) != 1 or not 1 <= values[0] <= 1 << 14:
            raise UserError(f"{name}: {axis}: give one size from 1 to 16384")
    sizes = dict(zip(("width", "height"), default, strict=True))
    sizes |= {name: values[0] for name, values in axes.items() if isinstance(values, list)}
    return sizes["width"], sizes["height"]


class Benchmark(ABC):
    """One name of `raytracer bench`: an operation, or a part of the renderer."""

    name: str
    default_on = ""  # the backend on which it runs if no benchmark is named
    takes: tuple[str, ...]  # names of the `BenchOptions` that only some benchmarks have

    @abstractmethod
    def listing(self, ideas: bool) -> Iterator[str]:
        """Yield the lines of `--list`; ideas: those of each kernel too."""

    @abstractmethod
    def check(self, options: BenchOptions) -> None:
        """Validate options before anything runs; raise UserError for invalid ones."""

    @abstractmethod
    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> Iterable[Result]:
        """Check the outputs, then time them on a GPU, or on the CPU without a session; each
        result is complete."""

    @abstractmethod
    def sources(self, backend: str, options: BenchOptions) -> list[Path]:
        """Return the sources that are measured on "cpu" or "cuda", those of libraries too."""

    def profile(self, options: BenchOptions) -> list[str]:
        """Launch each kernel once between profiler marks, and return their labels."""
        labels = []
        with Session() as session:
            for label, launch in self.launches(session, options):
                session.profiled(launch)
                labels.append(label)
        return labels

    def launches(self, session: Session, options: BenchOptions) -> Iterator[tuple[str, Enqueue]]:
        """Yield the label and the launch of each kernel, for a profiler."""
        raise UserError(f"{self.name} has no kernels of its own; profile render or tone")


@contextmanager
def reported(row: Row) -> Iterator[None]:
    """Report an error of a kernel or a library in its row, whose measurement it ends."""
    try:
        yield
    except Exception as error:
        if row["kind"] != "peer" and not isinstance(error, RaytracerError):
            raise  # a defect of the bench
        cannot_run = isinstance(error, (RefusedError, NoCompilerError, ImportError))
        row["status"] = "skipped" if cannot_run else "failed"
        if isinstance(error, WrongError):
            row["status"] = "wrong"
        row["reason"] = str(error).split("\n")[0]


def kernel_lines(kernels: Iterable[Kernel], ideas: bool) -> Iterator[str]:
    """Yield the lines of `--list` that describe kernels."""
    for each in kernels:
        yield f"  {each.label:<28} {', '.join(map(str, each.needs)):<10} {each.title}"
        if ideas:
            for text in (each.idea, f"source: {each.source}"):
                yield from wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
