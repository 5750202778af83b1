"""Meshes given to a call: objects, files, and files with fields, as on the command line."""

from __future__ import annotations

from os import PathLike
from typing import Any

from raytracer.arguments import items
from raytracer.errors import SceneError, UserError, naming, shown, shown_value, suggestion
from raytracer.fields import definitions
from raytracer.files.access import is_path
from raytracer.scene import tables
from raytracer.scene.mesh import Mesh
from raytracer.scene.option_text import parts_of, value_of
from raytracer.scene.transform import Transform

FIELDS = ("color", "opacity", "smooth", "material", "color_space")


def meshes_of(value: Any, name: str = "mesh", error: type[UserError] = UserError) -> list[Mesh]:
    """Return the meshes of an option, of one in Python, or of a list of these. Fields may follow
    the name of a file: "hopper.stl,opacity=0.3,color=steelblue,scale=0.001". Raises UserError."""
    if isinstance(value, (Mesh, str, PathLike)):
        value = [value]
    return [_mesh(each, name, error) for each in items(value, name, error)]


def _mesh(value: Any, name: str, error: type[UserError]) -> Mesh:
    if isinstance(value, Mesh):
        return value
    if not is_path(value):
        raise error(f"{name}: {shown_value(value)} is neither a Mesh nor the name of a file")
    file, *fields = parts_of(str(value))
    with naming(name):
        return Mesh.from_file(file, **_options(fields))


def _options(fields: list[str]) -> dict[str, Any]:
    """Return the fields after the name of a file as arguments of a mesh."""
    placed = definitions(Transform)
    known = {name: tables.MESHES.keys[name] for name in FIELDS} | dict(placed)
    options, transform = dict[str, Any](), dict[str, Any]()
    for field in fields:
        key, equals, text = (part.strip() for part in field.partition("="))
        key = key.replace("-", "_")
        if key not in known or not equals:
            raise SceneError(
                f"there is no field '{shown(key)}'; {suggestion(key, known)}; write NAME=VALUE"
            )
        (transform if key in placed else options)[key] = value_of(known[key].kind, text, key)
    return options | ({"transform": Transform(**transform)} if transform else {})
