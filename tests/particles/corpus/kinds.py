"""Kinds of files: a writer of another package, and what its format keeps of six atoms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SYMBOLS = ["Cu", "O", "H", "H", "C", "N"]
CELL = np.diag([10.0, 11.0, 12.0])
TILTED = np.array([[10.0, 0.0, 0.0], [2.5, 11.0, 0.0], [-1.25, 3.0, 12.0]])
POINTS = np.random.default_rng(19).uniform(0.1, 0.8, (6, 3)) * [10.0, 11.0, 12.0]
RADII = np.array([0.5, 0.25, 1.0, 0.75, 0.3, 0.6])
SPEEDS = np.random.default_rng(20).exponential(size=6)
IDS = np.array([4, 2, 9, 11, 1, 7])

Array = NDArray[Any]


@dataclass(frozen=True)
class Written:
    """What a file was given, as its format keeps it.

    Args:
        positions: (N, 3), in the order of the file, in the unit that is shown.
        step: largest difference of a position, where it is a product (of fractions and a cell, of
            nanometres and ten); 0 is equal bits.
        symbols: of the elements, () if the file has none.
        edges: of the box, (3, 3), or None.
        radii: (N,), or None.
        columns: other columns, by the names of the reader.
        frames: their number.
        inner: path of the particles in the file.
        warning: part of the warning that is expected, or "".
    """

    positions: Array
    step: float = 0.0
    symbols: tuple[str, ...] = tuple(SYMBOLS)
    edges: Array | None = None
    radii: Array | None = None
    columns: tuple[tuple[str, Array], ...] = ()
    frames: int = 1
    inner: str = ""
    warning: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Args:
        format: what the file is.
        file: its name.
        writer: package that writes it, as it is imported.
        keeps: what its positions are kept as, for people.
        write: writes the file, and returns what it was given.
        needs: packages that reading takes, as they are imported.
    """

    format: str
    file: str
    writer: str
    keeps: str
    write: Callable[[Path], Written]
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What tests call it."""
        return f"{self.file} by {self.writer}: {self.format}"


KINDS: list[Kind] = []
"""All kinds, in the order of the modules of this folder."""


def kind(
    format: str,  # noqa: A002 - as it is called everywhere
    file: str,
    writer: str,
    keeps: str,
    *needs: str,
) -> Callable[[Callable[[Path], Written]], Callable[[Path], Written]]:
    """Return a decorator that lists a function as the writer of a kind of file."""

    def listed(write: Callable[[Path], Written]) -> Callable[[Path], Written]:
        KINDS.append(Kind(format, file, writer, keeps, write, needs))
        return write

    return listed


def kinds(writer: str, *rows: Any) -> None:
    """List kinds of a writer: format, file, what its positions are kept as, what it is given, the
    function that writes it, and the packages that reading takes.
    """
    for form, file, keeps, written, write, *needs in rows:

        @kind(form, file, writer, keeps, *needs)
        def listed(path: Path, write: Any = write, written: Written = written) -> Written:
            write(path)
            return written


def texts(
    *rows: tuple[str, str, str, Written], keeps: str = "17 digits", needs: Mapping[str, str] = {}
) -> None:
    """List texts by hand: format, file, text, and what it holds; `needs` are packages by files."""
    for form, file, text, written in rows:
        needed = [package for each, package in needs.items() if each == file]
        kinds("by hand", (form, file, keeps, written, partial(Path.write_text, data=text), *needed))


def decimals(values: Array, places: int) -> Array:
    """Return numbers as a text keeps them with so many digits after the point."""
    return np.array([float(f"{value:.{places}f}") for value in np.ravel(values)]).reshape(
        np.shape(values)
    )


def digits(values: Array, places: int) -> Array:
    """Return numbers as a text keeps them with so many significant digits."""
    return np.array([float(f"{value:.{places}g}") for value in np.ravel(values)]).reshape(
        np.shape(values)
    )


def single(values: Array) -> Array:
    """Return numbers as float32."""
    return values.astype(np.float32)
