"""The tables of a scene file and their keys.

Keys of a class (`RenderSettings`, `Camera`, ...) are its fields. Keys that exist only in files,
such as the source of spheres, are defined here.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from raytracer.appearance.coloring import OF_SETS, STYLE
from raytracer.config.arguments import check_word
from raytracer.config.field_types import (
    TEXT,
    AnyOf,
    FieldType,
    Integer,
    Number,
    Numbers,
    Schema,
    Text,
    Truth,
    Vector3,
    WordChoice,
)
from raytracer.config.fields import Borrowed, Definition, find_definitions
from raytracer.model.camera import CAMERA_TYPES, Camera
from raytracer.model.colors import COLOR_SPACES, RGB
from raytracer.model.elements import Element, load_elements
from raytracer.model.key_types import (
    PAIRS,
    ColorRule,
    ColorValue,
    Components,
    Expression,
    NamedTables,
    Rows,
    SetColor,
    Share,
    Tables,
    TableType,
    Variants,
    collect_tables,
    set_color,
)
from raytracer.model.lights import LIGHTS
from raytracer.model.materials import DEFAULT, MATERIALS
from raytracer.model.parts import ANNOTATIONS, GLYPHS
from raytracer.model.presets import PRESET_NAMES
from raytracer.model.scene import PARTS
from raytracer.model.settings import MAX_SEED
from raytracer.model.source_settings import COLUMN_NAMES, SourceSettings


def _optional_key(
    kind: FieldType, summary: str = "", default_text: str = "", **options: Any
) -> Definition:
    """Return the definition of an optional key that only files have."""
    return Definition(kind, summary, default_text=default_text, **{"default": None} | options)


def _type_keys(
    noun: str, name: str, keys: Mapping[str, Definition], default: str = ""
) -> dict[str, Definition]:
    """Return the keys of one type of object, and `type`, which is optional for the default type."""
    keys_of_type = {n: key for n, key in keys.items() if n != "type" and key.variant in ("", name)}
    options = {"default": name} if name == default else {}
    return {
        **keys_of_type,
        "type": Definition(WordChoice([name]), f"Type of the {noun}.", **options),
    }


def _make_typed(kind: Any, **fields: Any) -> Any:
    """Return an object of a class, of which `type` is a field only if it is that of all types."""
    if kind is not Camera:
        fields.pop("type", None)
    return kind(**fields)


def _variant_tables(noun: str, kinds: Mapping[str, Any], default: str = "") -> Variants:
    """Return the tables of the classes of an object, by type."""
    tables = {
        name: TableType(
            f"{name.capitalize()}{noun.capitalize()}",
            f"{'An' if name[0] in 'aeiou' else 'A'} {name} {noun}.",
            _type_keys(noun, name, find_definitions(kind), default),
            partial(_make_typed, kind),
        )
        for name, kind in kinds.items()
    }
    return Variants(tables, default)


CAMERA = _variant_tables("camera", dict.fromkeys(CAMERA_TYPES, Camera), CAMERA_TYPES[0])

LIGHT = _variant_tables("light", LIGHTS)

GENERATE = TableType(
    "Generate",
    "Spheres made by a named generator.",
    {
        "name": Definition(Text(), 'Name of the generator, or of one part of it: "weekend/metal".'),
        "count": _optional_key(Integer(1), "Number of spheres.", "the generator's default"),
        "seed": _optional_key(
            Integer(0, MAX_SEED), "Seed of the generator.", "the generator's default"
        ),
    },
)

TRANSFORM = _optional_key(
    TableType.of("raytracer.model.transform:Transform"), "Placement of the set."
)

COLOR_SPACE = _optional_key(
    WordChoice(COLOR_SPACES), "Colour space of the numbers.", default="srgb"
)

SPHERES = TableType(
    "Spheres",
    "A set of spheres: inline, from a file, or from a generator.",
    {
        "centers": _optional_key(Rows(Vector3()), "Centres of an inline set, [[x, y, z], ...]."),
        "file": _optional_key(
            Text(),
            "Data file instead, relative to the scene file: a table, arrays, atoms, ...; a "
            "pattern, `snap_*.h5`, for a series of files with one frame each.",
        ),
        **{
            name: find_definitions(SourceSettings)[name] for name in ("topology", "frame", "format")
        },
        "generate": _optional_key(GENERATE, "A generator instead of data."),
        "arrays": _optional_key(
            COLUMN_NAMES,
            'Names of arrays or columns in the data file: {x = "px", radii = "rad"}, for centers '
            "(N, 3); radii or diameters (N,); colors (N, 3), uint8 or 0..1, where integers are "
            "bytes if one is above 1; and of columns also for x, y, z, r, g, b "
            "and redshift (beside ra and dec).",
            "by usual names",
        ),
        "labels": _optional_key(
            WordChoice(("elements", "types")),
            "Meaning of the labels in a file of atoms.",
            "by the labels",
        ),
        "radius": _optional_key(
            Expression(),
            "One radius for all spheres of the set, or an expression over columns of the file: "
            '"0.5*vdw", "covalent", "sqrt(mass)"; replaces the file\'s radii.',
            "the element's; neighbours touch",
        ),
        "radii": _optional_key(Rows(Number()), "One radius per inline centre."),
        "color": _optional_key(
            ColorRule(set_color),
            "One colour for all spheres of the set, or a table of colours by a column; "
            "replaces the file's colours.",
            "the element's; light grey",
        ),
        **{name: Borrowed(STYLE, name) for name in OF_SETS},
        "colors": _optional_key(Rows(ColorValue()), "One colour per inline centre."),
        "color_space": COLOR_SPACE,
        "material": _optional_key(
            Text(),
            f"Name of a material: of one under [materials], or {PRESET_NAMES}.",
            default="default",
        ),
        "opacity": _optional_key(
            Share(),
            "Opacity of all spheres of the set, or an expression over columns of the file: "
            '"charge / 2"; replaces the alpha of colours.',
            "1",
        ),
        "opacities": _optional_key(Rows(Number(0.0, 1.0)), "One opacity per inline centre."),
        "transform": TRANSFORM,
        "velocity": _optional_key(
            Components(),
            "Velocity of all spheres of the set, for `camera.shutter`: numbers, or columns of the "
            "file or expressions over them.",
            "from frame to frame of the file",
        ),
        "velocities": _optional_key(Rows(Vector3()), "One velocity per inline centre."),
    },
)


def _single_and_list_keys(
    one: str, kind: FieldType, text: str, noun: str, default: str = ""
) -> dict[str, Definition]:
    """Return the keys for one value for all solids of a set, and for one per solid."""
    return {
        one: _optional_key(kind, f"{text} of all {noun}s of the set.", default),
        PAIRS[one]: _optional_key(Rows(kind), f"{text} of each {noun}."),
    }


def _end_keys(first: str, last: str) -> dict[str, Definition]:
    return {
        "starts": _optional_key(Rows(Vector3()), f"{first}, [[x, y, z], ...].", "file"),
        "ends": _optional_key(Rows(Vector3()), f"{last}, [[x, y, z], ...].", "file"),
    }


def _end_colors(noun: str) -> dict[str, Definition]:
    """Return the keys for the end colours of solids with a start and an end."""
    default = "the same colour"
    change = "Change from colour to end colour: at the middle, or linearly from end to end."
    text = "Colour of the half at the end"
    return {
        **_single_and_list_keys("end_color", SetColor(), text, noun, default),
        "color_change": _optional_key(WordChoice(("sharp", "smooth")), change, default="sharp"),
    }


def _solid_keys(noun: str) -> dict[str, Definition]:
    file = "File of arrays or columns, beside the scene file, for values not given here."
    opacity = "Opacity, instead of the alpha of colours,"
    return {
        **_single_and_list_keys("color", SetColor(), "Colour", noun, "light grey"),
        **_single_and_list_keys("opacity", Number(0.0, 1.0), opacity, noun, "1"),
        "file": _optional_key(Text(), file),
        "color_space": COLOR_SPACE,
        "material": _optional_key(Text(), "Name of a material.", default="default"),
        "transform": TRANSFORM,
    }


CAPSULES = TableType(
    "Capsules",
    "A set of capsules: segments with a radius and round or flat ends.",
    {
        **_end_keys("Start points", "End points"),
        **_single_and_list_keys("radius", Number(0.0, above=True), "Radius", "capsule"),
        "caps": _optional_key(WordChoice(("round", "flat")), "Shape of the ends.", default="round"),
        **_end_colors("capsule"),
        **_solid_keys("capsule"),
    },
)

CONES = TableType(
    "Cones",
    "A set of cones with flat ends: a radius at the start and one at the end.",
    {
        **_end_keys("Centres of the first ends", "Centres of the other ends"),
        **_single_and_list_keys("radius", Number(0.0), "Radius of the first end", "cone"),
        **_single_and_list_keys("end_radius", Number(0.0), "Radius of the other end", "cone", "0"),
        **_end_colors("cone"),
        **_solid_keys("cone"),
    },
)

ELLIPSOIDS = TableType(
    "Ellipsoids",
    "A set of ellipsoids.",
    {
        "centers": _optional_key(Rows(Vector3()), "Centres, [[x, y, z], ...].", "file"),
        "semi_axes": _optional_key(
            Rows(Number()), "Semi-axes: [a, b, c], or [[a, b, c], ...].", ""
        ),
        "orientations": _optional_key(
            Rows(Number()),
            "Rotation from the coordinate axes, as quaternions: [w, x, y, z], or "
            "[[w, x, y, z], ...].",
            "[1, 0, 0, 0]",
        ),
        **_solid_keys("ellipsoid"),
    },
)

MESHES = TableType(
    "Meshes",
    "A mesh of triangles, from a file or with its vertices here.",
    {
        "file": _optional_key(
            Text(), "STL, PLY, OBJ or OFF file beside the scene file, for values not given here."
        ),
        "vertices": _optional_key(Rows(Vector3()), "Vertices, [[x, y, z], ...].", "file"),
        "triangles": _optional_key(
            Rows(Numbers(3, "three whole numbers", "A,B,C", item=Integer(0))),
            "Numbers of the vertices at the corners, [[0, 1, 2], ...].",
            "file",
        ),
        "smooth": _optional_key(
            AnyOf(Truth(), Number(0.0, 180.0)),
            "Whether normals change smoothly from triangle to triangle, across edges of less than "
            "40 degrees, or of another angle given here.",
            default=True,
        ),
        "normals": _optional_key(
            Rows(Vector3()), "Normals of the vertices, for smooth ones.", "computed"
        ),
        **_solid_keys("triangle"),
    },
)


def _symbol(value: Any, name: str) -> str:
    return check_word(value, name, load_elements(), "element")


def _element(element: str = "", radius: float | None = None, color: RGB | None = None) -> Element:
    known = load_elements()[element] if element else Element()
    return Element(radius or known.radius, color or known.color, element)


ELEMENT = TableType(
    "Element",
    "Radius and colour of an element, or of another label, in files of atoms.",
    {
        "element": _optional_key(
            FieldType({str: TEXT}, _symbol), "Symbol of the element that a label means."
        ),
        "radius": _optional_key(
            Number(0.0, above=True), "Radius in the file's unit of length.", "the element's"
        ),
        "color": _optional_key(ColorValue(), "Colour of the element.", "the element's"),
    },
    _element,
)

MATERIAL = _variant_tables("material", MATERIALS, DEFAULT)


def _part(name: str, text: str = "", **options: Any) -> Definition:
    return _optional_key(TableType.of(PARTS[name]), text, **options)


def _annotation(name: str) -> Definition:
    table = TableType.of(f"raytracer.model.annotations:{ANNOTATIONS[name]}")
    return (
        _optional_key(Tables(table), "Texts over the picture.")
        if name == "texts"
        else _optional_key(table)
    )


SCENE = TableType(
    "SceneFile",
    "A scene of spheres for raytracer.",
    {
        "$schema": _optional_key(Text(), "Address of the JSON Schema, for editors."),
        "title": _optional_key(Text(), "Name of the picture.", default=""),
        "caption": _optional_key(Text(), "A sentence about the picture.", default=""),
        "render": _part("render", default={}),
        "tone": _part("tone", default={}),
        "camera": _optional_key(CAMERA, "Position, direction and lens.", "fitted"),
        "background": _part("background", default={}),
        "ground": _part("ground", default_text="none"),
        "clip": _part("clip", default_text="all is shown"),
        "environment": _part("environment", default_text="the ambient light and the background"),
        "ambient": _part("ambient"),
        "lights": _optional_key(
            Tables(LIGHT), "Lights of several types.", "the lights of the look"
        ),
        "materials": _optional_key(
            NamedTables(MATERIAL),
            'Materials by name; "default" is for sets without one.',
            default={},
        ),
        "animation": _part("animation"),
        "spheres": _optional_key(Tables(SPHERES), "Sphere sets.", default=[]),
        "capsules": _optional_key(Tables(CAPSULES), "Capsule sets.", default=[]),
        "cones": _optional_key(Tables(CONES), "Sets of cones.", default=[]),
        "ellipsoids": _optional_key(Tables(ELLIPSOIDS), "Ellipsoid sets.", default=[]),
        "meshes": _optional_key(Tables(MESHES), "Triangle meshes.", default=[]),
        "elements": _optional_key(
            NamedTables(ELEMENT), "Radii and colours of elements in files of atoms.", default={}
        ),
        **{name: _part(name) for name in GLYPHS},
        **{name: _annotation(name) for name in ANNOTATIONS},
    },
)


def make_schema() -> Schema:
    """Return the JSON Schema of scene files, for editors of TOML and JSON."""
    scene, *others = collect_tables(SCENE)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **scene.definition(),
        "title": "raytracer scene",
        "$defs": {table.title: table.definition() for table in others},
    }
