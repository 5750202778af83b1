"""Field types of scenes: colours, lists and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from raytracer.arguments import items, of_kind, real, text
from raytracer.errors import SceneError, UserError, shown, shown_value
from raytracer.field_types import (
    NUMBER,
    TEXT,
    AnyOf,
    Integer,
    Kind,
    Mistake,
    Number,
    Numbers,
    Schema,
    Text,
    array,
    loaded,
    must_be,
    number_of,
)
from raytracer.fields import Definition, check_fields, definitions
from raytracer.scene.colors import parse_color

_NUMBERS: Schema = {
    "type": "array",
    "items": {"type": "number", "minimum": 0, "maximum": 1},
    "minItems": 3,
    "maxItems": 4,
}

COLOR: Schema = {"anyOf": [TEXT, _NUMBERS]}


# Camera fields of scenes, calls and keyframes.
FIELD_OF_VIEW = Number(0.001, 179.0)
ELEVATION = Number(-89.0, 89.0)
PICTURE_HEIGHT = Number(0.0, above=True)
ZOOM = Number(0.01, 1000.0)
APERTURE = Number(0.0, 1.0)
SHUTTER = Number(0.0, 1e6)


def _color(value: Any, name: str, error: type[UserError]) -> Any:
    try:
        return parse_color(value)
    except SceneError as mistake:
        raise error(f"{name}: {mistake}") from None


ColorValue = partial(Kind, {str: TEXT, list: _NUMBERS}, _color, noun="a colour", metavar="COLOR")

MAX_BOXES = 1000  # most boxes along one edge


class Counts(Numbers):
    """Numbers of boxes along the three edges: three whole numbers, or one for all."""

    def __init__(self) -> None:
        noun = f"three whole numbers from 1 to {MAX_BOXES}"
        super().__init__(3, noun, "A,B,C", item=Integer(1, MAX_BOXES))

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        if isinstance(value, str):  # from the command line
            value = number_of(value.lower().replace("x", ","))
        return super().checked([value] * 3 if isinstance(value, int) else value, name, error)


REPLICATE = Counts()

COMPONENTS = "a column of vectors, or three columns, expressions or numbers"


def _velocity(value: Any, name: str, error: type[UserError]) -> Any:
    parts = text(value, name, error).split(",") if isinstance(value, str) else items(value, name)
    if isinstance(value, str) and len(parts) == 1:
        return parts[0]
    if len(parts) != 3:
        raise error(f"{name}: {shown_value(value)} is not {COMPONENTS}")
    return tuple(
        part if isinstance(part, str) else repr(real(part, name, error=error)) for part in parts
    )


Velocity = partial(
    Kind, {str: TEXT, list: array({"anyOf": [TEXT, NUMBER]}, 3)}, _velocity,
    noun=COMPONENTS, metavar="COLUMN|X,Y,Z",
)  # fmt: skip
"""A velocity: a column of vectors, or its three components: columns, expressions or numbers."""


def Rows(item: Kind) -> Kind:  # noqa: N802
    """A list with an item per sphere; items are checked when the spheres are made."""
    return Kind({list: {"type": "array", "items": item.schema()}}, lambda value, *_, **__: value)


PAIRS = {
    "radius": "radii",
    "end_radius": "end_radii",
    "color": "colors",
    "end_color": "end_colors",
    "opacity": "opacities",
    "velocity": "velocities",
    "orientation": "orientations",
}
"""Keys of a set with one value for all, and those with a value for each."""


class Table(Kind):
    """A table of the file; unknown keys are mistakes.

    Args:
        title: title in the JSON Schema.
        summary: what it describes.
        keys: definitions by key.
        make: class of the object whose fields it has, or a function that makes it.
    """

    home = ""

    def __init__(
        self, title: str, summary: str, keys: Mapping[str, Definition], make: Any = None
    ) -> None:
        self.title, self._summary, self._keys, self._make = title, summary, keys, make

    @classmethod
    def of(cls, home: str) -> Table:
        """Return the table of the fields of a dataclass, "module:Class", imported when needed."""
        table = cls(home.rpartition(":")[2], "", {})
        table.home = home
        return table

    @property
    def keys(self) -> Mapping[str, Definition]:
        return definitions(loaded(self.home)) if self.home else self._keys

    @property
    def summary(self) -> str:
        return self._summary or (loaded(self.home).__doc__ or "").partition("\n")[0]

    def mistakes(self, value: Any, place: str) -> Iterator[Mistake | str]:
        if type(value) is not dict:
            yield _wrong_table(value, place)
            return
        for name, key in self.keys.items():
            if name not in value:
                if key.required:
                    yield Mistake(joined(place, name), "is missing")
            elif value[name] is not None or key.default is not None:
                found = list(key.kind.mistakes(value[name], joined(place, name)))
                yield from found[:-1]
                yield from (f"{last}{self._hint(name, value[name])}" for last in found[-1:])
        for name in value:
            if name not in self.keys:
                yield Mistake(joined(place, shown(name)), "unknown key", name, self.keys)

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        """Return an object, or make it of its fields by name."""
        make = loaded(self.home) if self.home else self._make
        if not isinstance(value, Mapping):
            return of_kind(value, name, make, error)
        check_fields(value, self.keys, name, error)
        try:
            return make(**value)
        except UserError as mistake:  # whose sentences begin with the name of the class
            raise error(*(re.sub(r"^\w+", name, each) for each in mistake.sentences)) from None

    def _hint(self, name: str, value: Any) -> str:
        """Return a hint at the key for values per sphere."""
        if (many := PAIRS.get(name)) in self.keys and type(value) is list:
            are_numbers = any(isinstance(item, (int, float)) for item in value)
            if "color" not in name or not are_numbers:  # which may be one colour
                return f"; a value per sphere goes into {many}"
        return ""

    def schema(self) -> Schema:
        return {"$ref": f"#/$defs/{self.title}"}

    def definition(self) -> Schema:
        """Return the JSON Schema of the table itself, to which `schema` refers."""
        result: Schema = {
            "title": self.title,
            "description": self.summary,
            "type": "object",
            "properties": {name: key_schema(key) for name, key in self.keys.items()},
            "additionalProperties": False,
        }
        required = [name for name, key in self.keys.items() if key.required]
        return result | ({"required": required} if required else {})

    def tables(self) -> list[Table]:
        return [self]


class Tables(Kind):
    """A list of tables, [[lights]]."""

    def __init__(self, item: Kind) -> None:
        self.item = item

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        rows = enumerate(items(value, name, error))
        return tuple(self.item.checked(each, f"{name}[{index}]", error) for index, each in rows)

    def mistakes(self, value: Any, place: str) -> Iterator[Mistake | str]:
        if type(value) is list:
            for index, item in enumerate(value):
                yield from self.item.mistakes(item, f"{place}[{index}]")
        elif type(value) is dict:
            form = f"write [[{place}]], with two brackets, or in JSON [{{...}}]"
            yield Mistake(place, f"is a list of tables: {form}")
        else:
            yield must_be(place, "a list", value)

    def schema(self) -> Schema:
        return {"type": "array", "items": self.item.schema()}

    def tables(self) -> list[Table]:
        return self.item.tables()


class NamedTables(Tables):
    """Tables with names chosen by the user, [materials.NAME]."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        return {key: self.item.checked(each, f"{name}.{key}", error) for key, each in value.items()}

    def mistakes(self, value: Any, place: str) -> Iterator[Mistake | str]:
        if type(value) is not dict:
            yield _wrong_table(value, f"{place}.NAME")
            return
        for name, item in value.items():
            yield from self.item.mistakes(item, f"{place}.{shown(name)}")

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.item.schema()}


