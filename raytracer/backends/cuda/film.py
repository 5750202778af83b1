"""A film in the memory of one GPU, which owns its sums."""

from collections.abc import Iterator
from itertools import chain
from math import prod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import Bands, DeviceFilm, DeviceScene, ProgressCall
from raytracer.backends.cuda import launch
from raytracer.backends.cuda.driver import connect, get_primary_context
from raytracer.backends.cuda.kernel import RenderKernel
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.pictures import DevicePicture
from raytracer.backends.cuda.scene import CudaScene, make_tiles
from raytracer.backends.cuda.tone import tone_kernels
from raytracer.backends.cuda.transfer import get_staging
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import Developed, Film, empty_histogram, with_bloom
from raytracer.packing.view import View
from raytracer.system.cuda_driver import order_streams
from raytracer.system.device_array import DeviceArray, packed_strides
from raytracer.system.layout import draft_shape


class CudaFilm(DeviceFilm):
    """Sums in the memory of a GPU; `to_host` copies them."""

    def __init__(self, number: int, host: Film) -> None:
        """Take a film over; memory is allocated later. number: of the device."""
        super().__init__(host)
        self._number = number
        self._context = get_primary_context(number)
        self._memory = DeviceMemory(self._context)
        self._is_here = host.samples > 0  # whether the sums of the host are up to date
        self._is_there = False  # whether those of the GPU are; where neither are, they are zero
        self._reader: int | None = None  # of the last `copy_sums`

    def _accumulate(
        self, scene: DeviceScene, view: View, progress: ProgressCall | None, bands: Bands | None
    ) -> float:
        """Add the view's samples launch by launch. After an error the film has the sums of the
        host, or none if those are older."""
        if not isinstance(scene, CudaScene) or scene.number != self._number:
            raise TypeError(f"a film of GPU {self._number} takes scenes of that GPU alone")
        scene.check(view)
        with self._context.lock, self._context.activate():
            scene.settle()
            kernel = scene.find_kernel(view)
            scene.fill(kernel, view)
            sums = self._upload_sums()
            try:
                draft, picture = (
                    self._allocate_planes() if view.draft else 0,
                    make_tiles(view, bands),
                )
                arguments = scene.make_arguments(view, picture, sums)
                arguments["draft"] = draft
                seconds = _launch_all(kernel, arguments, picture, scene.pacer, progress)
                if draft:
                    height, width = self.host.sums.shape[:2]
                    tone_kernels(self._number).denoise_draft(sums, draft, width, height)
            except BaseException:
                self._discard_sums()
                raise
            self._is_here, self._is_there = False, True
        return seconds

    def _iterate_rows(self, bands: Bands | None) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the offset in bytes and the sums on the host of some rows, or of all."""
        row = self.host.sums[0].nbytes
        for begin, end in bands or [(0, len(self.host.sums))]:
            yield begin * row, self.host.sums[begin:end]

    def _allocate_zeros(self, name: str, words: int) -> int:
        """Allocate memory, fill it with zeros, and return its address; the context is active."""
        address = self._memory.allocate(name, 4 * words)
        stream = get_staging(self._number).stream
        self._context.driver.memset_d32_async(address, 0, words, stream)
        return address

    def _upload_sums(self) -> int:
        """Return the address of the sums, up to date; the context is active."""
        sums = self._memory.allocate("sums", int(self.host.sums.nbytes))
        if self._is_here and not self._is_there:
            get_staging(self._number).to_device(self.host.sums, sums)
        elif not self._is_there:
            self._allocate_zeros("sums", self.host.sums.size)
        self._is_there = True
        return sums

    def _allocate_planes(self) -> int:
        """Return the address of what a draft keeps of its surfaces; zero at first."""
        words = prod(draft_shape(*self.host.sums.shape[:2]))
        return self._memory.address("draft") or self._allocate_zeros("draft", words)

    def _discard_sums(self) -> None:
        """Discard the device's sums, to which a part of the samples was added."""
        if not self._is_here:
            self.clear()
        self._is_there = False

    def to_host(self, bands: Bands | None = None) -> Film:
        if not (self._is_here or self._is_there):
            self.host.sums.fill(0.0)
        elif not self._is_here:
            with self._context.lock, self._context.activate():
                for offset, rows in self._iterate_rows(bands):
                    get_staging(self._number).to_host(self._memory.address("sums") + offset, rows)
            self._is_here = bands is None
        return self.host

    def copy_rows(self, other: Self, bands: Bands) -> None:
        """Copy rows of a film of the same size from the memory of another GPU, directly where the
        hardware can."""
        source = other._memory.address("sums")
        connect(self._number, other._number)
        with self._context.lock, self._context.activate() as driver:
            sums, stream = self._upload_sums(), get_staging(self._number).stream
            for offset, rows in self._iterate_rows(bands):
                driver.memcpy_dtod_async(sums + offset, source + offset, rows.nbytes, stream)
            stream.synchronize()
        self._is_here = False

    def develop(self, settings: ToneSettings, bits: int = 8, *, measured: bool = True) -> Developed:
        """Develop on the device; bloom, and pixels with their own numbers of samples, need the
        host."""
        if settings.bloom or self.host.counts is not None:
            return super().develop(settings, bits, measured=measured)
        shape, dtype = self.host.sums.shape, np.uint8 if bits == 8 else np.uint16
        with self._context.lock, self._context.activate():
            out = self._memory.allocate("picture", prod(shape) * np.dtype(dtype).itemsize)
            kernels, sums = tone_kernels(self._number), self._upload_sums()
            kernels.develop(self.host, sums, settings, out, bits=bits, statistics=measured)
            pixels = get_staging(self._number).fetch(out, shape, dtype)
            return pixels, kernels.read_histogram() if measured else empty_histogram()

    def develop_into(self, settings: ToneSettings, picture: DevicePicture) -> None:
        """Measure if the exposure is automatic, and develop. If the picture has a reader, its
        stream waits, and this call does not."""
        if settings.bloom or self.host.counts is not None:
            bright, settings = with_bloom(self.to_host(), settings)
            with CudaFilm(self._number, bright) as film:
                film.develop_into(settings, picture)
            return
        height, width = self.host.sums.shape[:2]
        with self._context.lock, self._context.activate():
            address = picture.resize(width, height)
            with picture.write_on(get_staging(self._number).stream):
                kernels, sums = tone_kernels(self._number), self._upload_sums()
                weight = self._neighbor_weight
                kernels.develop(self.host, sums, settings, address, neighbor_weight=weight)

    def copy_sums(self, reader: int) -> DeviceArray:
        shape = self.host.sums.shape
        with self._context.lock, self._context.activate() as driver:
            stream, sums = get_staging(self._number).stream, self._upload_sums()
            handle, size = int(stream.handle), int(self.host.sums.nbytes)
            if self._reader is not None:
                order_streams(handle, self._reader, self._number)
            address = self._memory.allocate("copy", size)
            driver.memcpy_dtod_async(address, sums, size, stream)
            order_streams(reader, handle, self._number)
        self._reader = reader
        strides, dtype = packed_strides(shape, 4), np.dtype(np.float32)
        return DeviceArray(address, shape, strides, dtype, self._number, handle, self)

    def clear(self) -> None:
        """Remove all samples; the sums of the host stay as they are until `to_host`."""
        self._is_here = self._is_there = False
        self.host.samples, self.host.counts = 0, None

    def restore(self, sums: NDArray[np.float32]) -> None:
        """Replace the sums of the host; they are copied to the device when they are needed."""
        super().restore(sums)
        self._is_here, self._is_there = True, False

    def close(self) -> None:
        self._discard_sums()
        self._memory.close()


def _launch_all(
    kernel: RenderKernel, arguments: NDArray[np.void], picture: launch.PictureTiles,
    pacer: launch.Pacer, progress: ProgressCall | None,
) -> float:  # fmt: skip
    """Render a picture launch by launch, or bands of it side by side; return the seconds. Python
    takes signals between."""
    seconds, done, total = 0.0, 0, picture.tiles * picture.sample_count
    for group in launch.iterate_launches(picture, pacer):
        taken = kernel.render(arguments, group)
        work = sum(piece.tiles * piece.sample_count for piece in chain.from_iterable(group))
        pacer.record(work * picture.tile_pixels // picture.length, taken / picture.length)
        seconds += taken
        done += work
        if progress is not None:
            progress(done / total)
    return seconds
