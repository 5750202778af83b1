"""Right files, broken in many ways, are read or refused with a sentence, and soon.

    RAYTRACER_MUTATIONS=2000 RAYTRACER_MUTATION_SEED=7 pytest tests/fuzz/test_mutated.py -k csv

Each file is read in full, with warnings as errors: a film is toned, the metadata of a picture are
printed, a sphere is described. The files of a number of mutations and a seed, 0 by default, are the
same everywhere.
"""

import gzip
import io
import json
import os
import struct
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raytracer import Film, Mesh, load
from raytracer.commands.cli import main
from raytracer.config.errors import SENTENCE_LETTERS, UserError
from raytracer.config.warning import RaytracerWarning
from raytracer.film.aovs import AOVS
from raytracer.film.image import Image
from support.mmtf import IDENTITY, MOVED, Residue, write_mmtf
from support.particle_texts import LAMMPS_DATA, PDB, PLY
from support.tng import BOX, POSITIONS, every

MUTATIONS = int(os.environ.get("RAYTRACER_MUTATIONS", "10"))  # of each file
SEED = os.environ.get("RAYTRACER_MUTATION_SEED", "0")
SECONDS = 30.0  # more is a hang; a busy machine takes some to import a library after a crash

POINTS = np.linspace(-2.0, 2.0, 36).reshape(-1, 3)

SCENE = """\
title = "Balls"
render = {width = 8, height = 6, samples = 1, filter = "tent"}
camera = {type = "perspective", position = [0.0, 2.5, 9.0], look_at = [0.0, 0.8, 0.0]}
background = {bottom = "#f6f3ee", top = "white"}
ambient.intensity = 0.2
materials.chrome.mirror = 0.8
elements.O.radius = 0.8
[[lights]]
type = "point"
position = [-4.0, 5.0, 3.0]
color = "#ffe0b0"
intensity = 12.0
falloff = "inverse-square"
[[spheres]]
material = "chrome"
centers = [[0.0, -1.0, 0.0], [1.0, 1.0, 1.0]]
radii = [1.0, 0.5]
colors = ["gold", [0.9, 0.9, 0.95]]
transform = { scale = 1.2, rotate = [0, 30, 0], translate = [0.0, 1.3, 0.0] }
"""

TABLE = "x,y,z,radius,r,g,b,mass\n" + "".join(
    f"{n}.0,0.5,{n / 7:.3f},0.5,0.80,0.25,{n / 20:.2f},{n}\n" for n in range(12)
)

EXTENDED_XYZ = (
    '2\nLattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3:radius:R:1:color:R:3:q:I:1\n'
    "C 0 0 0 0.5 1 0 0 3\nXx 1 1 1 0.4 0 1 0 -2\n"
)

LAMMPS_DUMP = (
    "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS xy xz yz pp pp pp\n"
    "-2 5.5 1.0\n-0.5 4 -1.5\n0 5 0.75\nITEM: ATOMS id type element xs ys zs c_pe\n"
    "1 1 O 0.25 0.5 0.125 -1.5\n2 2 H 0.5 0.75 0.5 1e-3\n3 2 H 0 1 0 7\n"
)

GRO = (
    "water\n    2\n    1SOL     OW    1   0.126   1.624   1.679  0.1227 -0.0580  0.0434\n"
    "    2CL      CL    2   0.177   1.568   1.613 -0.9045 -2.6469  1.3180\n   1.8   1.8   1.8\n"
)


