"""Cameras, lights and backgrounds: what is refused by its field, and what is chosen."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import (
    Background,
    Camera,
    DirectionalLight,
    DiskLight,
    PointLight,
    Principled,
    RectangleLight,
    Scene,
    SphereSet,
    render,
)
from raytracer.config.errors import SceneError
from raytracer.model.colors import srgb_to_linear


@pytest.mark.parametrize(
    ("kind", "arguments", "field"),
    [
        (Camera, {"position": (1, 2, float("nan"))}, r"camera\.position"),
        (Camera, {"position": (1, 2, 3), "look_at": (1, 2, 3)}, r"camera\.look_at"),
        (Camera, {"position": (0, 5, 0), "look_at": (0, 0, 0)}, r"camera\.up"),
        (Camera, {"direction": (0, -1, 0)}, r"camera\.up"),
        (Camera, {"up": (0, 0, 0)}, r"camera\.up"),
        (Camera, {"direction": (0, 0, 0)}, r"camera\.direction"),
        (Camera, {"direction": (0, 0, 1), "position": (1, 1, 1)}, r"camera\.direction"),
        (Camera, {"fit": False}, r"camera\.position"),
        (Camera, {"view": "from"}, r"camera\.view: .*'front'"),
        (Camera, {"view": "x", "position": (1, 2, 3)}, r"camera\.view"),
        (Camera, {"view": "x", "direction": (1, 2, 3)}, r"camera\.view"),
        (Camera, {"view": "x", "position": (1, 2, 3), "fit": True}, r"camera\.view"),
        (Camera, {"up": "w"}, r"camera\.up"),
        (Camera, {"zoom": True}, r"camera\.zoom"),
        (RectangleLight, {"position": (0, 0, 0), "direction": (0, 0, 0)}, r"light\.direction"),
        (Camera, {"type": "orthographic", "position": (1, 1, 1)}, r"camera\.height"),
        (Camera, {"type": "orthographic", "height": 2}, r"camera\.height"),
        (Camera, {"type": "orthographic", "position": (1, 1, 1), "height": 0}, r"camera\.height"),
        (PointLight, {"position": (0, 0, 0), "color": "whit"}, r"light\.color"),
        (PointLight, {"position": "here"}, r"light\.position"),
        (DirectionalLight, {"direction": (0, 0, 0)}, r"light\.direction"),
        (DirectionalLight, {"direction": (0, 0, 1), "intensity": float("inf")}, r"light\.int"),
        (Background, {"top": "white"}, r"background\.bottom"),
        (Background, {"up": (0, 0, 0)}, r"background\.up: has no length"),
        (Background, {"color": "red", "top": "white", "bottom": "red"}, r"background\.color"),
    ],
)
def test_refuses(kind: Any, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(SceneError, match=f"^{field}"):
        kind(**arguments)


def test_background_edges() -> None:
    assert Background().edges() == ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    assert Background(bottom="black", top="red").edges() == ((0, 0, 0), (1, 0, 0))
    assert Background(color="red", transparent=True).edges() == ((0, 0, 0), (0, 0, 0))


@pytest.mark.parametrize(
    "light",
    [
        PointLight((0, 0, 3), radius=1e-30),
        PointLight((0, 0, 3), radius=1e15),
        DirectionalLight((0, 0, -1), angle=1e-9),
        RectangleLight((0, 0, 3), (0, 0, -1), width=1e-20, height=1e-20),
        DiskLight((0, 0, 3), (0, 0, -1), radius=1e15),
    ],
)
@pytest.mark.parametrize("integrator", ["direct", "path"])
def test_lights_of_odd_sizes(light: Any, integrator: str) -> None:
    """Numbers stay finite, and what a tiny point or sun sends is that of one without extent."""
    material = Principled(roughness=0.3, metallic=0.5)
    scene = Scene([SphereSet([[0, 0, 0]], 1, material=material)], lights=[light])
    image = render(scene, width=16, height=16, samples=8, integrator=integrator)
    assert image.statistics.non_finite == 0
    if getattr(light, "radius", 0) == 1e-30:
        point = Scene(
            [SphereSet([[0, 0, 0]], 1, material=material)], lights=[PointLight((0, 0, 3))]
        )
        other = render(point, width=16, height=16, samples=8, integrator=integrator)
        assert abs(image.array - other.array).max() < 1e-4


ATOMS = "3\n\nH 0 0 0\nC 2 0 0\nH 0 2 0\n"


def luminance(color: object) -> float:
    """Relative luminance of a colour of sRGB, 0..1 (Rec. 709)."""
    return float(srgb_to_linear(color) @ (0.2126, 0.7152, 0.0722))


@pytest.mark.parametrize("view", ["z", "x"])
def test_every_atom_of_a_bare_file_differs_from_what_is_behind_it(
    tmp_path: Path, view: str
) -> None:
    path = tmp_path / "atoms.xyz"
    path.write_text(ATOMS)
    image = raytracer.render(
        path, width=160, height=120, samples=4, view=view, aovs=("id",), backend="cpu"
    )
    pixels, ids = image.to_uint8()[..., :3] / 255.0, image.film.aovs["id"]
    scene = raytracer.load(path)
    behind = [luminance(edge) for edge in scene.background.edges()]
    for number in np.unique(ids[ids != ids[0, 0]]).tolist():
        element = "HCH"[number]
        seen = luminance(np.median(pixels[ids == number], axis=0))
        ratio = min((max(seen, b) + 0.05) / (min(seen, b) + 0.05) for b in behind)
        assert ratio > {"H": 4.0, "C": 1.4}[element], ratio
