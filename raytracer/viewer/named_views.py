"""Named views: standard ones, and those that a user keeps."""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING

from raytracer.errors import UserError, shown, suggestion
from raytracer.scene.views import VIEWS, looking
from raytracer.viewer.actions import action
from raytracer.viewer.view import rebased

if TYPE_CHECKING:
    from raytracer.scene.packing.render_space import Space
    from raytracer.viewer.view import View
    from raytracer.viewer.viewer import Viewer

MOST_VIEWS = 100
"""Most views that are kept."""

MOST_LETTERS = 40
"""Longest name of a view."""


class NamedViews:
    """The views of a viewer by name.

    Args:
        viewer: whose views they are.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._kept: dict[str, tuple[View, Space]] = {}

    @property
    def names(self) -> list[str]:
        """Names of the views that were kept."""
        return list(self._kept)

    @action(undo=True)
    def view(self, name: str) -> None:
        """Go to a view: x, -x, y, -y, z, -z, front, back, left, right, top, bottom, iso, or a kept
        one."""
        viewer = self._viewer
        if name in self._kept:
            kept, space = self._kept[name]
            viewer.go_to(rebased(kept, space, viewer.space))
            viewer.notify(f"view {shown(name)}")
        elif name in VIEWS:
            up_x, up_y, up_z = viewer.view.up.tolist()
            towards, _ = looking(name, (up_x, up_y, up_z))
            x, y, z = (-part / hypot(*towards) for part in towards)
            viewer.along(x, y, z)
        elif name.isdigit():
            viewer.notify(f"view {shown(name)} is not kept yet: Ctrl {shown(name)} keeps one")
        else:
            known = [*VIEWS, *self._kept]
            raise UserError(f"there is no view '{shown(name)}'; {suggestion(name, known)}")

    @action()
    def keep_view(self, name: str) -> None:
        """Keep the current view by a name."""
        if not 0 < len(name) <= MOST_LETTERS or name in VIEWS:
            raise UserError(
                f"keep-view: name: '{shown(name)}' is a standard view, empty or too long: choose "
                "another name"
            )
        if len(self._kept) >= MOST_VIEWS and name not in self._kept:
            raise UserError(f"keep-view: {MOST_VIEWS} views are kept: replace one of them")
        self._kept[name] = self._viewer.view, self._viewer.space
        self._viewer.notify(f"view {shown(name)} is kept")
