"""The model of a scene file to a `Scene`: defaults, names and data files resolved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from raytracer.errors import SceneError, UserError, shown, suggestion
from raytracer.scene import tables
from raytracer.scene.background import Background
from raytracer.scene.camera import Camera
from raytracer.scene.colors import parse_color
from raytracer.scene.elements import Element, symbol_of, table
from raytracer.scene.lights import LIGHTS, Ambient, Light
from raytracer.scene.materials import DEFAULT, MATERIALS, Material
from raytracer.scene.particles.read import read
from raytracer.scene.particles.sphere_set import sphere_set
from raytracer.scene.scene import Scene
from raytracer.scene.spheres import SphereSet
from raytracer.scene.transform import Transform
from raytracer.settings import RenderSettings
from raytracer.warning import collected, warn

Values = dict[str, Any]

MOST_HINTS = 10
"""Most problems for which the nearest name is searched: each search reads all names."""


MOST_PATH = 200
"""Longest path of a data file that a notice shows whole."""


def compose(values: dict[str, Any], path: Path) -> Scene:
    """Make a scene of the values of a scene file.

    Args:
        values: as parsed from TOML or JSON.
        path: the scene file; data files are relative to it.

    Raises:
        UserError: with one line for each problem.
    """
    tables.check(values, str(path))
    return _Composer(values, path).scene()


class _Composer:
    """Makes the parts of a scene and collects what is wrong with them.

    Names and types are right already; what is left out has the defaults of the objects.
    """

    def __init__(self, content: Values, path: Path) -> None:
        self.content = content
        self.path = path
        self.problems: list[str] = []
        self.labels: set[str] = set()  # of all coordinate files

    def scene(self) -> Scene:
        """Make the scene.

        Raises:
            UserError: with one line for each problem.
        """
        content = self.content
        parts: dict[str, Any] = {
            "render": self.make("", RenderSettings, content.get("render", {})),
            "background": self.make("", Background, content.get("background", {})),
            "camera": self.make_if("", Camera, content.get("camera")),
            "ambient": self.make_if("", Ambient, content.get("ambient")),
            "lights": self.lights(),
            "materials": self.materials(),
        }
        elements = self.elements()
        self.note_foreign()
        made = [self.spheres(i, s, elements) for i, s in enumerate(content.get("spheres", ()))]
        spheres = [s for s in made if s is not None]
        if not self.problems:
            self.check_elements(elements)
        if self.problems:
            raise SceneError(*(f"{self.path}: {p}" for p in self.problems))
        self.require_spheres(spheres)
        texts = {name: content.get(name, "") for name in ("title", "caption")}
        return Scene(spheres=spheres, source=str(self.path), **texts, **parts)

    def require_spheres(self, spheres: list[SphereSet]) -> None:
        """Refuse a scene without spheres, unless it says itself that it has none."""
        if any(s.count for s in spheres):
            return
        said = self.content.get("spheres")
        if said is None:
            raise SceneError(
                f"{self.path}: has no spheres; add a set, [[spheres]], or for the background "
                "alone say spheres = []"
            )
        files = [values["file"] for values in said if values.get("file") is not None]
        if files:
            raise SceneError(
                f"{self.path}: has no spheres: {shown(files[0])} holds no particles, so there is "
                "nothing to show"
            )

    def note_foreign(self) -> None:
        """Say which data files lie outside of the scene's folder, before they are read."""
        folder = self.path.parent
        sets = self.content.get("spheres", ())
        names = (values.get(key) for values in sets for key in ("file", "topology"))
        outside = [name for name in dict.fromkeys(names) if name and is_outside(folder, name)]
        if outside:
            listed = ", ".join(shown(name, MOST_PATH) for name in outside[:MOST_HINTS])
            more = f" and {len(outside) - MOST_HINTS:,} more" if len(outside) > MOST_HINTS else ""
            warn(f"{self.path}: reads outside of its folder: {listed}{more}")

    def make_if(self, place: str, kind: Callable[..., Any], values: Values | None) -> Any:
        """Make one object, or None where nothing is said of it."""
        return None if values is None else self.make(place, kind, values)

    def make(self, place: str, kind: Callable[..., Any], values: Values) -> Any:
        """Make one object from the fields that were given; `place` replaces its own name."""
        try:
            return kind(**values)
        except UserError as error:
            text = str(error)
            self.problems.append(f"{place}.{text.partition('.')[2]}" if place else text)
            return None

    def lights(self) -> list[Light] | None:
        """Make the lights."""
        if self.content.get("lights") is None:
            return None
        made: list[Light] = []
        for index, light in enumerate(self.content["lights"]):
            fields = {name: value for name, value in light.items() if name != "type"}
            made.append(self.make(f"lights[{index}]", LIGHTS[light["type"]], fields))
        return made

    def materials(self) -> dict[str, Material]:
        """Make the materials."""
        made = {}
        for name, values in self.content.get("materials", {}).items():
            kind = MATERIALS[values.get("type", DEFAULT)]
            fields = {key: value for key, value in values.items() if key != "type"}
            made[name] = self.make(f"materials.{name}", kind, fields)
        return made

    def elements(self) -> dict[str, Element]:
        """Make radii and colours of elements and of labels of the user's own."""
        made = {}
        for name, element in self.content.get("elements", {}).items():
            color = element.get("color")
            said = Element(element.get("radius"), None if color is None else parse_color(color))
            symbol = element.get("element")
            if symbol is not None:
                known = table().get(symbol)
                if known is None:
                    self.problems.append(
                        f"elements.{shown(name)}.element: '{shown(symbol)}' is not the symbol of "
                        f"an element; {suggestion(symbol, table())}"
                    )
                    continue
                said = Element(said.radius or known.radius, said.color or known.color, symbol)
            made[name] = said
        return made

    def check_elements(self, elements: dict[str, Element]) -> None:
        """Refuse names that are neither an element nor a label of a file: they are misspelt."""
        for name, said in elements.items():
            if said.radius is None and name not in self.labels and symbol_of(name) is None:
                self.problems.append(
                    f"elements.{shown(name)}: is not an element ({suggestion(name, table())}), "
                    "and no file has such a label"
                )

    def spheres(self, index: int, values: Values, elements: dict[str, Element]) -> SphereSet | None:
        """Make one sphere set."""
        place = f"spheres[{index}]"
        known = self.content.get("materials", {})
        material = values.get("material", "default")
        if material != "default" and material not in known:
            unknown = f"{place}.material: there is no material named '{shown(material)}'"
            if len(self.problems) < MOST_HINTS:
                unknown += f"; {suggestion(material, [*known, 'default'])}"
            self.problems.append(unknown)
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

    def _spheres(self, place: str, values: Values, elements: dict[str, Element]) -> SphereSet:
        """Make one sphere set whose fields do not contradict each other."""
        placed = values.get("transform")
        options: dict[str, Any] = {
            "material": values.get("material", "default"),
            "transform": None if placed is None else Transform(**placed),
            "color_space": values.get("color_space", "srgb"),
        }
        if values.get("file") is not None:
            names = values.get("arrays") or {}
            arrays = {part: name for part, name in names.items() if name is not None}
            meaning = values.get("labels")
            name = values["file"]
            folder, atoms = self.path.parent, values.get("topology")
            topology = None if atoms is None else folder / atoms
            data = read(folder / name, arrays, elements, name, meaning, topology)
            if data.labels is not None:
                self.labels.update(data.labels.names)
            elif meaning is not None:
                raise SceneError(f"{place}.labels: {values['file']} has no labels; leave it out")
            return sphere_set(data, values.get("radius"), values.get("color"), **options)
        if values.get("generate") is not None:
            return _generated(place, values, options)
        return _inline(place, values, options)


