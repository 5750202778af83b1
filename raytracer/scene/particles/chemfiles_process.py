"""Process that reads a file by chemfiles: `python -m ... FILE FORMAT` writes arrays to stdout."""

from __future__ import annotations

import sys
from typing import Any


def main(path: str, name: str) -> int:
    """Write the first frame of a file to standard output as an .npz archive.

    Args:
        path: of the file.
        name: of its format in chemfiles.

    Returns:
        The exit status: 1 with a sentence on standard error where the file cannot be read.
    """
    import chemfiles
    import numpy as np

    chemfiles.set_warnings_callback(lambda _: None)
    try:
        with chemfiles.Trajectory(path, "r", name) as trajectory:
            frames = trajectory.nsteps
            frame = trajectory.read()
    except chemfiles.ChemfilesError as problem:
        print(problem, file=sys.stderr)
        return 1
    atoms: Any = frame.atoms
    cell = frame.cell
    edges = np.array(cell.matrix).T if min(cell.lengths) > 0.0 else np.zeros((3, 3))
    np.savez(
        sys.stdout.buffer,
        frames=np.int64(frames),
        position=np.array(frame.positions),
        element=np.array([atom.type.encode() for atom in atoms], "S8"),
        name=np.array([atom.name.encode() for atom in atoms], "S16"),
        bonds=np.array(frame.topology.bonds, np.int64).reshape(-1, 2),
        cell=edges,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
