"""Images: a film with the settings of its picture, as arrays and files with metadata."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from raytracer._version import __version__
from raytracer.config.arguments import check_whole
from raytracer.config.errors import BackendError, OutputError, UserError, WriteError, quote_value
from raytracer.config.tone_settings import ToneSettings
from raytracer.config.warning import warn
from raytracer.files import output
from raytracer.files.access import check_path
from raytracer.film import formats, png
from raytracer.film.film import (
    Developed,
    Film,
    Pixels,
    check_bits,
    develop,
    non_finite_pixels,
    summarize_film,
)
from raytracer.film.statistics import Statistics, compute_statistics

if TYPE_CHECKING:
    from raytracer.appearance.describe import SphereInfo
    from raytracer.drawing.overlay import Overlay
    from raytracer.model.camera import Camera
    from raytracer.system.device_array import DeviceArray


@dataclass(repr=False)
class Image:
    """A rendered picture.

    NumPy and libraries based on it use it as the array of `to_uint8`: `np.asarray(image)`,
    `plt.imshow(image)`, `PIL.Image.fromarray(np.asarray(image))`. It can be pickled, as process
    pools do: a copy in another process has the film and the annotations, but cannot be picked.

    Args:
        film: sums of linear radiance; pass it to `render(..., film=)` to add samples.
        transparent: whether files have an alpha channel.
        timings: seconds of each stage.
        metadata: how it was made; saved in the PNG.
        threads: threads for encoding; 0 uses every core that the process may use.
        settings: exposure and tone curve; `tonemap` returns the picture with others.
        camera: of the picture, after fitting; None for a saved film. `render(..., camera=)` with it
            makes the same picture to the last bit if the proportions are the same.
        denoise: whether the picture is denoised; the film keeps its noise.
        overlay: what is drawn over the picture, or None.
        upload: copies a picture to the GPU that rendered it; None of other pictures.
        picked: describes what a pixel shows.
    """

    film: Film
    transparent: bool = False
    timings: dict[str, float] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    threads: int = 0
    settings: ToneSettings = field(default_factory=ToneSettings)
    camera: Camera | None = None
    denoise: bool = False
    overlay: Overlay | None = field(default=None, repr=False, compare=False)
    upload: Callable[[NDArray[np.uint8]], DeviceArray] | None = field(
        default=None, repr=False, compare=False
    )
    picked: Callable[[int, int], SphereInfo | None] | None = field(
        default=None, repr=False, compare=False
    )
    _kept: dict[int, Developed] = field(default_factory=dict, repr=False, compare=False)  # by bits
    _without_noise: Film | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Image: {summarize_film(self.film, self.metadata)}>"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the picture of `to_uint8` for NumPy. Raises ValueError: `copy` is False."""
        if copy is False:
            raise ValueError("a picture is computed from its film: its array is always a copy")
        return np.array(self.to_uint8(), dtype=dtype)

    def tonemap(self, **settings: Any) -> Image:
        """Return the same film with another exposure or curve.

        Args:
            **settings: `exposure`, `tone`, `white`, `dither`, `meter`, `meter_range`, `bloom`, see
                `ToneSettings`; others stay as they are.
        Raises:
            UserError: a setting is invalid.
        """
        return replace(self, settings=replace(self.settings, **settings), _kept={})

    @property
    def shown(self) -> Film:
        """The film that the picture shows: `film`, denoised if `denoise` is set. Raises UserError:
        the denoiser is missing."""
        if not self.denoise:
            return self.film
        if self._without_noise is None:
            from raytracer.film.denoise import denoise_film

            start = time.perf_counter()
            self._without_noise = denoise_film(self.film, self.threads)
            self.timings["denoise"] = time.perf_counter() - start
        return self._without_noise

    @property
    def statistics(self) -> Statistics:
        """Statistics of the film and of the picture that is made from it."""
        return compute_statistics(self._developed(16 if 16 in self._kept else 8)[1], self.settings)

    def record(self) -> dict[str, Any]:
        """Return tone and statistics of the picture as JSON types."""
        return {"tone": asdict(self.settings), "statistics": self.statistics.to_dict()}

    def keep(self, bits: int, pixels: Pixels, histogram: NDArray[np.void]) -> None:
        """Keep a picture and a histogram that the device made of the film with these settings."""
        self._kept[bits] = pixels, histogram

    @cached_property
    def array(self) -> NDArray[np.float32]:
        """The linear picture as float32 (h, w, 4): RGB premultiplied by alpha, and alpha."""
        return self.shown.mean()

    def to_uint8(self) -> NDArray[np.uint8]:
        """Return the picture as uint8 sRGB: (h, w, 3), or (h, w, 4) with a transparent background.

        Alpha is straight, not premultiplied.
        """
        return self._drop_opaque_alpha(self.pixels(8)).astype(np.uint8, copy=False)

    def to_uint16(self) -> NDArray[np.uint16]:
        """Return the picture as uint16 sRGB: (h, w, 3), or (h, w, 4); see `to_uint8`."""
        return self._drop_opaque_alpha(self.pixels(16)).astype(np.uint16, copy=False)

    def pixels(self, bits: int = 8) -> Pixels:
        """Return the picture as uint8 or uint16 (h, w, 4), sRGB, straight alpha; bits: 8 or 16."""
        pixels = self._developed(bits, measured=False)[0]
        return pixels if self.overlay is None else self.overlay.draw_over(pixels)

    def device_array(self) -> DeviceArray:
        """Return the picture in the memory of the GPU that rendered it, for other packages there.

        `torch.from_dlpack(image.device_array())` and `cupy.asarray(image.device_array())` take it
        without a further copy.

        Returns:
            uint8 (h, w, 4), sRGB with straight alpha, as `pixels`; memory of its own, which is
            released when nothing refers to the array.

        Raises:
            BackendError: the picture was not rendered on a GPU.
        """
        if self.upload is None:
            raise BackendError(
                "the picture was not rendered on a GPU of this process: render it with "
                'backend="cuda", or take it from the host with `to_uint8`'
            )
        return self.upload(np.ascontiguousarray(self.pixels(8), np.uint8))

    def pick(self, x: int, y: int) -> SphereInfo | None:
        """Return what the centre of a pixel shows; with a shutter, in its middle.

        The first call loads and builds the scene of the picture again, and traces a ray for each
        pixel; further calls look it up. Other data of all pixels are output variables: `aovs` of
        `render`.

        Args:
            x, y: the pixel of the whole picture, from 0 at the upper left.

        Returns:
            As for `Scene.describe`: number, set, row, position, radius, colour and other values of
            a sphere, capsule, cone or ellipsoid; None of the ground and the background.

        Raises:
            UserError: there is no such pixel; the picture is not of `render`; or its scene or file
                has changed since.
        """
        if self.picked is None:
            raise UserError(
                "pick: the scene of this picture is unknown: only pictures that `raytracer.render` "
                "returned in this process can be picked"
            )
        x, y = check_whole(x, "x"), check_whole(y, "y")
        x0, y0, x1, y1 = self.film.crop
        if not (x0 <= x < x1 and y0 <= y < y1):
            raise UserError(
                f"pick: the picture has no pixel {x},{y}: it has {x0},{y0} to {x1 - 1},{y1 - 1}"
            )
        return self.picked(x, y)

    @overload
    def save(
        self, path: str | Path, bits: int = 8, *, quality: int | None = None,
        format: str | None = None,
    ) -> Path: ...  # fmt: skip

    @overload
    def save(
        self, path: BinaryIO, bits: int = 8, *, quality: int | None = None,
        format: str | None = None,
    ) -> None: ...  # fmt: skip

    def save(
        self, path: str | Path | BinaryIO, bits: int = 8, *, quality: int | None = None,
        format: str | None = None,  # noqa: A002 - as in Pillow and matplotlib
    ) -> Path | None:  # fmt: skip
        """Write the picture in the format of its suffix, completely or not at all.

        Args:
            path: the file: `.png`, `.tiff`, `.jpg`, `.webp`, `.avif`; `.svg` or `.pdf` with the
                overlay as vectors; `.exr` for linear light, see `Film.save`. Or a file object that
                takes bytes, as `io.BytesIO()`.
            bits: 8, or 16 in PNG, per channel.
            quality: 1..100, of JPEG (95), WebP (90, 100 is lossless) and AVIF (85).
            format: suffix of the format, as "jpg"; by default that of the file's name, and PNG for
                a file object without a name of a picture.
        Returns:
            The path; None of a file object.
        Raises:
            OutputError: the file cannot be written, or its format cannot hold the picture.
            UserError: another number of bits, or dither with 16.
        """
        check_bits(bits, self.settings)
        kind = None if format is None else formats.format_named(format)
        if callable(getattr(path, "write", None)) and not isinstance(path, (str, Path)):
            data = self._encode(kind or _format_of_stream(path), bits, quality)
            start = time.perf_counter()
            _write_bytes(path, data)
            self.timings["write"] = self.timings.get("write", 0.0) + time.perf_counter() - start
            return None
        target = check_path(path)
        transparent = self.transparent
        kind = formats.check_target(target, bits, quality, transparent=transparent, kind=kind)
        if kind is formats.EXR:
            return self.shown.save(target)
        developed = self._develop_timed(bits)
        start = time.perf_counter()
        with output.replace_file(target) as file:
            self._write(file, *developed, kind, quality)
        self.timings["write"] = time.perf_counter() - start
        return target

    def _encode(self, kind: formats.PictureFormat, bits: int, quality: int | None) -> bytes:
        """Return the picture as the bytes of a file."""
        formats.check_format("path", kind, bits, quality, transparent=self.transparent)
        if kind is formats.EXR:
            from tempfile import TemporaryDirectory

            with TemporaryDirectory() as folder:
                return self.save(Path(folder, "picture.exr")).read_bytes()
        developed = self._develop_timed(bits)
        start, file = time.perf_counter(), io.BytesIO()
        self._write(file, *developed, kind, quality)
        self.timings["write"] = time.perf_counter() - start
        return file.getvalue()

    def _develop_timed(self, bits: int) -> Developed:
        _ = self.shown  # which measures its own time
        start = time.perf_counter()
        developed = self._developed(bits)
        self.timings.setdefault("tone", time.perf_counter() - start)
        return developed

    def _developed(self, bits: int, *, measured: bool = True) -> Developed:
        if bits in self._kept:
            return self._kept[bits]
        return develop(self.shown, self.settings, bits, self.threads, measured=measured)

    def _drop_opaque_alpha(self, pixels: Pixels) -> Pixels:
        """Return the channels of the file: no alpha if the background is opaque."""
        return pixels if self.transparent else pixels[..., :3]

    def _write(
        self, file: BinaryIO, pixels: Pixels, histogram: NDArray[np.void],
        kind: formats.PictureFormat = formats.PNG, quality: int | None = None,
    ) -> None:  # fmt: skip
        stages = {k: v for k, v in self.timings.items() if k not in ("write", "total")}
        timings = stages | {"total_before_write": sum(stages.values())}
        statistics = compute_statistics(histogram, self.settings).to_dict()
        del statistics["bins"]  # many numbers, and Film.statistics() has them
        if statistics["non_finite"] and (found := non_finite_pixels(self.film)):
            count, (x, y) = found
            warn(
                f"{count:,} pixels are NaN or infinite, the first of them {x},{y}; statistics "
                f"leave them out: replay it with --only {x},{y},SAMPLE"
            )
        about = self.metadata | {"tone": asdict(self.settings), "statistics": statistics}
        if self.denoise:
            about["denoised"] = True
        software, description = f"raytracer {__version__}", json.dumps(about | {"timings": timings})
        if kind in (formats.SVG, formats.PDF):
            from raytracer.drawing.overlay import Overlay
            from raytracer.drawing.shapes import pixels_per_point

            size = self.film.width, self.film.height
            blank = Overlay([], self.film.crop, pixels_per_point(*size, self.dpi))
            overlay = self.overlay or blank
            overlay.write(
                file, self._drop_opaque_alpha(overlay.draw_shading(pixels)), kind.name, description
            )
            return
        if self.overlay is not None:
            pixels = self.overlay.draw_over(pixels)
        pixels = self._drop_opaque_alpha(pixels)
        if kind is formats.PNG:
            text = {"Software": software, png.KEY: description}
            png.write(file, pixels, text, self.threads, self.dpi)
            return
        texts = {formats.DESCRIPTION: description, formats.SOFTWARE: software}
        formats.write(file, pixels, kind, texts, quality or kind.quality, self.dpi)

    @property
    def dpi(self) -> float | None:
        """Resolution that the file states, in pixels per inch, or None.

        It is that of the settings. With annotations and none in the settings, it is the resolution
        at which their letters have the stated size in points.
        """
        dpi: float | None = self.metadata.get("settings", {}).get("dpi")
        if dpi is None and self.overlay is not None:
            from raytracer.drawing.shapes import POINTS

            return self.overlay.point * POINTS
        return dpi

    def _repr_png_(self) -> bytes:
        return self._encode(formats.PNG, 8, None)

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process gets: all but the scene to pick in, and the GPU's memory."""
        state = self.__dict__ | {"upload": None, "picked": None}
        state.pop("array", None)  # computed again where it is used
        return state

    def __copy__(self) -> Image:
        return replace(self)


def _format_of_stream(file: Any) -> formats.PictureFormat:
    """Return the format that the name of a file object states; PNG if it states none."""
    name = getattr(file, "name", None)
    suffix = Path(name).suffix.lower() if isinstance(name, str) else ""
    return formats.SUFFIXES.get(suffix, formats.PNG)


def _write_bytes(file: Any, data: bytes) -> None:
    """Write to a file object of the caller. Raises OutputError: it takes no bytes, or is full."""
    try:
        file.write(data)
    except OSError as error:
        raise WriteError(f"path: cannot be written ({error.strerror or error})") from error
    except (TypeError, ValueError) as error:  # of text, or closed
        raise OutputError(
            f"path: {quote_value(file)} takes no bytes ({error}): open the file with mode 'wb', or "
            "give io.BytesIO()"
        ) from error
