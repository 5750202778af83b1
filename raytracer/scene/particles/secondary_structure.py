"""The column `structure`: helices and strands that the records of a file state by residues."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NAMES = (b"coil", b"helix", b"strand")


class Stretch(NamedTuple):
    """Residues of a helix or a strand: its index in `NAMES`, chain, first and last number."""

    kind: int
    chain: bytes
    first: int
    last: int


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
    for chain in {each.chain for each in known}:
        atoms = np.flatnonzero(chains == chain)
        for kind, _, first, last in (each for each in known if each.chain == chain):
            kinds[atoms[(first <= residues[atoms]) & (residues[atoms] <= last)]] = kind
    columns["structure"] = np.array(NAMES)[kinds]
