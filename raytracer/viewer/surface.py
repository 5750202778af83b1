"""A pyglet window with a canvas that opens and closes completely."""

from __future__ import annotations

from typing import Any

import pyglet
from pyglet import gl

from raytracer.viewer.canvas import Canvas, require_room


class Surface(pyglet.window.Window):  # type: ignore[misc]
    """A pyglet window with a canvas; if opening fails, nothing stays open."""

    def __init__(self, size: tuple[int, int], title: str, config: Any, offscreen: bool) -> None:
        # pyglet stops queueing events when its loop first runs, but a window cannot handle events
        # before it is complete: the second window of a process would fail.
        type(self)._enable_event_queue = True
        try:
            super().__init__(
                *size, caption=title, config=config, resizable=True, vsync=not offscreen,
                file_drops=not offscreen,
            )  # fmt: skip
            require_room(self.get_framebuffer_size())
            self.picture_canvas = Canvas()  # pyglet has a `canvas` of its own
        except BaseException:
            self.close()
            raise

    def take_events(self) -> None:
        """Handle events immediately, and draw text in pixels."""
        self._use_pixels()
        type(self)._enable_event_queue = False

    def _use_pixels(self) -> None:
        """Draw text in pixels, even if the window's size is in points."""
        width, height = self.get_framebuffer_size()
        self.projection = pyglet.math.Mat4.orthogonal_projection(0, width, 0, height, -1, 1)

    def close(self) -> None:
        """Close it; may be called twice, or after a device was lost."""
        if self.context is None:
            return
        surface = getattr(self, "_egl_surface", None)
        try:
            super().close()
        except gl.GLException:  # a lost device cannot be flushed
            self.context.canvas = None
            pyglet.app.windows.add(self)  # pyglet has removed it on some systems
            super().close()
        if surface:  # pyglet does not destroy that of an offscreen window
            from pyglet.libs.egl import egl

            egl.eglDestroySurface(self._egl_display_connection, surface)
            self._egl_surface = None
