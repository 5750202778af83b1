"""Integers of text files: what a type does not hold is refused, never wrapped or cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from raytracer.errors import DataFileError
from raytracer.scene.particles.read import source_of
from support.particle_files import write

DUMP = """\
ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
1
ITEM: BOX BOUNDS pp pp pp
0 1
0 1
0 1
ITEM: ATOMS id type x y z
{} 1 0 0 0
"""
XYZ = "1\nProperties=species:S:1:pos:R:3:id:I:1\nH 0 0 0 {}\n"
FILES = {"a.dump": DUMP, "a.xyz": XYZ}


@pytest.mark.parametrize("name", FILES)
def test_ids_of_files(tmp_path: Path, name: str) -> None:
    def ids(value: str) -> list[int]:
        path = write(tmp_path / name, FILES[name].format(value))
        with source_of(path) as source:
            found: list[int] = source.load(["id"])["id"].tolist()
            return found

    assert ids("9007199254740992") == [2**53]
    with pytest.raises(DataFileError, match="is beyond the"):
        ids("10000000000000000")
