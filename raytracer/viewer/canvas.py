"""Canvas: a texture that covers the window.

Row 0 of a picture is its top and row 0 of a window its bottom, so pictures are drawn upside down. A
picture of the window's size is drawn pixel by pixel, a smaller one is interpolated.
"""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglet import gl
from pyglet.graphics.shader import Shader, ShaderProgram

from raytracer.errors import DisplayError

Size = tuple[int, int]

SOFTWARE = ("llvmpipe", "softpipe", "SwiftShader")  # names of OpenGL renderers that run on the CPU

_VERTEX = """#version 330 core
void main() {  // one triangle that covers the window
    vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    gl_Position = vec4(corner, 0.0, 1.0);
}
"""

_FRAGMENT = """#version 330 core
uniform sampler2D picture;
uniform vec2 window;
out vec4 color;
void main() {
    vec2 place = vec2(gl_FragCoord.x, window.y - gl_FragCoord.y);
    ivec2 cell = ivec2(place) / 8;
    vec3 paper = vec3((cell.x + cell.y) % 2 == 0 ? 0.8 : 0.6);  // under what is transparent
    ivec2 size = textureSize(picture, 0);
    vec4 pixel = size == ivec2(window) ? texelFetch(picture, ivec2(place), 0)
                                       : texture(picture, place / window);
    color = vec4(mix(paper, pixel.rgb, pixel.a), 1.0);
}
"""


class Canvas:
    """A texture that covers the window; the window's context must be current."""

    def __init__(self) -> None:
        self.size: Size = (0, 0)
        self.opaque = True  # whether the picture's alpha may be ignored
        self.software = any(name in renderer() for name in SOFTWARE)
        self._program = ShaderProgram(Shader(_VERTEX, "vertex"), Shader(_FRAGMENT, "fragment"))
        self._texture, self._empty, self._source = gl.GLuint(), gl.GLuint(), gl.GLuint()
        gl.glGenTextures(1, byref(self._texture))
        gl.glGenFramebuffers(1, byref(self._source))
        gl.glGenVertexArrays(1, byref(self._empty))  # core profiles need one
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._texture)
        for name in (gl.GL_TEXTURE_MIN_FILTER, gl.GL_TEXTURE_MAG_FILTER):
            gl.glTexParameteri(gl.GL_TEXTURE_2D, name, gl.GL_LINEAR)
        for name in (gl.GL_TEXTURE_WRAP_S, gl.GL_TEXTURE_WRAP_T):
            gl.glTexParameteri(gl.GL_TEXTURE_2D, name, gl.GL_CLAMP_TO_EDGE)

    @property
    def texture(self) -> int:
        return int(self._texture.value)

    def allocate(self, size: Size) -> None:
        """Resize the texture; a new size clears it."""
        if size == self.size:
            return
        self.size = 0, 0
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._texture)
        try:
            gl.glTexImage2D(
                gl.GL_TEXTURE_2D, 0, gl.GL_RGBA8, *size, 0, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, None
            )
        except gl.GLException as error:
            width, height = size
            raise DisplayError(
                f"OpenGL ({renderer()}) cannot allocate {width}x{height} pixels ({error}): "
                "make the window smaller, with --width and --height or the mouse"
            ) from error
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, self._source)
        gl.glFramebufferTexture2D(
            gl.GL_READ_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, gl.GL_TEXTURE_2D, self._texture, 0
        )
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, 0)
        self.size = size

    def fill(self, pixels: NDArray[np.uint8]) -> None:
        """Upload pixels, uint8 (h, w, 4), C-contiguous, straight alpha."""
        height, width = pixels.shape[:2]
        self.allocate((width, height))
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._texture)
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 4)
        gl.glTexSubImage2D(
            gl.GL_TEXTURE_2D, 0, 0, 0, width, height, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE,
            c_void_p(pixels.ctypes.data),
        )  # fmt: skip

    def draw(self, window: Size) -> None:
        """Draw the picture over the window, or dark gray without one."""
        gl.glDisable(gl.GL_BLEND)
        gl.glViewport(0, 0, *window)
        if self.size == (0, 0):
            gl.glClearColor(0.13, 0.14, 0.16, 1.0)
            gl.glClear(gl.GL_COLOR_BUFFER_BIT)
        elif self.opaque:
            self._blit(window)
        else:
            self._blend(window)

    def _blit(self, window: Size) -> None:
        """Copy the texture, in half the time of a shader."""
        smooth = gl.GL_LINEAR if self.size != window else gl.GL_NEAREST
        width, height = window
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, self._source)
        gl.glBlitFramebuffer(0, 0, *self.size, 0, height, width, 0, gl.GL_COLOR_BUFFER_BIT, smooth)
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, 0)

    def _blend(self, window: Size) -> None:
        self._program.use()
        self._program["window"] = window
        gl.glActiveTexture(gl.GL_TEXTURE0)
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._texture)
        gl.glBindVertexArray(self._empty)
        gl.glDrawArrays(gl.GL_TRIANGLES, 0, 3)
        gl.glBindVertexArray(0)
        self._program.stop()

    def read(self, window: Size) -> NDArray[np.uint8]:
        """Return the drawn pixels before the buffers are swapped, uint8 (h, w, 3), row 0 on top."""
        width, height = window
        pixels = np.empty((height, width, 4), np.uint8)
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 4)
        target = c_void_p(pixels.ctypes.data)
        gl.glReadPixels(0, 0, width, height, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, target)
        return np.ascontiguousarray(pixels[::-1, :, :3])


def renderer() -> str:
    return str(gl.gl_info.get_renderer())


def fence(seconds: float = 10.0) -> bool:
    """Wait until OpenGL has finished its commands; return whether it has in that time."""
    mark: Any = gl.glFenceSync(gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
    flush = gl.GL_SYNC_FLUSH_COMMANDS_BIT
    answer = gl.glClientWaitSync(mark, flush, int(seconds * 1e9))
    gl.glDeleteSync(mark)
    return bool(answer in (gl.GL_ALREADY_SIGNALED, gl.GL_CONDITION_SATISFIED))
