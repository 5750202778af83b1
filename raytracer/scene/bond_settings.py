"""What is said about bonds, and styles of molecules; `bonds` makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.arguments import text
from raytracer.errors import UserError, shown
from raytracer.field_types import TRUTH, Kind, Number, of_types, one_of_words

if TYPE_CHECKING:
    from raytracer.scene.coloring.style import StyleSettings
    from raytracer.scene.colors import Color

WORDS = {
    "auto": "those of the file, else by distance",
    "file": "those of the file",
    "distance": "by distance and covalent radii",
    "none": "no bonds",
}


class Look(NamedTuple):
    """A style of molecules; lengths in angstrom where atoms have elements.

    Args:
        vdw: radius of an atom by its van der Waals radius; 0 is `atom`.
        atom: radius of an atom.
        bond: radius of a bond; 0 is no bonds.
    """

    vdw: float
    atom: float
    bond: float


STYLES = {
    "ball-and-stick": Look(0.25, 0.0, 0.12),
    "licorice": Look(0.0, 0.25, 0.25),
    "space-filling": Look(1.0, 0.0, 0.0),
    "wire": Look(0.0, 0.04, 0.04),
}
"""The styles by name."""

PLAIN_BOND = 0.12
"""Radius of a bond without a style, in angstrom where atoms have elements."""


class BondsKind(Kind):
    """Which bonds there are: a word, the longest distance, or distances by pairs of types."""

    number = Number(0.0, above=True)
    plain = of_types(
        {
            str: one_of_words(WORDS),
            bool: TRUTH,
            **number.plain,
            dict: {"type": "object", "additionalProperties": number.schema()},
        }
    )
    said = "a distance, or a table of distances by pairs of types"
    metavar = "LENGTH|A-B=LENGTH,..."

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        if isinstance(value, bool):
            return "auto" if value else "none"
        if isinstance(value, Mapping):
            return {
                text(pair, name, error): self.number.checked(longest, f"{name}.{pair}", error)
                for pair, longest in value.items()
            }
        if not isinstance(value, str):
            return self.number.checked(value, name, error)
        if value in WORDS:
            return value
        try:
            return self.number.checked(float(value), name, error)
        except ValueError:
            pass
        if "=" not in value:
            raise error(
                f"{name}: there is no '{shown(value)}'; give {', '.join(WORDS)}, the longest "
                "distance, or distances by pairs of types, Si-O=2,O-H=1.2"
            )
        pairs = {}
        for part in value.split(","):
            pair, _, longest = part.partition("=")
            try:
                pairs[pair.strip()] = self.number.checked(float(longest), f"{name}.{pair}", error)
            except ValueError:
                raise error(
                    f"{name}: '{shown(part)}' is no pair with a distance, as Si-O=2"
                ) from None
        return pairs


BONDS = BondsKind()
"""The kind of the key `bonds`."""


@dataclass(frozen=True)
class Bonding:
    """What is said about the bonds of a set; see `StyleSettings`.

    Args:
        style: name of a style, or None.
        bonds: a word, a distance, or distances by pairs; None is that of the style.
        radius: of the bonds; None is that of the style.
        color: of the bonds, or a rule by their values; None is that of their atoms.
        place: what messages call the set, with a dot, or "".
        own_radii: whether the radii of the atoms were asked for by themselves.
        select: a condition on bonds; None is all.
        orders: whether double and triple bonds are parallel sticks; None is yes.
    """

    style: str | None
    bonds: str | float | Mapping[str, float] | None
    radius: float | None
    color: Color | StyleSettings | None
    place: str = ""
    own_radii: bool = False
    select: str | None = None
    orders: bool | None = None

    @property
    def look(self) -> Look:
        """The style, or bonds between atoms as they are."""
        return STYLES[self.style] if self.style else Look(0.0, 0.0, PLAIN_BOND)
