"""Images of environments: their headers are checked before pixels are decoded."""

import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageFile
from PIL.TiffImagePlugin import TiffImageFile

import raytracer
from raytracer.config.errors import UserError
from raytracer.model.environment import read_radiance


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


def write_exr(path: Path, parts: list[dict[str, Any]], **header: Any) -> None:
    """Write an OpenEXR file with a part for each dictionary of channels."""
    exr = pytest.importorskip("OpenEXR")
    kind = {"type": exr.scanlineimage, "compression": exr.ZIP_COMPRESSION}
    named = [
        exr.Part(kind | header | {"name": f"part {number}"}, channels)
        for number, channels in enumerate(parts)
    ]
    exr.File(named).write(str(path))


RADIANCE = np.arange(4 * 8 * 3, dtype=np.float32).reshape(4, 8, 3) / 7.0
PLANES = dict(zip("RGB", np.moveaxis(RADIANCE, -1, 0).copy(), strict=True))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([{"RGB": RADIANCE}], RADIANCE),
        ([{"RGBA": np.dstack([RADIANCE, RADIANCE[..., :1]])}], RADIANCE),
        ([{name: plane.astype(np.float16) for name, plane in PLANES.items()}],
         RADIANCE.astype(np.float16)),
        ([{"Y": PLANES["G"]}], RADIANCE[..., 1:2]),
        ([{"Z": PLANES["G"]}, PLANES], RADIANCE),
        ([{f"Layer.Combined.{name}": plane for name, plane in PLANES.items()}], RADIANCE),
        ([PLANES | {"Diffuse.R": 2 * PLANES["R"], "id.I": PLANES["B"].astype(np.uint32)}],
         RADIANCE),
    ],
    ids=["RGB", "RGBA", "half", "grey", "second part", "layer", "further layers"],
)  # fmt: skip
def test_openexr_is_the_radiance(
    parts: list[dict[str, Any]], expected: NDArray[Any], tmp_path: Path
) -> None:
    write_exr(tmp_path / "a.exr", parts)
    np.testing.assert_array_equal(read_radiance(tmp_path / "a.exr"), expected)


@pytest.mark.parametrize(
    ("window", "rows", "columns"),
    [((2, 1, 9, 4), slice(1, 5), slice(2, 10)), ((-3, -1, 4, 2), slice(0, 3), slice(0, 5))],
    ids=["inside", "beyond the edge"],
)
def test_openexr_is_black_outside_of_its_data(
    window: tuple[int, ...], rows: slice, columns: slice, tmp_path: Path
) -> None:
    low, high = np.array(window[:2], np.int32), np.array(window[2:], np.int32)
    size = np.array([11, 5], np.int32)
    write_exr(
        tmp_path / "a.exr", [PLANES],
        dataWindow=(low, high), displayWindow=(np.zeros(2, np.int32), size),
    )  # fmt: skip
    expected = np.zeros((6, 12, 3), np.float32)
    seen = RADIANCE[max(-window[1], 0) :, max(-window[0], 0) :]
    expected[rows, columns] = seen
    np.testing.assert_array_equal(read_radiance(tmp_path / "a.exr"), expected)


def test_openexr_without_colours_of_all_directions_is_refused(tmp_path: Path) -> None:
    exr = pytest.importorskip("OpenEXR")
    path = tmp_path / "a.exr"
    write_exr(path, [{"depth.Z": PLANES["R"]}])
    with pytest.raises(UserError, match=r"has no channels R, G, B, or Y: it has depth\.Z"):
        read_radiance(path)
    write_exr(path, [PLANES], envmap=exr.Envmap.ENVMAP_CUBE)
    with pytest.raises(UserError, match="is a cube map: convert it to latitude and longitude"):
        read_radiance(path)
    write_exr(path, [{"Y": PLANES["R"], "RY": PLANES["G"], "BY": PLANES["B"]}])
    with pytest.raises(UserError, match="has luminance and chroma: convert it to RGB"):
        read_radiance(path)


def test_an_old_openexr_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exr = pytest.importorskip("OpenEXR")
    write_exr(tmp_path / "a.exr", [PLANES])
    monkeypatch.setattr(exr, "__version__", "3.3.8")
    with pytest.raises(UserError, match=r"the package OpenEXR 3\.3\.8 cannot read headers alone"):
        read_radiance(tmp_path / "a.exr")


def test_the_film_of_a_picture_is_an_environment(tmp_path: Path) -> None:
    pytest.importorskip("OpenEXR")
    ball = raytracer.Scene.from_arrays([(0, 0, 0)], 1.0)
    film = raytracer.render(ball, width=16, height=8, samples=2, backend="cpu").film
    film.save(tmp_path / "sky.exr")
    np.testing.assert_array_equal(read_radiance(tmp_path / "sky.exr"), film.mean()[..., :3])
    picture = raytracer.render(
        ball, width=16, height=8, samples=2, backend="cpu", integrator="path",
        environment=str(tmp_path / "sky.exr"),
    )  # fmt: skip
    assert picture.to_uint8().max() > 0
