"""Selections of atoms: what MDAnalysis takes, and distances by brute force."""

import sys
from pathlib import Path

import numpy as np
import pytest

from raytracer import load, render
from raytracer.errors import SceneError
from raytracer.scene.coloring.expression import rows_of
from raytracer.scene.columns import Columns
from support.particle_files import write

ATOMS = (
    ("N", "LYS", "A", 1, "N"), ("CA", "LYS", "A", 1, "C"), ("CB", "LYS", "A", 1, "C"),
    ("N", "GLY", "A", 2, "N"), ("CA", "GLY", "A", 2, "C"), ("O", "HOH", "B", 3, "O"),
    ("O", "HOH", "B", 4, "O"), ("FE", "HEM", "C", 5, "Fe"),
)  # fmt: skip
PLACES = np.round(np.random.default_rng(5).uniform(0.0, 8.0, (len(ATOMS), 3)), 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = [
        f"ATOM  {place:5d} {name:^4s} {residue} {chain}{number:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
        f"  1.00  0.00          {element:>2s}\n"
        for place, ((name, residue, chain, number, element), (x, y, z)) in enumerate(
            zip(ATOMS, PLACES.tolist(), strict=True), 1
        )
    ]
    return write(tmp_path / "a.pdb", "".join(rows))


@pytest.fixture
def columns(path: Path) -> Columns:
    pytest.importorskip("MDAnalysis")
    found: Columns = load(path).spheres[0].columns
    return found


def near(distance: float, others: list[int]) -> set[int]:
    apart = np.linalg.norm(PLACES[:, None] - PLACES[others], axis=2).min(axis=1)
    return set(np.flatnonzero(apart <= distance).tolist())


WATER = [5, 6]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("protein", {0, 1, 2, 3, 4}),
        ("not protein", {5, 6, 7}),
        ("backbone", {0, 1, 3, 4}),
        ("resname LYS and name CA", {1}),
        ("name CA or resname HEM", {1, 4, 7}),
        ("chain A and element N", {0, 3}),
        ("resid 1:2", {0, 1, 2, 3, 4}),
        ("same residue as name CB", {0, 1, 2}),
        ("water", set(WATER)),
        ("index 0:2", {0, 1, 2}),
        ("around 4 resname HOH", near(4.0, WATER) - set(WATER)),
        ("within 4 of resname HOH", near(4.0, WATER)),
        ('within 4e0 of resname "HOH"', near(4.0, WATER)),
        ("exwithin 4 of water", near(4.0, WATER) - set(WATER)),
        ("within 3 of (resname HOH and resid 3) and chain A", near(3.0, [5]) & {0, 1, 2, 3, 4}),
        ("within 3 of within 2.5 of name FE", near(3.0, sorted(near(2.5, [7])))),
        ("element == 'O' and x >= 0", set(WATER)),  # an expression
    ],
)
def test_a_selection(columns: Columns, text: str, rows: set[int]) -> None:
    assert set(rows_of(text, columns, "select").tolist()) == rows


def test_a_picture_of_a_selection(path: Path) -> None:
    pytest.importorskip("MDAnalysis")
    shown = render(path, select="protein", width=32, height=24, samples=1)
    assert shown.metadata["spheres"] == 5


@pytest.mark.parametrize("text", ["resname LYS and (name CA", "name CA and altloc", "within 3 of"])
def test_a_wrong_selection(columns: Columns, text: str) -> None:
    with pytest.raises(SceneError, match=r"select: '.*' is (neither an|no) expression"):
        rows_of(text, columns, "select")


def test_what_the_file_lacks(tmp_path: Path) -> None:
    pytest.importorskip("MDAnalysis")
    bare = load(write(tmp_path / "a.xyz", "1\n\nO 0 0 0\n")).spheres[0].columns
    with pytest.raises(SceneError, match="nor a selection of these atoms"):
        rows_of("resname LYS", bare, "select")


def test_without_the_library(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MDAnalysis", None)
    with pytest.raises(SceneError, match=r"pip install 'raytracer\[mdanalysis\]'"):
        rows_of("protein", load(path).spheres[0].columns, "select")


def test_a_column_of_that_name_comes_first(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "x,y,z,protein\n0,0,0,1\n1,0,0,0\n")
    rows = rows_of("protein > 0", load(table).spheres[0].columns, "select")
    assert rows.tolist() == [0]
