"""What the window draws on: opened entirely or not at all, and closed entirely."""

from __future__ import annotations

from typing import Any

import pyglet
from pyglet import gl

from raytracer.viewer.canvas import Canvas, require_room


class Surface(pyglet.window.Window):  # type: ignore[misc]
    """A window of pyglet with a canvas."""

    def __init__(self, size: tuple[int, int], title: str, config: Any, offscreen: bool) -> None:
        """Open it; where that fails, nothing stays open.

        offscreen: without a display, and without waiting for one's refresh.
        Raises DisplayError if it is too large, and what pyglet raises.
        """
        # pyglet stops queueing events when its loop first runs, but a window that is being made
        # cannot take any yet: the second one of a process would fail.
        type(self)._enable_event_queue = True
        try:
            super().__init__(
                *size, caption=title, config=config, resizable=True, vsync=not offscreen
            )  # fmt: skip
            require_room(self.get_framebuffer_size())
            self.canvas = Canvas()
        except BaseException:
            self.close()
            raise

    def take_events(self) -> None:
        """Have events handled as they come, and text drawn in pixels."""
        self._use_pixels()
        type(self)._enable_event_queue = False

    def _use_pixels(self) -> None:
        """Draw text in pixels, also where the window's size is in points."""
        width, height = self.get_framebuffer_size()
        self.projection = pyglet.math.Mat4.orthogonal_projection(0, width, 0, height, -1, 1)

    def close(self) -> None:
        """Close it; may be called twice, and when the device is lost."""
        if self.context is None:
            return
        surface = getattr(self, "_egl_surface", None)
        try:
            super().close()
        except gl.GLException:  # a lost device cannot even flush
            self.context.canvas = None
            pyglet.app.windows.add(self)  # from which it was taken, on some systems
            super().close()
        if surface:  # pyglet leaves that of an offscreen window
            from pyglet.libs.egl import egl

            egl.eglDestroySurface(self._egl_display_connection, surface)
            self._egl_surface = None
