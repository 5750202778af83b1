"""Scene files: TOML and JSON."""

from __future__ import annotations

import json

from fuzz.cases.base import BALL, POINTS, Content, check
from fuzz.cases.contents import npz


def register() -> None:
    """Add the cases to the list."""

    def bad(name: str, text: str, says: str = "", code: int = 2) -> None:
        check(f"scene: {name}", "a.toml", text, code, says)

    bad("a date for a radius", BALL.replace("1.0", "1979-05-27"), "spheres[0].radius")
    bad("true for a radius", BALL.replace("1.0", "true"), "spheres[0].radius")
    bad("text for a radius", BALL.replace("1.0", "'one'"), "spheres[0].radius")
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
        "rgb(1,2)",
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
        "fifty thousand lights",
        BALL + "[[lights]]\ntype='directional'\ndirection=[0,1,0]\n" * 50_000,
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
