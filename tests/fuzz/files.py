"""Files that are given to every reader: right ones to be mutated, and ways to mutate them.

A case is a seed and a number: the same two give the same bytes everywhere.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import random
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import Film
from raytracer.film.aovs import AOVS
from support.particle_texts import LAMMPS_DATA, PDB, PLY

POINTS = np.linspace(-2.0, 2.0, 36).reshape(-1, 3)

SCENE = """\
title = "Balls"
[render]
width = 8
height = 6
samples = 1
filter = "tent"
[camera]
type = "perspective"
position = [0.0, 2.5, 9.0]
look_at = [0.0, 0.8, 0.0]
[background]
bottom = "#f6f3ee"
top = "white"
[ambient]
intensity = 0.2
[[lights]]
type = "point"
position = [-4.0, 5.0, 3.0]
color = "#ffe0b0"
intensity = 12.0
falloff = "inverse-square"
[materials.chrome]
mirror = 0.8
[[spheres]]
material = "chrome"
centers = [[0.0, -1.0, 0.0], [1.0, 1.0, 1.0]]
radii = [1.0, 0.5]
colors = ["gold", [0.9, 0.9, 0.95]]
transform = { scale = 1.2, rotate = [0, 30, 0], translate = [0.0, 1.3, 0.0] }
[elements.O]
radius = 0.8
"""

TABLE = "x,y,z,radius,r,g,b,mass\n" + "".join(
    f"{n}.0,0.5,{n / 7:.3f},0.5,0.80,0.25,{n / 20:.2f},{n}\n" for n in range(12)
)

PLAIN_XYZ = "3\nwater, angstrom\nO  0.000  0.117 0.000\nH  0.757 -0.469 0.0\nH -0.757 -0.469 0.0\n"

EXTENDED_XYZ = (
    '2\nLattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3:radius:R:1:color:R:3:q:I:1\n'
    "C 0 0 0 0.5 1 0 0 3\nXx 1 1 1 0.4 0 1 0 -2\n"
)


LAMMPS_DUMP = (
    "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS xy xz yz pp pp pp\n"
    "-2 5.5 1.0\n-0.5 4 -1.5\n0 5 0.75\nITEM: ATOMS id type element xs ys zs c_pe\n"
    "1 1 O 0.25 0.5 0.125 -1.5\n2 2 H 0.5 0.75 0.5 1e-3\n3 2 H 0 1 0 7\n"
)


def hdf5(folder: Path) -> bytes:
    """A snapshot."""
    import h5py

    path = folder / "seed.hdf5"
    with h5py.File(path, "w") as file:
        file["PartType0/Coordinates"] = POINTS
        file.create_dataset("PartType0/Masses", data=np.ones(12), compression="gzip")
        file.create_group("Header").attrs["BoxSize"] = 10.0
    return path.read_bytes()


def gsd(folder: Path) -> bytes:
    """A trajectory of HOOMD-blue."""
    import gsd.hoomd as hoomd

    frame = hoomd.Frame()
    frame.particles.N = 12
    frame.particles.position = POINTS.astype(np.float32)
    frame.particles.types = ["A", "B"]
    frame.particles.typeid = [0, 1] * 6
    with hoomd.open(str(folder / "seed.gsd"), "w") as file:
        file.append(frame)
    return (folder / "seed.gsd").read_bytes()


def npz(method: int) -> bytes:
    """An archive of spheres, with an array that is not used."""
    arrays: dict[str, NDArray[Any]] = {
        "centers": POINTS,
        "radii": np.ones(12, np.float32),
        "colors": np.arange(36, dtype=np.uint8).reshape(-1, 3),
        "mass": np.arange(12.0),
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array)
            archive.writestr(f"{name}.npy", member.getvalue())
    return stream.getvalue()


def npy(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def film(folder: Path, suffix: str, half: bool = False) -> bytes:
    """A film with every output variable."""
    made = Film.blank(9, 7)
    made.sums[:] = np.linspace(0.0, 3.0, made.sums.size).reshape(made.sums.shape)
    made.samples = 2
    for name, letters in AOVS.items():
        shape = (7, 9) if len(letters) == 1 else (7, 9, len(letters))
        made.aovs[name] = np.ones(shape, np.uint32 if name in ("id", "samples") else np.float32)
    made.metadata = {"digest": "0" * 16, "settings": {"width": 9, "height": 7}, "spheres": 12}
    path = made.save(folder / f"seed{suffix}", half=half)
    return path.read_bytes()


def picture(folder: Path) -> bytes:
    """A PNG with metadata."""
    from raytracer.film.image import Image

    about = {"version": "1", "scene": {"path": "a"}, "spheres": 3, "memory_free": 5, "list": [{}]}
    made = Image(Film.blank(4, 3), metadata=about)
    return made.save(folder / "seed.png").read_bytes()


def seeds(folder: Path) -> dict[str, bytes]:
    """Right files by a name that ends as the file does."""
    as_json = {"spheres": [{"centers": [[0, 0, 0]], "radius": 1, "color": "red"}], "title": "a"}
    found = {
        "scene.toml": SCENE.encode(),
        "scene.json": json.dumps(as_json, indent=1).encode(),
        "table.csv": TABLE.encode(),
        "plain.xyz": PLAIN_XYZ.encode(),
        "extended.extxyz": EXTENDED_XYZ.encode(),
        "frame.dump": LAMMPS_DUMP.encode(),
        "table.csv.gz": gzip.compress(TABLE.encode(), mtime=0),
        "points.txt": TABLE[24:].replace(",", " ").encode(),
        "atoms.pdb": PDB.encode(),
        "atoms.data": LAMMPS_DATA.encode(),
        "cloud.ply": PLY.encode(),
        "records.npy": npy(np.ones(12, [("x", "f4"), ("y", "f4"), ("z", "f4"), ("radius", "f8")])),
        "series.npy": npy(POINTS.reshape(2, 6, 3)),
        "points.npy": npy(np.c_[POINTS, np.ones(12)]),
        "stored.npz": npz(zipfile.ZIP_STORED),
        "deflated.npz": npz(zipfile.ZIP_DEFLATED),
        "film.npz": film(folder, ".npz"),
        "picture.png": picture(folder),
    }
    if importlib.util.find_spec("gsd"):
        found["frame.gsd"] = gsd(folder)
    if importlib.util.find_spec("h5py"):
        found["snapshot.hdf5"] = hdf5(folder)
    try:
        import OpenEXR  # noqa: F401
    except ImportError:
        return found
    return found | {"film.exr": film(folder, ".exr"), "half.exr": film(folder, ".exr", half=True)}


# What is put into texts: long, deep, strange and hostile pieces.
WORDS = [
    b"", b"\0", b"\n", b"\r", b"\r\n", b"\t", b" ", b",", b";", b"=", b"[", b"]", b"{", b"}",
    b'"', b"'", b"#", b"-", b".", b"/", b"..", b"../", b"/dev/zero", b"/etc/passwd", b"nan",
    b"inf", b"-inf", b"1e999", b"-1e999", b"1e-999", b"0x7fffffffffffffff",
    b"99999999999999999999", b"-1", b"0", b"2147483648", b"4294967296", b"18446744073709551616",
    b"1" * 400, b"1" * 5000, b"a" * 5000, b"." * 300, b"[" * 3000, b"{" * 3000, b"(" * 3000,
    b'{"a":' * 1500, b"a." * 200, b'"""', b"'''", b"\x1b[31m\x1b]0;x\x07", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\xed\xb2\x80", "\u202e\u2066".encode(), "\u0663\u0664".encode(),
    "\U0001f600".encode(), b"true", b"null", b"NaN", b"Infinity", b"\\u0000", b"\\ud800",
    b"1979-05-27T07:32:00Z", b"07:32:00", b"O", b"|O", b"<f8", b">f8", b"|V0", b"|S0",
    b"<U99999999", b"shape", b"descr", b"fortran_order", b"True", b"(1,)", b"(3, 3)",
    b"[('a', 'O')]", b"PK\x05\x06", b"PK\x03\x04", b"PK\x01\x02", b"PK\x06\x06", b"spheres",
    b"[[spheres]]", b"[[lights]]", b"materials", b"radius", b"color", b"centers", b"file",
    b"generate", b"cloud", b"count", b"title", b"Properties=", b"Lattice=",
    b"species:S:1:pos:R:3", b"pos:R:99999999999", b"tEXt", b"raytracer\0", b"dataWindow",
    b"box2i", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\x80",
]  # fmt: skip

