"""Hostile input of named kinds: each command ends as it must, soon, and in words that print.

    python tests/fuzz/hostile.py [--only TEXT]

A case is files, a command, and the exit code that is right, with words that the command must print
where a wrong reading would end the same way. Each runs in a process and a folder of its own. A
traceback, a hang, a gigabyte of memory, characters that a terminal would obey, a file that was left
where nothing was to be written: all of them are failures. The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 5.0
"""Of processor time: other work on the machine does not count."""

MEMORY = 2 << 30
"""Bytes of resident memory."""

BALL = "[[spheres]]\ncenters = [[0, 0, 0], [3, 0, 0]]\nradius = 1.0\n"
SMALL = ("--width", "16", "--height", "12", "--samples", "1", "--backend", "cpu")
POINTS = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
MARKER = "\x1b]0;owned\x07"

Content = bytes | str | Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """Files, a command and its right end.

    Args:
        files: content by name, or a function that makes it at its path.
        command: words of the command line.
        code: right exit code.
        says: what both streams together must hold.
        stdin: of standard input.
        env: variables.
        makes: files that are there afterwards.
    """

    files: dict[str, Content]
    command: tuple[str, ...]
    code: int = 2
    says: str = ""
    stdin: bytes = b""
    env: dict[str, str] = field(default_factory=dict)
    makes: tuple[str, ...] = ()


CASES: dict[str, Case] = {}


def case(name: str, files: dict[str, Content], *command: str, code: int = 2, **rest: Any) -> None:
    assert name not in CASES, name
    CASES[name] = Case(files, command, code, **rest)


def check(
    name: str, file: str, content: Content, code: int = 2, says: str = "", **more: Any
) -> None:
    """A file that `scene check` reads."""
    case(
        name,
        {file: content} | more.pop("files", {}),
        "scene",
        "check",
        file,
        code=code,
        says=says,
        **more,
    )


# Scenes


def scenes() -> None:
    def bad(name: str, text: str, says: str = "", code: int = 2) -> None:
        check(f"scene: {name}", "a.toml", text, code, says)

    bad("a date for a radius", BALL.replace("1.0", "1979-05-27"), "spheres[0].radius")
    bad("true for a radius", BALL.replace("1.0", "true"), "spheres[0].radius")
    bad("text for a radius", BALL.replace("1.0", "'1.0'"), "spheres[0].radius")
    bad("infinite radius", BALL.replace("1.0", "inf"), "spheres[0].radius")
    bad("true for a coordinate", BALL.replace("[3, 0", "[true, 0"), "spheres[0].centers")
    bad("text for a coordinate", BALL.replace("[3, 0", "['3', 0"), "spheres[0].centers")
    bad("a date for a coordinate", BALL.replace("[3, 0", "[1979-05-27, 0"), "spheres[0].centers")
    bad("nan for a coordinate", BALL.replace("[3, 0", "[nan, 0"), "spheres[0].centers")
    bad("ragged centres", BALL.replace("[3, 0, 0]", "[3, 0]"), "spheres[0].centers")
    bad("deep centres", BALL.replace("[3, 0, 0]", "[[3, 0, 0]]"), "spheres[0].centers")
    bad("a table among centres", BALL.replace("[3, 0, 0]", "{a = 1}"), "spheres[0].centers")
    bad("a huge whole number for a coordinate", BALL.replace("[3", f"[{'9' * 400}"), "centers")
    bad("a float for a width", BALL + "[render]\nwidth = 64.0\n", "render.width")
    bad("true for a width", BALL + "[render]\nwidth = true\n", "render.width")
    bad("one for a truth", BALL + "[render]\nshadows = 1\n", "render.shadows")
    bad("infinite field of view", BALL + "[camera]\nvertical_fov = inf\n", "camera.vertical_fov")
    bad("no up", BALL + "[camera]\nup = [0, 0, 0]\n", "camera.up")
    bad("up of underflow", BALL + "[camera]\nup = [1e-320, 0, 0]\n", code=0)
    bad(
        "position and look_at a hair apart",
        BALL + "[camera]\nposition = [1e16, 0, 0]\nlook_at = [1.0000000000000002e16, 0, 0]\n",
        code=0,
    )
    bad("fit in capital letters", BALL + "[camera]\nfit = 'ALL'\n", "camera.fit")
    bad("a number for fit", BALL + "[camera]\nfit = 2\n", "camera.fit")
    bad("scale of zero", BALL + "transform = {scale = 0}\n", "transform.scale")
    bad("scale of underflow", BALL + "transform = {scale = 1e-320}\n", "a.toml")
    bad("rotation by a huge angle", BALL + "transform = {rotate = [1e300, 0, 0]}\n", code=0)
    bad("translation beyond float32", BALL + "transform = {translate = [1e300, 0, 0]}\n", code=0)
    bad(
        "translation that overflows",
        BALL
        + "transform = {translate = [1.7e308, 0, 0]}\n"
        + BALL
        + "transform = {translate = [-1.7e308, 0, 0]}\n",
        "a.toml",
    )
    bad("a table of dots", "a." * 15 + "b = 1\n" + BALL, "unknown key")
    bad(
        "an empty name of a material",
        BALL + "material = ''\n[materials.'']\nmirror = 1.0\n",
        code=0,
    )
    bad(
        "a material that is not there, with control characters",
        BALL + 'material = "\\u001b[31m"\n',
        "there is no material named '\\x1b[31m'",
    )
    bad(
        "a generator above its folder", "[[spheres]]\ngenerate = {name = '../cloud'}\n", "generator"
    )
    bad(
        "a private generator", "[[spheres]]\ngenerate = {name = '_base'}\n", "there is no generator"
    )
    bad("a part that is not there", "[[spheres]]\ngenerate = {name = 'weekend/'}\n", code=0)
    bad("a part of a part", "[[spheres]]\ngenerate = {name = 'weekend/metal/x'}\n", "has no part")
    bad("generate none", "[[spheres]]\ngenerate = {name = 'cloud', count = 0}\n", "count")
    bad(
        "generate too many",
        f"[[spheres]]\ngenerate = {{name = 'cloud', count = {2**63}}}\n",
        "a.toml",
    )
    bad("a float for a count", "[[spheres]]\ngenerate = {name = 'cloud', count = 1e3}\n", "count")
    bad("a negative seed", "[[spheres]]\ngenerate = {name = 'cloud', seed = -1}\n", "seed")
    for name, file in {
        "nothing": "",
        "the folder": ".",
        "the folder above": "..",
        "itself": "a.toml",
        "home": "~/a.npz",
        "a null": "a\\u0000.npz",
        "a line": "a\\nb.npz",
        "a long name": "a" * 5000,
        "a deep path": "a/" * 3000 + "b.npz",
        "a surrogate": "a b.npz ",
        "a device": "/dev/zero",
    }.items():
        bad(f"a file that is {name}", f'[[spheres]]\nfile = "{file}"\n', "a.toml: spheres[0]")
    for color in (
        "#GGG",
        "#12345",
        "C99999999999999999999",
        "0.5.5",
        "tab:",
        "٠.٥",
        "１",
        "-0",
        "1e-1",
        "rgb(1,2,3)",
        " ",
        "nan",
        "\\u0000",
        "0x1",
    ):
        bad(f"colour {color!r}", BALL + f'color = "{color}"\n', "spheres[0].color")
    bad("colour of two numbers", BALL + "color = [0.5, 0.5]\n", "spheres[0].color")
    bad("colour beyond one", BALL + "color = [255, 0, 0]\n", "spheres[0].color")
    bad("alpha beyond one", BALL + "color = [1, 1, 1, 2]\n", "spheres[0].color")
    bad("true for a colour", BALL + "color = [true, true, true]\n", "spheres[0].color")
    bad(
        "ten thousand lights",
        BALL + "[[lights]]\ntype='directional'\ndirection=[0,1,0]\n" * 100_000,
        code=0,
    )
    bad("twenty thousand unknown materials", (BALL + "material = 'x'\n") * 20_000, "more mistakes")
    bad("a title of many lines", f'title = """{"x" * 99}\n\n"""\n' + BALL, code=0)
    bad("only a byte order mark", "\ufeff", "has no spheres")
    bad("byte order mark", "\ufeff" + BALL, "spheres  2", 0)
    bad("lines that end with CR", BALL.replace("\n", "\r"), "is not TOML")
    check("scene: UTF-16", "a.toml", BALL.encode("utf-16"), 2, "is not text in UTF-8")
    check("scene: a null", "a.toml", BALL + "\0", 2, "is not TOML")
    check("scene: an archive", "a.toml", npz(centers=POINTS), 2, "a.toml")
    check("scene: JSON for TOML", "a.toml", '{"spheres": []}', 2, "is not TOML")

    as_json = {"spheres": [{"centers": [[0, 0, 0], [3, 0, 0]], "radius": 1}]}
    text = json.dumps(as_json)

    def bad_json(name: str, content: Content, says: str = "", code: int = 2) -> None:
        check(f"json: {name}", "a.json", content, code, says)

    bad_json("nothing", "", "is not JSON")
    bad_json("null", "null", "holds no object")
    bad_json("TOML for JSON", BALL, "is not JSON")
    bad_json("a trailing comma", text.replace("1}]", "1,}]"), "is not JSON")
    bad_json("a comment", text + "// spheres", "is not JSON")
    bad_json("twice", text + text, "is not JSON")
    bad_json("UTF-16", text.encode("utf-16"), "is not text in UTF-8")
    bad_json("1e400", text.replace('"radius": 1', '"radius": 1e400'), "spheres[0].radius")
    bad_json("NaN", text.replace('"radius": 1', '"radius": NaN'), "spheres[0].radius")
    bad_json("minus zero", text.replace('"radius": 1', '"radius": -0'), "spheres[0].radius")
    bad_json("a surrogate in the title", text.replace('{"sph', '{"title": "\\ud800", "sph'), code=0)
    bad_json("a surrogate in a name", '{"spheres": [{"file": "\\ud800.npz"}]}', "a.json")
    bad_json("a surrogate for a key", '{"\\ud800": 1}', "half a surrogate pair")
    bad_json("a null for spheres", '{"spheres": null}', "a.json: spheres")
    bad_json("a null for a radius", text.replace('"radius": 1', '"radius": null'), "spheres  2", 0)
    bad_json("deep", '{"a":' * 5000 + "1" + "}" * 5000, "nested too deeply")
    bad_json("a key of a megabyte", '{"' + "a" * 1_000_000 + '": 1}', "unknown key")


# Tables


def tables() -> None:
    rows = "0,0,0,1\n3,0,0,1\n0,3,0,1\n"
    head = "x,y,z,radius\n"

    def table(name: str, content: Content, says: str = "", code: int = 2) -> None:
        check(f"csv: {name}", "a.csv", content, code, says)

    for cell in (
        "0x10",
        "1_000",
        "1d5",
        "١",
        "1\0",
        "1f",
        "1,5",
        "--1",
        "1e",
        "True",
        "1 2",
        "∞",
        "1e400",
        "nan",
        "-inf",
        "1j",
        "=1+1",
        "NULL",
        "-",
    ):
        table(f"{cell!r} for a coordinate", head + rows.replace("3,0,0", f"{cell},0,0"), "a.csv: ")
    table(
        "an infinite radius", head + rows.replace("0,0,0,1", "0,0,0,inf"), "sphere 0 has radius inf"
    )
    table("a negative radius", head + rows.replace("0,0,0,1", "0,0,0,-1"), "sphere 0 has radius -1")
    table("a comment among the rows", head + rows.replace("3,", "# three\n3,"), "a.csv: line 3")
    table("a comment after a row", head + rows.replace("3,0,0,1", "3,0,0,1 # three"), "line 3")
    table("the names twice", head + head + rows, "a.csv: line 2")
    table("the names again at the end", head + rows + head, "a.csv: line 5")
    table("a byte order mark", "\ufeff" + head + rows, "spheres  3", 0)
    table("a byte order mark in the middle", head + rows + "\ufeff1,1,1,1\n", "line 5")
    table("UTF-16", (head + rows).encode("utf-16"), "is not text in UTF-8")
    table("names in latin-1", "x,y,z,gr\xf6\xdfe\n0,0,0,1\n".encode("latin-1"), "UTF-8")
    table("a line of white space of Unicode", head + rows + "\u3000\n", "line 5")
    table("a form feed", head + rows + "\f\n", "a.csv: line 5")
    table("separators of Unicode", head + rows.replace("\n3", "\u20283"), "a.csv: line 2")
    table("a next line", head + rows.replace("\n3", "\x853"), "a.csv: line 2")
    table(
        "a quoted line end",
        head + rows.replace("3,0,0,1", '3,0,0,"1\n"'),
        "goes over the end of its line",
    )
    table("a quote that is not closed", head + rows.replace("3,0", '"3,0'), "a.csv: line 3")
    table("quoted numbers", head + rows.replace("3,0,0,1", '"3","0","0","1"'), "spheres  3", 0)
    table("quoted commas", head + rows.replace("3,0,0,1", '"3,0,0",1'), "a.csv: line 3")
    table("a last column without a name", "x,y,z,\n0,0,0,\n1,1,1,\n", "spheres  2", 0)
    table(
        "ten thousand columns",
        "x,y,z,"
        + ",".join(f"c{i}" for i in range(10_000))
        + "\n"
        + ",".join(["1"] * 10_003)
        + "\n",
        "spheres  1",
        0,
    )
    table("colours of both ranges", "x,y,z,r,g,b\n0,0,0,0.5,0.5,0.5\n1,1,1,255,0,0\n", "spheres", 0)
    table("colours that are nan", "x,y,z,r,g,b\n0,0,0,nan,0,0\n1,1,1,1,0,0\n", "a.csv")
    table("negative colours", "x,y,z,r,g,b\n0,0,0,-0.1,0,0\n1,1,1,1,0,0\n", "a.csv")
    table("decimal commas beside points", "x;y;z\n0,5;0.5;0\n1;1;1\n", "spheres  2", 0)
    table("thousands with points", "x;y;z\n1.000,5;0;0\n1;1;1\n", "a.csv: line 2")
    table("a picture", b"\x89PNG\r\n\x1a\n" + bytes(100), "a.csv")
    table("only names of control characters", f"x,y,{MARKER}\n1,2,3\n", "a.csv")
    table("a zero byte", bytes(10_000), "a.csv")
    table("a comma for every letter", "," * 1_000_000 + "\n", "a.csv")
    table("comments without an end", "# x,y,z\n" * 50_000, "a.csv")


def atoms() -> None:
    body = "C 0 0 0\nC 3 0 0\n"

    def xyz(name: str, content: Content, says: str = "", code: int = 2) -> None:
        check(f"xyz: {name}", "a.xyz", content, code, says)

    for count in ("2.0", "+2", "-2", "2 atoms", "2e0", "٢", "0_2", "0x2", " ", "9" * 5000, "²"):
        xyz(f"{count[:9]!r} for the count", f"{count}\n\n{body}", "a.xyz: line 1")
    xyz("a count with spaces", "  2  \n\n" + body, "spheres  2", 0)
    xyz("a count that is far too large", f"{10**18}\n\n{body}", "a.xyz: line 1")
    xyz("no comment", "2\n" + body, "line 1 says 2 atoms, but there are 1")
    xyz("nothing but the count", "2", "a.xyz")
    xyz("more atoms than the count", "1\n\n" + body, "more lines follow", 0)
    xyz("no atoms, but lines", "0\n\n" + body, "holds no particles")
    xyz("lines that end with CR", ("2\n\n" + body).replace("\n", "\r"), "spheres  2", 0)
    xyz("a byte order mark", "\ufeff2\n\n" + body, "spheres  2", 0)
    xyz("separators of Unicode", "2\n\nC\u00a00\u00a00\u00a00\nC 3 0 0\n", "spheres", 0)
    for width in ("３", "+3", "03", " 3", "3.0", "-3", "0", ""):
        xyz(
            f"{width!r} columns",
            f"2\nProperties=species:S:1:pos:R:{width}\n{body}",
            "a.xyz: line 2" if width != "03" else "spheres  2",
            2 if width != "03" else 0,
        )
    for kind in ("r", "RR", "", "X", "S", "L", "SR", "RI", "RIL"):
        xyz(
            f"kind {kind!r}",
            f"2\nProperties=species:S:1:pos:{kind}:3\n{body}",
            "a.xyz: line 2: Prop",
        )
    xyz("empty Properties", '2\nProperties=""\n' + body, "a.xyz: line 2")
    xyz("Properties of colons", "2\nProperties=::::::\n" + body, "a.xyz: line 2")
    xyz("Properties in small letters", "2\nproperties=species:S:1:pos:R:3:q:R:1\n" + body, code=0)
    xyz(
        "labels with control characters",
        f"2\n\n{MARKER} 0 0 0\n\u202eC 3 0 0\n",
        "is not written in ASCII",
    )
    xyz("a label of a thousand letters", f"2\n\n{'X' * 1000} 0 0 0\nC 3 0 0\n", code=0)
    xyz("atomic number zero", "2\n\n0 0 0 0\n6 3 0 0\n", code=0)
    xyz("an atomic number of many digits", f"2\n\n{'9' * 15} 0 0 0\n6 3 0 0\n", code=0)
    xyz("digits of Unicode for labels", "2\n\n٦ 0 0 0\n² 3 0 0\n", "is not written in ASCII")
    xyz("a lattice of nan", '2\nLattice="nan nan nan nan nan nan nan nan nan"\n' + body, code=0)
    xyz("colours beyond 255", "1\nProperties=pos:R:3:color:I:3\n0 0 0 256 0 0\n", "a.xyz")
    xyz("a radius of zero", "1\nProperties=pos:R:3:radius:R:1\n0 0 0 0\n", "radius 0")
    xyz("a truth for a radius", "1\nProperties=pos:R:3:radius:L:1\n0 0 0 T\n", "is not used", 0)
    xyz("coordinates of Unicode digits", "1\n\nC ١ 0 0\n", "a.xyz: line 3")
    xyz("coordinates with underscores", "1\n\nC 1_0 0 0\n", "a.xyz: line 3")
    xyz("coordinates of Fortran", "1\n\nC 1.0D+00 0 0\n", "a.xyz: line 3")
    case(
        "xyz: describe behind lines of white space",
        {"a.xyz": "2\n\n\f\nC 0 0 0 7\n \t\nN 3 0 0 8\n"},
        "scene",
        "describe",
        "a.xyz",
        "1",
        code=0,
        says="column 5 8",
    )


# Arrays


def npz(compression: int = zipfile.ZIP_STORED, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", npy(array))
    return stream.getvalue()


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asanyarray(array), allow_pickle=True)
    return stream.getvalue()


def header(text: str, data: bytes = b"", version: int = 1) -> bytes:
    """An .npy file with this header."""
    body = text.encode("latin-1").ljust(118) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(body))
    return b"\x93NUMPY" + bytes([version, 0]) + length + body + data


def arrays() -> None:
    good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
    data = np.zeros((2, 3)).tobytes()

    def one(name: str, content: Content, says: str = "", code: int = 2) -> None:
        check(f"npy: {name}", "a.npy", content, code, says)

    def many(name: str, content: Content, says: str = "", code: int = 2) -> None:
        check(f"npz: {name}", "a.npz", content, code, says)

    values = {
        "complex": POINTS.astype(complex),
        "dates": POINTS.astype("M8[s]"),
        "spans": POINTS.astype("m8"),
        "texts": POINTS.astype(str),
        "bytes": POINTS.astype("S3"),
        "truths": POINTS.astype(bool),
        "voids": np.zeros((3, 3), "V8"),
        "fields": np.zeros(3, "f8,f8,f8"),
        "one axis": np.zeros(9),
        "no axis": np.float64(3),
        "two columns": np.zeros((3, 2)),
        "objects": np.array([[{}] * 3] * 2),
        "four axes": np.zeros((1, 1, 1, 3)),
        "no columns": np.zeros((3, 0)),
    }
    for name, value in values.items():
        one(name, npy(value), "a.npy")
    for dtype in (">f4", "<f2", "g", "u1", "i8", "u8", ">i2"):
        one(f"numbers of type {dtype}", npy(POINTS.astype(dtype)), "spheres  3", 0)
    one("the largest whole numbers", npy(np.full((2, 3), 2**63 - 1)), "a.npy")
    one("an expression in the header", header(good.replace("2, 3", "9**9**9, 3"), data), "a.npy")
    one("a call in the header", header(good.replace("(2, 3)", "exit()"), data), "a.npy")
    one("a header that is nested", header("(" * 60_000), "a.npy")
    one("a shape of floats", header(good.replace("2, 3", "2.0, 3"), data), "a.npy")
    one("a shape of texts", header(good.replace("(2, 3)", "('2', 3)"), data), "a.npy")
    one("a negative shape", header(good.replace("2, 3", "-2, 3"), data), "a.npy")
    one("a huge shape", header(good.replace("2, 3", f"{2**61}, 3"), data), "a.npy")
    one("a huge shape with a zero", header(good.replace("2, 3", f"0, {2**62}"), data), "a.npy")
    one("keys beyond those of NumPy", header(good.replace("{", "{'a': 1, "), data), "a.npy")
    one(
        "a key that stands twice", header(good.replace("{", "{'shape': (1, 3), "), data), "a.npy", 2
    )
    one("a version of the future", header(good, data, 9), "is not an array of NumPy")
    one("version 3 with a name that is no UTF-8", header("\xff" + good, data, 3), "a.npy")
    one("more bytes than the header says", header(good, data + bytes(1000)), "spheres  2", 0)
    one("a type with a megabyte of text", header(good.replace("<f8", "<U9999999")), "a.npy")
    one(
        "a type of nested records",
        header(good.replace("'<f8'", "[('a', " * 50 + "'f8'" + ")]" * 50)),
        "a.npy",
    )

    many("nothing", npz(), "it holds nothing")
    many(
        "texts beside arrays",
        raw({"readme.txt": b"hello", "centers.npy": npy(POINTS)}),
        "spheres  3",
        0,
    )
    many("no suffix and no array", raw({"centers": b"hello"}), "array 'centers'")
    many("a folder", raw({"a/": b"", "centers.npy": npy(POINTS)}), "spheres  3", 0)
    many(
        "names above the folder",
        raw({"../../centers.npy": npy(POINTS)}),
        "no array named 'centers'",
    )
    many("names with control characters", raw({f"{MARKER}.npy": npy(POINTS)}), "it holds '\\x1b]0;")
    many("a comment", raw({"centers.npy": npy(POINTS)}, b"x" * 60_000), "spheres  3", 0)
    many("junk before the archive", b"junk" * 1000 + npz(centers=POINTS), says="spheres  3", code=0)
    many("junk behind the archive", npz(centers=POINTS) + b"junk" * 10, "spheres  3", 0)
    many("a bomb", npz(zipfile.ZIP_DEFLATED, centers=np.zeros((2_000_000, 3))), code=0)
    many(
        "a bomb of lzma",
        npz(zipfile.ZIP_LZMA, centers=np.zeros((4_000_000, 3), "f4")),
        "spheres",
        0,
    )
    many("axes of two dimensions", npz(x=POINTS, y=POINTS, z=POINTS), "spheres  9", 0)
    many(
        "axes of one column",
        npz(x=POINTS[:, :1], y=POINTS[:, 1:2], z=POINTS[:, 2:]),
        "spheres  3",
        0,
    )
    many("axes without an axis", npz(x=1.0, y=2.0, z=3.0), code=0, says="spheres  1")
    many("centres of columns", npz(centers=POINTS[:2].T), "a.npz")
    many("radii of one row", npz(centers=POINTS, radii=np.ones((1, 3))), "radii")
    many("radii of two columns", npz(centers=POINTS, radii=np.ones((3, 2))), "radii")
    many("radii and diameters", npz(centers=POINTS, radii=np.ones(3), diameters=np.ones(3)), code=0)
    many(
        "radii of texts",
        npz(centers=POINTS, radii=np.array(["1"] * 3)),
        "array 'radii': holds text",
    )
    many("radii of truths", npz(centers=POINTS, radii=np.ones(3, bool)), "radii")
    many("diameters of int8", npz(centers=POINTS, diameters=np.full(3, 127, "i1")), "63.5", 0)
    many("colours of truths", npz(centers=POINTS, colors=np.ones((3, 3), bool)), "colors")
    many(
        "colours of int16 below zero",
        npz(centers=POINTS, colors=np.full((3, 3), -1, "i2")),
        "colors",
    )
    many(
        "colours of another count",
        npz(centers=POINTS, colors=np.ones((2, 3))),
        "has 2 colours for 3",
    )
    many("colours of texts", npz(centers=POINTS, colors=np.array(["red"] * 3)), code=0)
    many("colours of texts of lies", npz(centers=POINTS, colors=np.array([MARKER] * 3)), "\\x1b]0;")
    many("a member of another method", altered(npz(centers=POINTS), 99), "array 'centers'")
    many("an encrypted member", encrypted(npz(centers=POINTS)), "is encrypted")


def raw(members: dict[str, bytes], comment: bytes = b"") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.comment = comment
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def altered(archive: bytes, method: int) -> bytes:
    """An archive whose members say another method of compression."""
    data = bytearray(archive)
    struct.pack_into("<H", data, 8, method)
    struct.pack_into("<H", data, data.index(b"PK\1\2") + 10, method)
    return bytes(data)


def encrypted(archive: bytes) -> bytes:
    data = bytearray(archive)
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


# Pictures and films


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture(*chunks: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(13)) + b"".join(chunks)


def about(text: str) -> bytes:
    return picture(chunk(b"tEXt", b"raytracer\0" + text.encode("latin-1", "backslashreplace")))


def pictures() -> None:
    def info(name: str, content: Content, says: str = "", code: int = 2, *words: str) -> None:
        case(f"png: {name}", {"a.png": content}, "info", "a.png", *words, code=code, says=says)

    info("nothing", b"", "is not a PNG file")
    info("only a signature", b"\x89PNG\r\n\x1a\n", "holds no metadata")
    info("a chunk of four gigabytes", picture(b"\xff\xff\xff\xfftEXtraytracer\0"), "a.png")
    info("a negative chunk", picture(b"\x80\0\0\0IDAT"), "a.png")
    info("an international text", picture(chunk(b"iTXt", b"raytracer\0\0\0\0\0{}")), "no metadata")
    info("a million empty chunks", picture(chunk(b"abcd", b"") * 400_000), "no metadata")
    info("no metadata", about(""), "are damaged")
    info("a list", about("[]"), "are damaged")
    info("an empty object", about("{}"), code=0)
    info("surrogates", about('{"a": "\\udfff", "b": ["\\ud800"]}'), code=0)
    info("surrogates as JSON", about('{"a": "\\udfff"}'), "\\udfff", 0, "--json")
    info("control characters", about('{"\\u001b[31m": "\\u0007\\u202e\\u0000"}'), "\\x1b[31m", 0)
    info("control characters as JSON", about('{"\\u001b[31m": "\\u009b"}'), "\\u001b", 0, "--json")
    info(
        "odd kinds",
        about(
            '{"timings": 3, "memory": "x", "memory_free": [null, true, {}], '
            '"spheres": {"spheres": -1}, "samples": NaN, "x": Infinity, "memory_x": 1e308}'
        ),
        code=0,
    )
    info(
        "lists of everything",
        about('{"a": [{}, {"b": {"c": []}}], "d": [[[[1]]], "x", {}]}'),
        code=0,
    )
    info("bytes that are no text", picture(chunk(b"tEXt", b"raytracer\0\xff\xfe{}")), "are damaged")
    info(
        "a number of thousands of digits", about('{"a": ' + "9" * 5000 + "}"), "thousands of digits"
    )
    case("png: a pipe of text", {}, "info", "-", code=2, says="is not a PNG file", stdin=b"hello")
    case("png: standard input", {}, "info", "-", code=0, stdin=about('{"a": 1}'))


def film(**changes: Any) -> bytes:
    """A film of 4 x 3 pixels as .npz; changes of its metadata, or of its arrays."""
    said = {
        "format": 2,
        "samples": 1,
        "place": [0, 0],
        "size": [4, 3],
        "metadata": {},
        "backdrop": {"bottom": [1, 1, 1], "top": [1, 1, 1]},
    }
    parts: dict[str, Any] = {"sums": np.ones((3, 4, 4), np.float32)}
    for name, value in changes.items():
        (parts if isinstance(value, np.ndarray) else said)[name] = value
    stream = io.BytesIO()
    np.savez(stream, **({"film": np.array(json.dumps(said))} | parts))
    return stream.getvalue()


def films() -> None:
    def tone(name: str, content: Content, says: str = "", code: int = 2, *words: str) -> None:
        makes = ("a.png",) if code == 0 else ()
        case(
            f"film: {name}",
            {"a.npz": content},
            "tone",
            "a.npz",
            *words,
            code=code,
            says=says,
            makes=makes,
        )

    tone("as it should be", film(), code=0)
    for name, value in {
        "samples": 0,
        "size": [4, 2],
        "place": [1, 0],
        "format": 3,
        "metadata": [],
        "backdrop": None,
    }.items():
        tone(f"{name} {value}", film(**{name: value}), "a.", 2 if name != "samples" else 0)
    for name, value in {
        "samples": -1,
        "size": ["4", 3],
        "place": [0.0, 0],
        "format": "2",
        "metadata": {"digest": 3},
        "backdrop": {"bottom": [1, 1], "top": [9, 9, 9]},
    }.items():
        tone(f"odd {name}", film(**{name: value}), "a.npz")
    tone("samples of a float", film(samples=1.0), "samples")
    tone("samples that are many", film(samples=2**40), "samples")
    tone("a true size", film(size=[True, True]), "size")
    tone("sums of float64", film(sums=np.ones((3, 4, 4))), "holds no film")
    tone("sums of three channels", film(sums=np.ones((3, 4, 3), "f4")), "holds no film")
    tone("sums of another size", film(sums=np.ones((9, 9, 4), "f4")), "holds no film")
    tone("sums of big-endian numbers", film(sums=np.ones((3, 4, 4), ">f4")), "a.npz")
    tone("no pixels", film(sums=np.ones((0, 4, 4), "f4")), "holds no film")
    tone("metadata of bytes", film(film=np.array(b"{}")), "are no text")
    tone("metadata of many texts", film(film=np.array(["{}", "{}"])), "are no text")
    for name, value in {
        "nan": np.nan,
        "inf": np.inf,
        "-inf": -np.inf,
        "huge": 3e38,
        "negative": -1.0,
        "zero": 0.0,
        "tiny": 1e-45,
    }.items():
        sums = np.full((3, 4, 4), value, np.float32)
        for words in (
            ["--exposure", "auto"],
            ["--exposure", "auto", "--meter", "all", "--tone", "agx", "--bits", "16", "--stats"],
        ):
            tone(f"sums that are {name}, {len(words)} words", film(sums=sums), "", 0, *words)
    tone("coverage beyond the samples", film(sums=np.full((3, 4, 4), 99, "f4")), "", 0)
    case("film: particles", {"a.npz": npz(centers=POINTS)}, "tone", "a.npz", says="holds no film")
    case("film: an empty .exr", {"a.exr": b""}, "tone", "a.exr", says="a.exr")
    case("film: a picture as .exr", {"a.exr": picture()}, "tone", "a.exr", says="a.exr")
    case(
        "film: standard input that is text", {}, "tone", "-", says="standard input", stdin=b"hello"
    )
    case(
        "film: resumed with another size",
        {"a.toml": BALL, "a.npz": film()},
        "render",
        "a.toml",
        "--resume",
        "a.npz",
        *SMALL,
        says="a.npz: the film holds pixels",
    )
    case(
        "film: resumed without samples",
        {"a.toml": BALL, "a.npz": film(samples=0)},
        "render",
        "a.toml",
        "--resume",
        "a.npz",
        *SMALL,
        says="a.npz: ",
    )
    case(
        "film: particles that are resumed",
        {"a.toml": BALL, "a.npz": npz(centers=POINTS)},
        "render",
        "a.toml",
        "--resume",
        "a.npz",
        *SMALL,
        says="a.npz: holds no film",
    )


# The command line


def options() -> None:
    files: dict[str, Content] = {"a.toml": BALL}

    def render(name: str, *words: str, code: int = 2, says: str = "", **rest: Any) -> None:
        case(
            f"render: {name}",
            files | rest.pop("files", {}),
            "render",
            "a.toml",
            *SMALL,
            *words,
            code=code,
            says=says,
            **rest,
        )

    for option, values in {
        "--width": ("0", "-1", "1e3", "64.0", "nan", "9" * 400, "９", " ", ""),
        "--samples": ("0", "-1", str(2**24 + 1), "1.5"),
        "--filter-radius": ("nan", "inf", "-1", "17", ""),
        "--seed": ("-1", str(2**32), "0x1"),
        "--depth": ("-1", "1025"),
        "--threads": ("-1", "x", "1.0"),
        "--repeat": ("0", "-1"),
        "--exposure": ("nan", "inf", "1e9", "AUTO ", "", "1,5"),
        "--white": ("0", "-1", "nan", "inf"),
        "--meter-range": ("50,50", "a,b", "1,2,3", ",", "nan,99", "-1,101", "99,1"),
        "--bits": ("12", "08", "-8"),
        "--tone": ("AGX", ""),
        "--crop": (
            "0,0,0,0",
            "0,0,17,12",
            "-1,0,4,4",
            "0,0,4",
            "a,b,c,d",
            f"0,0,4,{'9' * 5000}",
            ",,,",
        ),
        "--only": ("16,0,0", "-1,0,0", "0,0,-1", "0,0", f"0,0,{2**31}"),
        "--backend": ("CPU", "opencl"),
        "--film": ("a.txt", "", ".", "none/a.npz", "/proc/a.npz"),
        "--histogram": ("a.pdf", ".", "none/a.png"),
        "--resume": ("none.npz", "a.toml", ".", "-x"),
        "-o": (
            ".",
            "..",
            "",
            "a.jpg",
            "none/a.png",
            "/dev/null",
            "/proc/a.png",
            "-",
            ".png",
            "a.toml/a.png",
            "x" * 300 + ".png",
            "/dev/fd/1.png",
        ),
    }.items():
        for value in values:
            right = {("--width", "９"): 0}.get((option, value), 2)
            made = ("a.png",) if right == 0 else ()
            shown = value if len(value) < 30 else f"{value[:20]}...{len(value)}"
            render(f"{option} {shown!r}", option, value, code=right, makes=made)
    render(
        "one sample beside options",
        "--aov",
        ",",
        "--film",
        "f.npz",
        code=0,
        makes=("a.png", "f.npz"),
    )
    render("output variables that are not there", "--aov", "depth,DEPTH", "--film", "f.npz")
    render("output variables without a film", "--aov", "depth")
    render("one file for two", "--film", "b.npz", "--histogram", "b.png", "-o", "./b.png")
    render(
        "the film over the scene",
        "--film",
        "a.npz",
        code=2,
        says="a.npz",
        files={"a.toml": "[[spheres]]\nfile = 'a.npz'\n", "a.npz": npz(centers=POINTS)},
    )
    render(
        "the film over a link to the data",
        "--film",
        "b.npz",
        code=2,
        files={
            "a.toml": "[[spheres]]\nfile = 'a.npz'\n",
            "a.npz": npz(centers=POINTS),
            "b.npz": lambda path: path.symlink_to("a.npz"),
        },
    )
    render(
        "a picture of another program",
        code=2,
        files={"a.png": b"\x89PNG\r\n\x1a\n"},
        says="was not made by raytracer",
    )
    render("two scenes", "a.toml")
    render("an option twice", "--width", "8", "--width", "x")
    case("render: nothing", {}, "render", "")
    case("render: a folder", {"d.npz": Path.mkdir}, "render", "d.npz")
    case("render: a name of dashes", files, "render", "--", "--a.toml", says="--a.toml")
    case(
        "render: links in a circle",
        {"a.toml": lambda path: path.symlink_to("a.toml")},
        "render",
        "a.toml",
        *SMALL,
    )
    case("render: a scene that is empty", {"a.toml": b""}, "render", "a.toml", *SMALL)
    case("render: standard input that is empty", {}, "render", "-", *SMALL, stdin=b"")
    case("render: standard input of nulls", {}, "render", "-", *SMALL, stdin=bytes(1000))
    case(
        "render: a name that Windows has not",
        {"a:b?.toml": BALL},
        "render",
        "a:b?.toml",
        *SMALL,
        code=0,
        makes=("a:b?.png",),
    )
    case("tone: a film twice", {"a.npz": film()}, "tone", "a.npz", "a.npz", says="the same name")
    case("tone: over its film", {"a.npz": film()}, "tone", "a.npz", "-o", "a.npz")
    case(
        "tone: two films and one picture",
        {"a.npz": film(), "b.npz": film()},
        "tone",
        "a.npz",
        "b.npz",
        "-o",
        "c.png",
    )
    case(
        "tone: the second film is none",
        {"a.npz": film(), "b.npz": npz()},
        "tone",
        "a.npz",
        "b.npz",
        says="b.npz",
        makes=("a.png",),
    )
    case(
        "tone: locked to nothing",
        {"a.npz": film(), "b.npz": film()},
        "tone",
        "a.npz",
        "b.npz",
        "--lock",
    )
    for name, words in {
        "an empty name": ("",),
        "a path": ("../cloud",),
        "a private one": ("_base",),
        "none": ("cloud", "--count", "0"),
        "too many": ("cloud", "--count", str(2**40)),
        "a part": ("weekend/metal",),
        "a seed": ("cloud", "--seed", "-1"),
        "an ending": ("cloud", "-o", "a.csv"),
        "no atoms": ("cloud", "-o", "a.xyz"),
        "a folder": ("cloud", "-o", "."),
        "a missing folder": ("cloud", "-o", "none/a.npz"),
        "no stem": ("cloud", "-o", ".toml"),
        "a float": ("cloud", "--count", "1e3"),
    }.items():
        case(f"generate: {name}", {}, "scene", "generate", *words)
    odd = "a\"b\\c'\n\t\x1b[31m\u202eü"
    case(
        "generate: a name that TOML must escape",
        {},
        "scene",
        "generate",
        "cloud",
        "--count",
        "50",
        "-o",
        f"{odd}.toml",
        code=0,
        makes=(f"{odd}.toml", f"{odd}.npz"),
    )
    case("describe: beyond the last", files, "scene", "describe", "a.toml", "2")
    case("describe: a huge number", files, "scene", "describe", "a.toml", "9" * 400)
    case("describe: below the first", files, "scene", "describe", "a.toml", "--", "-1")
    case("schema: over a folder", {}, "scene", "schema", "-o", ".")
    for bench in (
        ["none"],
        ["vecadd", "--size", "2^99999999"],
        ["vecadd", "--size", f"{'9' * 5000}^2"],
        ["vecadd", "--size", "nan"],
        ["vecadd", "--size", "-5"],
        ["vecadd", "--size", "0"],
        ["vecadd", "--axis", "n="],
        ["vecadd", "--axis", "=5"],
        ["vecadd", "--axis", "q=5"],
        ["vecadd", "--axis", "n=1e400"],
        ["vecadd", "--min-time", "nan"],
        ["vecadd", "--min-time", "inf"],
        ["vecadd", "--min-time", "-1"],
        ["vecadd", "--dtype", "int3"],
        ["vecadd", "--variant", "99"],
        ["vecadd", "--format", "xml"],
        ["vecadd", "--plot", "a.pdf"],
        ["vecadd", "--save", "."],
        ["vecadd", "--save", "none/a.json"],
        ["vecadd", "--with", "none.cu"],
        ["vecadd", "--with", "a.toml"],
        ["vecadd", "--compare", "a.toml"],
        ["vecadd", "--compare", "/dev/zero"],
        ["render", "--scene", "../x"],
        ["render", "--scene", ""],
        ["vecadd", "--explain", "--variant", ""],
        ["--list", "none"],
        ["vecadd", "--size", "1e15"],
    ):
        name = " ".join(bench)
        case(f"bench: {name[:50]}", files, "bench", *bench, "--backend", "cpu")


# Variables


def variables() -> None:
    def render(name: str, value: str, code: int, *words: str, **rest: Any) -> None:
        made = (
            ("a.png", *(("h.png",) if "--histogram" in words and code == 0 else ()))
            if code == 0
            else ()
        )
        case(
            f"{name}={value[:30]!r}",
            {"a.toml": BALL},
            "render",
            "a.toml",
            *SMALL,
            *words,
            code=code,
            env={name: value},
            makes=made,
            **rest,
        )

    for value in ("0", "-1", "x", "1.5", "٣", "9" * 5000, " 2 ", "", MARKER, "0" * 5000):
        right = 0 if value in ("9" * 5000, " 2 ", "", "٣") else 2
        render("RAYTRACER_THREADS", value, right)
    for value in ("/dev/null", "none/none", MARKER, "/proc/none", "x" * 5000):
        render("RAYTRACER_CACHE", value, 0)
        render("RAYTRACER_CUBINS", value, 0)
        render("RAYTRACER_NVCC", value, 0)
        render("TMPDIR", value, 0)
        render("HOME", value, 0)
    for name, value in {
        "LC_ALL": "C",
        "PYTHONIOENCODING": "ascii",
        "COLUMNS": "-1",
        "TERM": "",
        "PYTHONOPTIMIZE": "2",
        "OPENBLAS_NUM_THREADS": "x",
        "PYTHONWARNINGS": "error",
        "PYTHONUTF8": "0",
        "CUDA_VISIBLE_DEVICES": "x",
        "NO_COLOR": "1",
    }.items():
        render(name, value, 0)
    drawn = 0 if find_spec("matplotlib") else 2  # an extra
    render("MPLBACKEND", "none", drawn, "--histogram", "h.png")
    render("MPLCONFIGDIR", "/dev/null", drawn, "--histogram", "h.png")
    case(
        "schema without docstrings",
        {},
        "scene",
        "schema",
        code=0,
        env={"PYTHONOPTIMIZE": "2"},
        says="Half width of the filter",
    )
    case("help without docstrings", {}, "render", "--help", code=0, env={"PYTHONOPTIMIZE": "2"})
    case(
        "a title in ASCII",
        {"a.toml": "title = 'ü\u4e2d'\n" + BALL},
        "scene",
        "check",
        "a.toml",
        code=0,
        env={
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONIOENCODING": "ascii",
        },
    )
    case("no terminal's width", {}, "--help", code=0, env={"COLUMNS": "x", "TERM": "\x1b"})
    case(
        "preview without a display",
        {"a.toml": BALL},
        "preview",
        "a.toml",
        env={"DISPLAY": ":99", "WAYLAND_DISPLAY": ""},
    )
    case(
        "preview of a display that is none",
        {"a.toml": BALL},
        "preview",
        "a.toml",
        env={"DISPLAY": f"{MARKER}" * 100},
    )
    case("preview over the scene", {"a.toml": BALL}, "preview", "a.toml", "--screenshot", "a.toml")


scenes()
tables()
atoms()
arrays()
pictures()
films()
options()
variables()


def failure(found: Case, folder: Path) -> str:
    """Run a case in an empty folder; gives what is wrong with its end, or ""."""
    for name, content in found.files.items():
        path = folder / name
        if callable(content):
            content(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = {path.name for path in folder.iterdir()}
    env = {"RAYTRACER_THREADS": "1"} | found.env
    command = [sys.executable, "-c", RUN, *found.command]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            input=found.stdin,
            capture_output=True,
            check=False,
            timeout=10 * SECONDS,
            env=os.environ | env,
        )
    except subprocess.TimeoutExpired:
        return "did not end"
    said = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
    *_, report = said.rpartition("\npeak ")
    said = said[: -len("\npeak ") - len(report)]
    peak, seconds = (float(figure) for figure in report.split()) if report else (0.0, 0.0)
    left = {path.name for path in folder.iterdir()} - before
    tail = said[-300:]
    if "Traceback" in said or done.returncode not in (0, 1, 2):
        return f"ended with {done.returncode}: {said[-1500:]}"
    if done.returncode != found.code:
        return f"ended with {done.returncode}, not {found.code}: {tail}"
    if found.says not in said:
        return f"does not say {found.says!r}: {tail}"
    if not said.replace("\n", "").isprintable():
        return f"prints what a terminal would obey: {tail!r}"
    if left != set(found.makes):
        return f"made {left}, not {set(found.makes)}: {tail}"
    if found.code == 2 and said.count("\n") > 12:
        return f"has too many sentences: {tail}"
    if seconds > SECONDS:
        return f"took {seconds:.1f} s"
    return f"took {peak / 2**20:.0f} MiB" if peak > MEMORY else ""


RUN = """
import atexit, resource, runpy, sys
def tell():
    used = resource.getrusage(resource.RUSAGE_SELF)
    sys.stderr.write(f"\\npeak {1024 * used.ru_maxrss} {used.ru_utime + used.ru_stime}")
atexit.register(tell)
sys.argv = ["raytracer", *sys.argv[1:]]
runpy.run_module("raytracer", run_name="__main__", alter_sys=True)
"""


def run(only: str = "", step: int = 1) -> int:
    """Run each `step`-th of the cases whose names contain a text; gives how many failed."""
    chosen = {name: CASES[name] for name in [n for n in CASES if only in n][::step]}

    def one(name: str) -> str:
        with tempfile.TemporaryDirectory(prefix="raytracer-hostile-") as folder:
            said = failure(chosen[name], Path(folder))
        if said:
            print(f"{name}: {said}\n", flush=True)
        return said

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = sum(map(bool, pool.map(one, chosen)))
    print(f"{len(chosen)} cases, {failed} failures")
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run commands on hostile input.")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    sys.exit(1 if run(parser.parse_args().only) else 0)
