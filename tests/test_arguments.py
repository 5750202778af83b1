"""Arguments of the Python interface whose types do not keep to what types promise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from fuzz.arguments import arrays_of, lying, odd_class, raising
from raytracer import Camera, Material, RenderSettings, Scene, SphereSet, ToneSettings, UserError
from raytracer.arguments import is_a, plain

BALL = SphereSet([[0, 0, 0]], 1.0)


@pytest.mark.parametrize(
    "value",
    ["red", "", 3, True, -(2**70), 0.5, [1, [2]], (1, 2), {"a": 1}],
)
def test_values_of_subclasses_become_those_of_their_base(value: Any) -> None:
    kind = type(value)
    assert plain(value) is value
    if kind is not bool:  # of which there is no subclass
        assert (type(plain(raising(kind)(value))), plain(raising(kind)(value))) == (kind, value)


def test_what_a_value_says_of_its_class_does_not_count() -> None:
    assert not is_a(lying(str), str)
    assert not is_a(odd_class(), str)
    assert is_a(raising(str)("a"), str)


def test_texts_and_numbers_of_subclasses_that_raise_are_used() -> None:
    text, number = raising(str), raising(int)
    assert Camera(type=text("perspective")).type == "perspective"
    assert RenderSettings(width=number(7), filter=text("tent")).width == 7
    assert ToneSettings(tone=text("agx"), exposure=text("auto")).automatic
    assert SphereSet([[0, 0, 0]], raising(float)(2.0), text("red")).radius == 2.0
    named = raising(str, "__str__", "__repr__", "__format__")("m")
    scene = Scene(raising(list)([BALL]), title=text("a"), materials={named: Material()})
    assert (scene.title, scene.count, list(scene.materials)) == ("a", 1, ["m"])
    assert SphereSet([[0, 0, 0], [1, 0, 0]], 1.0, [text("red"), text("red")]).color.shape == (1, 3)


def endless(count: int) -> Any:
    """A sequence that says so many items and has one for each number."""
    methods = {"__len__": lambda _: count, "__getitem__": lambda _, n: float(n + 1)}
    return type("Endless", (), methods)()


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("camera.type", lambda: Camera(type=raising(str)("fisheye"))),
    ("camera.type", lambda: Camera(type=lying(str))),
    ("camera.position", lambda: Camera(position=odd_class())),
    ("render.width", lambda: RenderSettings(width=raising(int)(-1))),
    ("render.width", lambda: RenderSettings(width=lying(int))),
    ("render.width", lambda: RenderSettings(width=raising(float)(2.0))),
    ("render.filter", lambda: RenderSettings(filter=raising(str)("fir"))),
    ("material.mirror", lambda: Material(mirror=raising(float)(2.0))),
    ("material.mirror", lambda: Material(mirror=lying(float))),
    ("title", lambda: Scene([BALL], title=lying(str))),
    ("spheres", lambda: Scene([lying(SphereSet)])),
    ("spheres", lambda: Scene(lying(list))),
    ("materials", lambda: Scene([BALL], materials=lying(dict))),
    ("materials", lambda: Scene([BALL], materials={odd_class(): Material()})),
    ("color", lambda: SphereSet([[0, 0, 0]], 1.0, raising(str)("rde"))),
    ("color", lambda: SphereSet([[0, 0, 0]], 1.0, odd_class())),
    ("color", lambda: SphereSet([[0, 0, 0]], 1.0, arrays_of(RuntimeError()))),
    ("centers", lambda: SphereSet(arrays_of("text"), 1.0)),
    ("centers", lambda: SphereSet(arrays_of(None), 1.0)),
    ("radius", lambda: SphereSet([[0, 0, 0]], arrays_of(ValueError()))),
    ("radius", lambda: SphereSet([[0, 0, 0]], endless(2**62))),
    ("radius", lambda: SphereSet([[0, 0, 0]], endless(5))),
    ("centers", lambda: SphereSet(endless(-1))),
    ("scene", lambda: raytracer.render(odd_class())),
    ("scene", lambda: raytracer.render(lying(Scene))),
    ("path", lambda: raytracer.load(lying(type(Path())))),
    ("path", lambda: raytracer.load(type("P", (), {"__fspath__": lambda _: 1 // 0})())),
    ("threads", lambda: raytracer.render(Scene([BALL]), threads=odd_class())),
]


@pytest.mark.parametrize("index", range(len(REFUSED)))
def test_what_is_refused_is_named(index: int) -> None:
    name, call = REFUSED[index]
    with pytest.raises(UserError) as caught:
        call()
    assert str(caught.value).startswith(f"{name}: ")
    assert str(caught.value).isprintable()


def test_an_array_of_a_subclass_that_raises_is_read_as_an_array() -> None:
    points: Any = np.eye(3).view(raising(np.ndarray))
    assert SphereSet(points, np.ones(3).view(raising(np.ndarray)), points).count == 3


def test_a_path_of_a_subclass_that_raises_is_a_path(tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    np.save(file, np.eye(3))
    assert raytracer.load(raising(str)(str(file))).count == 3
    with pytest.raises(UserError, match=r"none\.npy: there is no such file"):
        raytracer.load(raising(str, "__str__", "__repr__")(str(tmp_path / "none.npy")))
