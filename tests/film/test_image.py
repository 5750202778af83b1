"""PNG files: pixels, metadata, and files that are whole or not there."""

import io
import json
import struct
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

from raytracer.device_array import DeviceArray
from raytracer.errors import BackendError, DataFileError, OutputError
from raytracer.film import formats, png
from raytracer.film.film import Film
from raytracer.film.image import Image


def picture(transparent: bool = False) -> Image:
    """Five by three pixels of every kind of value."""
    rng = np.random.default_rng(3)
    film = Film.blank(5, 3)
    film.sums[...] = rng.random((3, 5, 4), np.float32)
    film.sums[..., 3] = 1.0 if not transparent else film.sums[..., :3].max(axis=-1)
    film.samples = 1
    return Image(film, transparent, {"frame": 0.5}, {"version": "x", "spheres": 3})


def decode_16_bits(path: Path, channels: int) -> NDArray[np.uint16]:
    """Pixels of a 16-bit PNG that uses the filter "up" alone."""
    found = dict(chunks(path.read_bytes()))
    shape = struct.unpack(">II", found[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(shape[1], -1)
    assert (rows[:, 0] == 2).all()
    samples = np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).view(">u2")
    return samples.astype(np.uint16).reshape(shape[1], shape[0], channels)


@pytest.mark.parametrize("transparent", [False, True])
def test_numpy_takes_a_picture_as_its_array(transparent: bool) -> None:
    image = picture(transparent)
    array = np.asarray(image)
    assert array.dtype == np.uint8
    np.testing.assert_array_equal(array, image.to_uint8())
    assert np.asarray(image, np.float32).dtype == np.float32
    array[...] = 0  # a copy of its own
    assert np.array(image, copy=True).any()


def test_a_picture_goes_to_the_device_that_rendered_it() -> None:
    def upload(pixels: NDArray[np.uint8]) -> DeviceArray:
        assert pixels.flags.c_contiguous
        address = pixels.ctypes.data
        return DeviceArray(address, pixels.shape, pixels.strides, pixels.dtype, 3, owner=pixels)

    with pytest.raises(BackendError, match="was not rendered on a GPU: render it with"):
        picture().device_array()
    image = picture(transparent=True)
    image.upload = upload
    for each in (image, image.tonemap(exposure=1.0)):
        made = each.device_array()
        assert made.__dlpack_device__() == (2, 3)
        np.testing.assert_array_equal(made.owner, each.pixels(8))
    with pytest.raises(ValueError, match="always a copy"):
        np.array(image, copy=False)


@pytest.mark.parametrize("transparent", [False, True])
def test_pixels_are_read_back_equal(tmp_path: Path, transparent: bool) -> None:
    image = picture(transparent)
    paths = [image.save(tmp_path / f"{bits}.png", bits=bits) for bits in (8, 16)]
    for path in paths:
        with Pillow.open(path) as read:
            assert (read.size, read.info["srgb"]) == ((5, 3), 0)
    with Pillow.open(paths[0]) as read:
        assert read.mode == ("RGBA" if transparent else "RGB")
        assert np.array_equal(np.asarray(read), image.to_uint8())
    assert np.array_equal(decode_16_bits(paths[1], 4 if transparent else 3), image.to_uint16())


def chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body)
        yield kind, body
        at += size + 12


def test_large_pictures_have_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(5).integers(0, 256, (200, 700, 4), np.uint8)
    whole = png.encode(noise, {})
    monkeypatch.setattr(png, "IDAT_BYTES", 70_001)
    parts = png.encode(noise, {})
    sizes = [len(body) for kind, body in chunks(parts) if kind == b"IDAT"]
    assert len(sizes) > 5
    assert set(sizes[:-1]) == {70_001}
    stream = b"".join(body for kind, body in chunks(parts) if kind == b"IDAT")
    assert stream == b"".join(body for kind, body in chunks(whole) if kind == b"IDAT")
    with Pillow.open(io.BytesIO(parts)) as read:
        read.load()
        assert np.array_equal(np.asarray(read), noise)


@pytest.mark.parametrize("shape", [(3, 200_001, 3), (1, 1, 4), (700, 1, 3), (90, 2000, 4)])
def test_blocks_may_end_anywhere_in_a_row(shape: tuple[int, ...]) -> None:
    noise = np.random.default_rng(6).integers(0, 256, shape, np.uint8)
    one, many = (png.encode(noise, {}, threads) for threads in (1, 5))
    assert one == many
    with Pillow.open(io.BytesIO(one)) as read:
        read.load()
        assert np.array_equal(np.asarray(read), noise)


@pytest.mark.parametrize("bits", [8, 16])
def test_metadata_are_read_back(tmp_path: Path, bits: int) -> None:
    path = picture().save(tmp_path / "a.png", bits)
    found = formats.read_metadata(path)
    assert found is not None
    assert found["spheres"] == 3
    assert set(found["timings"]) == {"frame", "tone", "total_before_write"}
    with Pillow.open(path) as read:
        assert json.loads(read.info["raytracer"]) == found
        assert read.info["Software"].startswith("raytracer ")


def test_metadata_of_other_files(tmp_path: Path) -> None:
    plain = tmp_path / "plain.png"
    Pillow.new("RGB", (2, 2)).save(plain)
    assert formats.read_metadata(plain) == {}
    text = tmp_path / "text.png"
    text.write_text("no picture")
    assert formats.read_metadata(text) == {}
    with pytest.raises(DataFileError, match=r"there is no such file"):
        formats.read_metadata(tmp_path / "missing.png")


def test_damaged_metadata_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    good = picture()._repr_png_()
    path.write_bytes(good.replace(b'"spheres": 3', b'"spheres": 4'))
    assert formats.read_metadata(path) == {}, "the checksum is wrong"
    path.write_bytes(good[:50])
    assert formats.read_metadata(path) == {}
    path.write_bytes(good[: good.index(b"IDAT") + 8])
    assert formats.read_metadata(path)["spheres"] == 3, "no pixel is read"


def test_a_picture_is_compressed_while_it_is_written() -> None:
    """Neither the filtered rows nor the file are ever whole in memory."""
    row = np.random.default_rng(7).integers(0, 256, (1, 4096, 3), np.uint8)
    pixels = np.broadcast_to(row, (4096, 4096, 3))  # 48 MiB as a picture, 12 KiB in memory
    tracemalloc.start()
    try:
        with Path("/dev/null").open("wb") as file:
            png.write(file, pixels, {}, threads=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 << 20


def test_a_picture_too_large_for_its_format_is_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(OutputError, match="WEBP has at most 16,383 pixels per side, not 16,384"):
        formats.check_target(tmp_path / "a.webp", side=16_384)
