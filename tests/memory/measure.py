"""Run commands in processes of their own and compare their memory with the estimate.

    python tests/memory/measure.py --count 1e5,1e6 [--only NAME]

Both figures are resident memory of the whole process, the interpreter included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MIB = 1 << 20
# How far the estimate may lie above the peak: a factor, or bytes where those are more.
FACTOR, NEAR = 1.10, 48 * MIB

# Runs one command as the terminal does, then says what was told and what was used.
CHILD = """
import json, sys
from raytracer import memory, resources
from raytracer.cli import main
code = 0
try:
    code = main(sys.argv[2:])
except SystemExit as end:
    code = end.code
found = {"estimate": memory.told(), "peak": resources.peak_memory(), "code": code}
open(sys.argv[1], "w").write(json.dumps(found))
"""

Arguments = list[str]
# Files that a case needs and the command that is measured; spheres and a folder are given.
Case = Callable[[Path, int], Arguments]


@dataclass(frozen=True)
class Figures:
    """Bytes of one case."""

    name: str
    count: int
    estimate: int
    peak: int

    @property
    def right(self) -> bool:
        """Whether the estimate is not below the peak and not far above."""
        return self.peak <= self.estimate <= max(FACTOR * self.peak, self.peak + NEAR)

    def row(self) -> str:
        """A row of a table in Markdown, MiB."""
        ratio = self.estimate / max(self.peak, 1)
        return (
            f"| {self.name} | {self.count:,} | {self.estimate / MIB:,.0f} | "
            f"{self.peak / MIB:,.0f} | {ratio:.2f} | {'' if self.right else '**no**'} |"
        )


def spheres(folder: Path, count: int, kind: str) -> Path:
    """A file of random spheres, written in pieces."""
    path = folder / f"{kind}-{count}.{kind.rpartition('-')[2]}"
    if path.exists():
        return path
    rng = np.random.default_rng(1)
    centers = rng.random((count, 3), dtype=np.float32)
    size = np.float32(0.3 * count ** (-1 / 3))
    if kind == "plain-npz":
        np.savez(path, centers=centers, radius=size)
    elif kind == "colored-npz":
        colors = rng.integers(0, 256, (count, 3), np.uint8)
        np.savez(path, centers=centers, radii=np.full(count, size), colors=colors)
    elif kind == "double-npz":
        np.savez(path, centers=centers.astype(float), radii=np.full(count, float(size)))
    elif kind == "integer-npz":
        np.savez(path, centers=rng.integers(0, 1000, (count, 3)), radius=size)
    elif kind == "packed-npz":
        np.savez_compressed(path, centers=centers, radius=size)
    elif kind == "npy":
        np.save(path, np.concatenate([centers, np.full((count, 1), size)], axis=1))
    elif kind == "csv":
        np.savetxt(path, centers, "%.5f", ",", header="x,y,z", comments="")
    else:
        # Angstroms: atoms have radii of their own, and where all overlap, rays meet them all.
        centers *= np.float32(3 * count ** (1 / 3))
        lines = (f"{'OHC'[i % 3]} {x:.4f} {y:.4f} {z:.4f}\n" for i, (x, y, z) in enumerate(centers))
        with path.open("w") as file:
            file.write(f"{count}\n\n")
            file.writelines(lines)
    return path


def rendering(kind: str = "plain-npz", *options: str, size: tuple[int, int] = (640, 360)) -> Case:
    """A render of a file of random spheres."""

    def case(folder: Path, count: int) -> Arguments:
        width, height = (str(side) for side in size)
        named = [text.replace("FOLDER", str(folder)) for text in options]
        return [
            "render", str(spheres(folder, count, kind)), "-o", str(folder / "a.png"), "--samples",
            "1", "--width", width, "--height", height, "--backend", "cpu", "-q", *named,
        ]  # fmt: skip

    return case


def film(suffix: str, *options: str, size: tuple[int, int] | None = None) -> Case:
    """A command that begins with a film of 4K or another size, with all output variables."""

    def case(folder: Path, count: int) -> Arguments:
        pixels = size or LARGE
        path = folder / f"film-{count}-{pixels[0]}.{suffix}"
        if not path.exists():
            run(rendering(*FILM, "--film", str(path), size=pixels)(folder, count), folder)
        first, *rest = (text.replace("FILM", str(path)) for text in options)
        if first == "tone":
            return [first, *rest, "-o", str(folder / "t.png"), "-q"]
        return rendering("plain-npz", first, *rest, size=pixels)(folder, count)

    return case


def lights(folder: Path, count: int) -> Arguments:
    """A scene of 300 lights."""
    data = spheres(folder, count, "plain-npz")
    one = '[[lights]]\ntype = "point"\nposition = [{}, 9, 3]\nintensity = 0.01\n'
    scene = f'[[spheres]]\nfile = "{data.name}"\n' + "".join(map(one.format, range(300)))
    (folder / "lights.toml").write_text(scene)
    return ["render", str(folder / "lights.toml"), *rendering()(folder, count)[2:]]


def ground(folder: Path, count: int, kind: str) -> Path:
    """A scene of spheres on a ball so large that it looks flat, and a camera that looks at them."""
    data = spheres(folder, count, kind)
    path = folder / f"ground-{data.stem}.toml"
    path.write_text(
        "[camera]\nposition = [3.0, 2.0, 3.0]\n"
        "[[spheres]]\ncenters = [[0.5, -1000.0, 0.5]]\nradius = 1000.0\n"
        f'[[spheres]]\nfile = "{data.name}"\n'
    )
    return path


def on_ground(folder: Path, count: int) -> Arguments:
    """Spheres in float64 on a large ball."""
    scene = ground(folder, count, "double-npz")
    return ["render", str(scene), *rendering()(folder, count)[2:]]


def preview(on_ground: bool = False, size: tuple[int, int] = (640, 360)) -> Case:
    """Steps of dragging in a window without a display, then samples at rest."""

    def case(folder: Path, count: int) -> Arguments:
        kind, (width, height) = "plain-npz", (str(side) for side in size)
        scene = ground(folder, count, kind) if on_ground else spheres(folder, count, kind)
        return [
            "preview", str(scene), "--offscreen", "5", "--samples", "4", "--width", width,
            "--height", height, "--backend", "cpu", "--json",
        ]  # fmt: skip

    return case


def only(folder: Path, count: int) -> Arguments:
    """One sample of one pixel of a picture of 4K."""
    width, height = (str(side) for side in LARGE)
    data = str(spheres(folder, count, "plain-npz"))
    size = ["--width", width, "--height", height]
    return ["render", data, "--only", "5,5,0", *size, "--backend", "cpu", "-q"]


def generated(name: str, suffix: str) -> Case:
    """A generator."""

    def case(folder: Path, count: int) -> Arguments:
        path = folder / f"{name}{suffix}"
        return ["scene", "generate", name, "--count", str(count), "-o", str(path), "--force"]

    return case


LARGE = (3840, 2160)
# OpenEXR compresses 16 rows at a time: all of this film.
WIDE = (65536, 16)
VARIABLES = ("--aov", "depth,normal,albedo,id,position,samples")
FILM = ("plain-npz", *VARIABLES)
CASES: dict[str, Case] = {
    "render, one colour": rendering(),
    "render, colours": rendering("colored-npz"),
    "render, float64": rendering("double-npz"),
    "render, integers": rendering("integer-npz"),
    "render, compressed": rendering("packed-npz"),
    "render, npy": rendering("npy"),
    "render, csv": rendering("csv"),
    "render, xyz": rendering("xyz"),
    "render, float64, ground": on_ground,
    "render, 300 lights": lights,
    "render, 4K": rendering(size=LARGE),
    "render, 4K, 16 bits": rendering("plain-npz", "--bits", "16", size=LARGE),
    "render, 4K, histogram": rendering("plain-npz", "--histogram", "FOLDER/h.png", size=LARGE),
    "render, 4K, most threads": rendering("plain-npz", "--threads", "100000", size=LARGE),
    "render, 4K, film": rendering("plain-npz", "--film", "FOLDER/b.npz", size=LARGE),
    "render, 4K, film, variables": rendering(*FILM, "--film", "FOLDER/b.npz", size=LARGE),
    "render, 4K, film, exr": rendering("plain-npz", "--film", "FOLDER/b.exr", size=LARGE),
    "render, 4K, film, variables, exr": rendering(*FILM, "--film", "FOLDER/b.exr", size=LARGE),
    "render, 4K, film, exr, 16 bits": rendering(
        "plain-npz", "--film", "FOLDER/b.exr", "--half", size=LARGE
    ),
    "render, 4K, film, variables, exr, 16 bits": rendering(
        *FILM, "--film", "FOLDER/b.exr", "--half", size=LARGE
    ),
    "render, 4K, one sample": only,
    "preview": preview(),
    "preview, ground": preview(on_ground=True),
    "preview, 4K": preview(size=LARGE),
    "describe": lambda folder, count: [
        "scene", "describe", str(spheres(folder, count, "colored-npz")), "5"
    ],
}  # fmt: skip
# They begin with a film.
FILM_CASES: dict[str, Case] = {
    "resume, 4K": film("npz", "--resume", "FILM"),
    "resume, 4K, film": film("npz", "--resume", "FILM", "--film", "FOLDER/c.npz"),
    "resume, 4K, film, variables": film(
        "npz", "--resume", "FILM", "--film", "FOLDER/c.npz", *VARIABLES
    ),
    "resume, 4K, film, exr": film("exr", "--resume", "FILM", "--film", "FOLDER/c.exr"),
    "tone, 4K": film("npz", "tone", "FILM"),
    "tone, 4K, 16 bits": film("npz", "tone", "FILM", "--bits", "16"),
    "tone, 4K, exr": film("exr", "tone", "FILM"),
    "tone, 65536x16, exr": film("exr", "tone", "FILM", size=WIDE),
    "resume, 65536x16, film, exr": film(
        "exr", "--resume", "FILM", "--film", "FOLDER/c.exr", size=WIDE
    ),
}
GENERATED: dict[str, Case] = {
    f"generate {name}{suffix}": generated(name, suffix)
    for name, suffix in (
        ("cloud", ".npz"), ("galaxy", ".npz"), ("plummer", ".npz"), ("crystal", ".npz"),
        ("sphereflake", ".npz"), ("weekend", ".npz"), ("molecule", ".npz"), ("molecule", ".xyz"),
        ("pile", ".npz"), ("cloud", ".toml"), ("weekend", ".toml"), ("molecule", ".toml"),
    )
}  # fmt: skip


def run(arguments: Arguments, folder: Path) -> dict[str, int]:
    """One command in a process of its own."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-c", CHILD, str(report), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if not report.exists():
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr[-600:]}")
    found: dict[str, int] = json.loads(report.read_text())
    if found["code"]:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr[-600:]}")
    return found


def measured(name: str, case: Case, count: int, folder: Path) -> Figures:
    """The figures of one case."""
    found = run(case(folder, count), folder)
    return Figures(name, count, found["estimate"], found["peak"])


def chosen(counts: list[int], word: str) -> Iterator[tuple[str, Case, int]]:
    """Cases whose name contains a word, with the number of spheres."""
    for count in counts:
        for name, case in (CASES | FILM_CASES | GENERATED).items():
            if word in name:
                yield name, case, count


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", default="1e5,1e6")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    counts = [int(float(text)) for text in options.count.split(",")]
    print("| case | spheres | estimate, MiB | measured, MiB | ratio | |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, case, count in chosen(counts, options.only):
            try:
                print(measured(name, case, count, Path(folder)).row(), flush=True)
            except RuntimeError as error:
                print(f"| {name} | {count:,} | {error} |", flush=True)


if __name__ == "__main__":
    main()
