"""Opening of a session for a page or a notebook, with the settings of `raytracer.preview`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from raytracer.errors import shown, suggestion
from raytracer.fields import definitions, taken_by
from raytracer.viewer.options import ViewOptions
from raytracer.viewer.session import Session

START_SIZE = {"width": 800, "height": 600}  # size of the first picture, until a page states its own


def opener(
    name: str, scene: object, settings: Mapping[str, Any]
) -> Callable[[Callable[[], None]], Session]:
    """Return a function that opens a session; its argument is called by the render thread."""
    known = {*vars(ViewOptions)["of"].__func__.__kwdefaults__}
    known.update(*map(definitions, taken_by(ViewOptions.of)))
    for given in settings:
        if given not in known:
            raise TypeError(
                f"{name}() got an unexpected keyword argument '{shown(given)}'; "
                f"{suggestion(given, sorted(known))}"
            )
    stated = {key: value for key, value in settings.items() if value is not None}
    return lambda wake: Session.open(scene, wake=wake, say=lambda _: None, **START_SIZE | stated)
