"""The kinds of value that only scenes hold: colours, lists and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from raytracer.arguments import text
from raytracer.errors import SceneError, UserError, shown, suggestion
from raytracer.field_types import Kind, Mistakes, Number, Schema
from raytracer.fields import Definition, definitions
from raytracer.scene.colors import parse_color
from raytracer.warning import passed_to

_UNIT: Schema = {"type": "number", "minimum": 0, "maximum": 1}

COLOR: Schema = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": _UNIT, "minItems": 3, "maxItems": 4}],
}
"""JSON Schema of a colour."""


# Of a camera, in a scene, in a call and in keyframes.
FIELD_OF_VIEW = Number(0.001, 179.0)
PICTURE_HEIGHT = Number(0.0, above=True)
ZOOM = Number(0.01, 1000.0)
APERTURE = Number(0.0, 1.0)


class ColorValue(Kind):
    """A colour as people write it."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        try:
            return parse_color(value)
        except SceneError as mistake:
            raise error(f"{name}: {mistake}") from None

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        try:
            with passed_to(_ignore):  # the objects that are made of the values warn
                parse_color(value)
        except SceneError as mistake:
            mistakes.add(place, str(mistake))

    def schema(self) -> Schema:
        return COLOR

    def values(self) -> str:
        return "a colour"

    def option(self) -> dict[str, Any]:
        return {"metavar": "COLOR"}


def _ignore(sentence: str) -> None:
    """Leave out a warning."""


class Rows(Kind):
    """A list with an item for each sphere; the items are checked when they become spheres."""

    def __init__(self, item: Kind) -> None:
        self.item = item

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not list:
            mistakes.must_be(place, "a list", value)

    def schema(self) -> Schema:
        return {"type": "array", "items": self.item.schema()}


class Table(Kind):
    """A table of the file; a key that it does not know is a mistake.

    Args:
        title: in the JSON Schema.
        summary: what it describes.
        keys: the definition of each key.
    """

    def __init__(self, title: str, summary: str, keys: Mapping[str, Definition]) -> None:
        self.title, self.summary, self.keys = title, summary, keys

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not dict:
            wrong_table(value, place, mistakes)
            return
        for name, key in self.keys.items():
            if name in value:
                if value[name] is not None or key.default is not None:
                    self._find_in(key, value[name], joined(place, name), mistakes)
            elif key.required:
                mistakes.add(joined(place, name), "is missing")
        for name in value:
            if name not in self.keys:
                hint = "" if mistakes.full else suggestion(name, self.keys)
                mistakes.add(joined(place, shown(name)), f"unknown key; {hint}")

    def _find_in(self, key: Definition, value: Any, place: str, mistakes: Mistakes) -> None:
        """Check the value of a key, and say where a value for each sphere, or for all, goes."""
        count = len(mistakes.sentences)
        key.kind.find_mistakes(value, place, mistakes)
        if len(mistakes.sentences) == count:
            return
        hint = ""
        if key.each and type(value) is list:
            numbers = any(isinstance(item, (int, float)) for item in value)
            if not (numbers and isinstance(key.kind, (ColorValue, Either))):  # perhaps one colour
                hint = f"; a value per sphere goes into {key.each}"
        elif key.every and isinstance(value, (int, float, str)):
            hint = f"; one value for all spheres goes into {key.every}"
        mistakes.sentences[-1] += hint

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
        """Return this table and those in it."""
        inside = [t for key in self.keys.values() for t in tables_of(key.kind)]
        return [self, *inside]


class Keys(Mapping[str, Definition]):
    """The fields of a dataclass in a module that is imported where they are first needed.

    Args:
        module: its name.
        kind: the dataclass.
    """

    def __init__(self, module: str, kind: str) -> None:
        self._module, self._kind = module, kind

    @property
    def _known(self) -> Mapping[str, Definition]:
        return definitions(getattr(import_module(self._module), self._kind))

    def __getitem__(self, name: str) -> Definition:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class Tables(Kind):
    """A list of tables, [[lights]]."""

    def __init__(self, item: Kind) -> None:
        self.item = item

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is list:
            for index, item in enumerate(value):
                self.item.find_mistakes(item, f"{place}[{index}]", mistakes)
        elif type(value) is dict:
            form = f"[[{place}]], with two brackets" if mistakes.toml else f'"{place}": [{{...}}]'
            mistakes.add(place, f"is a list of tables: write {form}")
        else:
            mistakes.must_be(place, "a list", value)

    def schema(self) -> Schema:
        return {"type": "array", "items": self.item.schema()}


class NamedTables(Kind):
    """Tables by names that the user chooses, [materials.NAME]."""

    def __init__(self, item: Kind) -> None:
        self.item = item

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not dict:
            wrong_table(value, place, mistakes, "NAME")
            return
        for name, item in value.items():
            self.item.find_mistakes(item, f"{place}.{shown(name)}", mistakes)

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.item.schema()}


