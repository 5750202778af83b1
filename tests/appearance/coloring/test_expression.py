"""Expressions over columns and selections of atoms: values, and what they cannot do."""

import ast
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import raytracer
from raytracer import load, render
from raytracer.appearance.coloring import expression
from raytracer.appearance.coloring.expression import Texts, evaluate, find_column_names, select_rows
from raytracer.appearance.columns import Columns
from raytracer.config.errors import SceneError
from support.particle_files import write


class Table:
    """A few columns."""

    columns: ClassVar[dict[str, Any]] = {
        "x": np.array([0.0, 1.0, 2.0, np.nan]),
        "i": np.array([1, 2, 3, 4]),
        "f": np.array([0.1, 0.2, 0.3, 0.4], np.float32),
        "v": np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 1.0], [1.0, 2.0, 2.0], [0.0, 0.0, 0.0]]),
        "on": np.array([True, False, True, False]),
        "name": Texts(["O", "H"], np.array([0, 1, 1, 0], np.int32)),
        "c_pe[1]": np.array([5.0, 6.0, 7.0, 8.0]),
        "Position.X": np.array([1.0, 0.0, 0.0, 1.0]),
        "x [nm]": np.array([9.0, 8.0, 7.0, 6.0]),
        "index": np.arange(4),
    }
    count = 4

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def value(self, name: str) -> Any:
        if name not in self.columns:
            raise SceneError(f"there is no column '{name}'")
        return self.columns[name]


TABLE: Any = Table()


def value(text: str) -> list[Any]:
    values: list[Any] = evaluate(text, TABLE, "select").tolist()
    return values


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2*i + 1", [3, 5, 7, 9]),
        ("-i**2", [-1, -4, -9, -16]),
        ("i % 2", [1, 0, 1, 0]),
        ("i // 2", [0, 1, 1, 2]),
        ("1 / (i - 1)", [np.inf, 1, 0.5, 1 / 3]),
        ("sqrt(v[0]**2 + v[1]**2 + v[2]**2)", [5, 1, 3, 0]),
        ("norm(v)", [5, 1, 3, 0]),
        ("max(i, 2, 3)", [3, 3, 3, 4]),
        ("max(i)", [4, 4, 4, 4]),
        ("i - mean(i)", [-1.5, -0.5, 0.5, 1.5]),
        ("where(on, i, 0)", [1, 0, 3, 0]),
        ("i if on else -i", [1, -2, 3, -4]),
        ("clip(i, 2, 3)", [2, 2, 3, 3]),
        ("arctan2(0, i) + log10(10)", [1, 1, 1, 1]),
        ("c_pe[1] + 1", [6, 7, 8, 9]),
        ("Position.X * 2", [2, 0, 0, 2]),
        ("`x [nm]` - 5", [4, 3, 2, 1]),
        ("10**400 * i", [np.inf] * 4),
        ("2 ** -i", [0.5, 0.25, 0.125, 0.0625]),
        ("-" * 33 + "i", [-1, -2, -3, -4]),
        ("+-" * 40 + "i", [1, 2, 3, 4]),
        ("-(on)", [-1, 0, -1, 0]),
        ("i" + "+1" * 199, [200, 201, 202, 203]),
        ("0x" + "f" * 5000 + " * i", [np.inf] * 4),
        ("0x8000000000000000 + 0*i", [2.0**63] * 4),
    ],
)
def test_numbers(text: str, wanted: list[float]) -> None:
    assert value(text) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x > 0.5", [0, 1, 1, 0]),
        ("0 < x < 2", [0, 1, 0, 0]),
        ("name == 'O' and i > 1", [0, 0, 0, 1]),
        ("'H' == name", [0, 1, 1, 0]),
        ("name != 'O' or not on", [0, 1, 1, 1]),
        ("name in ['O', 'C']", [1, 0, 0, 1]),
        ("name not in ('O', 'C')", [0, 1, 1, 0]),
        ("i in [1, 4, 9]", [1, 0, 0, 1]),
        ("i == '2'", [0, 1, 0, 0]),
        ("(i > 1) & ~on | (i == 1)", [1, 1, 0, 1]),
        ("f == 0.2", [0, 1, 0, 0]),
        ("every 2", [1, 0, 1, 0]),
        ("random 1.0", [1, 1, 1, 1]),
        ("isnan(x)", [0, 0, 0, 1]),
        ("0 < i < 3 < 4 > i", [1, 1, 0, 0]),
        ("'O' == name != 'H'", [1, 0, 0, 1]),
        ("(" * 40 + "i > 1" + ") >= 0" * 40, [1, 1, 1, 1]),
        ("i in [" + "--1, " * 5000 + "4]", [1, 0, 0, 1]),
        ("on", [1, 0, 1, 0]),
    ],
)
def test_conditions(text: str, wanted: list[int]) -> None:
    found = evaluate(text, TABLE, "select")
    assert found.dtype == bool
    assert found.tolist() == [bool(each) for each in wanted]


