"""The scene file: one model behind TOML and JSON, and the source of the JSON Schema.

The classes say what a file may hold and in which words; what the values mean is checked once, by
the objects of `scene.py` that are made from them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from ..settings import MAX_SAMPLES, MAX_SIDE, RenderSettings
from .fields import (
    Color,
    Colors,
    Factor,
    Lengths,
    Number,
    Part,
    Points,
    Positive,
    Text,
    Truth,
    Vector,
    Whole,
)
from .looks import Camera as CameraDefaults
from .materials import Material as MaterialDefaults

_RENDER = RenderSettings()
_MATERIAL = MaterialDefaults()
_CAMERA = CameraDefaults()


class Model(BaseModel):
    """A table of the file; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class Render(Model):
    """How the picture is sampled."""

    width: Annotated[Whole, Field(ge=1, le=MAX_SIDE)] = _RENDER.width
    """Width of the picture in pixels."""
    height: Annotated[Whole, Field(ge=1, le=MAX_SIDE)] = _RENDER.height
    """Height of the picture in pixels."""
    samples: Annotated[Whole, Field(ge=1, le=MAX_SAMPLES)] = _RENDER.samples
    """Samples per pixel."""
    filter: Literal["point", "box", "tent", "gaussian"] = "gaussian"
    """Reconstruction filter; "point" takes every sample at the pixel's centre."""
    filter_radius: Annotated[Number, Field(ge=0, le=16)] | None = None
    """Half width of the filter in pixels; box 0.5, tent 1.0, gaussian 1.5 if left out."""
    seed: Annotated[Whole, Field(ge=0, le=2**32 - 1)] = _RENDER.seed
    """Seed of the sample points."""
    max_depth: Annotated[Whole, Field(ge=0, le=1024)] = _RENDER.max_depth
    """Mirror bounces; 0 shows no reflections."""
    shadows: Truth = _RENDER.shadows
    """Whether spheres cast shadows."""


class CameraBase(Model):
    """What both cameras have."""

    position: Vector | None = None
    """Eye point in scene units; without it the camera is fitted."""
    look_at: Vector | None = None
    """The point in the middle of the picture; the middle of the spheres if left out."""
    up: Vector = Field(default_factory=lambda: list(_CAMERA.up))
    """Which way is up in the picture."""
    fit: Literal[True, False, "all"] | None = None
    """Frame the spheres, "all": also those far from the others; only the direction is taken."""
    direction: Vector | None = None
    """From the spheres towards a fitted camera."""


class PerspectiveCamera(CameraBase):
    """A camera that shows near things larger."""

    type: Literal["perspective"] = "perspective"
    """Kind of camera."""
    vertical_fov: Annotated[Number, Field(ge=0.001, le=179)] = _CAMERA.vertical_fov
    """Full angle of the picture's height in degrees."""


class OrthographicCamera(CameraBase):
    """A camera without perspective."""

    type: Literal["orthographic"]
    """Kind of camera."""
    height: Positive | None = None
    """Height of the picture in scene units; left out with fit = true."""


class LightBase(Model):
    """What both lights have."""

    color: Color = "#ffffff"
    """Colour of the light."""
    intensity: Factor = 1.0
    """Linear factor of the light."""


class PointLight(LightBase):
    """Light from a point."""

    type: Literal["point"]
    """Kind of light."""
    position: Vector
    """Scene units."""
    falloff: Literal["none", "inverse-square"] = "none"
    """How the light fades with distance; "inverse-square" has its intensity at one unit."""


class DirectionalLight(LightBase):
    """Light from far away."""

    type: Literal["directional"]
    """Kind of light."""
    direction: Vector
    """Where the light travels."""


class Ambient(LightBase):
    """Light that reaches everything alike."""

    intensity: Factor = 0.1
    """Linear factor of the light."""


class Background(Model):
    """What is seen where there is no sphere."""

    color: Color | None = None
    """One colour; white if the table is left out."""
    bottom: Color | None = None
    """Lower edge of a vertical gradient."""
    top: Color | None = None
    """Upper edge of a vertical gradient."""
    transparent: Truth = False
    """Give the picture an alpha channel instead."""
    up: Vector | None = None
    """Up axis of the background as mirrors reflect it, any length; the camera's up if left out."""


class Material(Model):
    """How a surface answers light, after Phong."""

    ambient: Part = _MATERIAL.ambient
    """Factor of the ambient light."""
    diffuse: Part = _MATERIAL.diffuse
    """Factor of the matt reflection."""
    specular: Part = _MATERIAL.specular
    """Factor of the highlight."""
    shininess: Annotated[Positive, Field(le=1e6)] = _MATERIAL.shininess
    """Exponent of the highlight: the larger, the smaller the highlight."""
    mirror: Part = _MATERIAL.mirror
    """Part of the light that is reflected as by a mirror."""


class Transform(Model):
    """Scale, then rotate, then translate."""

    scale: Positive = 1.0
    """Factor of coordinates and radii."""
    rotate: Vector = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Degrees about the x, then the y, then the z axis."""
    translate: Vector = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Scene units."""


