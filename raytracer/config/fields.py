"""Definitions of fields: what a setting or a key of a scene may be, stated once.

A dataclass states the default and the kind of each field, and explains it in the section "Args:" of
its docstring: a first sentence for help and reference, and perhaps more. ::

    class RenderSettings(Defined, place="render"):
        max_depth: int = setting(4, Integer(0, 1024))

From these follow the check of arguments in Python, the check of scene files and their JSON Schema
(`raytracer.scene_files.tables`), command line options (`raytracer.commands.options`), class
documentation, and the reference of all keys (`docs/scene_reference.py`).
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, field, fields
from functools import cache, cached_property
from inspect import cleandoc
from typing import Any, ClassVar, TypeVar

from raytracer.config.errors import SceneError, quote, suggest
from raytracer.config.field_types import FieldType, import_name

DEFINITION = "definition"  # key of the definition in a field's metadata
SETTINGS = "takes"  # attribute of a function with the dataclasses whose fields it takes
ENTRY = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)  # a field in "Args:"

DOCUMENT_WIDTH = 100

Function = TypeVar("Function", bound=Callable[..., Any])


class Definition:
    """The kind of a field's value, and its names for users.

    Args:
        kind: the kind of value.
        *texts: the meaning: a sentence for help and reference, and further ones for the
            documentation; by default, those of the class's docstring.
        default: of the field; `dataclasses.MISSING` if it is required.
        default_text: the default in words, if the value is not self-explanatory: "fitted".
        flag: option of the command line; "" for the name of the field.
        variant: the only type of object ("perspective") that has the field in a scene file.
        name: of the field.
    """

    def __init__(
        self, kind: FieldType, *texts: str, default: Any = MISSING, default_text: str = "",
        flag: str = "", variant: str = "", name: str = "",
    ) -> None:  # fmt: skip
        self.kind, self._text, self.name = kind, " ".join(texts), name
        self.owner: type = object
        self.default, self.default_text, self.flag = default, default_text, flag
        self.variant = variant

    @property
    def text(self) -> str:
        """The meaning, in one paragraph."""
        text = self._text or read_field_texts(self.owner).get(self.name, "")
        return text or str(getattr(self.kind, "summary", ""))  # of a table

    @property
    def summary(self) -> str:
        """The first sentence."""
        first, end, _ = self.text.partition(". ")
        return first + end.rstrip()

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @cached_property
    def checked_default(self) -> Any:
        default = self.default
        return None if default is None else self.kind.checked(default, self.name)

    @property
    def option_name(self) -> str:
        """The long option of the command line: "--filter-radius"."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def default_words(self) -> str:
        """The default in words, or ""."""
        if self.default_text or self.default is None or self.required:
            return self.default_text
        value = self.default
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return f"[{', '.join(f'{number:g}' for number in value)}]"
        if isinstance(value, str):
            return f'`"{value}"`' if value else "empty"
        return str(value) if isinstance(value, int) else f"{value:g}"


class Borrowed(Definition):
    """The definition of a field of another class, "module:Class", which is imported when needed."""

    required = False

    def __init__(self, owner: str, name: str) -> None:
        self._owner, self.name = owner, name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(find_definitions(import_name(self._owner))[self.name], attribute)


def setting(default: Any, kind: FieldType, *texts: str, **options: Any) -> Any:
    """Return a dataclass field; the arguments are its default and those of `Definition`."""
    return field(default=default, metadata={DEFINITION: Definition(kind, *texts, **options)})


@cache
def read_field_texts(kind: type) -> dict[str, str]:
    """Return the texts about fields in the docstrings of a class and its bases, by name."""
    texts: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        section = cleandoc(each.__doc__ or "").partition("\nArgs:\n")[2].partition("\n\n")[0]
        texts |= {name: " ".join(text.split()) for name, text in ENTRY.findall(section)}
    return texts


def find_definitions(kind: type) -> Mapping[str, Definition]:
    """Return the definitions of the fields of a dataclass, by name, in order."""
    known = _definitions.get(kind)
    if known is None:
        known = _definitions[kind] = {}
        for each in fields(kind):
            definition: Definition = each.metadata[DEFINITION]
            definition.name, definition.default, definition.owner = each.name, each.default, kind
            known[each.name] = definition
    return known


_definitions: dict[type, dict[str, Definition]] = {}


