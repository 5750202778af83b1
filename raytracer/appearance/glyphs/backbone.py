"""Backbones of proteins and nucleic acids: residues, chains without a break, their structure."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring.expression import Texts
from raytracer.appearance.glyphs.ribbon_surface import COIL, HELIX, NUCLEIC, STRAND
from raytracer.config.warning import warn
from raytracer.model.sphere_set import SphereSet
from raytracer.system.memory import require_room

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
    """Residues of a set in its order: the number of that of each particle, ascending, (N,), rows of
    the guide atoms, CA or C4', (R,), and of N, C, O or N1, N3, N9, -1 without, (R, 3), and their
    structure, (R,)."""

    spheres: SphereSet
    unit: float  # length of an angstrom in units of the set
    residues: Rows
    guides: Rows
    atoms: Rows
    structure: Rows

    def taken(self, kept: NDArray[np.bool_]) -> Self:
        """Return the residues that are kept and not alone between breaks."""
        rows = (each[kept] for each in self[3:])
        made = type(self)(*self[:3], *rows)
        sizes = np.bincount(made.pieces)[made.pieces] if len(made.guides) else np.zeros(0)
        return made if (sizes > 1).all() else made.taken(sizes > 1)

    @property
    def pieces(self) -> Rows:
        """Ascending numbers of chains without a break, (R,)."""
        longest = self.unit * np.where(self.is_acid, MAX_STEP["C4'"], MAX_STEP["CA"])[1:]
        steps = np.diff(self.centers[self.guides], axis=0)
        ends = np.square(steps).sum(axis=1) > np.square(longest)
        for ids in (self.is_acid, *self.chain_names(self.guides)):
            ends |= ids[1:] != ids[:-1]
        ends |= np.diff(self.residues[self.guides]) > 1
        return np.concatenate([[0], np.cumsum(ends)])

    @property
    def is_acid(self) -> NDArray[np.bool_]:
        return np.asarray(self.structure == NUCLEIC)

    @property
    def centers(self) -> Doubles:
        """Centres of all particles, (N, 3)."""
        return np.asarray(self.spheres.centers, np.float64)

    def chain_names(self, rows: Rows) -> list[NDArray[np.int32]]:
        columns = (_texts(self.spheres, name) for name in ("chain", "segment"))
        return [texts.ids[rows] for texts in columns if texts is not None]


def find_backbone(spheres: SphereSet, unit: float = 1.0) -> Backbone | None:
    """Return the backbone of a set, with the structure that the file or else DSSP states; None if
    it has no chain of residues with guide atoms."""
    names = _texts(spheres, "name")
    if names is None or not spheres.count:
        return None
    names = names._replace(names=[OTHER_NAMES.get(each, each) for each in names.names])
    residues = _residues(spheres, names)
    rows = np.full((len(PROTEIN) + len(ACID), int(residues[-1]) + 1), -1)
    for row, name in zip(rows, (*PROTEIN, *ACID), strict=True):
        found = np.flatnonzero(_match_texts(names, name))[::-1]  # of several the first
        row[residues[found]] = found
    is_acid = (rows[4] >= 0) & (rows[0] < 0)
    guide, *atoms = np.where(is_acid, rows[4:], rows[:4])
    structure = np.where(is_acid, NUCLEIC, COIL)
    made = Backbone(spheres, unit, residues, guide, np.stack(atoms, axis=1), structure)
    made = made.taken(guide >= 0)
    return made._replace(structure=_find_structure(made)) if len(made.guides) else None


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
    is_n = _match_texts(names, "N")
    count = np.cumsum(is_n)
    before: Rows = (count - is_n)[first]
    again = is_n & (count - np.repeat(before, np.diff(np.append(first, spheres.count))) > 1)
    return np.cumsum(starts | again) - 1


def _match_texts(texts: Texts, *words: str) -> NDArray[np.bool_]:
    return np.array([each in words for each in texts.names], np.bool_)[texts.ids]


def _find_structure(backbone: Backbone) -> Rows:
    structure = backbone.structure.copy()
    stated = _texts(backbone.spheres, "structure")
    is_protein = ~backbone.is_acid
    if stated is not None and set(stated.names) <= {*STRUCTURES, ""}:
        kinds = np.array([max(STRUCTURES.index(n), 0) if n else COIL for n in stated.names])
        structure[is_protein] = kinds[stated.ids[backbone.guides]][is_protein]
    elif is_protein.any():
        structure[is_protein] = _assign_structure(backbone, is_protein)
    for kind, least in MIN_RUN.items():
        places = np.where(structure == kind, backbone.pieces, -1)
        runs = np.concatenate([[0], np.cumsum(places[1:] != places[:-1])])
        short = (structure == kind) & (np.bincount(runs)[runs] < least)
        structure[short] = COIL
    return structure


def _assign_structure(backbone: Backbone, is_protein: NDArray[np.bool_]) -> Rows:
    """Return the structure of the protein's residues by DSSP (Kabsch and Sander 1983)."""
    spheres = backbone.spheres
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
        names: list[Any] = backbone.chain_names(rows[has_all][:, 0])
        names = names or [backbone.pieces[is_protein][has_all]]
        changes = np.any([np.diff(ids) != 0 for ids in names], axis=0)
        parts = np.split(parts[0], np.flatnonzero(changes) + 1)
    most = max(map(len, parts))
    require_room("ribbons", DSSP_BYTES * most**2, "to assign helices and strands")
    atoms = backbone.centers[rows[:, [1, 0, 2, 3]]] / backbone.unit
    residues = _texts(spheres, "residue")
    donors = np.ones(len(rows))  # proline has no hydrogen at N
    if residues is not None:
        donors[_match_texts(residues, "PRO")[rows[:, 0]]] = 0.0
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


def find_water(spheres: SphereSet) -> NDArray[np.bool_]:
    """Return which particles belong to water, by the names of residues, (N,)."""
    names = _texts(spheres, "residue")
    if names is None:
        return np.zeros(spheres.count, np.bool_)
    return _match_texts(names._replace(names=[each.upper() for each in names.names]), *WATER)


def find_ribbon_sides(backbone: Backbone, rows: Rows) -> Doubles:
    """Return the directions of the width of a ribbon at the residues of a piece, (M, 3): in strands
    and coils in the planes of the peptides, else perpendicular to the curvature."""
    centers, structure = backbone.centers, backbone.structure[rows]
    guides = centers[backbone.guides[rows]]
    bend = np.zeros_like(guides)
    bend[1:-1] = 2.0 * guides[1:-1] - guides[:-2] - guides[2:]
    if len(rows) > 2:
        bend[0], bend[-1] = bend[1], bend[-2]
    sides = np.cross(np.gradient(guides, axis=0), bend)
    _, carbon, oxygen = backbone.atoms[rows].T
    has_plane = (carbon >= 0) & (oxygen >= 0) & (structure != HELIX) & (structure != NUCLEIC)
    planes = centers[oxygen] - centers[carbon]
    # The carbonyl of a residue lies in the plane of the peptide after it.
    sign = np.where((planes[1:] * planes[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    planes[1:] *= np.cumprod(sign)[:, None]
    means = planes.copy()
    means[1:] += np.where(has_plane[:-1, None], planes[:-1], 0.0)
    return np.where(has_plane[:, None], means, sides)
