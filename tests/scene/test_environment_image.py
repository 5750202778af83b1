"""Images of environments: their headers are checked before pixels are decoded."""

import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFile
from PIL.TiffImagePlugin import TiffImageFile

from raytracer.errors import UserError
from raytracer.scene.environment import read_radiance


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, rows: bytes = b"") -> bytes:
    """A PNG that says a size, whatever its data hold."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.png", png(60000, 30000), "exceeds limit of 178956970 pixels"),
        ("d.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 4\n", "is damaged, or not a PNG"),
        ("e.tiff", b"II*\0\x08\0\0\0\0\0", "is damaged, or not a PNG, JPEG, TIFF or WebP"),
        ("f.hdr", b"#?RADIANCE\nnothing", "cannot be read as .hdr"),
    ],
)
def test_headers_are_checked_before_pixels_are_decoded(
    name: str, data: bytes, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name.endswith("hdr"):
        pytest.importorskip("imagecodecs")
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda _: pytest.fail("was decoded"))
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=f"{name}: environment.image: ") as caught:
        read_radiance(tmp_path / name)
    assert says in str(caught.value)


def test_a_truncated_picture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(64, 32))
    with pytest.raises(UserError, match=r"cannot be read as \.png \(image file is truncated"):
        read_radiance(tmp_path / "a.png")


def test_an_image_that_does_not_fit_into_memory_is_refused(tmp_path: Path) -> None:
    width = 12000
    rows = zlib.compress(bytes(1 + 3 * width) * (width // 2), 1)
    data = png(width, width // 2).replace(chunk(b"IDAT", zlib.compress(b"")), chunk(b"IDAT", rows))
    (tmp_path / "sky.png").write_bytes(data)
    (tmp_path / "ball.toml").write_text("[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n")
    limited = f"ulimit -v 900000; exec {sys.executable} -m raytracer render ball.toml"
    words = ["--threads", "1", "--backend", "cpu", "--environment", "sky.png", "-o", "out.png"]
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


def test_a_compressed_tiff_is_not_mapped_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """libtiff maps files of which it gets the descriptor; if another process cuts such a file, this
    one ends by SIGBUS."""
    codes = np.random.default_rng(1).integers(0, 256, (4, 8, 3), np.uint8)
    Image.fromarray(codes).save(tmp_path / "a.tiff", compression="tiff_adobe_deflate")
    Image.fromarray(codes).save(tmp_path / "a.png")
    files: list[Any] = []
    load = TiffImageFile._load_libtiff

    def noted(image: TiffImageFile) -> Any:
        files.append(image.fp)
        return load(image)

    monkeypatch.setattr(TiffImageFile, "_load_libtiff", noted)
    found = read_radiance(tmp_path / "a.tiff")
    np.testing.assert_array_equal(found, read_radiance(tmp_path / "a.png"))
    assert len(files) == 1
    assert not hasattr(files[0], "fileno")


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
