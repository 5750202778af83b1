"""Writes rutile.vasp: the cell of rutile, titanium dioxide."""

from pathlib import Path

A, C, U = 4.594, 2.959, 0.3048  # angstrom, angstrom, place of the oxygen

Path("rutile.vasp").write_text(f"""rutile
1.0
{A} 0 0
0 {A} 0
0 0 {C}
Ti O
2 4
Direct
0 0 0
0.5 0.5 0.5
{U} {U} 0
{1 - U} {1 - U} 0
{0.5 + U} {0.5 - U} 0.5
{0.5 - U} {0.5 + U} 0.5
""")
