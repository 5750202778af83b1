"""Field types of scenes: colours, lists, tables, and parts of a scene in options with several
fields, "place=left,size=12"."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from raytracer.config.arguments import as_text, check_items, check_kind, check_real
from raytracer.config.errors import SceneError, UserError, quote, quote_value, suggest
from raytracer.config.field_types import (
    NUMBER,
    TEXT,
    AnyOf,
    Check,
    FieldType,
    Integer,
    Number,
    Numbers,
    Schema,
    Text,
    array_schema,
    import_name,
    parse_option_number,
)
from raytracer.config.fields import Defined, Definition, check_fields, find_definitions
from raytracer.files.access import load_toml
from raytracer.model.colors import parse_color, parse_rgba

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


def _color(value: Any, name: str, parse: Callable[[Any], Any] = parse_color) -> Any:
    try:
        return parse(value)
    except SceneError as mistake:
        raise SceneError(f"{name}: {mistake}") from None


ColorValue = partial(
    FieldType, {str: TEXT, list: _NUMBERS}, _color, noun="a colour", metavar="COLOR"
)

MAX_BOXES = 1000  # most boxes along one edge


class Counts(Numbers):
    """Numbers of boxes along the three edges: three whole numbers, or one for all."""

    def __init__(self) -> None:
        noun = f"three whole numbers from 1 to {MAX_BOXES}"
        super().__init__(3, noun, "A,B,C", item=Integer(1, MAX_BOXES), between="[,x×*]")

    def checked(self, value: Any, name: str) -> Any:
        if isinstance(value, str):  # from the command line
            value = parse_option_number(value)
        return super().checked([value] * 3 if isinstance(value, int) else value, name)


REPLICATE = Counts()


def set_color(value: Any, name: str) -> Any:
    _color(value, name, parse_rgba)
    return value


SetColor = partial(FieldType, {str: TEXT, list: _NUMBERS}, set_color, noun="a colour")
"""The colour of a set, which stays as it is given: the set looks at alpha and colour space."""


STYLE = "raytracer.appearance.coloring.style"  # imported where colours follow values


def split_at_commas(text: str) -> list[str]:
    """Split a text at its commas, except those in brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def parse_fields(
    text: str, known: Mapping[str, Definition], place: str, first: str = ""
) -> dict[str, Any]:
    """Return the fields of a text by name.

    Args:
        text: "left,size=12".
        known: the fields there are, by name.
        place: what has the fields, for messages: "legend".
        first: the field that the parts without a name set together; "" if there is none.
    """
    fields, alone = {}, []
    for part in split_at_commas(text):
        key, equals, value = (each.strip() for each in part.partition("="))
        name = key.replace("-", "_")
        if first and not (equals and (name in known or key.isidentifier())):
            alone.append(part.strip())  # also Ti-O=2.4
            continue
        if not equals:
            raise SceneError(f"{place}: '{quote(key)}' has no '='; {suggest(key, known)}")
        check_fields([name], known, place)
        fields[name] = parse_value(known[name].kind, value, f"{place}.{name}")
    if alone:
        fields[first] = parse_value(known[first].kind, ",".join(alone), f"{place}.{first}")
    return fields


