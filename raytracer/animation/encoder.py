"""Movie files: encoded by PyAV, or by Pillow for GIF and WebP."""

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import OutputError, UserError, quote, suggest
from raytracer.config.warning import warn
from raytracer.film.image import Image

Pixels = NDArray[np.uint8]
Read = Callable[[int], Pixels]

CONTAINERS = {".mp4": "mp4", ".m4v": "mp4", ".mov": "mov", ".mkv": "matroska", ".webm": "webm"}

PICTURES = (".gif", ".webp")  # endings of moving pictures, which Pillow writes
THREADS = 4  # fixed, because the number of threads changes the bytes of a movie
PALETTE_FRAMES = 12  # most frames for the palette of a GIF


class Encoder(NamedTuple):
    name: str
    best: float  # constant rate factor of quality 100
    worst: float  # constant rate factor of quality 0
    options: dict[str, str]


ENCODERS = {
    # For pictures of particles this takes less than half of the time of "faster" alone, in files
    # up to a quarter larger at the same error: several reference frames, finer motion and
    # trellis quantization gain little there.
    "h264": Encoder(
        "libx264", 9.0, 45.0,
        {"preset": "faster", "refs": "1", "subq": "1", "trellis": "0", "weightp": "0", "bf": "0"},
    ),
    "h265": Encoder(
        "libx265", 11.0, 47.0, {"preset": "medium", "x265-params": "log-level=none"}
    ),
    "av1": Encoder("libsvtav1", 12.0, 60.0, {"preset": "8"}),
    "vp9": Encoder(
        "libvpx-vp9", 12.0, 60.0,
        {"b": "0", "row-mt": "1", "cpu-used": "4", "deadline": "good"},
    ),
}  # fmt: skip
"""Encoders by codec."""


def check_movie(path: Path, codec: str | None, transparent: bool) -> None:
    """Refuse a movie that cannot be written, before anything is rendered. Raises UserError."""
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        if codec is not None:
            raise UserError(f"{path}: a {suffix} has only one codec: leave --codec out")
        if transparent and suffix == ".gif":
            raise UserError(f"{path}: a GIF has no partial transparency: use .webp, or ####.png")
        return
    if suffix not in CONTAINERS:
        known = [*CONTAINERS, *PICTURES]
        raise OutputError(
            f"{path}: '{quote(suffix)}' is not the suffix of a movie; {suggest(suffix, known)} "
            "(numbered pictures have names like 'frames/####.png')"
        )
    if transparent:
        raise _no_transparency(path)
    chosen = codec or default_codec(path)
    if suffix == ".webm" and chosen not in ("vp9", "av1"):
        raise UserError(f"{path}: a .webm can have vp9 or av1, not {chosen}: use .mp4 or .mkv")
    if ENCODERS[chosen].name not in _library(path).codecs_available:
        raise UserError(f"{path}: this PyAV has no encoder of {chosen}: use another --codec")


def make_frame(image: Image, path: Path) -> Pixels:
    """Return a picture as a frame, uint8 (h, w, 3 or 4), contiguous. Raises UserError: it is
    transparent, which a movie of this name cannot be."""
    if image.transparent and path.suffix.lower() not in PICTURES:
        raise _no_transparency(path)
    pixels = image.to_uint8()
    if pixels.flags.c_contiguous:
        return pixels
    packed = np.empty_like(pixels, order="C")
    for channel in range(pixels.shape[-1]):  # by pixel NumPy takes five times as long
        packed[..., channel] = pixels[..., channel]
    return packed


def _no_transparency(path: Path) -> UserError:
    return UserError(f"{path}: a movie has no transparency: use .webp, or ####.png")


def default_codec(path: Path) -> str:
    return "vp9" if path.suffix.lower() == ".webm" else "h264"


def _library(path: Path) -> Any:
    os.environ.setdefault("SVT_LOG", "1")  # only errors; read when the library is loaded
    try:
        import av
    except ImportError:
        raise UserError(
            f"{path}: movies need PyAV: pip install 'raytracer[video]', or write a .gif, a .webp "
            "or numbered pictures (####.png) without it"
        ) from None
    return av


def convert_to_yuv(pixels: Pixels) -> Any:
    """Convert a picture for an encoder: a frame of PyAV in YUV 4:2:0, BT.709, limited range. For
    odd sizes the last row or column of uint8 (h, w, 3 or 4) is doubled; alpha is ignored."""
    from av import VideoFrame
    from av.video.reformatter import ColorRange, Colorspace, Interpolation

    height, width, channels = pixels.shape
    if height % 2 or width % 2:
        pixels = np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    return VideoFrame.from_ndarray(pixels, "rgb24" if channels == 3 else "rgba").reformat(
        format="yuv420p",
        src_colorspace=Colorspace.ITU709, dst_colorspace=Colorspace.ITU709,
        src_color_range=ColorRange.JPEG, dst_color_range=ColorRange.MPEG,
        interpolation=Interpolation.AREA,  # mean of four pixels; other modes differ a lot
    )  # fmt: skip