def Expression(number: Number | None = None) -> Kind:  # noqa: N802
    """A number, by default above 0, or an expression over columns."""
    number = number or Number(0.0, above=True)
    return AnyOf(
        number, Text(), metavar="NUMBER|EXPRESSION", noun="a number or an expression",
        wording=f"a number ({number.limits()}), or an expression over columns",
    )  # fmt: skip


Share = partial(Expression, Number(0.0, 1.0))


class Variants(Kind):
    """Tables of several types, distinguished by the key `type`.

    Args:
        tables: by type; each has the key `type`.
        default: type of a table without the key; "" if it is required.
    """

    def __init__(self, tables: Mapping[str, Table], default: str = "") -> None:
        self.variants, self.default = tables, default

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        fields = {key: each for key, each in value.items() if key != "type"}
        return self.variants[value.get("type", self.default)].checked(fields, name, error)

    def mistakes(self, value: Any, place: str) -> Iterator[Mistake | str]:
        name = value.get("type", self.default) if type(value) is dict else ""
        if type(value) is not dict:
            yield _wrong_table(value, place)
        elif type(name) is str and name in self.variants:
            yield from self.variants[name].mistakes(value, place)
        elif "type" not in value:
            yield Mistake(place, f"type is missing; known are {', '.join(self.variants)}")
        else:
            yield Mistake(place, f"there is no type '{shown(str(name))}'", str(name), self.variants)

    def schema(self) -> Schema:
        return {"oneOf": [table.schema() for table in self.variants.values()]}

    def tables(self) -> list[Table]:
        return list(self.variants.values())


def joined(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _wrong_table(value: Any, place: str) -> Mistake:
    """Return that a value must be a table, or how to write a table instead of a list."""
    if type(value) is not list:
        return must_be(place.removesuffix(".NAME"), "a table", value)
    form = f"write [{place}], with one bracket, or in JSON {{...}}"
    what = "a table of named tables" if place.endswith(".NAME") else "one table"
    return Mistake(place.removesuffix(".NAME"), f"is {what}: {form}")


def key_schema(key: Definition) -> Schema:
    schema = key.kind.schema()
    if key.default is None:
        schema = {"anyOf": [schema, {"type": "null"}]}
    described = schema | {"description": key.text}
    if key.required:
        return described
    default = list(key.default) if isinstance(key.default, tuple) else key.default
    return described | {"default": default}


def all_tables(table: Table) -> list[Table]:
    inside = [each for key in table.keys.values() for each in key.kind.tables()]
    return [table, *(each for one in inside for each in all_tables(one))]
