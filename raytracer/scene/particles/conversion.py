"""Commands that convert files of other programs that cannot be read, by ending."""

from __future__ import annotations

import re
from pathlib import Path

from raytracer.errors import shown

_ASE = "from ase.io import read, write; write('{new}.xyz', read('{name}'))"
_PYVISTA = "import numpy, pyvista as p; numpy.savez('{new}.npz', centers=p.read('{name}').points)"
_EXCEL = "import pandas; pandas.read_excel('{name}').to_csv('{new}.csv', index=False)"

_KINDS = (
    (".bundle .xtd .gpw", "ase", _ASE),
    (".pvtu .pvtp .vti .vtr .vtm .stl .obj .pcd", "pyvista", _PYVISTA),
    (".xlsx", "pandas openpyxl", _EXCEL),
)
"""Endings, the packages that the command needs, and the Python command."""

_PACKED = (".zip", ".tar", ".tgz", ".7z")
_TOPOLOGIES = (".top", ".itp")


def unread(suffix: str) -> str:
    """Return the start of the message about a file with this ending, or with none."""
    what = f"files ending in '{shown(suffix)}'" if suffix else "files without an ending"
    return f"{what} cannot be read"


def way_out(path: Path) -> str:
    """Return what to do with an unreadable file, for the end of a message, or ""."""
    suffix, name = path.suffix.lower(), str(path)
    if not re.fullmatch(r"[\w./+-]{1,200}", name):  # unsafe in a shell
        name = f"NAME{shown(suffix)}"
    new = name.removesuffix(name[-len(suffix) :]) if suffix else name
    if suffix in _PACKED:
        return "unpack it first"
    if suffix in _TOPOLOGIES:
        return (
            "it holds atoms without coordinates: write a frame to .xyz with its trajectory, for "
            f"example MDAnalysis.Universe('{name}', 'TRAJECTORY').atoms.write('{new}.xyz')"
        )
    for suffixes, packages, code in _KINDS:
        if suffix in suffixes.split():
            command = code.format(name=name, new=new)
            return f'convert it: pip install {packages} && python -c "{command}"'
    return ""
