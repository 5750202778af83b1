"""Molecules: elements from the names of atoms ("CA", "HB2", "OW"), and the column `structure`:
helices and strands that the records of a file state by residues."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model.elements import find_symbol
from raytracer.model.particle_names import quote_names
from raytracer.model.spacing import nearest_distance

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

FIRST_SHOWN = "has alternate locations of atoms or residues: the first of each is shown"
"""Warning about atoms that `find_first_locations` leaves out."""

NAMES = (b"coil", b"helix", b"strand")


MAX_LOOKED_AT = 1 << 17  # atoms of a file that tell whether all are beads
WINDOW = 8  # atoms before and after one in a file, among which those bonded to it are
FEW_BONDS = 0.25  # quantile of the distances to the nearest of these that decides
LONGEST_BOND = 2.0  # in angstrom: few bonds of atoms are longer, all of beads are
TUNGSTEN = 3.2  # in angstrom: beads W are farther apart, atoms of tungsten nearer
WATERS_OF_BEADS = (b"W", b"WF", b"PW", b"SW", b"TW")
"""Residues of Martini's beads of water, of which some have two charges within."""

BEAD_NAMES = r"(BB|BN|SC|NC|PO|CNO|GL|AM|W[FP]?)[0-9]*[A-Z]?$"
"""Names of beads in Martini that begin with an element."""

OF_BEADS = ("name", "residue", "residue_id")  # columns that tell beads from atoms
FAR_APART = "atoms of one residue, or of water, are farther apart than bonds reach"

Stretch = tuple[int, bytes, int, int]
"""Residues of a helix or a strand: its index in `NAMES`, chain, first and last number."""


def guess_elements(names: NDArray[Any], residues: NDArray[Any]) -> NDArray[Any]:
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
        guess_element(name.decode("utf-8", "replace"), residue.decode("utf-8", "replace"))
        for name, residue in known
    ]
    symbols: NDArray[Any] = np.array([text.encode() for text in elements], f"S{max(width, 2)}")
    return symbols[inverse.reshape(-1)]


def guess_element(name: str, residue: str = "") -> str:
    """Return the element symbol of an atom, or its name if that gives none."""
    word, place = name.strip().strip("0123456789+-*'\""), residue.strip().upper()
    if place in IONS and word and place.startswith(word.upper()[:2]):
        ion = _CHARMM.get(place) or find_symbol(place.rstrip("0123456789+-"))
        if ion is not None:
            return ion
    if len(word) == 2 and word.upper() == re.sub(r"\d*[+-]\d*$", "", place) and find_symbol(word):
        return word.capitalize()
    if word.upper() in TWO_LETTERS or (word[1:2].islower() and find_symbol(word[:2]) == word[:2]):
        return word[:2].capitalize()
    letters = "".join(letter for letter in word if letter.isalpha() and letter.isascii())
    for length in (1, 2):
        symbol = find_symbol(letters[:length]) if len(letters) >= length else None
        if symbol is not None and symbol.upper() == letters[:length].upper():
            return symbol
    return name.strip()


def fill_blank_elements(
    symbols: NDArray[Any], name: NDArray[Any], residue: NDArray[Any]
) -> NDArray[Any]:
    """Return symbols of elements, those that are blank by the names of atoms and residues; all
    bytes, (N,)."""
    blank = symbols == b""
    if blank.any():
        guesses = guess_elements(name[blank], residue[blank])
        symbols = symbols.astype(f"S{max(symbols.itemsize, guesses.itemsize)}")
        symbols[blank] = guesses
    return symbols