class VideoWriter:
    """A movie written by PyAV: planar YUV 4:2:0, BT.709, limited range.

    file: output, seekable. path: its final name. codec: one of `CODECS`; None depends on the
    ending. quality: 1 to 100. The first frame determines the size; odd sizes are enlarged by one.
    """

    def __init__(
        self, file: BinaryIO, path: Path, fps: float, codec: str | None, quality: int
    ) -> None:
        self._file, self._path, self._fps = file, path, fps
        self._codec, self._quality = codec or default_codec(path), quality
        self._container: Any = None
        self._stream: Any = None

    def _open(self, width: int, height: int) -> None:
        encoder = ENCODERS[self._codec]
        factor = encoder.worst + (encoder.best - encoder.worst) * self._quality / 100.0
        options = encoder.options | {"crf": f"{factor:.0f}"}
        kind = CONTAINERS[self._path.suffix.lower()]
        ways = {"movflags": "+faststart"} if kind in ("mp4", "mov") else {}
        av = _library(self._path)
        self._container = av.open(self._file, "w", format=kind, options=ways)
        self._stream = self._container.add_stream(
            encoder.name, options=options, rate=Fraction(self._fps).limit_denominator(1001),
        )  # fmt: skip
        self._stream.width, self._stream.height = width, height
        self._stream.pix_fmt = "yuv420p"
        context = self._stream.codec_context
        context.thread_count = THREADS
        # BT.709, limited range: what players assume for high definition.
        context.color_primaries = context.color_trc = context.colorspace = 1
        context.color_range = 1
        if self._codec == "h265" and kind in ("mp4", "mov"):
            context.codec_tag = "hvc1"  # the tag for QuickTime

    def add(self, pixels: Pixels) -> None:
        """Add a frame, uint8 (h, w, 3 or 4); alpha is ignored."""
        frame = convert_to_yuv(pixels)
        if self._stream is None:
            self._open(frame.width, frame.height)
            if pixels.shape[:2] != (frame.height, frame.width):
                warn(
                    f"{self._path}: a movie needs even width and height: its last row or column is "
                    f"doubled, to {frame.width}x{frame.height} pixels"
                )
        for packet in self._stream.encode(frame):
            self._container.mux(packet)

    def close(self) -> None:
        """Complete the file. Raises OutputError: there are no frames."""
        if self._stream is None:
            raise OutputError(f"{self._path}: not written, because there are no frames")
        for packet in self._stream.encode():
            self._container.mux(packet)
        self._container.close()


def write_picture(
    file: BinaryIO, path: Path, read: Read, count: int, fps: float, quality: int
) -> None:
    """Write an endless GIF or animated WebP of all frames; quality: 1 to 100 (lossless)."""
    from PIL import Image as Pictures

    is_gif = path.suffix.lower() == ".gif"
    palette = _shared_palette(read, count) if is_gif else None

    def pictures() -> Iterator[Any]:
        for index in range(count):
            picture = Pictures.fromarray(read(index))
            if palette is not None:
                dither = Pictures.Dither.FLOYDSTEINBERG
                picture = picture.convert("RGB").quantize(palette=palette, dither=dither)
            yield picture

    frames = pictures()
    options: dict[str, Any] = {"quality": quality, "lossless": quality == 100, "method": 4}
    next(frames).save(
        file, format="GIF" if is_gif else "WEBP", save_all=True, append_images=frames, loop=0,
        duration=frame_durations(count, fps, 10 if is_gif else 1),
        **{"optimize": False} if is_gif else options,
    )  # fmt: skip


def _shared_palette(read: Read, count: int) -> Any:
    """Return a picture with one palette for all frames: changing palettes would flicker."""
    from PIL import Image as Pictures

    chosen = sorted({round(k * (count - 1) / (PALETTE_FRAMES - 1)) for k in range(PALETTE_FRAMES)})
    parts = [read(index)[::3, ::3, :3] for index in chosen]
    sheet = Pictures.fromarray(np.ascontiguousarray(np.concatenate(parts, axis=0)))
    return sheet.quantize(256, method=Pictures.Quantize.MEDIANCUT, dither=Pictures.Dither.NONE)


def frame_durations(count: int, fps: float, unit: int) -> list[int]:
    """Return the duration of each frame in milliseconds, in whole units with the right sum."""
    ends = [round(1000.0 * (index + 1) / fps / unit) * unit for index in range(count)]
    return [max(end - start, unit) for start, end in zip([0, *ends], ends, strict=False)]
