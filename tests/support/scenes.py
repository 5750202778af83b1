"""Scenes that several tests share."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference import Light, Material, RefScene, View
from reference.scene import Array

# Coordinates on this grid survive the move to the scene's centre and the cast to float32 exactly,
# so that a comparison measures the renderer and not the storage.
GRID = 2.0**-12

KEY = Light("directional", (-1.0, -2.0, -1.5), color=(1.0, 0.9, 0.8), intensity=0.7)
LAMP = Light("point", (3.0, 4.0, 2.0), color=(0.5, 0.7, 1.0), intensity=0.6)
GLOW = Light("point", (-2.5, 3.0, 3.5), intensity=6.0, inverse_square=True)


def on_grid(values: ArrayLike) -> Array:
    """The nearest values that float32 holds exactly around any centre of the scene."""
    return np.asarray(np.round(np.asarray(values, np.float64) / GRID) * GRID)


def random_scene(seed: int, count: int, *, mirror: bool = False, ortho: bool = False) -> RefScene:
    """Coloured balls in a box, of three materials, under three kinds of light."""
    rng = np.random.default_rng(seed)
    size = (0.9 / max(count, 1) ** (1 / 3)) if count > 3 else 0.6
    materials = (
        Material(ambient=0.8, diffuse=0.9),
        Material(ambient=0.5, diffuse=0.6, specular=0.5, shininess=24.0),
        Material(
            ambient=0.2, diffuse=0.3, specular=0.3, shininess=80.0, mirror=0.6 if mirror else 0.0
        ),
    )
    view = View((2.5, 1.75, 3.5), (0.0, 0.0, 0.0), vertical_fov=42.0)
    if ortho:
        view = View((2.5, 1.75, 3.5), (0.0, 0.0, 0.0), vertical_fov=None, height=3.25)
    return RefScene(
        centers=on_grid(rng.uniform(-1, 1, (count, 3))),
        radii=np.maximum(on_grid(rng.uniform(0.2, 1.0, count) * size), GRID),
        colors=rng.uniform(0.1, 1.0, (count, 3)),
        materials=materials,
        material_id=rng.integers(0, 3, count),
        lights=(KEY, LAMP, GLOW),
        ambient=(0.10, 0.12, 0.15),
        bottom=(0.8, 0.85, 0.9),
        top=(0.2, 0.3, 0.6),
        view=view,
    )


def one_ball(view: View, radius: float = 1.0, **changes: Any) -> RefScene:
    """A white unit ball (or another radius) at the origin, fully ambient: its silhouette."""
    scene = RefScene(
        centers=np.zeros((1, 3)), radii=np.array([radius]), view=view, ambient=(1.0, 1.0, 1.0)
    )
    return scene.but(**changes)


def id_colors(count: int) -> Array:
    """A linear colour for each sphere that a fully ambient picture shows exactly."""
    index = np.arange(count)
    return np.stack([(index & 255) / 256, (index >> 8) / 256, np.ones(count)], axis=1)


def shown_ids(picture: NDArray[Any]) -> NDArray[np.int64]:
    """The sphere that each pixel of an `id_colors` picture shows, -1 for none; row by row."""
    rgb = picture[..., :3].reshape(-1, 3).astype(np.float64)
    code = rgb * 256
    assert (code == np.round(code)).all(), "an ambient picture must show its colours exactly"
    index = code[:, 0] + 256 * code[:, 1]
    return np.where(rgb[:, 2] == 1, index, -1).astype(np.int64)
