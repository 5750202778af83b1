"""Hostile input of named kinds: each command ends as it must, soon, and in words that print.

    python tests/fuzz/hostile.py [--only TEXT]

A case is a file, a command, and the exit code that is right, with words that the command must
print where a wrong reading would end the same way. Each runs in a process and a folder of its own.
A traceback, a hang, a gigabyte of memory, characters that a terminal would obey, a file that was
left where nothing was to be written: all of them are failures. The exit code is 1 if anything
failed. What one reader or one field does is tested beside it, and by `mutate.py`.
"""

from __future__ import annotations

import argparse
import io
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SECONDS = 10.0
"""Of processor time: other work on the machine counts little, but how fast it is does."""

MEMORY = 2 << 30
"""Bytes of resident memory."""

BALL = "[[spheres]]\ncenters = [[0, 0, 0], [3, 0, 0]]\nradius = 1.0\n"
SMALL = ["--width", "16", "--height", "12", "--samples", "1", "--backend", "cpu"]
POINTS = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
MARKER = "\x1b]0;owned\x07"

RUN = """
import atexit, resource, runpy, sys
def tell():
    used = resource.getrusage(resource.RUSAGE_SELF)
    sys.stderr.write(f"\\npeak {1024 * used.ru_maxrss} {used.ru_utime + used.ru_stime}")
atexit.register(tell)
sys.argv = ["raytracer", *sys.argv[1:]]
runpy.run_module("raytracer", run_name="__main__", alter_sys=True)
"""


class Case(NamedTuple):
    """A file, a command and its right end.

    Args:
        name: of the case.
        file: name of the file; "-" is standard input.
        content: of the file, or a function that makes it at its path.
        command: words of the command line.
        code: right exit code.
        says: what both streams together must hold.
        makes: files that are there afterwards.
        env: variables.
    """

    name: str
    file: str
    content: bytes | str | Callable[[Path], None]
    command: list[str]
    code: int = 2
    says: str = ""
    makes: tuple[str, ...] = ()
    env: dict[str, str] = {}  # noqa: RUF012 - never changed