def parse_value(kind: FieldType, text: str, place: str) -> Any:
    """Return the checked value of a text, in which lists and tables are written as in TOML."""
    value: Any = kind.typed(text)
    if text[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            value = load_toml(f"value = {text}")["value"]
    elif text[:1] in ("'", '"'):
        value = text.strip("\"'")
    return kind.checked(value, place)


class ColorRule(FieldType):
    """One colour, or a table of colours by value: {by = "length", map = "magma"}."""

    def __init__(self, check: Check = _color) -> None:
        plain: dict[type, Schema] = {str: TEXT, list: _NUMBERS, dict: {"$ref": "#/$defs/ColorBy"}}
        super().__init__(plain, check, noun="a colour", wording="a colour, or a table")
        self.metavar = "COLOR"

    def tables(self) -> list["TableType"]:
        return [import_name(f"{STYLE}:COLOR_BY")]

    @property
    def beside(self) -> dict[str, Definition]:
        """Keys of the table that may stand beside it in an option: "color=length,map=magma"."""
        (table,) = self.tables()
        return {key: each for key, each in table.keys.items() if key not in ("by", "scale")}

    def checked(self, value: Any, name: str) -> Any:
        if isinstance(value, Defined):
            return check_kind(value, name, import_name(f"{STYLE}:StyleSettings"))
        if isinstance(value, str) and value.startswith("by="):
            value = parse_fields(as_text(value), self.tables()[0].keys, name)
        if isinstance(value, Mapping):
            return self.tables()[0].checked(value, name)
        return super().checked(value, name)

    def changed(self, color: Any, keys: Mapping[str, Any], name: str) -> Any:
        """Return colours by value with further keys."""
        if not isinstance(color, Defined):
            raise SceneError(
                f"{name}: {next(iter(keys))} needs colours by a value, such as color=length"
            )
        fields, settings = import_name(f"{STYLE}:KEYS"), vars(color)
        return type(color)(**settings | {fields[key]: value for key, value in keys.items()})

    def typed(self, text: str) -> Any:
        try:
            parse_color(text)
        except SceneError:
            return text if text.startswith("by=") else {"by": text}
        return text


def Components(width: int = 3, noun: str = "") -> FieldType:  # noqa: N802
    """A vector: the name of a column with its numbers, or its components: columns, expressions or
    numbers. noun: of names of columns side by side, of which one alone is no vector."""
    wanted = noun or (
        f"a column of {width} numbers per particle, or {width} columns, expressions or numbers"
    )

    def check(value: Any, name: str) -> str | tuple[str, ...]:
        parts = split_at_commas(value) if isinstance(value, str) else check_items(value, name)
        if isinstance(value, str) and len(parts) == 1 and not noun:
            return value.strip()
        if len(parts) != width:
            raise SceneError(f"{name}: {quote_value(value)} is not {wanted}")
        return tuple(p.strip() if isinstance(p, str) else repr(check_real(p, name)) for p in parts)

    plain: dict[type, Schema] = {str: TEXT, list: array_schema({"anyOf": [TEXT, NUMBER]}, width)}
    return FieldType(plain, check, noun=wanted, metavar="COLUMN|X,Y,Z")


def Rows(item: FieldType) -> FieldType:  # noqa: N802
    """A list with an item per sphere; items are checked when the spheres are made."""

    def check(value: Any, name: str) -> Any:
        if isinstance(value, (str, Mapping)) or not hasattr(value, "__len__"):
            raise SceneError(f"{name}: must be a list, not {quote_value(value)}")
        return value

    return FieldType({list: {"type": "array", "items": item.schema()}}, check)


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


class TableType(FieldType):
    """A table of the file, or in Python the object or its fields by name.

    Args:
        title: title in the JSON Schema.
        summary: what it describes.
        keys: definitions by key.
        make: makes the object of the checked fields; by default they stay a dictionary.
    """

    home = ""

    def __init__(
        self, title: str, summary: str, keys: Mapping[str, Definition], make: Any = dict
    ) -> None:
        self.title, self._summary, self._keys, self.make = title, summary, keys, make
        self.plain = {dict: {"$ref": f"#/$defs/{title}"}}

    @classmethod
    def of(cls, home: str) -> "TableType":
        """Return the table of the fields of a dataclass, "module:Class", imported when needed."""
        table = cls(home.rpartition(":")[2], "", {})
        table.home = home
        return table

    @property
    def keys(self) -> Mapping[str, Definition]:
        return find_definitions(import_name(self.home)) if self.home else self._keys

    @property
    def summary(self) -> str:
        return self._summary or (import_name(self.home).__doc__ or "").partition("\n")[0]

    def checked(self, value: Any, name: str) -> Any:
        """Return an object, or make it of its fields; raises SceneError with all mistakes."""
        make = import_name(self.home) if self.home else self.make
        if self.home and isinstance(value, make):
            return value
        if not isinstance(value, Mapping):
            raise _explain_not_a_table(
                value, name, f", or in Python a {self.title}" if self.home else ""
            )
        fields, mistakes = dict[str, Any](), list[str]()
        for key, definition in self.keys.items():
            place, given = join_keys(name, key), value.get(key)
            if given is None and (key not in value or definition.default is None):
                mistakes += [f"{place}: is missing"] if definition.required else []
                continue
            try:
                fields[key] = definition.kind.checked(given, place)
            except UserError as mistake:
                mistakes += mistake.sentences
        mistakes += self._list_unknown(value, name)
        if mistakes:
            raise SceneError(*mistakes)
        try:
            return make(**fields)
        except UserError as mistake:  # whose sentences begin with the name of the class
            raise SceneError(*(re.sub(r"^\w+", name, each) for each in mistake.sentences)) from None

    def _list_unknown(self, value: Mapping[str, Any], name: str) -> Iterator[str]:
        for key in value:
            if key not in self.keys:
                place = join_keys(name, quote(str(key)))
                hint = suggest(str(key), self.keys)
                yield f"{place}: unknown key; {hint}"

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

    def tables(self) -> list["TableType"]:
        return [self]


class Tables(FieldType):
    """A list of tables, [[lights]]."""

    def __init__(self, item: FieldType) -> None:
        self.item = item

    def checked(self, value: Any, name: str) -> Any:
        if isinstance(value, Mapping):
            form = f"write [[{name}]], with two brackets, or in JSON [{{...}}]"
            raise SceneError(f"{name}: is a list of tables: {form}")
        rows = ((f"{name}[{index}]", each) for index, each in enumerate(check_items(value, name)))
        return tuple(self._check_all(rows))

    def _check_all(self, rows: Iterable[tuple[str, Any]]) -> list[Any]:
        """Check items by place; raises SceneError with the mistakes of all."""
        made, mistakes = list[Any](), list[str]()
        for place, each in rows:
            try:
                made.append(self.item.checked(each, place))
            except UserError as mistake:
                mistakes += mistake.sentences
        if mistakes:
            raise SceneError(*mistakes)
        return made

    def schema(self) -> Schema:
        return {"type": "array", "items": self.item.schema()}

    def tables(self) -> list["TableType"]:
        return self.item.tables()


class NamedTables(Tables):
    """Tables with names chosen by the user, [materials.NAME]."""

    def checked(self, value: Any, name: str) -> Any:
        if not isinstance(value, Mapping):
            raise _explain_not_a_table(value, f"{name}.NAME")
        made = self._check_all((f"{name}.{quote(key)}", each) for key, each in value.items())
        return dict(zip(value, made, strict=True))

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.item.schema()}


