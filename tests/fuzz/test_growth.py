"""Processor time of readers of texts: eight times the input takes about eight times as long.

Each reader gets texts of one long word, one long line, many columns and many lines, as short ones
and as eight times longer ones. A reader that is quadratic takes 64 times as long.
"""

import os
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from raytracer.model import particle_names as naming
from raytracer.particles import registry
from raytracer.particles.registry import FORMATS, LIBRARIES
from support.particle_files import complaint, write

SHORT, TIMES = 1 << 12, 8  # bytes of the short inputs, and how much longer the others are
SPARE, SHARE = 0.5, 2.5  # seconds, and times more than linear, that a busy machine may add
MOST = 30  # seconds of processor time after which the system ends a process of readers

_BY_MODULE = {each.module: each.suffixes[0] for each in reversed(FORMATS)
              if each.module not in LIBRARIES and each.suffixes}  # fmt: skip
SUFFIXES = ["", ".xml", ".json", ".out", *_BY_MODULE.values()]
"""An ending of each reader that needs no library; by the first ones and "" the content decides."""


def repeated(text: str, before: str = "", after: str = "\n") -> Callable[[int], str]:
    return lambda size: before + text * (size // len(text)) + after


def columns(separator: str, names: str) -> Callable[[int], str]:
    """A table of many columns, with names or numbers alone."""

    def text(size: int) -> str:
        count = size // 24
        rows = [[f"{place}.5" for place in range(count)]] * 2
        named = [[f"{names}{place}" for place in range(count)]] if names else []
        return "".join(separator.join(row) + "\n" for row in named + rows)

    return text


def dump(size: int) -> str:
    """A dump of LAMMPS with more columns than bytes."""
    names = ["x", "y", "z", *(f"v{place}" for place in range(2 * size))]
    return (
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
        f"ITEM: ATOMS {' '.join(names)}\n{'1 ' * len(names)}\n"
    )


TEXTS = {
    "digits": repeated("9", "x,y,z\n"), "dashes": repeated("-1", "a,b,position", "\n1,2,3\n"),
    "word": repeated("a"), "underscores": repeated("x_"), "points": repeated("1."),
    "exponents": repeated("1e"), "line of numbers": repeated("1 "), "commas": repeated(","),
    "cells": repeated("a;"), "spaces": repeated(" ", "[1", "\nx"), "tabs": repeated("\t", "1"),
    "brackets": repeated("["), "rows in brackets": repeated("[1,2,3],"), "braces": repeated("{"),
    "keys": repeated('{"a":'), "quotes": repeated('"'), "tags": repeated("<a>"),
    "comments": repeated("<!--"), "hashes": repeated("#"), "letters x": repeated("x "),
    "lines": repeated("1 2 3\n"), "lines of words": repeated("ab cd\n"), "blank": repeated("\n"),
    "comment lines": repeated("# a\n"), "returns": repeated("\r"), "documents": repeated("---\n"),
    "columns": columns(",", "c"), "columns of spaces": columns(" ", "c"),
    "columns without names": columns(" ", ""), "columns of coordinates": columns(",", "x_"),
    "columns of a dump": dump,
}  # fmt: skip


def _seconds(paths: list[Path]) -> list[float]:
    """Return the processor time of reading each of some files, in one process of their own."""
    receives, sends = os.pipe()
    process = os.fork()
    if process == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST, MOST))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        code = 1
        try:
            with warnings.catch_warnings(), os.fdopen(sends, "w") as times:
                warnings.simplefilter("ignore")
                for path in paths:
                    begin = time.process_time()
                    complaint(path)
                    print(time.process_time() - begin, file=times, flush=True)
            code = 0
        finally:
            os._exit(code)
    os.close(sends)
    with os.fdopen(receives) as times:
        found = [float(line) for line in times]
    assert os.waitpid(process, 0)[1] == 0, f"{[*paths, ''][len(found)]}: no end in {MOST} s"
    return found


@pytest.mark.parametrize("suffix", [
    pytest.param(each, marks=() if each == ".csv" else pytest.mark.slow) for each in SUFFIXES
])  # fmt: skip
def test_time_is_linear(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_library_formats", lambda *_: iter(()))  # ours are measured
    complaint(write(tmp_path / "a.csv", "x,y,z\n1,2,3\n"))  # modules are imported once
    paths = [
        write(tmp_path / f"{place}{suffix}", text(TIMES * SHORT))
        for place, text in enumerate(TEXTS.values())
    ]
    for path, (name, text), long in zip(paths, TEXTS.items(), _seconds(paths), strict=True):
        if long > SPARE:
            (short,) = _seconds([write(path, text(SHORT))])
            assert long < SPARE + SHARE * TIMES * short, f"{name}: {short:.2f} s, then {long:.2f} s"


def test_names_of_columns_are_compared_a_few_times_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not once for each part of particles: a line of 800 kB took over a minute."""
    compared: list[str] = []
    plain = naming.normalize_name

    def counted(name: str) -> str:
        compared.append(name)
        return plain(name)

    monkeypatch.setattr(naming, "normalize_name", counted)
    complaint(write(tmp_path / "a.csv", "1 " * 2000 + "\n"))
    assert 2000 < len(compared) < 15 * 2000