def npz(compression: int = zipfile.ZIP_STORED, **arrays: Any) -> bytes:
    """An archive of arrays."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=True)
    return stream.getvalue()


def npy(shape: str, descr: str = "'<f8'") -> bytes:
    """An .npy file with a header of its own, and two rows."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + np.zeros((2, 3)).tobytes()


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    """A picture of chunks."""
    parts = [(b"IHDR", bytes(13)), *chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def about(text: str) -> bytes:
    """A picture with metadata."""
    return png((b"tEXt", b"raytracer\0" + text.encode("latin-1", "backslashreplace")))


CHECKS: list[tuple[str, bytes | str, int, str]] = [
    ("a.toml", b"", 2, "has no spheres"),
    ("a.toml", BALL.encode("utf-16"), 2, "is not text in UTF-8"),
    ("a.toml", BALL + "\0", 2, "is not TOML"),
    ("a.toml", npz(centers=POINTS), 2, "a.toml"),
    ("a.toml", BALL.replace("[3, 0", f"[{'9' * 400}, 0"), 2, "centers"),
    ("a.toml", BALL + "transform = {scale = 1e-320}\n", 2, "a.toml"),
    ("a.toml", BALL + 'material = "\\u001b[31m"\n', 2, "no material named '\\x1b[31m'"),
    ("a.toml", "[[spheres]]\ngenerate = {name = '../cloud'}\n", 2, "generator"),
    ("a.toml", f"[[spheres]]\ngenerate = {{name = 'cloud', count = {2**63}}}\n", 2, "a.toml"),
    ("a.toml", '[[spheres]]\nfile = "a\\u0000.npz"\n', 2, "a.toml: spheres[0]"),
    ("a.toml", f'[[spheres]]\nfile = "{"a/" * 3000}b.npz"\n', 2, "a.toml: spheres[0]"),
    ("a.toml", '[[spheres]]\nfile = "/dev/zero"\n', 2, "a.toml: spheres[0]"),
    ("a.toml", '[[spheres]]\nfile = "a.toml"\n', 2, "a.toml: spheres[0]"),
    ("a.toml", (BALL + "material = 'x'\n") * 20_000, 2, "more mistakes"),
    ("a.toml", BALL + "[[lights]]\ntype='directional'\ndirection=[0,1,0]\n" * 50_000, 0, ""),
    ("a.json", '{"a":' * 5000 + "1" + "}" * 5000, 2, "nested too deeply"),
    ("a.json", '{"\\ud800": 1}', 2, "half a surrogate pair"),
    ("a.json", '{"' + "a" * 1_000_000 + '": 1}', 2, "unknown key"),
    ("a.csv", "x,y,z\n0x10,0,0\n", 2, "a.csv: line 2"),
    ("a.csv", "x,y,z\n٣,0,0\n", 2, "a.csv: line 2"),
    ("a.csv", 'x,y,z\n1,2,"3\n"\n', 2, "a.csv: line"),
    ("a.csv", f"x,y,{MARKER}\n1,2,3\n", 2, "a.csv"),
    ("a.csv", "," * 1_000_000 + "\n", 2, "a.csv"),
    ("a.csv", bytes(10_000), 2, "a.csv"),
    ("a.xyz", f"{'9' * 5000}\n\nC 0 0 0\n", 2, "a.xyz: line 1"),
    ("a.xyz", f"{10**18}\n\nC 0 0 0\n", 2, "a.xyz: line 1"),
    ("a.xyz", "1\nProperties=species:S:1:pos:R:３\nC 0 0 0\n", 2, "a.xyz: line 2"),
    ("a.xyz", "1\nProperties=species:S:1:pos::3\nC 0 0 0\n", 2, "a.xyz: line 2"),
    ("a.xyz", f"1\n\n{MARKER} 0 0 0\n", 0, "\\x1b]0;"),
    ("a.npy", npy("(9**9**9, 3)"), 2, "a.npy"),
    ("a.npy", npy("(" * 9000), 2, "a.npy"),
    ("a.npy", npy(f"({2**61}, 3)"), 2, "a.npy"),
    ("a.npy", npy("(2, 3)", "'<U9999999'"), 2, "a.npy"),
    ("a.npz", npz(), 2, "it holds nothing"),
    ("a.npz", npz(centers=np.array([[{}] * 3] * 2)), 2, "Python objects"),
    ("a.npz", npz(zipfile.ZIP_STORED, **{MARKER: POINTS}), 2, "it holds '\\x1b]0;"),
    ("a.npz", npz(centers=POINTS, colors=np.array([MARKER] * 3)), 2, "\\x1b]0;"),
    ("a.npz", npz(zipfile.ZIP_DEFLATED, centers=np.zeros((2_000_000, 3))), 0, "spheres"),
    ("a.npz", b"junk" * 1000 + npz(centers=POINTS), 0, "spheres  3"),
]  # fmt: skip
"""Files that `scene check` reads: name, content, exit code, words."""

INFOS: list[tuple[bytes, int, str]] = [
    (b"", 2, "is not a picture"),
    (png((b"abcd", b"")) + b"\xff\xff\xff\xfftEXtraytracer\0", 2, "a.png"),
    (about("[]"), 2, "are damaged"),
    (about('{"a": ' + "9" * 5000 + "}"), 2, "thousands of digits"),
    (about('{"\\u001b[31m": "\\u0007\\u202e\\u0000"}'), 0, "\\x1b[31m"),
    (about('{"timings": 3, "memory_free": [null, {}], "samples": NaN, "x": Infinity}'), 0, ""),
]
"""Pictures that `info` reads: content, exit code, words."""

OPTIONS: dict[str, tuple[str, ...]] = {
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

VARIABLES: list[tuple[str, str, int]] = [
    ("RAYTRACER_THREADS", "x", 2),
    ("RAYTRACER_THREADS", "9" * 5000, 0),
    ("RAYTRACER_THREADS", MARKER, 2),
    ("RAYTRACER_CACHE", "/dev/null", 0),
    ("RAYTRACER_CUBINS", MARKER, 0),
    ("TMPDIR", "/proc/none", 0),
    ("HOME", "x" * 5000, 0),
    ("LC_ALL", "C", 0),
    ("PYTHONIOENCODING", "ascii", 0),
    ("COLUMNS", "-1", 0),
    ("PYTHONOPTIMIZE", "2", 0),
    ("PYTHONWARNINGS", "error", 0),
]


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for number, (file, content, code, says) in enumerate(CHECKS):
        yield Case(f"check {number} {file}", file, content, ["scene", "check", file], code, says)
    for number, (content, code, says) in enumerate(INFOS):
        yield Case(f"info {number}", "a.png", content, ["info", "a.png"], code, says)
    render = ["render", "a.toml", *SMALL]
    for option, values in OPTIONS.items():
        for value in values:
            yield Case(f"{option} {value[:20]!r}", "a.toml", BALL, [*render, option, value])
    for name, value, code in VARIABLES:
        makes = () if code else ("a.png",)
        shown = f"{name} {value[:20]!r}"
        yield Case(shown, "a.toml", BALL, render, code, makes=makes, env={name: value})
    yield Case("links in a circle", "a.toml", lambda path: path.symlink_to("a.toml"), render)
    yield Case("a folder", "a.npz", Path.mkdir, ["render", "a.npz"])
    yield Case("nothing to read", "-", b"", ["render", "-", *SMALL])
    yield Case("nulls to read", "-", bytes(1000), ["render", "-", *SMALL])
    yield Case(
        "a film of particles", "a.npz", npz(centers=POINTS), ["tone", "a.npz"], 2, "not a film"
    )
    odd = "a\"b\\c'\n\t\x1b[31m\u202eü"
    made = ["scene", "generate", "cloud", "--count", "50", "-o", f"{odd}.toml"]
    yield Case("an odd name", "x", "", made, 0, makes=(f"{odd}.toml", f"{odd}.npz"))
    yield Case("a huge number", "a.toml", BALL, ["scene", "describe", "a.toml", "9" * 400])
    for words in (["--size", f"{'9' * 5000}^2"], ["--axis", "n=1e400"], ["--compare", "/dev/zero"]):
        command = ["bench", "vecadd", *words, "--backend", "cpu"]
        yield Case(f"bench {words[0]}", "x", "", command)


def failure(case: Case, folder: Path) -> str:
    """Run a case in an empty folder; gives what is wrong with its end, or ""."""
    content = case.content.encode() if isinstance(case.content, str) else case.content
    if callable(content):
        content(folder / case.file)
    elif case.file != "-":
        (folder / case.file).write_bytes(content)
    before = {path.name for path in folder.iterdir()}
    try:
        done = subprocess.run(
            [sys.executable, "-c", RUN, *case.command],
            cwd=folder,
            input=content if case.file == "-" and not callable(content) else b"",
            capture_output=True,
            check=False,
            timeout=10 * SECONDS,
            env=os.environ | {"RAYTRACER_THREADS": "1"} | case.env,
        )
    except subprocess.TimeoutExpired:
        return "did not end"
    said = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
    said, _, report = said.rpartition("\npeak ")
    peak, seconds = map(float, report.split())
    left = {path.name for path in folder.iterdir()} - before
    tail = said[-300:]
    wrong = {
        f"ended with {done.returncode}": done.returncode != case.code or "Traceback" in said,
        f"does not say {case.says!r}": case.says not in said,
        "prints what a terminal would obey": not said.replace("\n", "").isprintable(),
        f"made {left}": left != set(case.makes),
        "has too many sentences": case.code == 2 and said.count("\n") > 12,
        f"took {seconds:.1f} s": seconds > SECONDS,
        f"took {peak / 2**20:.0f} MiB": peak > MEMORY,
    }
    found = [what for what, is_wrong in wrong.items() if is_wrong]
    return f"{', '.join(found)}: {tail!r}" if found else ""


def run(only: str = "", step: int = 1) -> int:
    """Run each `step`-th of the cases whose names contain a text; gives how many failed."""
    chosen = [case for case in cases() if only in case.name][::step]

    def one(case: Case) -> str:
        with tempfile.TemporaryDirectory(prefix="raytracer-hostile-") as outer:
            folder = Path(outer) / "in"  # a case may read the folder above
            folder.mkdir()
            said = failure(case, folder)
        if said:
            print(f"{case.name}: {said}\n", flush=True)
        return said

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = sum(map(bool, pool.map(one, chosen)))
    print(f"{len(chosen)} cases, {failed} failures")
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run commands on hostile input.")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    sys.exit(1 if run(parser.parse_args().only) else 0)
