"""Peptides of given torsions, files of molecules and grids, and measures of triangle meshes."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.scene import Array

HELIX, STRAND = (-57.0, -47.0), (-120.0, 130.0)  # phi and psi in degrees
BOHR = 0.529177210903  # angstrom
ATOMS = ("N", "CA", "C", "O")


def peptide(torsions: Sequence[tuple[float, float]]) -> Array:
    """Return N, CA, C and O of residues, (R, 4, 3) in angstrom, with standard bonds and angles."""
    n, ca = np.zeros(3), np.array([1.458, 0.0, 0.0])
    c = ca + 1.525 * np.array([np.cos(np.radians(69.0)), np.sin(np.radians(69.0)), 0.0])
    residues = []
    for index, (phi, psi) in enumerate(torsions):
        if index:
            n, ca, c = _next(n, ca, c, torsions[index - 1][1], phi)
        residues.append([n, ca, c, _placed(n, ca, c, 1.231, 120.5, psi + 180.0)])
    return np.array(residues)


def _next(n: Array, ca: Array, c: Array, psi: float, phi: float) -> tuple[Array, Array, Array]:
    following = _placed(n, ca, c, 1.329, 116.6, psi)
    alpha = _placed(ca, c, following, 1.458, 121.7, 180.0)
    return following, alpha, _placed(c, following, alpha, 1.525, 111.0, phi)


def _placed(a: Array, b: Array, c: Array, length: float, angle: float, torsion: float) -> Array:
    """Return the atom after a, b and c with a bond length, a bond angle and a torsion."""
    along = (c - b) / np.linalg.norm(c - b)
    normal = np.cross(b - a, along)
    normal = normal / np.linalg.norm(normal)
    bend, turn = np.radians(180.0 - angle), np.radians(torsion)
    across = np.cos(turn) * np.cross(normal, along) + np.sin(turn) * normal
    return np.asarray(c + length * (np.cos(bend) * along + np.sin(bend) * across))


def pdb(chains: Iterable[Array], records: str = "", residue: str = "ALA") -> str:
    """Return a .pdb file of chains A, B, ..., each (R, 4, 3)."""
    rows = [records]
    serial = 0
    for name, chain in zip("ABCDEF", chains, strict=False):
        for number, atoms in enumerate(chain, 1):
            for atom, (x, y, z) in zip(ATOMS, atoms, strict=True):
                serial += 1
                rows.append(
                    f"ATOM  {serial:5d}  {atom:3s} {residue:3s} {name}{number:4d}    "
                    f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00{number:6.2f}          {atom[0]:>2s}\n"
                )
    return "".join(rows) + "END\n"


def helix_record(chain: str, first: int, last: int) -> str:
    return f"HELIX    1   1 ALA {chain} {first:4d}  ALA {chain} {last:4d}  1\n"


def sheet_record(chain: str, first: int, last: int) -> str:
    return f"SHEET    1   A 1 ALA {chain}{first:4d}  ALA {chain}{last:4d}  0\n"


def write_cube(
    path: Path, values: Array, origin: Any, steps: Any, atoms: Sequence[Any] = ((6, 0, 0, 0),)
) -> Path:
    """Write a Gaussian cube file; lengths in angstrom, atoms as (number, x, y, z)."""
    rows = ["grid", "values", _row(len(atoms), origin)]
    rows += [_row(count, step) for count, step in zip(values.shape, np.asarray(steps), strict=True)]
    rows += [f"{number:5d} {float(number):11.6f} {_row('', place)}" for number, *place in atoms]
    for line in values.reshape(-1, values.shape[2]):
        rows += [" ".join(f"{v:13.6E}" for v in line[i : i + 6]) for i in range(0, len(line), 6)]
    path.write_text("\n".join(rows) + "\n")
    return path


def _row(count: Any, lengths: Any) -> str:
    return f"{count:5} " + " ".join(f"{length / BOHR:13.8f}" for length in lengths)


def is_closed(vertices: Array, triangles: NDArray[np.integer[Any]], digits: int = 6) -> bool:
    """Whether each edge has as many triangles on one side as on the other.

    Vertices at one place, rounded to digits, count as one.
    """
    _, place = np.unique(np.round(vertices, digits) + 0.0, axis=0, return_inverse=True)
    corners = place.reshape(-1)[triangles].astype(np.int64)
    ends = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    ends = ends[ends[:, 0] != ends[:, 1]]
    there, back = (each[:, 0] << 32 | each[:, 1] for each in (ends, ends[:, ::-1]))
    return bool(len(ends)) and np.array_equal(np.sort(there), np.sort(back))


def volume(vertices: Array, triangles: NDArray[np.integer[Any]]) -> float:
    """Return the volume in a closed mesh, positive if triangles are anticlockwise from outside."""
    first, second, third = (vertices[triangles[:, corner]] for corner in range(3))
    return float((first * np.cross(second, third)).sum() / 6.0)


def face_normals(vertices: Array, triangles: NDArray[np.integer[Any]]) -> Array:
    """Return the normals of triangles, of the length of twice their area."""
    first, second, third = (vertices[triangles[:, corner]] for corner in range(3))
    return np.asarray(np.cross(second - first, third - first))
