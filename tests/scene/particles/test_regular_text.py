"""The compiled parser of text tables: what it takes is what NumPy reads, to the last bit."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from raytracer.files.access import opened
from raytracer.scene.particles import regular_text
from raytracer.scene.particles.regular_text import (
    NUMBER,
    OPTIONAL,
    TEXT,
    FixedCell,
    Rows,
    fixed_rows,
    table_rows,
)
from support.particle_files import write

RNG = np.random.default_rng(47)


def rows_of(
    path: Path,
    numbers: Sequence[int] = (0, 1),
    texts: dict[int, int] | None = None,
    separator: str | None = None,
    skip: int = 0,
    most: int = 100_000,
) -> Rows | None:
    with opened(path) as file:
        return table_rows(file, numbers, texts or {}, separator, skip, most)


@pytest.fixture(params=[64, 1 << 23])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few lines, and the usual ones."""
    monkeypatch.setattr(regular_text, "BLOCK_BYTES", request.param)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("form", ["%.17g", "%.6g", "%+.3e", "%d", "%25.18f", "%.1f", "%.16E"])
def test_numbers_are_those_of_numpy(tmp_path: Path, form: str) -> None:
    scales = 10.0 ** RNG.uniform(-30, 30, (300, 3))
    values = RNG.normal(size=(300, 3)) * (1e9 if form in ("%d", "%25.18f", "%.1f") else scales)
    path = tmp_path / "a.txt"
    np.savetxt(path, values, fmt=form)
    found = rows_of(path, (2, 0))
    assert found is not None
    np.testing.assert_array_equal(found.numbers, np.loadtxt(path)[:, [2, 0]])


@pytest.mark.parametrize(
    "text",
    ["0", "-0.0", "+.5", "5.", "1e22", "1e-22", "1E+5", "9007199254740993", "123456789012345678901",
     "0.1e-320", "1.7976931348623157e308", "2.2250738585072011e-308", "nan", "-NaN", "inf",
     "-Infinity", "0000000000000000000000001.5", "8.5e-5", "4.35", "0.000001e6"],
)  # fmt: skip
def test_odd_numbers(tmp_path: Path, text: str) -> None:
    found = rows_of(write(tmp_path / "a.txt", f"{text} 1\n"))
    assert found is not None
    expected = np.array([float(text), 1.0])
    np.testing.assert_array_equal(found.numbers[0], expected)
    assert np.signbit(found.numbers[0, 0]) == np.signbit(expected[0])


@pytest.mark.parametrize(
    "text",
    ["1_0", "0x10", "1e", "1e+", "--1", "1.2.3", ".", "-", "e5", "1e999", "1,5", "one", "1d5",
     "infinite", "٣", "1\x1f", "1\x0c", "nan(1)", "1e12345678"],
)  # fmt: skip
@pytest.mark.parametrize("separator", [None, ";"])
def test_what_is_left_to_numpy(tmp_path: Path, text: str, separator: str | None) -> None:
    path = write(tmp_path / "a.txt", f"1{separator or ' '}2\n{text}{separator or ' '}2\n")
    assert rows_of(path, separator=separator) is None


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n  \n"])
def test_ends_of_lines(tmp_path: Path, end: str, last: str) -> None:
    lines = [f"{row} {row + 0.5}" if row % 7 else "  \t" for row in range(40)]
    text = "head\n\nmore\n" + "\n".join(lines) + last
    found = rows_of(write(tmp_path / "a.txt", text.replace("\n", end)), skip=3)
    assert found is not None
    expected = [(row, row + 0.5) for row in range(40) if row % 7]
    np.testing.assert_array_equal(found.numbers, expected)
    some = rows_of(write(tmp_path / "a.txt", text.replace("\n", end)), skip=3, most=11)
    assert some is not None
    np.testing.assert_array_equal(some.numbers, expected[:11])


def test_other_ends_of_lines(tmp_path: Path) -> None:
    assert rows_of(write(tmp_path / "a.txt", "1 2\r3 4\r")) is None
    assert rows_of(write(tmp_path / "a.txt", "head\r1 2\n3 4\n"), skip=1) is None


def test_too_few_cells(tmp_path: Path) -> None:
    assert rows_of(write(tmp_path / "a.txt", "1 2\n3\n")) is None
    assert rows_of(write(tmp_path / "a.txt", "1;2\n3\n"), separator=";") is None
    assert rows_of(write(tmp_path / "a.txt", "1 2 3\n4 5\n")) is not None
    assert rows_of(write(tmp_path / "a.txt", "")) is not None