def find_first_locations(
    alternate: NDArray[Any], place: NDArray[Any], residue: NDArray[Any], name: NDArray[Any]
) -> NDArray[np.bool_]:
    """Return which atoms to keep so that each has one location, the first, and each place one
    residue, the first of a mixture. Only atoms with an alternate location are left out.

    Args:
        alternate: letters of alternate locations, bytes (N,); b"" for none.
        place: chain, number and insertion code of the residues, bytes (N,).
        residue, name: names of residues and atoms, bytes (N,).
    """
    kept = np.ones(len(alternate), bool)
    rows = np.flatnonzero(np.isin(place, place[alternate != b""]))
    rows = rows[np.argsort(alternate[rows] != b"", kind="stable")]  # those without a letter first
    _, first, group = np.unique(place[rows], return_index=True, return_inverse=True)
    is_first = residue[rows] == residue[rows][first[group]]
    atoms = np.rec.fromarrays([group, is_first, name[rows]])
    is_first[np.setdiff1d(np.arange(len(rows)), np.unique(atoms, return_index=True)[1])] = False
    kept[rows] = is_first | (alternate[rows] == b"")
    return kept


def are_beads(columns: Mapping[str, NDArray[Any]], centers: NDArray[Any]) -> bool:
    """Whether atoms are beads of several: some names are none of atoms, and those of one residue
    are farther apart than bonds reach.

    Args:
        columns: "name", "residue" and, if known, "residue_id", (N,).
        centers: (N, 3), in angstrom.
    """
    are_texts = all(columns[name].dtype.kind == "S" for name in ("name", "residue"))
    if not are_texts or len(centers) < 2 or len(centers) != len(columns["name"]):
        return False
    columns = {name: values[:MAX_LOOKED_AT] for name, values in columns.items()}
    points = np.asarray(centers[:MAX_LOOKED_AT], np.float64)
    is_water = np.isin(columns["residue"], WATERS_OF_BEADS)
    words, kinds = np.unique(columns["name"], return_inverse=True)
    are_odd = [not _is_of_atom(word.decode("utf-8", "replace")) for word in words]
    if not (np.array(are_odd)[kinds] & ~is_water).any():
        water = points[is_water & (columns["name"] == b"W")]
        return nearest_distance(water) > TUNGSTEN
    keys = [columns[name] for name in ("residue", "residue_id") if name in columns]
    starts = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    residue = np.concatenate([[0], np.cumsum(starts)])
    nearest = np.full(len(points), np.inf)
    for step in range(1, min(WINDOW, len(points) - 1) + 1):
        far = np.linalg.norm(points[step:] - points[:-step], axis=1)
        far[(residue[step:] != residue[:-step]) | (far == 0.0)] = np.inf
        np.minimum(nearest[step:], far, out=nearest[step:])
        np.minimum(nearest[:-step], far, out=nearest[:-step])
    nearest = nearest[np.isfinite(nearest) & ~is_water]
    return len(nearest) > 0 and bool(np.quantile(nearest, FEW_BONDS) > LONGEST_BOND)


def _is_of_atom(name: str) -> bool:
    """Whether a name may be that of an atom: it begins with an element, and is none of Martini."""
    return find_symbol(guess_element(name)) is not None and not re.match(BEAD_NAMES, name)


def describe_beads(names: Sequence[str], why: str) -> str:
    """Return the warning that labels are those of beads; why: the reason."""
    key = names[0] if re.fullmatch(r"[A-Za-z0-9_-]+", names[0]) else json.dumps(names[0])
    what, mean = ("names", "mean") if len(names) > 1 else ("name", "means")
    return (
        f"the {what} {quote_names(names)} {mean} coarse-grained beads and not elements, since "
        f"{why}: to "
        f'change that, write element = "C", or radius and color, under [elements.{key}] in a scene '
        "file"
    )


def parse_consecutive_ids(serials: NDArray[Any], count: int | None) -> NDArray[np.int64] | None:
    """Return serial numbers of atoms, texts (N,), as ids if they are those from 1 to N; larger
    files repeat numbers, and records between atoms take some."""
    if not np.char.isdigit(serials).all():
        return None
    ids = serials.astype(np.int64)
    is_complete = len(ids) == count and np.array_equal(np.sort(ids), np.arange(1, len(ids) + 1))
    return ids if is_complete else None


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
