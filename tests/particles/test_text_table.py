"""Rows of texts: the compiled parser, and the one that reads line by line and reports mistakes."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer.config.errors import DataFileError
from raytracer.files.access import open_file
from raytracer.particles import text_table
from raytracer.particles.text_table import FIXED, SPACES, Cell, CellType, Layout, Rows, read_rows
from support.particle_files import write

RNG = np.random.default_rng(47)


def rows_of(
    path: Path, numbers: Sequence[int] = (0, 1), split: str = SPACES, most: int | None = None,
    by: str = "compiled", **options: Any,
) -> Rows | None:  # fmt: skip
    """Return columns of numbers, named by their places, by one of the two parsers."""
    cells = {str(place): Cell(CellType.NUMBER, place) for place in numbers}
    layout = Layout(cells | options.pop("cells", {}), split, **options)
    with open_file(path) as file, pytest.MonkeyPatch.context() as patch:
        if by == "compiled":
            patch.setattr(text_table._ColumnBuffers, "parse_line_by_line", lambda *_: None)
        else:
            patch.setattr(text_table._ColumnBuffers, "parse_compiled", lambda *_: None)
        found: Rows | None = read_rows(file, layout, list(layout.cells), most)
        return found


def table_of(found: Rows | None) -> np.ndarray:
    assert found is not None
    return np.column_stack([each for each in found.columns.values() if each.dtype.kind == "f"])


@pytest.fixture(params=[64, 1 << 23])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few lines, and the usual ones."""
    monkeypatch.setattr(text_table, "BLOCK_BYTES", request.param)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("form", ["%.17g", "%.6g", "%+.3e", "%d", "%25.18f", "%.1f", "%.16E"])
def test_numbers_are_those_of_numpy(tmp_path: Path, form: str) -> None:
    scales = 10.0 ** RNG.uniform(-30, 30, (300, 3))
    values = RNG.normal(size=(300, 3)) * (1e9 if form in ("%d", "%25.18f", "%.1f") else scales)
    path = tmp_path / "a.txt"
    np.savetxt(path, values, fmt=form)
    for by in ("compiled", "lines"):
        np.testing.assert_array_equal(
            table_of(rows_of(path, (2, 0), by=by)), np.loadtxt(path)[:, [2, 0]]
        )


@pytest.mark.parametrize(
    "text",
    ["0", "-0.0", "+.5", "5.", "1e22", "1e-22", "1E+5", "9007199254740993", "123456789012345678901",
     "0.1e-320", "1.7976931348623157e308", "2.2250738585072011e-308", "nan", "-NaN", "inf",
     "-Infinity", "0000000000000000000000001.5", "8.5e-5", "4.35", "0.000001e6"],
)  # fmt: skip
def test_odd_numbers(tmp_path: Path, text: str) -> None:
    found = table_of(rows_of(write(tmp_path / "a.txt", f"{text} 1\n")))
    expected = np.array([float(text), 1.0])
    np.testing.assert_array_equal(found[0], expected)
    assert np.signbit(found[0, 0]) == np.signbit(expected[0])


@pytest.mark.parametrize(
    "text",
    ["1_0", "0x10", "1e", "1e+", "--1", "1.2.3", ".", "-", "e5", "one", "1d", "infinite", "٣",
     "nan(1)", ""],
)  # fmt: skip
@pytest.mark.parametrize("separator", [SPACES, ";"])
def test_what_is_no_number(tmp_path: Path, text: str, separator: str) -> None:
    gap = " " if separator == SPACES else separator
    path = write(tmp_path / "a.txt", f"1{gap}2\n\n{text}{gap}2\n")
    assert rows_of(path, split=separator) is None
    with pytest.raises(DataFileError, match=r"a.txt: line 3(, column '0')?: "):
        rows_of(path, split=separator, by="lines")


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n  \n"])
@pytest.mark.parametrize("by", ["compiled", "lines"])
def test_ends_of_lines(tmp_path: Path, end: str, last: str, by: str) -> None:
    lines = [f"{row} {row + 0.5}" if row % 7 else "  \t" for row in range(40)]
    text = "head\n\nmore\n" + "\n".join(lines) + last
    path = write(tmp_path / "a.txt", text.replace("\n", end))
    expected = [(row, row + 0.5) for row in range(40) if row % 7]
    np.testing.assert_array_equal(table_of(rows_of(path, skip=3, by=by)), expected)
    some = rows_of(path, skip=3, most=11, by=by)
    np.testing.assert_array_equal(table_of(some), expected[:11])
    assert some is not None
    assert path.read_bytes()[some.end :].split()[0] == b"13"  # of the row that follows


