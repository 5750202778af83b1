"""The element table: complete, and forgiving about how elements are written."""

import pytest

from raytracer.scene.elements import Element, find, symbol_of, table


def test_all_elements_are_there_in_order() -> None:
    symbols = list(table())
    assert len(symbols) == 118
    for number, symbol in ((1, "H"), (6, "C"), (26, "Fe"), (57, "La"), (79, "Au"), (118, "Og")):
        assert symbols[number - 1] == symbol
    for element in table().values():
        assert element.radius is not None
        assert element.color is not None
        assert 0.3 < element.radius < 2.5
        assert all(0.0 <= v <= 1.0 for v in element.color)


@pytest.mark.parametrize(
    ("label", "symbol"),
    [
        ("fe", "Fe"),
        ("FE", "Fe"),
        ("C12", "C"),
        ("26", "Fe"),
        ("D", "H"),
        ("Uuo", None),
        ("0", None),
    ],
)
def test_labels(label: str, symbol: str | None) -> None:
    assert symbol_of(label) == symbol


def test_overrides() -> None:
    own = {"Au": Element(radius=2.0), "Bead": Element(3.0), "C": Element(color=(1.0, 0.0, 0.0))}
    assert find("Au", own) == Element(2.0, table()["Au"].color)
    assert find("C7", own) == Element(0.75, (1.0, 0.0, 0.0))
    assert find("Bead", own).radius == 3.0
    assert find("H", own).radius == 0.32
