"""Opening of displays and windows, with an error message for each failure."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from raytracer.errors import DisplayError

if TYPE_CHECKING:
    from raytracer.viewer.window import PreviewWindow

MARGIN = 0.9  # largest fraction of the screen for a new window


def open_display(offscreen: bool) -> Any:
    """Connect to the display and return pyglet's; called before a scene is loaded."""
    import pyglet

    display = sys.modules.get("pyglet.display")
    if display and (display.Display.__name__ == "HeadlessDisplay") != offscreen:
        before, now = ("in a window", "offscreen") if offscreen else ("offscreen", "in a window")
        raise DisplayError(  # pyglet would open a window of the wrong kind
            f"after a preview {before}, this process cannot open one {now}: "
            "start it in a new Python process"
        )
    pyglet.options.shadow_window = False  # headless displays have no second context
    pyglet.options.headless = offscreen
    try:
        import pyglet.display
        import pyglet.window

        return pyglet.display.get_display()
    except ImportError as error:
        need = "libegl1 libgl1" if offscreen else "libgl1 libx11-6"
        why = str(error).rstrip(".")
        raise DisplayError(f"a graphics library is missing ({why}): install {need}") from error
    except Exception as error:  # pyglet's exceptions differ between systems
        where = os.environ.get("DISPLAY")
        why = f"the display {where} does not answer" if where else "there is no display"
        raise DisplayError(
            f"EGL cannot draw without a display here ({error}): install libegl1 and a driver"
            if offscreen
            else f"{why}: start the preview on a desktop, or render a picture with "
            "`raytracer render`"
        ) from error


def open_window(size: tuple[int, int], title: str, offscreen: bool) -> PreviewWindow:
    """Open a window, reduced to fit the screen."""
    display = open_display(offscreen)
    from pyglet import gl
    from pyglet.window import NoSuchConfigException, WindowException

    from raytracer.viewer.window import PreviewWindow

    config = gl.Config(  # type: ignore[abstract]
        double_buffer=True, red_size=8, green_size=8, blue_size=8, alpha_size=8,
        major_version=3, minor_version=3,
    )  # fmt: skip
    try:
        shown = size if offscreen else fitting(size, display.get_default_screen())
        return PreviewWindow(shown, title, config, offscreen)
    except (NoSuchConfigException, WindowException, gl.ContextException, gl.GLException) as error:
        where, instead = ("EGL", "") if offscreen else ("the display", ", or use --offscreen")
        raise DisplayError(
            f"{where} offers no OpenGL 3.3 ({error}): install the graphics driver or Mesa's "
            f"libgl1-mesa-dri{instead}"
        ) from error


def fitting(size: tuple[int, int], screen: Any) -> tuple[int, int]:
    """Return the largest size of a window with the picture's aspect that fits pyglet's screen."""
    factor = min(1.0, MARGIN * screen.width / size[0], MARGIN * screen.height / size[1])
    width, height = (max(int(side * factor), 1) for side in size)
    return width, height
