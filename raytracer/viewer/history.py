"""History: undo and redo of what a user did to camera, light, tone and content."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from raytracer.viewer.actions import action

if TYPE_CHECKING:
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.scene.packing.render_space import Space
    from raytracer.viewer.content import Content
    from raytracer.viewer.edits import Edits
    from raytracer.viewer.view import View
    from raytracer.viewer.viewer import Viewer

MOST_STEPS = 200
"""Most steps that can be undone."""

SAME_SECONDS = 0.7
"""Seconds within which repetitions of an action, as of a drag, count as one step."""


@dataclass(frozen=True, eq=False)
class Step:
    """A state to return to.

    Args:
        view: the camera.
        space: the render space of the camera.
        edits: of the scene.
        tone: exposure and curve.
        content: what is shown; of another frame, that is not returned to.
    """

    view: View
    space: Space
    edits: Edits
    tone: ToneSettings
    content: Content


class History:
    """The steps before and after the current state.

    Args:
        viewer: whose state it is.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._before: list[Step] = []
        self._after: list[Step] = []
        self._latest = "", 0.0  # name of the latest action, and when it was repeated

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to do again."""
        return bool(self._after)

    def record(self, name: str) -> None:
        """Keep the current state before an action, unless the action continues the one before."""
        now, (before, when) = perf_counter(), self._latest
        self._latest = name, now
        if name == before and now - when < SAME_SECONDS:
            return
        self._before = [*self._before[1 - MOST_STEPS :], self._step()]
        self._after = []

    @action()
    def undo(self) -> None:
        """Undo the latest change of camera, light, tone, colours or selection."""
        if not self._before:
            self._viewer.notify("there is nothing to undo")
            return
        self._after.append(self._step())
        self._return_to(self._before.pop())
        self._viewer.notify("undone")

    @action()
    def redo(self) -> None:
        """Do again what was undone."""
        if not self._after:
            self._viewer.notify("there is nothing to redo")
            return
        self._before.append(self._step())
        self._return_to(self._after.pop())
        self._viewer.notify("done again")

    def _step(self) -> Step:
        viewer = self._viewer
        return Step(viewer.view, viewer.space, viewer.edits, viewer.tone, viewer.data.content)

    def _return_to(self, step: Step) -> None:
        self._latest = "", 0.0
        self._viewer.return_to(step.view, step.space, step.edits, step.tone)
        self._viewer.data.return_to(step.content)
