"""Images of environments: their headers are checked, and their memory is told and small."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

from raytracer.scene.environment_image import TEXEL, read_radiance

MIB = 1 << 20
BALL = "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n"
SMALL = ["--width", "16", "--height", "9", "--samples", "1", "--backend", "cpu", "--json"]


class Ended(NamedTuple):
    """A command that ended: exit code, what it says, its JSON, and its peak memory in bytes."""

    code: int
    said: str
    about: Any
    peak: int


LAUNCH = (
    "import resource, subprocess, sys\n"
    "code = subprocess.call(sys.argv[2:])\n"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
    "open(sys.argv[1], 'w').write(str(used.ru_maxrss))\n"
    "sys.exit(code)"
)
"""A small process, as a peak counts also what the process had that started it."""


def render(folder: Path, *words: str) -> Ended:
    """Render a ball, as a process of its own."""
    (folder / "ball.toml").write_text(BALL)
    command = [sys.executable, "-m", "raytracer", "render", "ball.toml", *SMALL, *words]
    launched = [sys.executable, "-c", LAUNCH, "peak", *command]
    done = subprocess.run(launched, cwd=folder, capture_output=True, text=True, check=False)
    about = json.loads(done.stdout) if done.stdout else None
    peak = 1024 * int((folder / "peak").read_text())
    return Ended(done.returncode, done.stderr, about, peak)


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, rows: bytes = b"") -> bytes:
    """A PNG that says a size, whatever its data hold."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


def hdr(width: int, height: int) -> bytes:
    """A Radiance file that says a size, with one run of pixels."""
    head = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n"
    return head + f"-Y {height} +X {width}\n".encode() + b"\2\2\x10\0\xff\1"


def test_the_memory_of_a_large_picture_is_told_and_small(tmp_path: Path) -> None:
    size = 4000, 2000
    Image.new("RGB", size).save(tmp_path / "sky.png")
    plain = render(tmp_path, "-o", "plain.png")
    lit = render(tmp_path, "--environment", "sky.png", "-o", "lit.png")
    assert (lit.code, lit.said) == (0, "")
    texels = TEXEL * size[0] * size[1]
    assert lit.peak - plain.peak < 3 * texels
    memory = lit.about["memory"]
    assert memory["peak"] <= memory["estimate"] <= max(1.6 * lit.peak, lit.peak + 160 * MIB)


READ = (
    "import sys\n"
    "from pathlib import Path\n"
    "from raytracer.errors import UserError\n"
    "from raytracer.scene.environment_image import read_radiance\n"
    "for name in sys.argv[1:]:\n"
    "    try:\n"
    "        read_radiance(Path(name))\n"
    "    except UserError as error:\n"
    "        print(error)\n"
)
"""Reads images, and prints a line for each that is refused."""


def test_headers_are_checked_before_pixels_are_decoded(tmp_path: Path) -> None:
    cases = [
        ("a.png", png(60000, 30000), "has more pixels, but at most 178,956,970"),
        ("b.png", png(16000, 8000), "are too few for 16000x8000 pixels"),
        ("c.png", png(64, 32), "cannot be read as .png (image file is truncated"),
        ("d.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 4\n", "is damaged, or not a PNG"),
        ("e.tiff", b"II*\0\x08\0\0\0\0\0", "is damaged, or not a PNG, JPEG, TIFF or WebP"),
    ]
    for name, data, _ in cases:
        (tmp_path / name).write_bytes(data)
    launched = [sys.executable, "-c", LAUNCH, "peak", sys.executable, "-c", READ]
    done = subprocess.run(
        [*launched, *(name for name, _, _ in cases)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for line, (name, _, says) in zip(done.stdout.splitlines(), cases, strict=True):
        assert line.startswith(f"{name}: environment.image: ")
        assert says in line
    assert 1024 * int((tmp_path / "peak").read_text()) < 100 * MIB


@pytest.mark.parametrize(("width", "height"), [(40000, 20000), (18000, 9000)])
def test_radiance_files_say_no_more_than_they_hold(width: int, height: int, tmp_path: Path) -> None:
    pytest.importorskip("imagecodecs")
    (tmp_path / "a.hdr").write_bytes(hdr(width, height))
    ended = render(tmp_path, "--environment", "a.hdr", "-o", "out.png")
    assert ended.code == 2
    assert ended.said.count("\n") == 1
    assert f"{width}x{height} pixels" in ended.said
    assert ended.peak < 100 * MIB


def test_an_image_that_does_not_fit_into_memory_is_refused(tmp_path: Path) -> None:
    width = 12000
    rows = zlib.compress(bytes(1 + 3 * width) * (width // 2), 1)
    data = png(width, width // 2).replace(chunk(b"IDAT", zlib.compress(b"")), chunk(b"IDAT", rows))
    (tmp_path / "sky.png").write_bytes(data)
    (tmp_path / "ball.toml").write_text(BALL)
    limited = f"ulimit -v 900000; exec {sys.executable} -m raytracer render ball.toml"
    words = [*SMALL, "--threads", "1", "--environment", "sky.png", "-o", "out.png"]
    done = subprocess.run(
        ["bash", "-c", f"{limited} {' '.join(words)}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "needs about" in done.stderr
    assert "make it smaller" in done.stderr


@pytest.mark.parametrize("mode", ["L", "P", "RGB", "RGBA", "CMYK", "1", "LA"])
def test_pictures_of_all_modes_are_those_of_pillow(mode: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 256, (4, 8, 3), np.uint8)
    path = tmp_path / "a.tiff"
    Image.fromarray(codes).convert(mode).save(path)
    seen = np.asarray(Image.open(path).convert("RGB"), np.float64) / 255.0
    linear = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
    np.testing.assert_array_equal(read_radiance(path), linear.astype(np.float32))


def test_grey_pictures_of_16_bits_and_of_floats(tmp_path: Path) -> None:
    codes = np.arange(32, dtype=np.uint16).reshape(4, 8) * 2114
    Image.fromarray(codes).save(tmp_path / "a.png")
    seen = codes / 65535.0
    linear = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
    found = read_radiance(tmp_path / "a.png")
    np.testing.assert_array_equal(found[..., 0], linear.astype(np.float32))
    numbers = codes.astype(np.float32)
    numbers[0, :3] = np.nan, np.inf, -1.0
    Image.fromarray(numbers).save(tmp_path / "a.tiff")
    found = read_radiance(tmp_path / "a.tiff")
    assert found[0, :3, 0].tolist() == [0.0, 65504.0, 0.0]
    np.testing.assert_array_equal(found[1:, :, 0], numbers[1:])
