"""Summaries of particle files: columns with types, units and ranges, frames and boxes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import load
from raytracer.config.errors import MemoryNeedError
from raytracer.particles.formats import npz
from raytracer.scene_files.summary import summarize_file
from support.particle_files import write

XYZ = (
    '2\nLattice="5 0 0 0 6 0 0 0 7" Properties=species:S:1:pos:R:3:n:I:1:on:L:1\n'
    "C 0 1 2 7 T\nO 3 4 5 8 F\n"
)


def summary_of(path: Path) -> dict[str, Any]:
    file = load(path).spheres[0].file
    assert file is not None
    return summarize_file(file)


def test_atoms(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xyz", XYZ)
    assert summary_of(path) == {
        "format": "XYZ",
        "particles": 2,
        "frames": 1,
        "box": {"origin": [0, 0, 0], "edges": [[5, 0, 0], [0, 6, 0], [0, 0, 7]]},
        "columns": [
            {"name": "species", "type": "text", "values": 2, "texts": ["C", "O"]},
            {"name": "pos", "type": "3 numbers", "low": 0, "high": 5},
            {"name": "n", "type": "integer", "low": 7, "high": 8},
            {"name": "on", "type": "truth value"},
        ],
    }


def test_columns_are_read_one_by_one_where_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, centers=np.eye(3), radius=np.arange(1.0, 4.0), mass=np.ones(3))
    whole = summary_of(path)
    plain = npz.Source.load

    def at_most_one(self: npz.Source, names: list[str]) -> dict[str, Any]:
        if len(names) > 2:
            raise MemoryNeedError("too much")
        return plain(self, names)

    monkeypatch.setattr(npz.Source, "load", at_most_one)
    assert summary_of(path) == whole
    assert whole["columns"][1] == {"name": "radius", "type": "number", "low": 1, "high": 3}
