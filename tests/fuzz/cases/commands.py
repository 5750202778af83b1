"""Arguments and options of every command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fuzz.cases.base import BALL, POINTS, SMALL, Content, case
from fuzz.cases.contents import film, npz


def register() -> None:
    """Add the cases to the list."""

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
            "a.jpgg",
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
