"""PNG files: pixels, metadata, and files that are whole or not there."""

import copy
import io
import json
import pickle
import struct
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

import raytracer
from raytracer.config.errors import BackendError, DataFileError, OutputError, UserError
from raytracer.film import formats, png
from raytracer.film.film import Film
from raytracer.film.image import Image
from raytracer.system.device_array import DeviceArray


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

    with pytest.raises(BackendError, match="was not rendered on a GPU of this process: render it"):
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


KINDS = ("png", "tiff", "jpg", "webp", "avif", "svg", "pdf", "exr")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_object_gets_the_bytes_of_the_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)  # metadata have the times
    for extra, package in (("pdf", "matplotlib"), ("exr", "OpenEXR")):
        if kind == extra:
            pytest.importorskip(package)
    image, file = picture(), io.BytesIO()
    path = image.save(tmp_path / f"a.{kind}")
    image.save(file, format=kind.upper())
    if kind == "pdf":  # has the date
        assert file.getvalue()[:5] == b"%PDF-"
        return
    assert file.getvalue() == path.read_bytes()
    with (tmp_path / f"b.{kind}").open("wb") as named:
        image.save(named)
    assert (tmp_path / f"b.{kind}").read_bytes() == path.read_bytes()


def test_a_file_object_without_a_name_gets_a_png() -> None:
    file = io.BytesIO()
    picture(transparent=True).save(file)
    with Pillow.open(file) as found:
        assert found.format == "PNG"
        np.testing.assert_array_equal(np.asarray(found), picture(transparent=True).to_uint8())
    file = io.BytesIO()
    picture().save(file, bits=16)
    assert file.getvalue()[24] == 16


def test_wrong_file_objects_and_formats_are_one_sentence(tmp_path: Path) -> None:
    closed = io.BytesIO()
    closed.close()
    for file in (io.StringIO(), closed):
        with pytest.raises(OutputError, match=r"takes no bytes .*open the file with mode 'wb'"):
            picture().save(file)  # type: ignore[arg-type]
    for name in ("gif", "", 3):
        with pytest.raises(OutputError, match="is not a picture format; known are png, tiff"):
            picture().save(io.BytesIO(), format=name)  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="JPEG cannot be transparent"):
        picture(transparent=True).save(io.BytesIO(), format="jpg")
    with pytest.raises(UserError, match="is not the path of a file"):
        picture().save(3)  # type: ignore[call-overload]
    with (
        Path("/dev/full").open("wb", buffering=0) as full,
        pytest.raises(OutputError, match="No space left"),
    ):
        picture().save(full)


def rendered(annotations: dict[str, bool] | None = None) -> Image:
    scene = raytracer.Scene.from_arrays([(0, 0, 0), (1, 0, 0)], 0.5)
    return raytracer.render(
        scene, width=32, height=24, samples=2, backend="cpu", aovs=["depth"],
        annotations=annotations,
    )  # fmt: skip


@pytest.mark.parametrize("annotations", [None, {"axes": True, "outline": True}])
def test_pictures_can_be_pickled(annotations: dict[str, bool] | None) -> None:
    image = rendered(annotations)
    _ = image.array
    found = pickle.loads(pickle.dumps(image))
    np.testing.assert_array_equal(found.to_uint8(), image.to_uint8())
    np.testing.assert_array_equal(found.film.aovs["depth"], image.film.aovs["depth"])
    np.testing.assert_array_equal(found.array, image.array)
    assert (found.metadata, found.camera) == (image.metadata, image.camera)
    assert found.tonemap(exposure=1.0).to_uint8().mean() > image.to_uint8().mean()
    with pytest.raises(UserError, match="returned in this process can be picked"):
        found.pick(16, 12)
    assert image.pick(16, 12) == copy.copy(image).pick(16, 12)


def test_a_process_pool_renders_pictures() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(rendered).result()
    np.testing.assert_array_equal(found.film.sums, rendered().film.sums)


@pytest.mark.parametrize("dpi", [36.0, 72.0, 300.0])
def test_png_states_its_resolution(dpi: float) -> None:
    stream = io.BytesIO()
    png.write(stream, np.zeros((2, 3, 3), np.uint8), {}, dpi=dpi)
    stream.seek(0)
    with Pillow.open(stream) as image:
        assert image.info["dpi"] == pytest.approx((dpi, dpi), abs=0.02)
