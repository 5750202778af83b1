"""Settings of bonds and molecule styles; `bonds` makes the bonds."""

from typing import Any, NamedTuple

from raytracer.config.arguments import check_mapping, check_text
from raytracer.config.field_types import (
    AnyOf,
    FieldType,
    Number,
    Truth,
    WordChoice,
    parse_option_number,
)

WORDS = {
    "auto": "bonds of the file, else by distance",
    "file": "bonds of the file",
    "distance": "by distance and covalent radii",
    "none": "no bonds",
}


class Radii(NamedTuple):
    """Radii of a style of molecules, in angstrom if atoms have elements."""

    vdw: float  # of atoms, in van der Waals radii; 0: use `atom`
    atom: float
    bond: float  # 0: no bonds


STYLES = {
    "ball-and-stick": Radii(0.25, 0.0, 0.12),
    "licorice": Radii(0.0, 0.25, 0.25),
    "space-filling": Radii(1.0, 0.0, 0.0),
    "wire": Radii(0.0, 0.04, 0.04),
}
PLAIN_BOND = 0.12  # radius of a bond without a style, in angstrom if atoms have elements


LENGTH = Number(0.0, above=True)


def check_bond_lengths(value: Any, name: str, may_lack: bool = False) -> dict[str, Any]:
    """Return longest bonds by pair of types; with `may_lack`, None for pairs without a distance."""
    if isinstance(value, str):
        parts = [part.partition("=") for part in value.split(",")]
        value = {
            p.strip(): parse_option_number(end) if equals else None for p, equals, end in parts
        }
    return {
        check_text(pair, name): longest
        if longest is None and may_lack
        else LENGTH.checked(longest, f"{name}.{pair}")
        for pair, longest in check_mapping(value, name).items()
    }


LENGTHS = FieldType(
    {dict: {"type": "object", "additionalProperties": LENGTH.schema()}}, check_bond_lengths,
    noun="a table of distances by pairs of types", metavar="A-B=LENGTH,...",
)  # fmt: skip
"""Longest bonds by pair of types: {Si-O = 2.0}, or "Si-O=2,O-H=1.2" as a text."""

BONDS = AnyOf(
    WordChoice(WORDS, "word"), LENGTH, Truth(), LENGTHS,
    made=lambda value: {True: "auto", False: "none"}[value] if isinstance(value, bool) else value,
    wording=f"a distance, or {LENGTHS.wording}", metavar="LENGTH|A-B=LENGTH,...",
)  # fmt: skip
"""Selection of bonds: a word, the longest distance, or distances by pair of types."""
