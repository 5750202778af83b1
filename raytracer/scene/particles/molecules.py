"""Molecules: elements from the names of atoms ("CA", "HB2", "OW"), and the column `structure`:
helices and strands that the records of a file state by residues."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.elements import symbol_of

IONS = frozenset(
    ("CL", "CL-", "NA", "NA+", "CA", "CA2+", "MG", "MG2+", "ZN", "ZN2+", "FE", "CU", "MN", "CD",
     "CS", "CS+", "RB", "RB+", "LI", "LI+", "BA", "BR", "BR-", "NI", "CO", "CLA", "SOD", "POT",
     "CAL", "CES")
)  # fmt: skip
"""Residues that are single ions."""

TWO_LETTERS = frozenset(
    ("FE", "ZN", "MG", "MN", "CU", "NI", "CL", "BR", "AU", "AG", "PT", "AL", "SI", "LI", "SE")
)
"""Atom names that are elements of two letters: no atom of the first letter has such a name."""

_CHARMM = {"CLA": "Cl", "SOD": "Na", "POT": "K", "CAL": "Ca", "CES": "Cs"}

NAMES = (b"coil", b"helix", b"strand")


Stretch = tuple[int, bytes, int, int]
"""Residues of a helix or a strand: its index in `NAMES`, chain, first and last number."""


def elements_of(names: NDArray[Any], residues: NDArray[Any]) -> NDArray[Any]:
    """Return the element symbols of atoms, or their names if these give none, texts (N,).

    An atom whose residue has the same name is an ion. Otherwise the first letter is the element
    ("CA" in an amino acid is carbon), unless a small letter follows it ("Cu"). `names` and
    `residues` are texts, (N,).
    """
    if not len(names):
        return np.zeros(0, "S2")
    width = max(names.dtype.itemsize, 1)
    pairs = np.zeros(len(names), [("name", f"S{width}"), ("residue", residues.dtype)])
    pairs["name"], pairs["residue"] = names, residues
    known, inverse = np.unique(pairs, return_inverse=True)
    elements = [
        element_of(name.decode("utf-8", "replace"), residue.decode("utf-8", "replace"))
        for name, residue in known
    ]
    symbols: NDArray[Any] = np.array([text.encode() for text in elements], f"S{max(width, 2)}")
    return symbols[inverse.reshape(-1)]


def element_of(name: str, residue: str = "") -> str:
    """Return the element symbol of an atom, or its name if that gives none."""
    word, place = name.strip().strip("0123456789+-*'\""), residue.strip().upper()
    if place in IONS and word and place.startswith(word.upper()[:2]):
        ion = _CHARMM.get(place) or symbol_of(place.rstrip("0123456789+-"))
        if ion is not None:
            return ion
    if len(word) == 2 and word.upper() == re.sub(r"\d*[+-]\d*$", "", place) and symbol_of(word):
        return word.capitalize()
    if word.upper() in TWO_LETTERS or (word[1:2].islower() and symbol_of(word[:2]) == word[:2]):
        return word[:2].capitalize()
    letters = "".join(letter for letter in word if letter.isalpha() and letter.isascii())
    for length in (1, 2):
        symbol = symbol_of(letters[:length]) if len(letters) >= length else None
        if symbol is not None and symbol.upper() == letters[:length].upper():
            return symbol
    return name.strip()


def add_structure(columns: dict[str, NDArray[Any]], stretches: Iterable[Stretch]) -> None:
    """Add the structure of each atom, one of `NAMES`, as bytes (N,), to columns of chains and
    residues, if there are any, and stretches, which may overlap."""
    if not {"chain", "residue_id"} <= columns.keys():
        return
    known = sorted(stretches)  # strands take precedence where they overlap
    if not known:
        return
    chains, residues = columns["chain"], columns["residue_id"]
    kinds = np.zeros(len(chains), np.int64)
    atoms = {chain: np.flatnonzero(chains == chain) for chain in {each[1] for each in known}}
    for kind, chain, first, last in known:
        numbers = residues[atoms[chain]]
        kinds[atoms[chain][(first <= numbers) & (numbers <= last)]] = kind
    columns["structure"] = np.array(NAMES)[kinds]
