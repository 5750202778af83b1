"""Backbones of proteins and nucleic acids: residues, chains without a break, their structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.coloring.expression import Texts
from raytracer.scene.glyphs.ribbon_surface import COIL, HELIX, NUCLEIC, STRAND
from raytracer.scene.sphere_set import SphereSet
from raytracer.warning import warn

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

STRUCTURES = ("coil", "helix", "strand", "nucleic acid")
"""Names of the structures of residues, by `COIL`, `HELIX`, `STRAND` and `NUCLEIC`."""

COLUMNS = ("name", "residue", "residue_id", "chain", "segment", "structure")
"""Columns of files that tell residues, chains and structure."""

PROTEIN = ("CA", "N", "C", "O")  # names of the atoms of a backbone, the guide atom first
ACID = ("C4'", "N1", "N3", "N9")  # atoms of nucleotides: guide, ends of the rods, mark of purines
OTHER_NAMES = {"C4*": "C4'", "OT1": "O", "O1": "O", "OXT": "O", "OC1": "O"}

MAX_STEP = {"CA": 4.6, "C4'": 9.0}
"""Longest distance of neighbouring guide atoms in a chain, in angstrom: 3.8 with a trans peptide
bond, and 5 to 7.5 in nucleic acids; the nearest atoms without a bond are farther apart."""

WATER = {"HOH", "WAT", "H2O", "DOD", "SOL", "SPC", "TIP", "TIP3", "TIP4", "TIP5", "TIP3P", "TIP4P"}
"""Names of residues of water."""

MIN_RUN = {HELIX: 3, STRAND: 2}  # residues of a shorter helix or strand are drawn as coil
MIN_RESIDUES = 6  # that DSSP takes: the shortest helix and the residues beside it
MAX_TOGETHER = 1500  # residues of which DSSP sees all pairs; of more, those of each chain
DSSP_BYTES = 160  # most bytes per pair of residues while DSSP assigns their structure


class Backbone(NamedTuple):
    """Residues of a set in its order: rows of the guide atoms, CA or C4', (R,), and of N, C, O or
    N1, N3, N9, -1 without, (R, 3); ascending numbers of chains without a break; structure; and the
    residue of each particle, -1 without, (N,)."""

    guides: Rows
    atoms: Rows
    pieces: Rows
    structure: Rows
    residues: Rows

    def taken(self, kept: NDArray[np.bool_]) -> Backbone:
        number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        pieces = np.unique(self.pieces[kept], return_inverse=True)[1].reshape(-1)
        return Backbone(
            self.guides[kept], self.atoms[kept], pieces, self.structure[kept],
            number[self.residues],
        )  # fmt: skip


def backbone_of(spheres: SphereSet, unit: float = 1.0) -> Backbone | None:
    """Return the backbone of a set, with the structure that the file or else DSSP states; None if
    it has no chain of residues with guide atoms. unit: length of an angstrom in units of the
    set."""
    names = _texts(spheres, "name")
    if names is None or not spheres.count:
        return None
    names = names._replace(names=[OTHER_NAMES.get(each, each) for each in names.names])
    residues = _residues(spheres, names)
    rows = {name: _rows_of(names, name, residues) for name in (*PROTEIN, *ACID)}
    is_acid = (rows["C4'"] >= 0) & (rows["CA"] < 0)
    guides = np.where(is_acid, rows["C4'"], rows["CA"])
    others = np.stack([rows[name] for name in PROTEIN[1:]], axis=1)
    acids = np.stack([rows[name] for name in ACID[1:]], axis=1)
    atoms = np.where(is_acid[:, None], acids, others)
    structure = np.where(is_acid, NUCLEIC, COIL)
    made = Backbone(guides, atoms, np.zeros_like(guides), structure, residues).taken(guides >= 0)
    if not len(made.guides):
        return None
    made = made._replace(pieces=_pieces(spheres, made, unit))
    made = made.taken(np.bincount(made.pieces)[made.pieces] > 1)
    return made._replace(structure=_structure(spheres, made, unit)) if len(made.guides) else None


def _texts(spheres: SphereSet, name: str) -> Texts | None:
    values = spheres.columns.value(name) if name in spheres.columns else None
    return values if isinstance(values, Texts) else None


def _residues(spheres: SphereSet, names: Texts) -> Rows:
    """Return the number of the residue of each particle, (N,); one ends where its name, number or
    chain changes, and before another atom N: insertion codes repeat numbers."""
    starts = np.zeros(spheres.count, np.bool_)
    starts[0] = True
    for column in ("residue", "residue_id", "chain", "segment"):
        if column not in spheres.columns:
            continue
        values = spheres.columns.value(column)
        ids = values.ids if isinstance(values, Texts) else values
        if ids.ndim == 1:
            starts[1:] |= ids[1:] != ids[:-1]
    first = np.flatnonzero(starts)
    is_n = _are(names, "N")
    count = np.cumsum(is_n)
    before: Rows = (count - is_n)[first]
    again = is_n & (count - np.repeat(before, np.diff(np.append(first, spheres.count))) > 1)
    return np.cumsum(starts | again) - 1


def _are(texts: Texts, *words: str) -> NDArray[np.bool_]:
    return np.array([each in words for each in texts.names], np.bool_)[texts.ids]


def _rows_of(names: Texts, name: str, residues: Rows) -> Rows:
    """Return the row of the first atom of a name in each residue, or -1, (R,)."""
    rows = np.full(int(residues[-1]) + 1, -1)
    found = np.flatnonzero(_are(names, name))[::-1]
    rows[residues[found]] = found
    return rows


def _pieces(spheres: SphereSet, backbone: Backbone, unit: float) -> Rows:
    places = np.asarray(spheres.centers, np.float64)[backbone.guides]
    is_acid = backbone.structure == NUCLEIC
    longest = unit * np.where(is_acid, MAX_STEP["C4'"], MAX_STEP["CA"])[1:]
    ends = np.square(np.diff(places, axis=0)).sum(axis=1) > np.square(longest)
    ends |= is_acid[1:] != is_acid[:-1]
    for ids in _chain_names(spheres, backbone.guides):
        ends |= ids[1:] != ids[:-1]
    return np.concatenate([[0], np.cumsum(ends)])


def _chain_names(spheres: SphereSet, rows: Rows) -> list[NDArray[np.int32]]:
    columns = (_texts(spheres, name) for name in ("chain", "segment"))
    return [texts.ids[rows] for texts in columns if texts is not None]


def _structure(spheres: SphereSet, backbone: Backbone, unit: float) -> Rows:
    structure = backbone.structure.copy()
    stated = _texts(spheres, "structure")
    is_protein = structure != NUCLEIC
    if stated is not None and set(stated.names) <= {*STRUCTURES, ""}:
        kinds = np.array([max(STRUCTURES.index(n), 0) if n else COIL for n in stated.names])
        structure[is_protein] = kinds[stated.ids[backbone.guides]][is_protein]
    elif is_protein.any():
        structure[is_protein] = _assigned(spheres, backbone, is_protein, unit)
    for kind, least in MIN_RUN.items():
        places = np.where(structure == kind, backbone.pieces, -1)
        runs = np.concatenate([[0], np.cumsum(places[1:] != places[:-1])])
        short = (structure == kind) & (np.bincount(runs)[runs] < least)
        structure[short] = COIL
    return structure


def _assigned(
    spheres: SphereSet, backbone: Backbone, is_protein: NDArray[np.bool_], unit: float
) -> Rows:
    """Return the structure of the protein's residues by DSSP (Kabsch and Sander 1983)."""
    where = f"{spheres.source}: " if spheres.source else ""
    rows = np.concatenate([backbone.guides[:, None], backbone.atoms], axis=1)[is_protein]
    has_all = (rows >= 0).all(axis=1)
    structure = np.full(len(rows), COIL)
    if has_all.sum() < MIN_RESIDUES:  # nothing is known of models of atoms CA
        if len(rows) >= MIN_RESIDUES:
            warn(f"{where}lacks atoms N, C and O of residues, so ribbons are tubes")
        return structure
    parts = [np.flatnonzero(has_all)]
    if len(parts[0]) > MAX_TOGETHER:
        names: list[Any] = _chain_names(spheres, rows[has_all][:, 0]) or [
            backbone.pieces[is_protein][has_all]
        ]
        changes = np.any([np.diff(ids) != 0 for ids in names], axis=0)
        parts = np.split(parts[0], np.flatnonzero(changes) + 1)
    most = max(map(len, parts))
    require_room("ribbons", DSSP_BYTES * most**2, "to assign helices and strands")
    centers = np.asarray(spheres.centers, np.float64) / unit
    atoms = centers[rows[:, [1, 0, 2, 3]]]
    residues = _texts(spheres, "residue")
    donors = np.ones(len(rows))  # proline has no hydrogen at N
    if residues is not None:
        donors[_are(residues, "PRO")[rows[:, 0]]] = 0.0
    try:
        from MDAnalysis.analysis.dssp.pydssp_numpy import assign

        for part in parts:
            if len(part) >= MIN_RESIDUES:
                _, helix, strand = assign(atoms[part], donor_mask=donors[part]).T
                structure[part] = np.select([helix, strand], [HELIX, STRAND], COIL)
    except (ImportError, TypeError):  # there is none, or it knows no donors
        warn(
            f"{where}states no helices and strands, so ribbons are tubes: to have them assigned "
            "(DSSP): pip install 'raytracer[mdanalysis]'"
        )
    return structure


