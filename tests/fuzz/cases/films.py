"""Films: `.npz` and OpenEXR."""

from __future__ import annotations

import numpy as np

from fuzz.cases.base import BALL, POINTS, SMALL, Content, case
from fuzz.cases.contents import film, npz, picture


def register() -> None:
    """Add the cases to the list."""

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