def hdf5(path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["PartType0/Coordinates"] = POINTS
        file.create_dataset("PartType0/Masses", data=np.ones(12), compression="gzip")
        file.create_group("Header").attrs["BoxSize"] = 10.0


def gsd(path: Path) -> None:
    hoomd = pytest.importorskip("gsd.hoomd")
    frame = hoomd.Frame()
    frame.particles.N, frame.particles.position = 12, POINTS.astype(np.float32)
    frame.particles.types, frame.particles.typeid = ["A", "B"], [0, 1] * 6
    with hoomd.open(str(path), "w") as file:
        file.append(frame)


def mmtf(path: Path) -> None:
    pytest.importorskip("chemfiles")
    residues: list[Residue] = [("ALA", [("N", "N", (0.0, 0.0, 0.0)), ("CA", "C", (1.5, 0.0, 0.0))])]
    write_mmtf(path, [residues, residues], assemblies=[[((0, 1), IDENTITY), ((1,), MOVED)]])


def trajectory(path: Path) -> None:
    pytest.importorskip("chemfiles")
    path.write_bytes(every(6, 3, {BOX: range(6), POSITIONS: range(0, 6, 2)}))


def wall(path: Path) -> None:
    pytest.importorskip("trimesh")
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    if path.suffix == ".obj":
        path.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "f 1 2 3 4\n")
    elif path.name == "wall-text.stl":
        facet = "facet normal 0 0 1\nouter loop\n{}endloop\nendfacet\n"
        rows = "".join(f"vertex {x} {y} {z}\n" for x, y, z in corners[:3])
        path.write_text(f"solid a\n{facet.format(rows)}endsolid a\n")
    else:
        record = struct.pack("<12fH", 0, 0, 1, *np.ravel(corners[:3]), 0)
        path.write_bytes(bytes(80) + struct.pack("<I", 2) + 2 * record)


def npz(path: Path, save: Any = np.savez) -> None:
    """Write spheres, and an array that is not used."""
    colors = np.arange(36, dtype=np.uint8).reshape(-1, 3)
    save(path, centers=POINTS, radii=np.ones(12, "f4"), colors=colors, mass=np.arange(12.0))


def film(path: Path) -> None:
    made = Film.blank(9, 7)
    made.sums[:] = np.linspace(0.0, 3.0, made.sums.size).reshape(made.sums.shape)
    made.samples = 2
    for name, letters in AOVS.items():
        shape = (7, 9) if len(letters) == 1 else (7, 9, len(letters))
        made.aovs[name] = np.ones(shape, np.uint32 if name in ("id", "samples") else np.float32)
    made.metadata = {"digest": "0" * 16, "settings": {"width": 9, "height": 7}, "spheres": 12}
    made.save(path)


def picture(path: Path) -> None:
    about = {"version": "1", "scene": {"path": "a"}, "spheres": 3, "memory_free": 5, "list": [{}]}
    Image(Film.blank(4, 3), metadata=about).save(path)


def records(path: Path) -> None:
    np.save(path, np.ones(12, [("x", "f4"), ("y", "f4"), ("z", "f4"), ("radius", "f8")]))


SEEDS: dict[str, str | bytes | Callable[[Path], None]] = {
    "scene.toml": SCENE,
    "scene.json": json.dumps({"spheres": [{"centers": [[0, 0, 0]], "radius": 1, "color": "red"}]}),
    "table.csv": TABLE,
    "table.csv.gz": gzip.compress(TABLE.encode(), mtime=0),
    "points.txt": TABLE[24:].replace(",", " "),
    "plain.xyz": "3\nwater, angstrom\nO  0.000  0.117 0.0\nH  0.757 -0.469 0\nH -0.757 -0.469 0\n",
    "extended.extxyz": EXTENDED_XYZ,
    "frame.dump": LAMMPS_DUMP,
    "atoms.pdb": PDB,
    "atoms.data": LAMMPS_DATA,
    "atoms.gro": GRO,
    "cloud.ply": PLY,
    "records.npy": records,
    "series.npy": lambda path: np.save(path, POINTS.reshape(2, 6, 3)),
    "points.npy": lambda path: np.save(path, np.c_[POINTS, np.ones(12)]),
    "stored.npz": npz,
    "deflated.npz": lambda path: npz(path, np.savez_compressed),
    "frame.gsd": gsd,
    "snapshot.hdf5": hdf5,
    "run.tng": trajectory,
    "atoms.mmtf": mmtf,
    "film.npz": film,
    "picture.png": picture,
    "wall.stl": wall,
    "wall-text.stl": wall,
    "wall.obj": wall,
}  # fmt: skip
"""Right files by a name that ends as the file does: the content, or a function that writes it."""

