"""Expressions over columns: values, conditions, and what they cannot do."""

from typing import Any, ClassVar

import numpy as np
import pytest

import raytracer
from raytracer.errors import SceneError
from raytracer.scene.coloring.expression import Texts, evaluate, names_in


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

    def has(self, name: str) -> bool:
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
        ("x" + "+1" * 900, "more than 40 nested operations"),
        ("(" * 300 + "x" + ")" * 300, "is not a valid expression"),
        ("x" * 2001, "longer than 2,000 letters"),
    ],
)
def test_what_is_no_expression(text: str, sentence: str) -> None:
    with pytest.raises(SceneError, match=sentence):
        evaluate(text, TABLE, "select")


def test_a_column_alone_is_not_copied() -> None:
    assert evaluate("x", TABLE, "color_by") is Table.columns["x"]


def test_names_of_columns() -> None:
    assert {"c_pe[1]", "c_pe", "vx"} <= set(names_in("sqrt(vx**2) + c_pe[1]"))
    assert "Position.X" in names_in("Position.X > 1")
    assert "x [nm]" in names_in("`x [nm]` > 1")
    assert names_in("1 +") == ["1 +"]


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