class Defined:
    """Base of dataclasses whose fields have definitions; it checks, prints and compares them.

    Use `dataclass(repr=False, eq=False)`: generating these methods would double the time to define
    a class. `place` is what messages name before a field: "render".
    """

    _place: ClassVar[str] = ""

    def __init_subclass__(cls, place: str | None = None) -> None:
        cls._place = cls._place if place is None else place

    def __post_init__(self) -> None:
        """Replace the fields by their checked values; None is valid if it is the default."""
        values = vars(self)  # of a frozen dataclass, which has no other way to set them
        for name, definition in find_definitions(type(self)).items():
            value = values[name]
            if value is definition.default:
                values[name] = definition.checked_default
            else:
                where = f"{self._place}.{name}" if self._place else name
                values[name] = definition.kind.checked(value, where)

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in find_definitions(type(self)))

    def __repr__(self) -> str:
        values = (f"{name}={getattr(self, name)!r}" for name in find_definitions(type(self)))
        return f"{type(self).__qualname__}({', '.join(values)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())


def accept_settings(*kinds: type | str) -> Callable[[Function], Function]:
    """Return a decorator of functions that take the fields of dataclasses as keyword arguments."""

    def decorate(function: Function) -> Function:
        vars(function)[SETTINGS] = kinds
        return function

    return decorate


def accepted_settings(function: Any) -> Iterable[type]:
    """Yield the dataclasses whose fields a function takes."""
    for kind in vars(function)[SETTINGS]:
        yield import_name(kind) if isinstance(kind, str) else kind


def split_settings(
    settings: Mapping[str, Any], kind: type
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings that are fields of a dataclass and not None, and the others."""
    others = dict(settings)
    own = {name: others.pop(name) for name in find_definitions(kind) if name in others}
    return {name: value for name, value in own.items() if value is not None}, others


def check_names(function: Any, given: Iterable[str], caller: str = "") -> None:
    """Refuse unknown keyword arguments, as Python does, with the nearest name; `caller` instead
    of the name of the function."""
    kinds, known = iter(accepted_settings(function)), list[str]()
    for name in given:
        while name not in known and (kind := next(kinds, None)) is not None:
            known += find_definitions(kind)
        if name not in known:
            names, caller = [*known, *(function.__kwdefaults__ or ())], caller or function.__name__
            raise TypeError(
                f"{caller}() got an unexpected keyword argument '{quote(name)}'; "
                f"{suggest(name, names)}"
            )


def check_fields(given: Iterable[Any], known: Collection[str], place: str) -> None:
    """Refuse the fields that there are not, with the nearest name."""
    for name in given:
        if name not in known:
            hint = suggest(str(name), known)
            raise SceneError(f"{place}: there is no field '{quote(str(name))}'; {hint}")


def document(public: Any) -> None:
    """Document the fields in the docstring of a dataclass, or of a function that takes them, when a
    public name is first used from outside: commands need no documentation."""
    if isinstance(public, type) and issubclass(public, Defined):
        if public.__doc__ is not None:  # None: python -OO
            head, *sections = re.split(r"\n(?=Args:|Raises:)", cleandoc(public.__doc__))
            raises = "Raises:\n    UserError: a value is out of range."
            raises = next((each for each in sections if each[0] == "R"), raises)
            public.__doc__ = "\n".join([head, "Args:", *_lines(public), "", raises])
    elif SETTINGS in getattr(public, "__dict__", {}):
        _document_function(public, tuple(accepted_settings(public)))


def _document_function(function: Any, kinds: tuple[type, ...]) -> None:
    from inspect import Parameter, signature

    described = signature(function)
    *parameters, _ = described.parameters.values()
    added = [
        Parameter(
            each.name,
            Parameter.KEYWORD_ONLY,
            default=None,
            annotation=each.type if "None" in str(each.type) else f"{each.type} | None",
        )
        for kind in kinds
        for each in fields(kind)
    ]
    function.__signature__ = described.replace(parameters=[*parameters, *added])
    if function.__doc__ is not None:
        before, returns, after = function.__doc__.partition("\n    Returns:")
        function.__doc__ = "\n".join([before.rstrip(), *_lines(*kinds, indent=8), returns + after])


def _lines(*kinds: type, indent: int = 4) -> list[str]:
    from textwrap import wrap

    lines = []
    for each in (each for kind in kinds for each in find_definitions(kind).values()):
        first, _, rest = each.text.partition(". ")
        values = f" ({values})" if (values := each.kind.values()) else ""
        text = f"{each.name}: {first.rstrip('.')}{values}. {rest}"
        lines += wrap(
            text, DOCUMENT_WIDTH, initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 4),
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return lines
