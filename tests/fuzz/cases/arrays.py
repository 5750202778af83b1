"""Arrays: `.npz` and `.npy`."""

from __future__ import annotations

import zipfile

import numpy as np

from fuzz.cases.base import MARKER, POINTS, Content, check
from fuzz.cases.contents import altered, encrypted, header, npy, npz, raw


def register() -> None:
    """Add the cases to the list."""

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
    one("a version of the future", header(good, data, 9), "a.npy")
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