class Either(Kind):
    """A value of one kind, or a table."""

    def __init__(self, plain_kind: Kind, table: Kind) -> None:
        self.plain, self.table = plain_kind, table

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        kind = self.table if type(value) is dict else self.plain
        kind.find_mistakes(value, place, mistakes)

    def schema(self) -> Schema:
        own = self.plain.schema()
        return {"anyOf": [*own.get("anyOf", [own]), self.table.schema()]}

    def values(self) -> str:
        return f"{self.plain.values()}, or a table"


class Expression(Number):
    """A number above 0, or an expression over columns."""

    def __init__(self) -> None:
        super().__init__(0.0, above=True)

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        if not isinstance(value, str):
            return super().checked(value, name, error)
        words = text(value, name, error)
        try:
            number = float(words)  # as the command line has it
        except ValueError:
            return words
        return super().checked(number, name, error)

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not str:
            super().find_mistakes(value, place, mistakes)

    def schema(self) -> Schema:
        return {"anyOf": [super().schema(), {"type": "string"}]}

    def values(self) -> str:
        return "a number above 0, or an expression over columns"

    def limits(self) -> str:
        return ""

    def option(self) -> dict[str, Any]:
        return {"metavar": "NUMBER|EXPRESSION"}


class Share(Expression):
    """A number from 0 to 1, or an expression over columns."""

    def __init__(self) -> None:
        Number.__init__(self, 0.0, 1.0)

    def values(self) -> str:
        return "a number from 0 to 1, or an expression over columns"


class Later(Kind):
    """A kind that is imported where a file has such a value.

    Args:
        module: its module.
        name: of the kind there.
    """

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    @property
    def kind(self) -> Kind:
        """The kind itself."""
        kind: Kind = getattr(import_module(self.module), self.name)
        return kind

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        return self.kind.checked(value, name, error)

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        self.kind.find_mistakes(value, place, mistakes)

    def schema(self) -> Schema:
        return self.kind.schema()

    def values(self) -> str:
        return self.kind.values()


class Variants(Kind):
    """Tables of several types, which the key `type` tells apart.

    Args:
        tables: by type; each has the key `type`.
        default: the type of a table that does not say it; "" if it must.
    """

    def __init__(self, tables: Mapping[str, Table], default: str = "") -> None:
        self.variants, self.default = tables, default

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        if type(value) is not dict:
            wrong_table(value, place, mistakes)
            return
        name = value.get("type", self.default)
        if type(name) is str and name in self.variants:
            self.variants[name].find_mistakes(value, place, mistakes)
        elif "type" not in value:
            mistakes.add(place, f"type is missing; known are {', '.join(self.variants)}")
        else:
            hint = "" if mistakes.full else suggestion(str(name), self.variants)
            mistakes.add(place, f"there is no type '{shown(str(name))}'; {hint}")

    def schema(self) -> Schema:
        return {"oneOf": [table.schema() for table in self.variants.values()]}


class Constant(Kind):
    """The name of a type, which is right where the table was found by it."""

    def __init__(self, word: str) -> None:
        self.word = word

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        """Find none: a wrong word chooses no table."""

    def schema(self) -> Schema:
        return {"type": "string", "const": self.word}

    def values(self) -> str:
        return f'`"{self.word}"`'


def joined(place: str, name: str) -> str:
    """Return the path of a key in a table."""
    return f"{place}.{name}" if place else name


def wrong_table(value: Any, place: str, mistakes: Mistakes, name: str = "") -> None:
    """Add that a value must be a table, or how a table is written where it is a list.

    Args:
        value: what stands there.
        place: of the table.
        mistakes: where to add it.
        name: of a table in this one, where it holds only tables.
    """
    if type(value) is not list:
        mistakes.must_be(place, "a table", value)
        return
    path = joined(place, name) if name else place
    form = f"[{path}], with one bracket" if mistakes.toml else f'"{place}": {{...}}'
    what = "a table of names" if name else "one table"
    mistakes.add(place, f"is {what}: write {form}")


def key_schema(key: Definition) -> Schema:
    """Return the JSON Schema of a key."""
    schema = key.kind.schema()
    if key.default is None:
        schema = {"anyOf": [schema, {"type": "null"}]}
    described = schema | {"description": key.summary}
    if key.required:
        return described
    default = list(key.default) if isinstance(key.default, tuple) else key.default
    return described | {"default": default}


def tables_of(kind: Kind) -> list[Table]:
    """Return the tables that values of a kind are made of."""
    if isinstance(kind, Table):
        return kind.tables()
    if isinstance(kind, (Tables, NamedTables)):
        return tables_of(kind.item)
    if isinstance(kind, Either):
        return tables_of(kind.table)
    if isinstance(kind, Later):
        return tables_of(kind.kind)
    if isinstance(kind, Variants):
        return [t for table in kind.variants.values() for t in table.tables()]
    return []
