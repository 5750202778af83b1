"""The column `structure`: helices and strands that the records of a file state by residues."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAMES = (b"coil", b"helix", b"strand")


Stretch = tuple[int, bytes, int, int]
"""Residues of a helix or a strand: its index in `NAMES`, chain, first and last number."""


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
