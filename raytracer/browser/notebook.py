"""`raytracer.show`: an interactive view in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.arguments import whole
from raytracer.errors import UserError

if TYPE_CHECKING:
    from raytracer.browser.widget import SceneWidget

HEIGHTS = (100, 4000)  # limits of the height of a view, in CSS pixels


def show(scene: object, *, height: int = 480, **settings: Any) -> SceneWidget:
    """Return an interactive view of a scene, which a notebook shows as the result of a cell.

    Args:
        scene: a Scene, the path of a scene or particle file, or an object with particles.
        height: of the view in CSS pixels; it is as wide as the cell.
        settings: of `raytracer.preview` for the content: `frame`, `backend`, `threads`, `tone`,
            `annotations`, `watch`, `samples`, `look`, `color_by` and others.

    Returns:
        The widget; its `do` performs an action from another cell, and `close` ends it.

    Raises:
        UserError: the scene or a setting is wrong, or the extra `notebook` is missing.
        TypeError: there is no such setting.
    """
    least, most = HEIGHTS
    if not least <= whole(height, "height", error=UserError) <= most:
        raise UserError(f"height {height}: give one from {least} to {most} pixels")
    try:
        import anywidget  # noqa: F401
    except ImportError:
        raise UserError("show: needs anywidget: pip install 'raytracer[notebook]'") from None
    from raytracer.browser.host import opener
    from raytracer.browser.widget import SceneWidget

    return SceneWidget(opener("show", scene, settings | {"height": height}), height)
