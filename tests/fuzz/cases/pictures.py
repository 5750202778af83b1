"""Pictures: what `raytracer info` reads."""

from __future__ import annotations

from fuzz.cases.base import Content, case
from fuzz.cases.contents import about, chunk, picture


def register() -> None:
    """Add the cases to the list."""

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