def test_a_random_share_is_seeded() -> None:
    class Many(Table):
        columns: ClassVar[dict[str, Any]] = {"index": np.arange(100_000)}
        count = 100_000

    many: Any = Many()
    first, again, other = (
        evaluate(text, many, "select") for text in ("random 0.1", "random(0.1)", "random(0.1, 1)")
    )
    assert (first == again).all()
    assert (first != other).any()
    assert abs(first.mean() - 0.1) < 0.005  # five standard deviations


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("__import__('os').system('true')", "is not allowed in an expression"),
        ("import_(x)", "there is no function 'import_'"),
        ("x.__class__", "there is no column 'x.__class__'"),
        ("sqrt(x, out=x)", "give arguments without names"),
        ("name > 'A'", "'name' is text; compare it with texts"),
        ("x and on", "'x' is no condition; compare it, for example 'x > 0'"),
        ("y > 1", "select: there is no column 'y'"),
        ("x" + "+1" * 900, "too many nested operations"),
        ("x" + "+1" * 20_000, "too many nested operations"),
        ("every(10)", "did you mean 'every 10'"),
        ("every 0", "or every 10"),
        ("(" * 300 + "x" + ")" * 300, "is not a valid expression"),
        ("i" + "+1" * 201, "at most 200 are possible"),
        ("[" + "-" * 330 + "1]", "at most 200 are possible"),
        ("[" + "-" * 190 + "1]", "is a list"),
        ("[0x" + "f" * 5000 + "]", "'\\[1e309\\]' is a list"),
        ("v[0x" + "f" * 5000 + "]", "the components are 0 to 2"),
        ("x[0x" + "f" * 5000 + "]", "'x' is no vector"),
        ("sqrt(0x" + "f" * 5000 + ", 1)", "takes 1 argument"),
        ("i in [" + "1, " * 100_000 + "1]", "has 300,008 letters, more than the 200,000"),
    ],
)
def test_what_is_no_expression(text: str, sentence: str) -> None:
    with pytest.raises(SceneError, match=sentence):
        evaluate(text, TABLE, "select")


