"""The model of a scene file to a `Scene`: defaults, names and data files resolved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import SceneError, UserError, suggestion
from ..settings import RenderSettings
from . import model
from .colors import parse_color
from .elements import Element, symbol_of, table
from .load import read_set, sphere_set
from .looks import Ambient, Background, Camera, DirectionalLight, Light, Material, PointLight
from .problems import sentences
from .scene import Scene
from .spheres import SphereSet
from .transform import Transform


def compose(values: dict[str, Any], path: Path) -> Scene:
    """Make a scene of the values of a scene file.

    Args:
        values: as parsed from TOML or JSON.
        path: the scene file; data files are relative to it.

    Raises:
        UserError: with one line for each problem.
    """
    try:
        content = model.SceneFile.model_validate(values)
    except ValidationError as error:
        raise SceneError(sentences(error, model.SceneFile, str(path))) from None
    return _Composer(content, path).scene()


class _Composer:
    """Makes the parts of a scene and collects what is wrong with them."""

    def __init__(self, content: model.SceneFile, path: Path) -> None:
        self.content = content
        self.path = path
        self.problems: list[str] = []

    def scene(self) -> Scene:
        """Make the scene.

        Raises:
            UserError: with one line for each problem.
        """
        content = self.content
        parts: dict[str, Any] = {
            "render": self.make("", RenderSettings, content.render),
            "background": self.make("", Background, content.background),
            "camera": content.camera and self.make("", Camera, content.camera),
            "ambient": content.ambient and self.make("", Ambient, content.ambient),
            "lights": self.lights(),
            "materials": self.materials(),
        }
        elements = self.elements()
        made = [self.spheres(i, s, elements) for i, s in enumerate(content.spheres)]
        spheres = [s for s in made if s is not None]
        if self.problems:
            raise SceneError("\n".join(f"{self.path}: {p}" for p in self.problems))
        return Scene(spheres=spheres, title=content.title, caption=content.caption, **parts)

    def make(self, place: str, kind: Callable[..., Any], values: model.Model) -> Any:
        """Make one object from the fields that were given; `place` replaces its own name."""
        given = values.model_dump(exclude_unset=True)
        if kind in (PointLight, DirectionalLight):
            given.pop("type")
        try:
            return kind(**given)
        except UserError as error:
            text = str(error)
            self.problems.append(f"{place}.{text.partition('.')[2]}" if place else text)
            return None

    def lights(self) -> list[Light] | None:
        """Make the lights."""
        if self.content.lights is None:
            return None
        made: list[Light] = []
        for index, light in enumerate(self.content.lights):
            point = isinstance(light, model.PointLight)
            made.append(
                self.make(f"lights[{index}]", PointLight if point else DirectionalLight, light)
            )
        return made

    def materials(self) -> dict[str, Material]:
        """Make the materials."""
        items = self.content.materials.items()
        return {name: self.make(f"materials.{name}", Material, values) for name, values in items}

    def elements(self) -> dict[str, Element]:
        """Make the element overrides; a label of the user's own needs a radius."""
        made = {}
        for name, element in self.content.elements.items():
            if element.radius is None and symbol_of(name) is None:
                hint = suggestion(name, table())
                self.problems.append(
                    f"elements.{name}: is not an element ({hint}), and as a label of your own "
                    "it needs a radius"
                )
            color = None if element.color is None else parse_color(element.color)
            made[name] = Element(element.radius, color)
        return made

    def spheres(
        self, index: int, values: model.Spheres, elements: dict[str, Element]
    ) -> SphereSet | None:
        """Make one sphere set."""
        place = f"spheres[{index}]"
        known = [*self.content.materials, "default"]
        if values.material not in known:
            self.problems.append(
                f"{place}.material: there is no material named '{values.material}'; "
                f"{suggestion(values.material, known)}"
            )
        problem = contradiction(values)
        if problem:
            self.problems.append(f"{place}{problem}")
            return None
        try:
            return self._spheres(place, values, elements)
        except UserError as error:
            separator = "" if str(error).startswith(place) else ".file: "
            self.problems.append(f"{place}{separator}{error}" if separator else str(error))
            return None

    def _spheres(
        self, place: str, values: model.Spheres, elements: dict[str, Element]
    ) -> SphereSet:
        """Make one sphere set whose fields do not contradict each other."""
        placed = values.transform
        options: dict[str, Any] = {
            "material": values.material,
            "transform": Transform(**placed.model_dump()) if placed else None,
            "color_space": values.color_space,
        }
        if values.file is not None:
            arrays = values.arrays.model_dump(exclude_none=True) if values.arrays else {}
            data = read_set(self.path.parent, values.file, arrays, elements)
            return sphere_set(data, values.radius, values.color, **options)
        if values.generate is not None:
            return _generated(place, values, options)
        return _inline(place, values, options)


def contradiction(values: model.Spheres) -> str | None:
    """Return what makes no sense about a set, starting with the field, or None."""
    sources = [n for n in ("centers", "file", "generate") if getattr(values, n) is not None]
    if len(sources) != 1:
        got = " and ".join(sources) or "none of them"
        return f": needs one of centers, file and generate, got {got}"
    if values.arrays is not None and sources != ["file"]:
        return ".arrays: names what is in a data file, but the set has no file"
    for one, many in (("radius", "radii"), ("color", "colors")):
        if getattr(values, many) is not None and sources != ["centers"]:
            return f".{many}: goes with inline centers only; a {sources[0]} brings its own"
        if getattr(values, one) is not None and getattr(values, many) is not None:
            return f".{many}: leave out either {one} or {many}"
    if sources == ["centers"] and values.radius is None and values.radii is None:
        return ".radius: is missing; give a radius for all spheres, or radii"
    return None


def _inline(place: str, values: model.Spheres, options: dict[str, Any]) -> SphereSet:
    """Make a set of the spheres in the scene file itself."""
    names = {"centers": "centers", "radius": "radii" if values.radii is not None else "radius"}
    names["color"] = "colors" if values.colors is not None else "color"
    try:
        return SphereSet(
            values.centers,
            values.radii if values.radius is None else values.radius,
            values.colors if values.color is None else values.color,
            names=names,
            **options,
        )
    except UserError as error:
        raise SceneError(f"{place}.{error}") from None


def _generated(place: str, values: model.Spheres, options: dict[str, Any]) -> SphereSet:
    """Make a set of the spheres of a generator."""
    from .generate import arrays

    assert values.generate is not None
    try:
        made = arrays(values.generate.name, values.generate.count, values.generate.seed)
        radius = made["radii"] if values.radius is None else values.radius
        color = made["colors"] if values.color is None else values.color
        return SphereSet(made["centers"], radius, color, **options)
    except UserError as error:
        raise SceneError(f"{place}.generate: {error}") from None
