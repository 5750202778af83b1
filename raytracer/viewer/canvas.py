"""Canvas: a texture that covers the window.

Row 0 of a picture is its top and row 0 of a window its bottom, so pictures are drawn upside down. A
picture of the window's size is drawn pixel by pixel, a smaller one is interpolated.
"""

from ctypes import c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglet import gl, image
from pyglet.image.buffer import Framebuffer

from raytracer.config.errors import DisplayError

Size = tuple[int, int]

SOFTWARE = ("llvmpipe", "softpipe", "SwiftShader")  # names of OpenGL renderers that run on the CPU
EMPTY, PAPER = (0.13, 0.14, 0.16, 1.0), (0.7, 0.7, 0.7, 1.0)  # colours without, and under pictures


class Canvas:
    """A texture that covers the window; the window's context must be current."""

    def __init__(self) -> None:
        self.opaque = True  # whether the picture's alpha may be ignored
        self.software = any(name in str(gl.gl_info.get_renderer()) for name in SOFTWARE)
        self._image: Any = None  # the texture
        self._source = Framebuffer(gl.GL_READ_FRAMEBUFFER)

    @property
    def texture(self) -> int:
        """OpenGL's name of the texture."""
        return int(self._image.id)

    def allocate(self, size: Size) -> None:
        """Resize the texture; a new size clears it. Raises DisplayError without room."""
        if self._image is None or size != (self._image.width, self._image.height):
            self._image = None
            try:
                self._image = image.Texture.create(
                    *size, min_filter=gl.GL_LINEAR, mag_filter=gl.GL_LINEAR, blank_data=False
                )
            except gl.GLException as error:
                raise DisplayError(f"OpenGL: {error}: make the window smaller") from error
            self._source.attach_texture(self._image, gl.GL_READ_FRAMEBUFFER)

    def fill(self, pixels: NDArray[np.uint8]) -> None:
        """Upload pixels, uint8 (h, w, 4), C-contiguous, straight alpha."""
        height, width = pixels.shape[:2]
        self.allocate((width, height))
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._image.id)
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 4)
        gl.glTexSubImage2D(
            gl.GL_TEXTURE_2D, 0, 0, 0, width, height, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE,
            c_void_p(pixels.ctypes.data),
        )  # fmt: skip

    def draw(self, window: Size) -> None:
        """Draw the picture over the window, or dark gray without one."""
        gl.glViewport(0, 0, *window)
        if self._image is None or not self.opaque:
            gl.glClearColor(*(EMPTY if self._image is None else PAPER))
            gl.glClear(gl.GL_COLOR_BUFFER_BIT)
        if self._image is None:
            return
        (width, height), shown = window, (self._image.width, self._image.height)
        if not self.opaque:
            gl.glEnable(gl.GL_BLEND)
            gl.glBlendFunc(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA)
            self._image.blit(0, height, width=width, height=-height)
            return
        smooth = gl.GL_NEAREST if shown == window else gl.GL_LINEAR
        self._source.bind()  # a copy takes half the time of a shader
        gl.glBlitFramebuffer(0, 0, *shown, 0, height, width, 0, gl.GL_COLOR_BUFFER_BIT, smooth)
        self._source.unbind()

    def read(self) -> NDArray[np.uint8]:
        """Return the drawn pixels before the buffers are swapped, uint8 (h, w, 3), row 0 on top."""
        drawn: Any = image.get_buffer_manager().get_color_buffer()
        drawn = drawn.get_image_data()
        rows = np.frombuffer(drawn.get_data("RGB", 3 * drawn.width), np.uint8)
        return np.ascontiguousarray(rows.reshape(drawn.height, drawn.width, 3)[::-1])


def fence(seconds: float = 10.0) -> None:
    """Wait until OpenGL has finished its commands, at most for so many seconds."""
    mark: Any = gl.glFenceSync(gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
    gl.glClientWaitSync(mark, gl.GL_SYNC_FLUSH_COMMANDS_BIT, int(seconds * 1e9))
    gl.glDeleteSync(mark)
