"""Opening of a session for a page or a notebook, with the settings of `raytracer.preview`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from raytracer.errors import shown, suggestion
from raytracer.fields import definitions, taken_by
from raytracer.viewer.session import Session

START_SIZE = (800, 600)
"""Width and height of the first picture, until a page tells its own."""

OWN = {"size", "wake", "say"}
"""Arguments of a session that are no settings of the user."""


def opener(
    name: str, scene: object, settings: Mapping[str, Any]
) -> Callable[[Callable[[], None]], Session]:
    """Return what opens a session; its argument is the function that the render thread calls."""
    from raytracer.viewer.session import Session

    known = {*(vars(Session)["open"].__func__.__kwdefaults__ or ()), "width", "height"} - OWN
    for kind in taken_by(Session.open):
        known |= {*definitions(kind)}
    for given in settings:
        if given not in known:
            raise TypeError(
                f"{name}() got an unexpected keyword argument '{shown(given)}'; "
                f"{suggestion(given, sorted(known))}"
            )
    rest = dict(settings)
    sides = [rest.pop(name, None) for name in ("width", "height")]
    size: Any = tuple(
        start if side is None else side for side, start in zip(sides, START_SIZE, strict=True)
    )

    def open_session(wake: Callable[[], None]) -> Session:
        return Session.open(scene, size=size, wake=wake, say=_ignore, **rest)

    return open_session


def _ignore(_: str) -> None:
    """Print nothing: what the session says is shown in the page."""
