"""Tables: `.csv`."""

from __future__ import annotations

from fuzz.cases.base import MARKER, Content, check


def register() -> None:
    """Add the cases to the list."""

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
    table("colours of both ranges", "x,y,z,r,g,b\n0,0,0,0.5,0.5,0.5\n1,1,1,255,0,0\n", "a.csv: col")
    table("colours that are nan", "x,y,z,r,g,b\n0,0,0,nan,0,0\n1,1,1,1,0,0\n", "a.csv")
    table("negative colours", "x,y,z,r,g,b\n0,0,0,-0.1,0,0\n1,1,1,1,0,0\n", "a.csv")
    table("decimal commas beside points", "x;y;z\n0,5;0.5;0\n1;1;1\n", "spheres  2", 0)
    table("thousands with points", "x;y;z\n1.000,5;0;0\n1;1;1\n", "a.csv: line 2")
    table("a picture", b"\x89PNG\r\n\x1a\n" + bytes(100), "a.csv")
    table("only names of control characters", f"x,y,{MARKER}\n1,2,3\n", "a.csv")
    table("a zero byte", bytes(10_000), "a.csv")
    table("a comma for every letter", "," * 1_000_000 + "\n", "a.csv")
    table("comments without an end", "# x,y,z\n" * 50_000, "a.csv")
