"""Scenes of files with glyphs, as they are packed."""

from pathlib import Path
from typing import Any

import numpy as np

from raytracer import Scene
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import load_with_overrides
from raytracer.scene_files.source import InputSource
from reference.scene import Array


def shown(path: Path, **changes: Any) -> Scene:
    """Return the scene of a file with some settings."""
    return load_with_overrides(InputSource(path), SceneOverrides.of(changes))[0]


def mesh_of(scene: Scene) -> tuple[Array, Any]:
    """Return vertices, (V, 3), and triangles, (T, 3), of the only mesh."""
    (mesh,) = scene.meshes
    return np.asarray(mesh.vertices, np.float64), np.asarray(mesh.triangles)
