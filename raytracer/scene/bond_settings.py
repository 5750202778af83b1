"""Settings of bonds and molecule styles; `bonds` makes the bonds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.arguments import mapping, text
from raytracer.errors import UserError
from raytracer.field_types import AnyOf, Choice, Kind, Number, Truth, number_of, of_types

if TYPE_CHECKING:
    from raytracer.scene.coloring.style import StyleSettings
    from raytracer.scene.colors import Color

WORDS = {
    "auto": "bonds of the file, else by distance",
    "file": "bonds of the file",
    "distance": "by distance and covalent radii",
    "none": "no bonds",
}


class Radii(NamedTuple):
    """Radii of a style of molecules, in angstrom if atoms have elements.

    Args:
        vdw: atom radius in van der Waals radii; 0: use `atom`.
        atom: atom radius.
        bond: bond radius; 0: no bonds.
    """

    vdw: float
    atom: float
    bond: float


STYLES = {
    "ball-and-stick": Radii(0.25, 0.0, 0.12),
    "licorice": Radii(0.0, 0.25, 0.25),
    "space-filling": Radii(1.0, 0.0, 0.0),
    "wire": Radii(0.0, 0.04, 0.04),
}
PLAIN_BOND = 0.12  # radius of a bond without a style, in angstrom if atoms have elements


LENGTH = Number(0.0, above=True)


class Lengths(Kind):
    """Longest bonds by pair of types: {Si-O = 2.0}, or "Si-O=2,O-H=1.2" as a text."""

    plain = of_types({dict: {"type": "object", "additionalProperties": LENGTH.schema()}})
    wording = "a table of distances by pairs of types"
    metavar = "A-B=LENGTH,..."
    may_lack = False  # whether a pair may have no distance

    def checked(self, value: Any, name: str, error: type[UserError]) -> dict[str, Any]:
        if isinstance(value, str):
            parts = [part.partition("=") for part in value.split(",")]
            value = {p.strip(): number_of(end) if equals else None for p, equals, end in parts}
        return {
            text(pair, name, error): longest
            if longest is None and self.may_lack
            else LENGTH.checked(longest, f"{name}.{pair}", error)
            for pair, longest in mapping(value, name, error).items()
        }


class Bonds(AnyOf):
    """Selection of bonds: a word, the longest distance, or distances by pair of types."""

    def __init__(self) -> None:
        super().__init__(
            Choice(WORDS, "word"), LENGTH, Truth(), Lengths(), metavar="LENGTH|A-B=LENGTH,..."
        )
        self.wording = f"a distance, or {Lengths.wording}"

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        made = super().checked(value, name, error)
        return ("auto" if made else "none") if isinstance(made, bool) else made


BONDS = Bonds()


@dataclass(frozen=True)
class Bonding:
    """Bond settings of a sphere set; see `StyleSettings`.

    Args:
        style: name of a style, or None.
        bonds: a word, a distance, or distances by pair; None: as the style says.
        radius: bond radius; None: as the style says.
        color: colour of bonds, or a rule by values; None: colours of the atoms.
        place: prefix of messages, with a dot, or "".
        keeps_radii: whether atom radii are given and the style must not replace them.
        select: a condition on bonds; None: all.
        orders: whether double and triple bonds are parallel sticks; None: yes.
    """

    style: str | None
    bonds: str | float | Mapping[str, float] | None
    radius: float | None
    color: Color | StyleSettings | None
    place: str = ""
    keeps_radii: bool = False
    select: str | None = None
    orders: bool | None = None

    @property
    def radii(self) -> Radii:
        return STYLES[self.style] if self.style else Radii(0.0, 0.0, PLAIN_BOND)
