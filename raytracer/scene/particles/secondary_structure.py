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
    known = sorted(stretches, key=lambda each: each.first)
    if not known:
        return
    chains, residues = columns["chain"], columns["residue_id"]
    kinds = np.zeros(len(chains), np.int64)
    for chain in {each.chain for each in known}:
        atoms = np.flatnonzero(chains == chain)
        for kind in range(1, len(NAMES)):
            of_kind = [each for each in known if each.chain == chain and each.kind == kind]
            if not of_kind:
                continue
            starts = np.array([each.first for each in of_kind])
            ends = np.maximum.accumulate([each.last for each in of_kind])
            place = np.searchsorted(starts, residues[atoms], side="right") - 1
            inside = (place >= 0) & (residues[atoms] <= ends[np.maximum(place, 0)])
            kinds[atoms[inside]] = kind
    columns["structure"] = np.array(NAMES)[kinds]
