"""Atoms: `.xyz`."""

from __future__ import annotations

from fuzz.cases.base import MARKER, Content, case, check


def register() -> None:
    """Add the cases to the list."""

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
