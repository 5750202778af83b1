"""Particle files as texts, for tests of their readers and for mutations of them."""

PDB = """\
CRYST1   10.000   11.000   12.000  90.00  90.00  90.00 P 1
MODEL        1
ATOM      1  CA AGLY A   1       1.000   2.000   3.000  0.50  1.00           C
ATOM      2  CA BGLY A   1       9.000   9.000   9.000  0.50  1.00           C
HETATM    3 CA    CA A   2       4.000   5.000   6.000  1.00  1.00
HETATM    4  OW  SOL A   3       7.000   8.000   9.000
ENDMDL
MODEL        2
ATOM      1  CA  GLY A   1       0.000   0.000   0.000  1.00  1.00           C
ENDMDL
"""

LAMMPS_DATA = """\
LAMMPS data file

3 atoms
2 bonds
2 atom types

-1 9 xlo xhi
0 5 ylo yhi
0 5 zlo zhi
1 0.5 0 xy xz yz

Masses

1 15.9994  # O
2 1.008    # H

Atoms # full

3 1 2 0.4 1.0 2.0 3.0 0 0 1
1 1 1 -0.8 4.0 5.0 6.0 0 0 0  # the oxygen
2 1 2 0.4 7.0 8.0 9.0 0 0 0

Bonds

1 1 1 2
2 1 1 3
"""

PLY_HEAD = """\
ply
format {order} 1.0
comment a cloud
element camera 1
property float focus
element vertex 2
property double x
property double y
property double z
property uchar red
property uchar green
property uchar blue
property float radius
element face 1
property list uchar int vertex_indices
end_header
"""
PLY = PLY_HEAD.format(order="ascii") + "1.5\n1 2 3 255 0 51 0.5\n4 5 6 0 255 0 0.25\n3 0 1 0\n"