def is_outside(folder: Path, name: str | Path) -> bool:
    """Whether a file that a scene names lies outside of the scene's folder, links followed."""
    try:
        return not (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # no possible name, or links in a circle
        return False  # the door says it


def contradiction(values: Values) -> str | None:
    """Return what makes no sense about a set, starting with the field, or None."""
    sources = [n for n in ("centers", "file", "generate") if values.get(n) is not None]
    if len(sources) != 1:
        got = " and ".join(sources) or "none of them"
        return f": needs one of centers, file and generate, got {got}"
    if values.get("arrays") is not None and sources != ["file"]:
        return ".arrays: names what is in a data file, but the set has no file"
    if values.get("topology") is not None and sources != ["file"]:
        return ".topology: names the atoms of a trajectory, but the set has no file"
    if values.get("labels") is not None and sources != ["file"]:
        return ".labels: says what the labels of a data file are, but the set has no file"
    for one, many in (("radius", "radii"), ("color", "colors")):
        if values.get(many) is not None and sources != ["centers"]:
            return f".{many}: goes with inline centers only; a {sources[0]} brings its own"
        if values.get(one) is not None and values.get(many) is not None:
            return f".{many}: leave out either {one} or {many}"
    return None


def _inline(place: str, values: Values, options: dict[str, Any]) -> SphereSet:
    """Make a set of the spheres in the scene file itself."""
    radius = "radius" if values.get("radii") is None else "radii"
    color = "color" if values.get("colors") is None else "colors"
    names = {"centers": "centers", "radius": radius, "color": color}
    for name in ("centers", "radii", "colors"):
        if _holds_truth(values.get(name)):
            raise SceneError(f"{place}.{name}: holds true or false where numbers belong")
    try:
        with collected() as notes:
            spheres = SphereSet(
                values["centers"], values.get(radius), values.get(color), names=names, **options
            )
    except UserError as error:
        raise SceneError(f"{place}.{error}") from None
    for note in notes:
        warn(f"{place}.{note}")
    return spheres


def _holds_truth(rows: Any) -> bool:
    """Whether a list, or a list in it, holds a truth value, which NumPy takes for 0 or 1."""
    if not isinstance(rows, list):
        return False
    flat = (item for row in rows for item in (row if isinstance(row, list) else (row,)))
    return any(item is True or item is False for item in flat)


def _generated(place: str, values: Values, options: dict[str, Any]) -> SphereSet:
    """Make a set of the spheres of a generator."""
    from raytracer.scene.generate import arrays

    wanted = values["generate"]
    radius, color = values.get("radius"), values.get("color")
    try:
        made = arrays(wanted["name"], wanted.get("count"), wanted.get("seed"))
        return SphereSet(
            made["centers"],
            made["radii"] if radius is None else radius,
            made["colors"] if color is None else color,
            **options,
        )
    except UserError as error:
        raise SceneError(f"{place}.generate: {error}") from None
