"""A piece of ideal B-DNA that repeats the sequence of the Dickerson dodecamer.

Angstrom, without hydrogen. Sugar and phosphate are in the cylindrical coordinates of the fibre
model (S. Arnott and D. W. L. Hukins, Biochem. Biophys. Res. Commun. 47, 1972), O3' and OP2 fitted
to standard bond lengths; the flat bases are in the standard reference frame (W. K. Olson et al., J.
Mol. Biol. 313, 2001), tilted and moved to meet the sugars.
"""

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.generators._base import Generator, Part, part, rgb

SEQUENCE = "CGCGAATTCGCG"
PARTNER = {"A": "T", "C": "G", "G": "C", "T": "A"}
# Per base pair along the helix, angstrom and degrees.
RISE, TWIST = 3.38, 36.0
# Tilt of the base pair's plane, degrees, and its shift along its short axis, angstrom.
TILT, SHIFT = -5.0, 0.23
ATOMS_PER_PAIR = 41
# Default length.
PAIRS = 24


def _atoms(text: str) -> dict[str, tuple[float, ...]]:
    """Parse "P 8.91 84.8 -2.08, OP1 ...": the numbers of atoms by name."""
    rows = [atom.split() for atom in text.split(",")]
    return {name: tuple(map(float, numbers)) for name, *numbers in rows}


# Radius (angstrom), azimuth (degrees), height (angstrom); phosphate first.
BACKBONE = _atoms("""
    P 8.91 84.8 -2.08, OP1 10.2 88.9 -1.86, OP2 8.76 76.5 -1.33, O5' 7.73 92.0 -1.83,
    C5' 7.7 100.2 -2.77, C4' 7.59 110.1 -2.04, O4' 6.22 114.0 -1.83, C3' 8.2 110.1 -0.64,
    O3' 8.76 118.7 -0.26, C2' 7.04 106.8 0.24, C1' 5.86 112.6 -0.47
""")
PHOSPHATE = ("P", "OP1", "OP2")
# In the plane of the pair, angstrom: x to the major groove, y to this strand.
BASES = {
    "A": _atoms("""
        N9 -1.291 4.498, C8 0.024 4.897, N7 0.877 3.902, C5 0.071 2.771, C6 0.369 1.398,
        N6 1.611 0.909, N1 -0.668 0.532, C2 -1.912 1.023, N3 -2.32 2.29, C4 -1.267 3.124
    """),
    "C": _atoms("""
        N1 -1.285 4.542, C2 -1.472 3.158, O2 -2.628 2.709, N3 -0.391 2.344, C4 0.837 2.868,
        N4 1.875 2.027, C5 1.056 4.275, C6 -0.023 5.068
    """),
    "G": _atoms("""
        N9 -1.289 4.551, C8 0.023 4.962, N7 0.87 3.969, C5 0.071 2.833, C6 0.424 1.46,
        O6 1.554 0.955, N1 -0.7 0.641, C2 -1.999 1.087, N2 -2.949 0.139, N3 -2.342 2.364,
        C4 -1.265 3.177
    """),
    "T": _atoms("""
        N1 -1.284 4.5, C2 -1.462 3.135, O2 -2.562 2.608, N3 -0.298 2.407, C4 0.994 2.897,
        O4 1.944 2.119, C5 1.106 4.338, C7 2.466 4.961, C6 -0.024 5.057
    """),
}  # fmt: skip
# Van der Waals radii (A. Bondi, J. Phys. Chem. 68, 1964), angstrom, and colours of elements.
ELEMENTS = {
    "C": (1.70, "#4b5257"),
    "N": (1.55, "#3f6cb5"),
    "O": (1.52, "#c23b34"),
    "P": (1.80, "#e39a35"),
}


def build(count: int, seed: int) -> list[Part]:
    """Return whole base pairs about the z axis, nearest to `count` atoms; the seed has no
    effect."""
    centers = np.concatenate([xyz for _, xyz in _residues(count)])
    letters = symbols(count, seed)
    radii = [ELEMENTS[s][0] for s in letters]
    return [part("default", centers, radii, [rgb(ELEMENTS[s][1]) for s in letters])]


def symbols(count: int, seed: int) -> list[str]:
    """Return the chemical element of every atom, in the order of build()."""
    return [name[0] for names, _ in _residues(count) for name in names]


def nucleotide(base: str, phosphate: bool = True) -> tuple[list[str], NDArray[np.float64]]:
    """Return names and positions (n, 3) of the atoms of the first strand's nucleotide at z = 0."""
    backbone = {k: v for k, v in BACKBONE.items() if phosphate or k not in PHOSPHATE}
    radius, azimuth, height = np.array(list(backbone.values())).T
    angle = np.deg2rad(azimuth)
    sugar = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
    flat = np.array(list(BASES[base].values()))
    tilt = np.deg2rad(TILT)
    x, y = flat[:, 0] + SHIFT, flat[:, 1]
    ring = np.stack([x, y * np.cos(tilt), y * np.sin(tilt)], axis=1)
    return [*backbone, *BASES[base]], np.concatenate([sugar, ring])


def _residues(count: int) -> list[tuple[list[str], NDArray[np.float64]]]:
    """Return both strands, each from its 5' end, whose first sugar has no phosphate."""
    pairs = max(1, round(count / ATOMS_PER_PAIR))
    first = [SEQUENCE[i % len(SEQUENCE)] for i in range(pairs)]
    residues = []
    for i, base in enumerate(first):
        names, xyz = nucleotide(base, phosphate=i > 0)
        residues.append((names, _raise(xyz, i - (pairs - 1) / 2)))
    for i in reversed(range(pairs)):
        names, xyz = nucleotide(PARTNER[first[i]], phosphate=i < pairs - 1)
        # The other strand is antiparallel: half a turn about the pair's short axis.
        residues.append((names, _raise(xyz * (1.0, -1.0, -1.0), i - (pairs - 1) / 2)))
    return residues


def _raise(xyz: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Move a pair up the right-handed helix by `step` pairs."""
    angle = np.deg2rad(TWIST * step)
    c, s = np.cos(angle), np.sin(angle)
    x, y, z = xyz.T
    return np.stack([c * x - s * y, s * x + c * y, z + RISE * step], axis=1)


GENERATOR = Generator(
    "a piece of B-DNA without hydrogen (angstroms), a base pair every 41 atoms",
    count=PAIRS * ATOMS_PER_PAIR,
    build=build,
    symbols=symbols,
    memory=160,
)