NUMBERS = ("<B", "<H", "<I", "<Q", ">I", ">H")


def _piece(data: bytearray, at: int, rng: random.Random) -> bytes:
    """Return what is put into a file: a word, a repeated part, bytes, or a number at an edge."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(WORDS)
    if kind == 1:
        return bytes(data[at : at + rng.choice((1, 4, 16, 200))]) * rng.choice((1, 2, 50))
    if kind == 2 and at < len(data):
        return bytes([data[at] ^ 1 << rng.randrange(8)])
    form = rng.choice(NUMBERS)
    top = 256 ** struct.calcsize(form)
    return struct.pack(form, rng.choice((0, 1, 2, top - 1, top // 2, top // 2 - 1, 1000)) % top)


def mutated(seed: bytes, number: int, name: str) -> bytes:
    """Return case `number` of a seed: pieces are put in, in place of others, or taken out."""
    rng = random.Random(f"{name}:{number}")
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at = rng.randrange(len(data) + 1)
        way = rng.random()
        if way < 0.1:
            del data[at:]
        elif way < 0.2:
            del data[at : at + rng.choice((1, 2, 8, 64, 500))]
        else:
            piece = _piece(data, at, rng)
            data[at : at + rng.choice((0, len(piece), len(piece), 5))] = piece
    return bytes(data)