@pytest.mark.usefixtures("block")
def test_texts(tmp_path: Path) -> None:
    text = "H 1 a,b 2\nLongest 3 c 4\n\nO 5 dd 6\n"
    found = rows_of(write(tmp_path / "a.txt", text), (1, 3), {0: 4, 2: 8})
    assert found is not None
    np.testing.assert_array_equal(found.numbers, [[1, 2], [3, 4], [5, 6]])
    assert [each.tolist() for each in found.texts] == [[b"H", b"Long", b"O"], [b"a,b", b"c", b"dd"]]
    cells = rows_of(write(tmp_path / "b.txt", "a b,1,2\r\n,  3 ,4\r\n"), (1, 2), {0: 4}, ",")
    assert cells is not None
    np.testing.assert_array_equal(cells.numbers, [[1, 2], [3, 4]])
    assert cells.texts[0].tolist() == [b"a b", b""]
    assert rows_of(write(tmp_path / "c.txt", "a ,1,2\n"), (1, 2), {0: 4}, ",") is None


def test_several_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are those of one thread, also where blank lines leave gaps between parts."""
    values = RNG.integers(0, 10**6, (60_000, 2))
    lines = [f"{x} {y}" + "\n" * (1 + (row % 1000 == 0)) for row, (x, y) in enumerate(values)]
    path = write(tmp_path / "a.txt", "".join(lines))
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("RAYTRACER_THREADS", threads)
        for most in (60_000, 45_678, 10):
            found = rows_of(path, most=most)
            assert found is not None
            np.testing.assert_array_equal(found.numbers, values[:most])


def test_any_text_is_that_of_numpy_or_left_to_it(tmp_path: Path) -> None:
    source = random.Random(3)
    taken = 0
    for case in range(500):
        words = source.choices(
            ["1.5", "-2", "3e1", "nan", "x", "é", "1_0"], [9, 9, 9, 3, 0.2, 0.1, 0.1], k=12
        )
        gaps = source.choices([" ", "\n", "\t", ",", "\r\n", "\n\n"], [9, 5, 1, 3, 1, 1], k=12)
        text = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
        path = write(tmp_path / "a.txt", text)
        separator = source.choice([None, ","])
        found = rows_of(path, (0,), separator=separator)
        if found is not None:
            taken += 1
            expected = np.loadtxt(
                path, delimiter=separator, usecols=[0], ndmin=1, encoding="utf-8", comments=None
            )
            np.testing.assert_array_equal(found.numbers[:, 0], expected, f"{case}: {text!r}")
    assert taken > 50


CELLS = {
    "name": FixedCell(TEXT, 6, 10),
    "x": FixedCell(NUMBER, 10, 15),
    "y": FixedCell(NUMBER, 15, 20),
    "b": FixedCell(OPTIONAL, 20, 24),
}


@pytest.mark.usefixtures("block")
def test_fixed_columns(tmp_path: Path) -> None:
    row = "ATOM  {:4}{:5}{:5}{:4}"
    lines = [
        "TITLE",
        row.format(" N", "1.25", "2.000", "1.5"),
        row.format("CAxx", "-1.50", "3e1", ""),
    ]
    lines += [
        "REMARK",
        row.format("O", "    4", "    5", "").rstrip() + "\r",
        "ENDMDL",
        "ATOM   no",
        "",
    ]
    text = "\n".join(lines)
    path = write(tmp_path / "a.txt", text)
    with opened(path) as file:
        found = fixed_rows(file, CELLS, ("ATOM  ", "HETATM"), "ENDMDL", 100)
    assert found is not None
    np.testing.assert_array_equal(found.numbers[:, :2], [[1.25, 2], [-1.5, 30], [4, 5]])
    np.testing.assert_array_equal(found.numbers[:, 2], [1.5, np.nan, np.nan])
    assert found.texts[0].tolist() == [b"N", b"CAxx", b"O"]
    assert found.lacking == {"b"}
    path = write(tmp_path / "b.txt", "ATOM   N   1.25two  1.5\n")
    with opened(path) as file:
        assert fixed_rows(file, CELLS, ("ATOM  ",), "ENDMDL", 100) is None
