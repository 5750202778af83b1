"""The scene of a triangle mesh that comes without particles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from raytracer.scene.bare import defaults_of
from raytracer.scene.mesh import Mesh
from raytracer.scene.particles.source import Particles
from raytracer.scene.scene import Scene


def scene_of_mesh(path: Path) -> Scene:
    """Return the scene of a mesh alone, with the defaults of particles; the camera frames all.

    Raises:
        UserError: the file is missing or wrong.
    """
    mesh = Mesh.from_file(path)
    defaults = defaults_of(Particles(str(path), mesh.vertices))
    defaults["camera"] = replace(defaults["camera"], fit=True)
    return Scene(meshes=(mesh,), title=path.stem, source=str(path), **defaults)