WORDS = [
    b"", b"\0", b"\n", b"\r\n", b" ", b",", b";", b"=", b"[", b"]", b"{", b'"', b"'", b"#", b"-",
    b"../", b"/dev/zero", b"nan", b"-inf", b"1e999", b"1e-999", b"0x7fffffffffffffff", b"-1", b"0",
    b"99999999999999999999", b"2147483648", b"4294967296", b"1" * 5000, b"a" * 5000, b"[" * 3000,
    b"{" * 3000, b'{"a":' * 1500, b"a." * 200, b'"""', b"\x1b[31m\x1b]0;x\x07", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\xed\xb2\x80", "\u202e\u2066".encode(), "\u0663\u0664".encode(), b"true",
    b"null", b"\\ud800", b"1979-05-27T07:32:00Z", b"O", b"<f8", b"|V0", b"|S0", b"<U99999999",
    b"shape", b"descr", b"(1,)", b"[('a', 'O')]", b"PK\x05\x06", b"PK\x03\x04", b"PK\x01\x02",
    b"spheres", b"[[lights]]", b"materials", b"radius", b"centers", b"file", b"generate", b"count",
    b"Properties=", b"Lattice=", b"pos:R:99999999999", b"tEXt", b"raytracer\0", b"dataWindow",
]  # fmt: skip
"""Long, deep, strange and hostile pieces."""

NUMBERS = [
    struct.pack(form, value % 256 ** struct.calcsize(form))
    for form in ("<B", "<H", "<I", "<Q", ">I", ">H") for value in (0, 1, -1, 1000, 1 << 31)
]  # fmt: skip

PIECES = st.sampled_from(WORDS) | st.sampled_from(NUMBERS) | st.binary(max_size=4)
EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 500), PIECES), min_size=1, max_size=6)


def read(path: Path) -> None:
    """Read a file by its ending, all of it."""
    if path.name.startswith("film"):
        Film.load(path).tonemap(threads=1)
    elif path.name.startswith("wall"):
        Mesh.from_file(path)
    elif path.suffix == ".png":
        with redirect_stdout(io.StringIO()) as said:
            code = main(["info", str(path)])
        assert code or said.getvalue().replace("\n", "").isprintable()
    else:
        scene = load(path)
        if scene.count:
            assert all(line.isprintable() for line in scene.describe(scene.count - 1).lines())


@pytest.fixture(scope="module", params=SEEDS)
def seed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name: str = request.param
    path, content = tmp_path_factory.mktemp("seed") / name, SEEDS[name]
    if callable(content):
        content(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RaytracerWarning)
        read(path)
    return path


@hypothesis.seed(int(SEED))
@settings(max_examples=MUTATIONS, database=None, deadline=1000 * SECONDS)
@given(edits=EDITS)
def test_mutated_files_are_read_or_refused(
    seed: Path, edits: list[tuple[float, int, bytes]]
) -> None:
    data = bytearray(seed.read_bytes())
    for place, removed, piece in edits:
        at = int(place * len(data))
        data[at : at + removed] = piece
    path = seed.parent / "mutated" / seed.name  # in one folder, which one process may read
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    with redirect_stderr(io.StringIO()), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("error")
        warnings.simplefilter("always", RaytracerWarning)
        sentences: list[str] = []
        try:
            read(path)
        except UserError as error:
            sentences += error.sentences
    assert all(len(sentence) <= 2 * SENTENCE_LETTERS for sentence in sentences)
    sentences += [str(warning.message) for warning in told]
    assert all(sentence.isprintable() for sentence in sentences)
