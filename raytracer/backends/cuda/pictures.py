"""Pictures in device memory, and the two ways from there to a window.

With interop the driver lends CUDA a texture of OpenGL's and the copy stays on the device. It needs
cuda-bindings, and a window that the same GPU draws. By way of a pixel-buffer object
OpenGL would copy once more, and some cards are slow at that: 0.7 ms of a 4K frame on an H200.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda.driver import call, get_primary_context
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.transfer import NON_BLOCKING, get_staging
from raytracer.config.errors import RaytracerError
from raytracer.system.cuda_driver import order_streams
from raytracer.system.device_array import DeviceArray, packed_strides

CHANNELS = 4  # bytes a pixel
GL_TEXTURE_2D = 0x0DE1  # OpenGL's number for the kind of a texture


class DevicePicture:
    """An RGBA picture, uint8, row 0 on top, in memory that grows as needed.

    reader: handle of the stream that reads the pictures to come, which waits for each of them. The
    next one waits for this stream, and for the one that read the last one, which must be alive
    until then. None: the host waits for each.
    """

    def __init__(self, number: int) -> None:
        """Allocate nothing yet. number: of the GPU."""
        self.size = 0, 0
        self.reader: int | None = None
        self._last_reader: int | None = None
        self._writer: int | None = None
        self._number = number
        self._context = get_primary_context(number)
        self._memory = DeviceMemory(self._context)

    @property
    def address(self) -> int:
        """Address on the device; 0 before the first picture."""
        return self._memory.address("picture")

    def resize(self, width: int, height: int) -> int:
        """Allocate memory for a picture and return its address; the context must be active."""
        self.size, nbytes = (width, height), width * height * CHANNELS
        if nbytes > self._memory.size("picture"):
            self._memory.allocate("picture", nbytes)
        return self.address

    @contextmanager
    def write_on(self, stream: Any) -> Iterator[None]:
        """Queue a picture on a stream in the block, in the order of its readers."""
        handle = int(stream.handle)
        for reader in {self._last_reader, self.reader}:
            if reader is not None:
                order_streams(handle, reader, self._number)
        yield
        if self.reader is None:
            stream.synchronize()
        else:
            order_streams(self.reader, handle, self._number)
        self._last_reader = self.reader
        self._writer = None if self.reader is None else handle

    def array(self) -> DeviceArray:
        """Return the picture as an array, uint8 (h, w, 4); the next picture is in its memory."""
        shape = self.size[1], self.size[0], CHANNELS
        strides, dtype = packed_strides(shape, 1), np.dtype(np.uint8)
        return DeviceArray(self.address, shape, strides, dtype, self._number, self._writer, self)

    def to_host(self) -> NDArray[np.uint8]:
        width, height = self.size
        with self._context.lock, self._context.activate():
            return get_staging(self._number).fetch(
                self.address, (height, width, CHANNELS), np.uint8
            )

    def close(self) -> None:
        self._memory.close()


class Interop:
    """Copies device pictures into a texture. The window's context must be current."""

    def __init__(self, texture: int, ordinal: int = 0) -> None:
        """Register a texture, RGBA8, by OpenGL's name; its size must not change. Raises ImportError
        without cuda-bindings, BackendError if for instance another GPU draws the window."""
        from cuda.bindings import driver as cu

        self._cu: Any = cu
        flags = cu.CUgraphicsRegisterFlags.CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD
        self._context = get_primary_context(ordinal)
        with self._context.activate() as driver:
            self._stream: Any = driver.Stream(NON_BLOCKING)
            kind = texture, GL_TEXTURE_2D, int(flags)
            self._resource = call("cuGraphicsGLRegisterImage", *kind)

    def copy(self, picture: DevicePicture) -> None:
        """Queue the copy of a picture of the texture's size; what OpenGL does with the texture
        afterwards waits for it."""
        cu, (width, height), stream = self._cu, picture.size, self._stream.handle
        copy = cu.CUDA_MEMCPY2D()
        copy.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy.srcDevice, copy.srcPitch = cu.CUdeviceptr(picture.address), CHANNELS * width
        copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_ARRAY
        copy.WidthInBytes, copy.Height = CHANNELS * width, height
        with self._context.activate():
            call("cuGraphicsMapResources", 1, self._resource, stream)
            try:
                array = call("cuGraphicsSubResourceGetMappedArray", self._resource, 0, 0)
                copy.dstArray = array
                call("cuMemcpy2DAsync", copy, stream)
            finally:
                call("cuGraphicsUnmapResources", 1, self._resource, stream)

    def close(self) -> None:
        """Unregister the texture, before OpenGL deletes or resizes it."""
        with suppress(RaytracerError), self._context.activate():
            self._stream = None
            call("cuGraphicsUnregisterResource", self._resource)
