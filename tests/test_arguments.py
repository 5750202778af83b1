"""Arguments of the Python interface of wrong types and values are refused by their names."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import (
    Camera,
    CapsuleSet,
    Material,
    RenderSettings,
    Scene,
    SphereSet,
    ToneSettings,
    UserError,
)
from raytracer.files.access import path_of
from raytracer.scene.coloring.style import ColorRule

BALL = SphereSet([[0, 0, 0]], 1.0)


class Word(str, Enum):  # noqa: UP042 - `str` of its values is not their text
    """Texts with names."""

    TENT = "tent"
    RED = "red"
    FLAT = "flat"
    SMOOTH = "smooth"
    BY = "by=length"
    FILE = "a.npz"


def test_texts_and_numbers_of_subclasses_are_used() -> None:
    width: Any = np.int16(7)
    settings = RenderSettings(width=width, filter=Word.TENT)
    assert (settings.width, settings.filter, type(settings.filter)) == (7, "tent", str)
    assert ToneSettings(tone=np.str_("agx"), exposure=np.str_("auto")).automatic
    assert SphereSet([[0, 0, 0]], np.float64(2.0), Word.RED).radius == 2.0
    rods = CapsuleSet([[0, 0, 0]], [[1, 0, 0]], 0.1, caps=Word.FLAT, color_change=Word.SMOOTH)
    assert (rods.caps, type(rods.caps), rods.even_colors) == ("flat", str, True)
    assert path_of(Word.FILE) == Path("a.npz")
    assert ColorRule().checked(Word.BY, "color", UserError).color_by == "length"


def arrays_of(result: Any) -> Any:
    """An object that gives something as its array; raises what is an exception."""

    def give(*_: Any, **__: Any) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    return type("Arrays", (), {"__array__": give})()


ORIGIN = [[0, 0, 0]]
UNSHARP = Camera(position=(0, 0, 5), look_at=(0, 0, 0), aperture=0.1, focus=(0, 0, -1e20))

REFUSED: list[tuple[str, Callable[..., Any], dict[str, Any]]] = [
    ("camera.type", Camera, {"type": "fisheye"}),
    ("camera.type", Camera, {"type": 3}),
    ("render.width", RenderSettings, {"width": "7"}),
    ("material.mirror", Material, {"mirror": "0.5"}),
    ("material.mirror", Material, {"mirror": SimpleNamespace(ndim=0)}),  # a dataset of h5py
    ("title", Scene, {"spheres": [BALL], "title": 3}),
    ("spheres", Scene, {"spheres": [Camera()]}),
    ("spheres", Scene, {"spheres": 3}),
    ("materials", Scene, {"spheres": [BALL], "materials": []}),
    ("materials", Scene, {"spheres": [BALL], "materials": {3: Material()}}),
    ("color", SphereSet, {"centers": ORIGIN, "radius": 1.0, "color": "rde"}),
    ("color", SphereSet, {"centers": ORIGIN, "radius": 1.0, "color": object()}),
    ("color", SphereSet, {"centers": ORIGIN, "color": arrays_of(RuntimeError())}),
    ("centers", SphereSet, {"centers": arrays_of("text"), "radius": 1.0}),
    ("centers", SphereSet, {"centers": arrays_of(None), "radius": 1.0}),
    ("radius", SphereSet, {"centers": ORIGIN, "radius": arrays_of(ValueError())}),
    ("scene", raytracer.render, {"scene": object()}),
    ("camera.position", Camera, {"type": "panorama"}),
    ("camera.aperture", Camera, {"type": "orthographic", "fit": True, "aperture": 0.1}),
    ("camera.focus", raytracer.render, {"scene": Scene([BALL], camera=UNSHARP)}),
    ("environment.bottom", raytracer.Environment, {"top": "red"}),
    ("environment", raytracer.Environment, {}),
    ("environment", raytracer.render, {"scene": Scene([BALL]), "environment": "reddish"}),
    ("clip.keep", raytracer.Clip, {}),
    ("clip.keep", raytracer.Clip, {"keep": "x**2 < 1"}),
    ("ground.height", raytracer.render, {"scene": Scene([BALL], ground=raytracer.Ground(1e30))}),
    ("shutter", raytracer.LiveScene, {"scene": Scene([BALL]), "shutter": 0.5}),
    ("opacity", SphereSet, {"centers": ORIGIN, "radius": 1.0, "opacity": 1.5}),
    ("scene", raytracer.render, {"scene": 3}),
    ("path", raytracer.load, {"path": 3}),
    ("threads", raytracer.render, {"scene": Scene([BALL]), "threads": object()}),
]


@pytest.mark.parametrize(("name", "call", "arguments"), REFUSED)
def test_what_is_refused_is_named(
    name: str, call: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    with pytest.raises(UserError) as caught:
        call(**arguments)
    assert str(caught.value).startswith(f"{name}: ")
    assert str(caught.value).isprintable()