@pytest.mark.parametrize(
    "around",
    ["-{}", "+{}", "not ({})", "0 < ({}) < 2", "abs({})", "1 * ({})", "({}) == 1", "({}) and on",
     "where({}, 1, 0) > 0", "mean({}) > 0", "(1 if ({}) else 0) > 1", "({}) in [0, 1]"],
)  # fmt: skip
def test_an_operand_is_evaluated_once(around: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice would double the time with each operation around it."""
    value_of, calls = expression._Evaluator.value, list[ast.expr]()

    def counted(evaluator: Any, node: ast.expr, rows: slice) -> Any:
        calls.append(node)
        return value_of(evaluator, node, rows)

    monkeypatch.setattr(expression._Evaluator, "value", counted)
    works = []
    for depth in (6, 12):
        text = "on"
        for _ in range(depth):
            text = around.format(text)
        calls.clear()
        evaluate(text, TABLE, "select")
        works.append(len(calls))
    assert works[1] <= 2 * works[0]


def test_a_column_alone_is_not_copied() -> None:
    assert evaluate("x", TABLE, "color_by") is Table.columns["x"]


def test_names_of_columns() -> None:
    assert {"c_pe[1]", "c_pe", "vx"} <= set(find_column_names("sqrt(vx**2) + c_pe[1]"))
    assert "Position.X" in find_column_names("Position.X > 1")
    assert "x [nm]" in find_column_names("`x [nm]` > 1")
    assert find_column_names("1 +") == ["1 +"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("vx / 2", [1.0, 2.0]),
        ("vx/vy", [0.5, 2.0]),
        ("x / 2", [0.5, 1.5]),
        ("p[0]", [1.0, 3.0]),
        ("type / 2", [0.5, 1.0]),
        ("`t [K]` / 2", [150.0, 200.0]),
        ("t [K]", [300.0, 400.0]),
    ],
)
def test_a_quotient_and_an_index_are_no_units(text: str, values: list[float]) -> None:
    centers = np.array([[1.0, 0, 0], [3.0, 0, 0]])
    columns = {
        "vx": np.array([2.0, 4.0]),
        "vy": np.array([4.0, 2.0]),
        "p": centers,
        "type": np.array([1, 2]),
        "t [K]": np.array([300.0, 400.0]),
    }
    spheres = raytracer.SphereSet(centers, 1.0, columns=columns)
    assert evaluate(text, spheres.columns, "color_by").tolist() == values
    if "/" in text:
        scene = raytracer.Scene([spheres]).styled(color_by=text)
        assert (scene.color_scales[0].low, scene.color_scales[0].high) == tuple(sorted(values))


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
        ("within 4 of resname ZZZ", set()),
        (
            "resname LYS or within 4 of water or within 3 of name FE and not name FE",
            {0, 1, 2} | near(4.0, WATER) | near(3.0, [7]) - {7},
        ),
        ("element == 'O' and x >= 0", set(WATER)),  # an expression
    ],
)
def test_a_selection(columns: Columns, text: str, rows: set[int]) -> None:
    assert set(select_rows(text, columns, "select").tolist()) == rows


def test_distances_that_refer_to_distances(columns: Columns) -> None:
    """Each is computed once: its translation names what it refers to twice."""
    nested, rows = "within 1.5 of " * 40 + "name FE", [7]
    for _ in range(40):
        rows = sorted(near(1.5, rows))
    assert select_rows(nested, columns, "select").tolist() == rows
    with pytest.raises(SceneError, match="has too many nested selections"):
        select_rows("within 1 of " * 3000 + "name FE", columns, "select")


def test_a_picture_of_a_selection(path: Path) -> None:
    pytest.importorskip("MDAnalysis")
    shown = render(path, select="protein", width=32, height=24, samples=1)
    assert shown.metadata["spheres"] == 5


@pytest.mark.parametrize("text", ["resname LYS and (name CA", "name CA and altloc", "within 3 of",
                                  "within 3 of and name CA", "within 3 of ()",
                                  "within 3 of (name CA"])  # fmt: skip
def test_a_wrong_selection(columns: Columns, text: str) -> None:
    with pytest.raises(SceneError, match=r"select: '.*' is (neither an|no) expression"):
        select_rows(text, columns, "select")


def test_what_the_file_lacks(tmp_path: Path) -> None:
    pytest.importorskip("MDAnalysis")
    bare = load(write(tmp_path / "a.xyz", "1\n\nO 0 0 0\n")).spheres[0].columns
    with pytest.raises(SceneError, match="nor a selection of these atoms"):
        select_rows("resname LYS", bare, "select")


def test_without_the_library(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MDAnalysis", None)
    with pytest.raises(SceneError, match=r"pip install 'raytracer\[mdanalysis\]'"):
        select_rows("protein", load(path).spheres[0].columns, "select")


def test_a_column_of_that_name_comes_first(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "x,y,z,protein\n0,0,0,1\n1,0,0,0\n")
    rows = select_rows("protein > 0", load(table).spheres[0].columns, "select")
    assert rows.tolist() == [0]
