"""Cameras, lights, materials and backgrounds refuse what makes no sense, naming the field."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from raytracer import Background, Camera, DirectionalLight, Material, PointLight
from raytracer.errors import SceneError
from raytracer.scene.scene import Ambient


@pytest.mark.parametrize(
    ("kind", "arguments", "field"),
    [
        (Camera, {"type": "fisheye"}, r"camera\.type"),
        (Camera, {"position": (1, 2)}, r"camera\.position"),
        (Camera, {"position": (1, 2, float("nan"))}, r"camera\.position"),
        (Camera, {"position": (1, 2, 3), "look_at": (1, 2, 3)}, r"camera\.look_at"),
        (Camera, {"position": (0, 5, 0), "look_at": (0, 0, 0)}, r"camera\.up"),
        (Camera, {"fit": "every"}, r"camera\.fit: 'every' is neither"),
        (Camera, {"direction": (0, -1, 0)}, r"camera\.up"),
        (Camera, {"up": (0, 0, 0)}, r"camera\.up"),
        (Camera, {"direction": (0, 0, 0)}, r"camera\.direction"),
        (Camera, {"direction": (0, 0, 1), "position": (1, 1, 1)}, r"camera\.direction"),
        (Camera, {"fit": False}, r"camera\.position"),
        (Camera, {"vertical_fov": 180}, r"camera\.vertical_fov"),
        (Camera, {"vertical_fov": 0}, r"camera\.vertical_fov"),
        (Camera, {"type": "orthographic", "position": (1, 1, 1)}, r"camera\.height"),
        (Camera, {"type": "orthographic", "height": 2}, r"camera\.height"),
        (Camera, {"type": "orthographic", "position": (1, 1, 1), "height": 0}, r"camera\.height"),
        (PointLight, {"position": (0, 0, 0), "color": "whit"}, r"light\.color"),
        (PointLight, {"position": (0, 0, 0), "intensity": -1}, r"light\.intensity"),
        (PointLight, {"position": (0, 0, 0), "falloff": "inverse"}, r"light\.falloff"),
        (PointLight, {"position": "here"}, r"light\.position"),
        (DirectionalLight, {"direction": (0, 0, 0)}, r"light\.direction"),
        (DirectionalLight, {"direction": (0, 0, 1), "intensity": float("inf")}, r"light\.int"),
        (Ambient, {"intensity": "much"}, r"ambient\.intensity"),
        (Material, {"diffuse": 1.5}, r"material\.diffuse"),
        (Material, {"mirror": -0.1}, r"material\.mirror"),
        (Material, {"shininess": 0}, r"material\.shininess"),
        (Background, {"color": "sky"}, r"background\.color"),
        (Background, {"top": "white"}, r"background\.bottom"),
        (Background, {"up": (0, 0, 0)}, r"background\.up: has no length"),
        (Background, {"up": (0, 1)}, r"background\.up"),
        (Background, {"color": "red", "top": "white", "bottom": "red"}, r"background\.color"),
    ],
)
def test_refuses(kind: Any, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(SceneError, match=f"^{field}"):
        kind(**arguments)


def test_fit_is_the_default_without_a_position() -> None:
    assert Camera().fit is True
    assert Camera(position=(0, 0, 1)).fit is False
    assert Camera(position=(0, 0, 1), fit=True).fit is True
    assert Camera(fit="all").fit == "all"
    assert Camera(position=(3, 2, 1), look_at=(1, 1, 1)).backward() == (2.0, 1.0, 0.0)
    assert Camera(direction=(0, 0, 2)).backward() == (0.0, 0.0, 2.0)


def test_background_edges() -> None:
    assert Background().edges() == ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    assert Background(bottom="black", top="red").edges() == ((0, 0, 0), (1, 0, 0))
    assert Background(color="red", transparent=True).edges() == ((0, 0, 0), (0, 0, 0))


class Endless:
    """Items without an end, and a length that is a lie."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, _: int) -> float:
        return 1.0


@pytest.mark.parametrize("make", [Endless, itertools.count])
def test_items_without_an_end_are_refused(make: Any) -> None:
    for build in (
        lambda: Camera(position=make()),
        lambda: PointLight(position=make()),
        lambda: PointLight(position=(1, 2, 3), color=make()),
        lambda: Background(color=make()),
    ):
        with pytest.raises(SceneError):
            build()
