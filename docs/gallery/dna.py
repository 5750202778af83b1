"""Writes dna.pdb: two turns of B-DNA, from the generator of the example scenes."""

from pathlib import Path

from raytracer.scene import generate

generate.write("molecule", "dna.xyz", 620, force=True)
atoms = [line.split() for line in Path("dna.xyz").read_text().splitlines()[2:]]
lines = [
    f"ATOM  {i % 100000:5d}  {symbol:<3} DNA A   1    "
    f"{float(x):8.3f}{float(y):8.3f}{float(z):8.3f}  1.00  0.00          {symbol:>2}"
    for i, (symbol, x, y, z) in enumerate(atoms, 1)
]
Path("dna.pdb").write_text("\n".join([*lines, "END", ""]))