@pytest.mark.parametrize("by", ["compiled", "lines"])
def test_carriage_returns_and_decimal_commas(tmp_path: Path, by: str) -> None:
    end = "\r" if by == "lines" else "\n"
    text = "head\r1;2,5\r-3,25e1;é\r\r,5;-12345678,12345678901\r".replace("\r", end)
    path = write(tmp_path / "a.txt", text)
    found = rows_of(path, (0,), ";", cells={"t": Cell(CellType.TEXT, 1, 32)}, skip=1, by=by)
    assert found is not None
    np.testing.assert_array_equal(found.columns["0"], [1.0, -32.5, 0.5])
    assert found.columns["t"][1].decode() == "é"
    second = rows_of(write(path, "1;2,5\n2;-12345678,12345678901\n"), (1,), ";", by=by)
    np.testing.assert_array_equal(table_of(second)[:, 0], [2.5, -12345678.12345678901])
    for odd in ("1 2\r3 4\n5 6\n", "1 2\r3 4\r"):
        assert by == "lines" or rows_of(write(path, odd)) is None


@pytest.mark.parametrize("text", ["", "head", "head\n", "head\r"])
def test_no_rows(tmp_path: Path, text: str) -> None:
    """Columns without rows: what follows tells that there are none."""
    cells = {"v": Cell(CellType.NUMBER, 2, repeat=3), "t": Cell(CellType.TEXT, 5, 4)}
    found = rows_of(write(tmp_path / "a.txt", text), cells=cells, skip=1, by="lines")
    assert found is not None
    assert found.columns["v"].shape == (0, 3)
    assert [len(found.columns[name]) for name in ("0", "1", "t")] == [0, 0, 0]


@pytest.mark.parametrize("by", ["compiled", "lines"])
def test_cells_between_separators(tmp_path: Path, by: str) -> None:
    """Quotes, blanks, missing values, and cells at the end of a row."""
    text = 'a b,1,,2\r\n"c,d",  "3" , null,4,,\n" e ",5,7,6\n'
    cells = {"t": Cell(CellType.TEXT, 0, 4), "o": Cell(CellType.OPTIONAL, 2)}
    path = write(tmp_path / "a.txt", text)
    found = rows_of(path, (1, 3), ",", cells=cells, most=None, by=by)
    assert found is not None
    assert found.columns["t"].tolist() == [b"a b", b"c,d", b"e"]
    np.testing.assert_array_equal(found.columns["o"], [np.nan, np.nan, 7])
    np.testing.assert_array_equal(found.columns["1"], [1, 3, 5])


def test_several_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are those of one thread, also where blank lines leave gaps between parts."""
    values = RNG.integers(0, 10**6, (60_000, 2))
    lines = [f"{x} {y}" + "\n" * (1 + (row % 1000 == 0)) for row, (x, y) in enumerate(values)]
    path = write(tmp_path / "a.txt", "".join(lines))
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("RAYTRACER_THREADS", threads)
        for most in (60_000, 45_678, 10):
            np.testing.assert_array_equal(table_of(rows_of(path, most=most)), values[:most])


def test_both_parsers_read_the_same(tmp_path: Path) -> None:
    source = random.Random(3)
    taken = 0
    for case in range(500):
        words = source.choices(
            ["1.5", "-2", "3e1", "nan", "x", '"7"', "é", "1_0", ""],
            [9, 9, 9, 3, 0.2, 0.5, 0.1, 0.1, 0.2],
            k=12,
        )
        gaps = source.choices([" ", "\n", "\t", ",", "\r\n", "\n\n"], [9, 5, 1, 3, 1, 1], k=12)
        text = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
        path = write(tmp_path / "a.txt", text)
        split = source.choice([SPACES, ","])
        columns = source.choice([0, 3])
        found = rows_of(path, (0,), split, columns=columns)
        if found is not None:
            taken += 1
            expected = rows_of(path, (0,), split, columns=columns, by="lines")
            np.testing.assert_array_equal(table_of(found), table_of(expected), f"{case}: {text!r}")
    assert taken > 50


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("by", ["compiled", "lines"])
def test_fixed_columns(tmp_path: Path, by: str) -> None:
    row = "ATOM  {:4}{:5}{:5}{:4}"
    lines = [
        "TITLE",
        row.format(" N", "1.25", "2.000", "1.5"),
        row.format("CAxx", "-1.50", "3e1", ""),
        "REMARK",
        row.format("O", "    4", "    5", "").rstrip() + "\r",
        "ENDMDL",
        "ATOM   no",
        "",
    ]
    path = write(tmp_path / "a.txt", "\n".join(lines))
    cells = {
        "name": Cell(CellType.TEXT, 6, 4),
        "v": Cell(CellType.NUMBER, 10, 5, 2),
        "b": Cell(CellType.OPTIONAL, 20, 4),
    }
    options: Any = {"records": ("ATOM  ", "HETATM"), "stop": "ENDMDL", "by": by}
    found = rows_of(path, (), FIXED, cells=cells, **options)
    assert found is not None
    np.testing.assert_array_equal(found.columns["v"], [[1.25, 2], [-1.5, 30], [4, 5]])
    np.testing.assert_array_equal(found.columns["b"], [1.5, np.nan, np.nan])
    assert found.columns["name"].tolist() == [b"N", b"CAxx", b"O"]
    path = write(tmp_path / "b.txt", "ATOM   N   1.25two  1.5\n")
    if by == "compiled":
        assert rows_of(path, (), FIXED, cells=cells, **options) is None
        return
    with pytest.raises(DataFileError, match="line 1, column 'v': 'two' is not a number"):
        rows_of(path, (), FIXED, cells=cells, **options)
