"""Hostile input of named kinds: each command ends as it must, soon, and in words that print.

Each case runs in a process and a folder of its own. What one reader or one field does is tested
beside it, and by `mutate.py`.
"""

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from support.particle_files import npz

RUN = """
import resource, runpy
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
runpy.run_module("raytracer", run_name="__main__", alter_sys=True)
"""

BALL = "[[spheres]]\ncenters = [[0, 0, 0], [3, 0, 0]]\nradius = 1.0\n"
RENDER = ["render", "a.toml", "--size", "16x12", "--samples", "1", "--backend", "cpu"]
POINTS = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
MARKER = "\x1b]0;owned\x07"
EVIL = "\\u001b]0;owned\\u0007\\nraytracer: all is well\\u202e\\u009b31m"


def npy(shape: str, descr: str = "'<f8'") -> bytes:
    """An .npy file with a header of its own, and two rows."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + np.zeros((2, 3)).tobytes()


def png(kind: bytes, data: bytes) -> bytes:
    """A picture of one grey pixel, with a chunk of its own."""
    head, pixel = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0), zlib.compress(bytes(2))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", head), (kind, data), (b"IDAT", pixel), (b"IEND", b""))
    )


def about(text: str) -> bytes:
    return png(b"tEXt", b"raytracer\0" + text.encode("latin-1", "backslashreplace"))


CHECKS: list[tuple[str, bytes | str, int, str]] = [
    ("a.toml", BALL.encode("utf-16"), 2, "is not text in UTF-8"),
    ("a.toml", BALL.replace("[3, 0", f"[{'9' * 400}, 0"), 2, "centers"),
    ("a.toml", BALL + 'material = "\\u001b[31m"\n', 2, "no material named '\\x1b[31m'"),
    ("a.toml", f'title = "{EVIL}"\ncaption = "{EVIL}"\n{BALL}', 0, "\\x1b]0;owned\\x07"),
    ("a.toml", f'render.filter = "{EVIL}"\n', 2, "\\x07\\nraytracer: all is well\\u202e\\x9b31m"),
    ("a.toml", f"[[spheres]]\ngenerate = {{name = 'cloud', count = {2**63}}}\n", 2, "a.toml"),
    ("a.toml", '[[spheres]]\nfile = "a\\u0000.npz"\n', 2, "a.toml: spheres[0]"),
    ("a.toml", f'[[spheres]]\nfile = "{"a/" * 3000}b.npz"\n', 2, "a.toml: spheres[0]"),
    ("a.toml", BALL + "[[lights]]\ntype='directional'\ndirection=[0,1,0]\n" * 50_000, 0, ""),
    ("a.json", '{"a":' * 5000 + "1" + "}" * 5000, 2, "nested too deeply"),
    ("a.toml", "a." * 80_000 + "a = 1\n", 2, "a key has 100 parts or more"),
    ("a.toml", f"[[spheres]]\n{{{'a . ' * 80_000}a = 1}}\n", 2, "a key has 100 parts or more"),
    ("a.json", '{"' + "a" * 1_000_000 + '": 1}', 2, "unknown key"),
    ("a.cif", "\n" * 400_000, 2, "there are no atoms with coordinates"),
    ("a.csv", f"x,{MARKER}\n1,3\n", 2, "a.csv"),
    ("a.csv", "," * 1_000_000 + "\n", 2, "a.csv"),
    ("a.xyz", f"{'9' * 5000}\n\nC 0 0 0\n", 2, "a.xyz: line 1"),
    ("a.xyz", "1\nProperties=species:S:1:pos:R:３\nC 0 0 0\n", 2, "a.xyz: line 2"),
    ("a.xyz", f"1\n\n{MARKER} 0 0 0\n", 0, "\\x1b]0;"),
    ("a.npy", npy("(9**9**9, 3)"), 2, "a.npy"),
    ("a.npy", npy("(" * 9000), 2, "a.npy"),
    ("a.npz", npz(**{MARKER: POINTS, "b": POINTS}), 2, "it holds '\\x1b]0;"),
    ("a.npz", npz(centers=POINTS, colors=np.array([MARKER] * 3)), 2, "\\x1b]0;"),
    ("a.npz", npz(np.savez_compressed, centers=np.zeros((2_000_000, 3))), 0, "spheres"),
]  # fmt: skip
"""Files that `scene check` reads: name, content, exit code, words."""

INFOS = [
    (png(b"abcd", b"") + b"\xff\xff\xff\xfftEXtraytracer\0", 2, "a.png"),
    (about("[]"), 2, "has no metadata"),
    (about('{"a": ' + "9" * 5000 + "}"), 2, "thousands of digits"),
    (about('{"a": ' + "[" * 900 + "]" * 900 + "}"), 2, "nested too deeply"),
    (about('{"a": 1, "a": 2}'), 2, "has the key 'a' twice"),
    (about('{"\\u001b[31m": "\\u0007\\u202e\\u0000"}'), 0, "\\x1b[31m"),
    (about('{"timings": 3, "memory_free": [null, {}], "samples": NaN, "x": Infinity}'), 0, ""),
]
"""Pictures that `info` reads: content, exit code, words."""

OPTIONS = {
    "--width": ("0", "1e3", "nan", "9" * 400, ""),
    "--filter-radius": ("nan", "inf"),
    "--exposure": ("nan", "1e9", "1,5"),
    "--meter-range": ("1,2,3", "nan,99"),
    "--crop": ("0,0,17,12", f"0,0,4,{'9' * 5000}"),
    "--only": ("16,0,0",),
    "--film": ("a.txt", "", "/proc/a.npz"),
    "--resume": ("none.npz", "a.toml", "-x"),
    "-o": (".", "", "/dev/null", "a.toml/a.png", "x" * 300 + ".png"),
}
"""Values that `render` refuses."""

VARIABLES = [
    ("RAYTRACER_THREADS", "x", 2),
    ("RAYTRACER_THREADS", "9" * 5000, 2),
    ("RAYTRACER_THREADS", MARKER, 2),
    ("RAYTRACER_CACHE", "/dev/null", 0),
    ("TMPDIR", "/proc/none", 0),
    ("HOME", "x" * 5000, 0),
    ("PYTHONIOENCODING", "ascii", 0),
    ("COLUMNS", "-1", 0),
    ("PYTHONOPTIMIZE", "2", 0),
]

ODD = "a\"b\\c'\n\t\x1b[31m\u202eü"

Case = tuple[str, bytes | str, list[str], int, str, set[str], dict[str, str]]
"""Name and content of a file ("-" is standard input), command, exit code, words, files that are
made, variables."""

CASES: list[Case] = [
    *((file, content, ["scene", "check", file], code, said, set(), {})
      for file, content, code, said in CHECKS),
    *(("a.png", content, ["info", "a.png"], code, said, set(), {})
      for content, code, said in INFOS),
    *(("a.toml", BALL, [*RENDER, option, value], 2, "", set(), {})
      for option, values in OPTIONS.items() for value in values),
    *(("a.toml", BALL, RENDER, code, "", set() if code else {"a.png"}, {name: value})
      for name, value, code in VARIABLES),
    ("-", b"", ["render", "-", *RENDER[2:]], 2, "", set(), {}),
    ("-", bytes(1000), ["render", "-", *RENDER[2:]], 2, "", set(), {}),
    ("a.npz", npz(centers=POINTS), ["tone", "a.npz"], 2, "not a film", set(), {}),
    ("x", "", ["scene", "generate", "cloud", "--count", "50", "-o", f"{ODD}.npz"], 0, "",
     {f"{ODD}.npz"}, {}),
    *(("x", "", ["bench", "vecadd", *words, "--backend", "cpu"], 2, "", set(), {})
      for words in (["--size", f"{'9' * 5000}^2"], ["--axis", "n=1e400"])),
]  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [pytest.param(each, marks=() if place % 12 == 5 else pytest.mark.slow, id=str(place))
     for place, each in enumerate(CASES)],
)  # fmt: skip
def test_hostile_input_ends_as_it_must(case: Case, tmp_path: Path) -> None:
    """No traceback, hang or gigabyte of memory, and nothing that a terminal would obey."""
    file, text, command, code, words, made, variables = case
    content = text.encode() if isinstance(text, str) else text
    if file != "-":
        (tmp_path / file).write_bytes(content)
    before = {path.name for path in tmp_path.iterdir()}
    done = subprocess.run(
        [sys.executable, "-c", RUN, *command], cwd=tmp_path, input=content if file == "-" else b"",
        capture_output=True, check=False, env=os.environ | {"RAYTRACER_THREADS": "1"} | variables,
    )  # fmt: skip
    said = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
    assert done.returncode == code, said
    assert words in said
    assert "Traceback" not in said
    assert said.replace("\n", "").isprintable()
    assert code == 0 or said.count("\n") <= 12
    assert {path.name for path in tmp_path.iterdir()} - before == made