class Arrays(Model):
    """The data file's own names of what is read from it."""

    centers: Text | None = None
    """.npz: the array of centres, (N, 3)."""
    radii: Text | None = None
    """.npz: the array of radii, (N,); .csv and extended .xyz: the column."""
    diameters: Text | None = None
    """The same for diameters, instead of radii."""
    colors: Text | None = None
    """.npz: the array of colours, (N, 3), uint8 or 0..1; .csv, extended .xyz: the column."""
    x: Text | None = None
    """.csv: the column of x coordinates."""
    y: Text | None = None
    """.csv: the column of y coordinates."""
    z: Text | None = None
    """.csv: the column of z coordinates."""
    r: Text | None = None
    """.csv: the column of red."""
    g: Text | None = None
    """.csv: the column of green."""
    b: Text | None = None
    """.csv: the column of blue."""


class Generate(Model):
    """Spheres made by a named generator."""

    name: Text
    """Name of the generator, or of one part of it: "weekend/metal"."""
    count: Annotated[Whole, Field(ge=1)] | None = None
    """How many spheres; the generator's own number if left out."""
    seed: Annotated[Whole, Field(ge=0, le=2**32 - 1)] | None = None
    """Seed of the generator; its own if left out."""


class Spheres(Model):
    """A set of spheres: inline, from a file, or from a generator."""

    centers: Points | None = None
    """Centres, inline."""
    file: Text | None = None
    """Data file (.npz, .npy, .csv, .xyz), relative to the scene file."""
    generate: Generate | None = None
    """A generator instead of data."""
    arrays: Arrays | None = None
    """The data file's own names of its arrays or columns."""
    labels: Literal["elements", "types"] | None = None
    """What the labels of an .xyz file are; decided by the labels themselves if left out."""
    radius: Positive | None = None
    """One radius for all spheres of the set; goes before the file's radii."""
    radii: Lengths | None = None
    """A radius for each inline centre."""
    color: Color | None = None
    """One colour for all spheres of the set; goes before the file's colours."""
    colors: Colors | None = None
    """A colour for each inline centre."""
    color_space: Literal["srgb", "linear"] = "srgb"
    """What the numbers of colours are."""
    material: Text = "default"
    """Name of a material."""
    transform: Transform | None = None
    """Where the set goes."""


class Element(Model):
    """Radius and colour of an element, or of a label of your own, in .xyz files."""

    element: Text | None = None
    """Symbol of the element that a label stands for: its radius and colour are the defaults."""
    radius: Positive | None = None
    """In the file's length unit; the table's is the covalent radius in angstrom."""
    color: Color | None = None
    """Colour of the element."""


def _camera_type(value: Any) -> str:
    """Return the kind of camera: perspective if nothing is said."""
    return str(value.get("type", "perspective")) if isinstance(value, dict) else "perspective"


Camera = Annotated[
    Union[  # noqa: UP007
        Annotated[PerspectiveCamera, Tag("perspective")],
        Annotated[OrthographicCamera, Tag("orthographic")],
    ],
    Discriminator(_camera_type),
]
Light = Annotated[Union[PointLight, DirectionalLight], Field(discriminator="type")]  # noqa: UP007


class SceneFile(Model):
    """A scene of spheres for raytracer."""

    schema_: Annotated[Text | None, Field(alias="$schema")] = None
    """Address of the JSON Schema, for editors."""
    title: Text = ""
    """Name of the picture."""
    caption: Text = ""
    """A sentence about the picture."""
    render: Render = Field(default_factory=Render)
    """How the picture is sampled."""
    camera: Camera | None = None
    """Where the picture is taken from; fitted if left out."""
    background: Background = Field(default_factory=Background)
    """What is seen where there is no sphere; white if left out."""
    ambient: Ambient | None = None
    """Light that reaches everything alike."""
    lights: list[Light] | None = None
    """Point and directional lights; one from the camera's upper left if left out."""
    materials: dict[str, Material] = Field(default_factory=dict)
    """Materials by name; "default" is used where a set names none."""
    spheres: list[Spheres] = Field(default_factory=list)
    """Sphere sets."""
    elements: dict[str, Element] = Field(default_factory=dict)
    """Own radii and colours of elements in .xyz files."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scene files, for editors of TOML and JSON."""
    result = SceneFile.model_json_schema(by_alias=True)
    described = _descriptions()
    tables = {"SceneFile": result, **result["$defs"]}
    for name, table in tables.items():
        for key, entry in table.get("properties", {}).items():
            field = "schema_" if key == "$schema" else key
            texts = [described.get(base.__name__, {}) for base in globals()[name].__mro__]
            entry["description"] = next(text[field] for text in texts if field in text)
    result["title"] = "raytracer scene"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **result}


def _descriptions() -> dict[str, dict[str, str]]:
    """Return the docstrings below the fields of each class in this file.

    Pydantic can collect them too, but would do so each time a scene is loaded, which costs more
    than the loading.
    """
    import ast
    from inspect import getsource
    from sys import modules

    found: dict[str, dict[str, str]] = {}
    for table in ast.parse(getsource(modules[__name__])).body:
        if isinstance(table, ast.ClassDef):
            for field, text in zip(table.body, table.body[1:], strict=False):
                if (
                    isinstance(field, ast.AnnAssign)
                    and isinstance(field.target, ast.Name)
                    and isinstance(text, ast.Expr)
                ):
                    sentence = ast.literal_eval(text.value)
                    found.setdefault(table.name, {})[field.target.id] = sentence
    return found
