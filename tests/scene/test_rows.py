"""One row of a particle file: what each kind holds, and against parses of the whole file."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer import load
from raytracer.scene.particles import lines as text_lines
from raytracer.scene.particles.text_table import number
from support.particle_files import write

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(6, 3))


def values(path: Path, prim_id: int) -> dict[str, Any]:
    found = load(path).describe(prim_id)
    assert found.note == ""
    return found.values


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npz(tmp_path: Path, save: Any, order: Any) -> None:
    many = {
        "id": np.arange(6) + 2**40,
        "velocity": RNG.normal(size=(6, 3)).astype(np.float32),
        "stress": RNG.normal(size=(6, 3, 2)),
        "name": np.array(["a", "bc", "", "d", "élan", "f"]),
        "tag": np.array([b"x", b"yy"] * 3),
        "on": np.arange(6) % 2 == 0,
        "big_endian": np.arange(6, dtype=">i2"),
        "when": np.array([f"2026-01-0{d}" for d in range(1, 7)], "M8[ns]"),
        "wave": np.arange(6) * 1j,
        "pair": np.array([(i, i / 2) for i in range(6)], [("n", "i4"), ("half", "f8")]),
    }
    others = {
        "time": np.float64(3.5),
        "box": np.eye(5),
        "nothing": np.zeros((6, 0)),
        "objects": np.array([{}] * 6, object),
    }
    arrays = {name: np.asarray(array, order=order) for name, array in many.items()}
    save(tmp_path / "a.npz", centers=POINTS, radii=np.ones(6), **arrays, **others)
    found = values(tmp_path / "a.npz", 4)
    assert found == {
        "id": 4 + 2**40,
        "velocity": tuple(many["velocity"][4].tolist()),
        "stress": tuple(tuple(row) for row in many["stress"][4].tolist()),
        "name": "élan",
        "tag": "x",
        "on": True,
        "big_endian": 4,
        "when": "2026-01-05T00:00:00.000000000",
        "wave": "4j",
        "pair.n": 4,
        "pair.half": 2.0,
    }
    assert list(found)[:2] == ["id", "velocity"]


def test_of_a_large_npz_the_row_alone_is_read(tmp_path: Path) -> None:
    count = 200_000
    np.savez(
        tmp_path / "a.npz",
        centers=np.zeros((count, 3), np.float32),
        radius=1.0,
        mass=np.arange(count, dtype=np.float64),
        moment=np.asfortranarray(np.arange(count * 3.0).reshape(count, 3)),
    )
    scene = load(tmp_path / "a.npz")
    scene.describe(0)
    tracemalloc.start()
    found = scene.describe(count - 2).values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == {"mass": 199_998.0, "moment": (599_994.0, 599_995.0, 599_996.0)}
    assert peak < 200_000  # of 6.4 MB in the file


def test_a_compressed_array_is_not_unpacked_for_a_row_far_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "a.npz", centers=np.zeros((1000, 3)), field=np.ones((1000, 64)))
    monkeypatch.setattr("raytracer.scene.particles.formats.npz.ROW_BYTES", 1 << 18)
    assert values(tmp_path / "a.npz", 1) == {"field": (1.0,) * 64}
    assert values(tmp_path / "a.npz", 999) == {"field": "not read: 500 KiB would be decompressed"}


def test_what_the_scene_file_says_instead_is_looked_up(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "a.npz",
        pos=POINTS,
        radius=np.arange(1.0, 7.0),
        colors=np.ones((6, 3)),
        m=[3] * 6,
    )
    write(tmp_path / "b.csv", "px,y,z,d,radius\n1,2,3,0.5,9\n")
    text = """
    [[spheres]]
    file = "a.npz"
    arrays = {centers = "pos"}
    radius = 0.1
    [[spheres]]
    file = "b.csv"
    arrays = {x = "px", radii = "d"}
    color = "red"
    """
    scene = load(write(tmp_path / "s.toml", text))
    first, second = scene.describe(5), scene.describe(6)
    assert first.values == {"radius": 6.0, "m": 3}
    assert (first.radius, first.source) == (0.1, "a.npz")
    assert (second.radius, second.values, second.source) == (0.5, {"radius": 9}, "b.csv")


# Against parses of the whole file

INTEGERS = st.integers(-(10**20), 10**20)
FLOATS = st.floats(allow_nan=False)
TEXTS = st.text("abcXYZé%:/", min_size=1, max_size=5).filter(lambda t: number(t) == t)
CELLS = st.one_of(INTEGERS, FLOATS, TEXTS)
GAPS = st.lists(st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r"]), min_size=1)


def joined(lines: list[str], gaps: list[str]) -> bytes:
    """Lines with line ends of all kinds, of which some leave blank lines."""
    ended = (line + gaps[index % len(gaps)] for index, line in enumerate(lines))
    return "".join(ended).encode()


@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=20),
    GAPS,
    st.sampled_from([",", ";", "\t"]),
    st.integers(1, 60),
)
def test_a_line_of_a_table_is_that_of_the_table(
    cells: list[tuple[Any, Any]], gaps: list[str], separator: str, block: int
) -> None:
    lines = ["name,x,y,z,other", *(f"{a},{i},0,0,{b}" for i, (a, b) in enumerate(cells))]
    with TemporaryDirectory() as folder, patch.object(text_lines, "BLOCK_BYTES", block):
        path = Path(folder) / "a.csv"
        path.write_bytes(joined([line.replace(",", separator) for line in lines], gaps))
        scene = load(path)
        for index, (a, b) in enumerate(cells):
            found = scene.describe(index)
            assert found.values == {"name": a, "other": b}
            assert found.position[0] == index


@given(
    st.lists(st.tuples(TEXTS, FLOATS, INTEGERS, st.booleans()), min_size=1, max_size=20),
    st.lists(st.sampled_from(["\n", "\r\n", "\r", "\n  \n", " \n", "\n\t\r\n"]), min_size=1),
    st.sampled_from(
        ["", " ", "Properties=species:S:1:pos:R:3:name:S:1:q:R:1:n:I:1:up:L:1:radius:R:1"]
    ),
    st.integers(1, 60),
)
def test_a_line_of_atoms_is_that_of_the_atoms(
    atoms: list[tuple[Any, ...]], gaps: list[str], comment: str, block: int
) -> None:
    lines = [f" H {i} 0 0 {name} {q} {n} {'FT'[up]} 1" for i, (name, q, n, up) in enumerate(atoms)]
    with TemporaryDirectory() as folder, patch.object(text_lines, "BLOCK_BYTES", block):
        path = Path(folder) / "a.xyz"
        path.write_bytes(f"{len(atoms)}\n{comment}\n".encode() + joined(lines, gaps))
        scene = load(path)
        for index, (name, q, n, up) in enumerate(atoms):
            found = scene.describe(index)
            assert found.position[0] == index
            if comment.strip():
                named = {"name": name, "q": q, "n": n, "up": up}
            else:
                words = [name, q, n, "FT"[up], 1]
                named = {f"column {place}": word for place, word in enumerate(words, 5)}
            assert found.values == {"species": "H"} | named


@given(
    st.sampled_from(["<f4", ">f8", "<i8", "u1", "?", "U3", "S2", "f2", "c8"]),
    st.lists(st.integers(1, 4), max_size=3),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_a_row_of_an_array_is_that_of_the_array(
    kind: str, shape: list[int], count: int, by_column: bool, compressed: bool
) -> None:
    numbers = np.arange(count * int(np.prod(shape, dtype=int))).reshape(count, *shape) % 200
    array = np.array(numbers.astype(kind), order="F" if by_column else "C")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.npz"
        save = np.savez_compressed if compressed else np.savez
        save(path, before=array, centers=np.zeros((count, 3)), radius=1.0, after=array)
        scene = load(path)
        with np.load(path) as whole:
            for row in range(count):
                found = scene.describe(row).values
                assert list(found) == ["before", "after"]
                expected = whole["after"][row]
                np.testing.assert_array_equal(np.array(found["after"]).astype(kind), expected)
                assert found["before"] == found["after"]