def are_water(spheres: SphereSet) -> NDArray[np.bool_]:
    """Return which particles belong to water, by the names of residues, (N,)."""
    names = _texts(spheres, "residue")
    if names is None:
        return np.zeros(spheres.count, np.bool_)
    return _are(names._replace(names=[each.upper() for each in names.names]), *WATER)


def sides_of(centers: Doubles, backbone: Backbone, rows: Rows, structure: Rows) -> Doubles:
    """Return the directions of the width of a ribbon at the residues of a piece, (M, 3): in strands
    and coils in the planes of the peptides, else perpendicular to the curvature."""
    guides = centers[backbone.guides[rows]]
    along = np.gradient(guides, axis=0)
    bend = np.zeros_like(guides)
    bend[1:-1] = 2.0 * guides[1:-1] - guides[:-2] - guides[2:]
    if len(rows) > 2:
        bend[0], bend[-1] = bend[1], bend[-2]
    sides = np.cross(along, bend)
    _, carbon, oxygen = backbone.atoms[rows].T
    has_plane = (carbon >= 0) & (oxygen >= 0) & (structure != HELIX) & (structure != NUCLEIC)
    planes = centers[oxygen] - centers[carbon]
    # The carbonyl of a residue lies in the plane of the peptide after it.
    sign = np.where((planes[1:] * planes[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    planes[1:] *= np.cumprod(sign)[:, None]
    means = planes.copy()
    means[1:] += np.where(has_plane[:-1, None], planes[:-1], 0.0)
    return np.where(has_plane[:, None], means, sides)


def pieces_of(backbone: Backbone) -> Sequence[Rows]:
    """Return the residues of each chain without a break."""
    return np.split(np.arange(len(backbone.pieces)), np.flatnonzero(np.diff(backbone.pieces)) + 1)
