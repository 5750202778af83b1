"""Structures in MMTF, as MessagePack without compressed arrays."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

IDENTITY = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
MOVED = (1.0, 0.0, 0.0, 20.0, *IDENTITY[4:])  # by 20 along x

Residue = tuple[str, Sequence[tuple[str, str, tuple[float, float, float]]]]
"""Name, and atoms: name, element, place."""

Transform = tuple[Sequence[int], Sequence[float]]
"""Indices of chains, and a matrix (4, 4)."""


def packed(value: Any) -> bytes:
    if isinstance(value, dict):
        parts = [packed(each) for item in value.items() for each in item]
        return struct.pack(">BI", 0xDF, len(value)) + b"".join(parts)
    if isinstance(value, list | tuple):
        return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(packed, value))
    if isinstance(value, bytes):
        return struct.pack(">BI", 0xC6, len(value)) + value
    if isinstance(value, str):
        return struct.pack(">BI", 0xDB, len(value)) + value.encode()
    if isinstance(value, float):
        return struct.pack(">Bd", 0xCB, value)
    return struct.pack(">Bi", 0xD2, value)


def write_mmtf(
    path: Path, chains: Sequence[Sequence[Residue]], models: int = 1,
    assemblies: Sequence[Sequence[Transform]] = (), locations: str = "",
    bonds: Sequence[tuple[int, int]] = (), numbers: Sequence[int] = (),
) -> Path:  # fmt: skip
    """Write models, each 5 further along z. locations: letters of the atoms of a model; bonds:
    pairs of atoms of different residues; numbers: those of the residues."""
    residues = [residue for chain in chains for residue in chain]
    places = [(x, y, z + 5.0 * model) for model in range(models)
              for _, atoms in residues for _, _, (x, y, z) in atoms]  # fmt: skip
    groups = [
        {"groupName": name, "atomNameList": [atom for atom, _, _ in atoms],
         "elementList": [element for _, element, _ in atoms],
         "formalChargeList": [0] * len(atoms), "bondAtomList": [], "bondOrderList": [],
         "singleLetterCode": "A", "chemCompType": "L-PEPTIDE LINKING"}
        for name, atoms in residues
    ]  # fmt: skip
    content: dict[str, Any] = {
        "mmtfVersion": "1.0.0", "mmtfProducer": "test",
        "numBonds": len(bonds), "bondAtomList": [atom for pair in bonds for atom in pair],
         "numAtoms": len(places),
        "numGroups": len(residues) * models, "numChains": len(chains) * models,
        "numModels": models, "groupList": groups,
        "groupIdList": [*(numbers or range(1, len(residues) + 1))] * models,
        "groupTypeList": [*range(len(residues))] * models,
        "chainIdList": [chr(65 + number) for number in range(len(chains))] * models,
        "groupsPerChain": [len(chain) for chain in chains] * models,
        "chainsPerModel": [len(chains)] * models,
    }  # fmt: skip
    for axis, name in enumerate("xyz"):
        content[f"{name}CoordList"] = [place[axis] for place in places]
    if locations:
        letters = (locations * models).replace(" ", "\0")  # as runs of one letter
        runs = b"".join(struct.pack(">ii", ord(each), 1) for each in letters)
        content["altLocList"] = struct.pack(">iii", 6, len(letters), 0) + runs
    if assemblies:
        content["bioAssemblyList"] = [
            {"name": str(number), "transformList": [
                {"chainIndexList": list(rows), "matrix": list(matrix)} for rows, matrix in each]}
            for number, each in enumerate(assemblies, 1)
        ]  # fmt: skip
    path.write_bytes(packed(content))
    return path