def Expression(number: Number | None = None) -> FieldType:  # noqa: N802
    """A number, by default above 0, or an expression over columns."""
    number = number or Number(0.0, above=True)
    return AnyOf(
        number, Text(), metavar="NUMBER|EXPRESSION", noun="a number or an expression",
        wording=f"a number ({number.limits()}), or an expression over columns",
    )  # fmt: skip


Share = partial(Expression, Number(0.0, 1.0))


class Variants(FieldType):
    """Tables of several types, distinguished by the key `type`.

    Args:
        tables: by type; each has the key `type`.
        default: type of a table without the key; "" if it is required.
    """

    def __init__(self, tables: Mapping[str, TableType], default: str = "") -> None:
        self.variants, self.default = tables, default

    def checked(self, value: Any, name: str) -> Any:
        if not isinstance(value, Mapping):
            raise _explain_not_a_table(value, name)
        kind = value.get("type", self.default)
        if isinstance(kind, str) and kind in self.variants:
            return self.variants[kind].checked(value, name)
        if "type" not in value:
            raise SceneError(f"{name}: type is missing; known are {', '.join(self.variants)}")
        hint = suggest(str(kind), self.variants)
        raise SceneError(f"{name}: there is no type '{quote(str(kind))}'; {hint}")

    def schema(self) -> Schema:
        return {"oneOf": [table.schema() for table in self.variants.values()]}

    def tables(self) -> list["TableType"]:
        return list(self.variants.values())


def join_keys(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _explain_not_a_table(value: Any, place: str, other: str = "") -> SceneError:
    """Return that a value must be a table, or how to write a table instead of a list."""
    name = place.removesuffix(".NAME")
    if not isinstance(value, list):
        return SceneError(f"{name}: must be a table{other}, not {quote_value(value)}")
    form = f"write [{place}], with one bracket, or in JSON {{...}}"
    what = "one table" if name == place else "a table of named tables"
    return SceneError(f"{name}: is {what}: {form}")


def key_schema(key: Definition) -> Schema:
    schema = key.kind.schema()
    if key.default is None:
        schema = {"anyOf": [schema, {"type": "null"}]}
    described = schema | {"description": key.text}
    if key.required:
        return described
    default = list(key.default) if isinstance(key.default, tuple) else key.default
    return described | {"default": default}


def collect_tables(table: TableType) -> list["TableType"]:
    inside = [each for key in table.keys.values() for each in key.kind.tables()]
    return [table, *(each for one in inside for each in collect_tables(one))]


class PartChange(FieldType):
    """A change of a part of a scene: an object, its fields by name or in a text, or whether it is
    there.

    Args:
        home: "module:Class" of the object, imported when needed.
        first: the field that a value without a name sets.
        metavar: the value in the help of an option.
        others: as of `FieldType`.
    """

    def __init__(self, home: str, first: str, metavar: str, **others: Any) -> None:
        super().__init__({}, metavar=metavar, **others)
        self.home, self.first = home, first

    def parse_change(self, value: Any, name: str) -> Any:
        """Return an object, False to leave it out, or the fields that are stated."""
        kind = import_name(self.home)
        if isinstance(value, str):
            value = False if value in ("none", "off", "false") else self._fields(value, name)
        if value is None or isinstance(value, (bool, kind)):
            return {} if value is True else value or False
        fields = dict(value if isinstance(value, Mapping) else {self.first: value})
        check_fields(fields, find_definitions(kind), name)
        kind(**fields)  # refuses what is wrong
        return fields

    def checked(self, value: Any, name: str) -> Any:
        return self.parse_change(value, name)

    def _fields(self, text: str, name: str) -> dict[str, Any]:
        """Parse a text, in which keys of colours by value may stand beside the fields."""
        known = find_definitions(import_name(self.home))
        color: Any = known["color"].kind if "color" in known else self
        words = [part for part in split_at_commas(text) if part.strip() not in DEFAULTS]
        both = {**getattr(color, "beside", {}), **known}
        fields = parse_fields(",".join(words), both, name, self.first) if words else {}
        if beside := {key: fields.pop(key) for key in fields.keys() - known.keys()}:
            fields["color"] = color.changed(fields.get("color"), beside, name)
        return fields

    def changed(self, now: Any, given: Any) -> Any:
        """Return the part after a change as of `given`; None leaves it out. now: None, or it."""
        if not isinstance(given, dict):
            return given or None
        return import_name(self.home)(**given) if now is None else replace(now, **given)


DEFAULTS = ("", "on", "true", "all", "touch")  # words of an option that state no field
