"""Meshes given to a call: objects, files, and files with fields, as on the command line."""

from os import PathLike
from typing import Any

from raytracer.arguments import items
from raytracer.errors import UserError, naming, shown_value
from raytracer.fields import definitions
from raytracer.files.access import is_path
from raytracer.scene import tables
from raytracer.scene.mesh import Mesh
from raytracer.scene.option_text import fields_of, parts_of
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
    file, *rest = parts_of(str(value))
    placed = definitions(Transform)
    known = {key: tables.MESHES.keys[key] for key in FIELDS} | dict(placed)
    given = fields_of(",".join(rest), known, name) if rest else {}
    with naming(name):
        transform = {key: given.pop(key) for key in placed if key in given}
        return Mesh.from_file(file, **given, transform=Transform(**transform))
