"""Definitions of fields: what a setting or a key of a scene may hold, stated once.

A dataclass describes each of its fields in the field's metadata::

    @dataclass(frozen=True, repr=False, eq=False)
    class RenderSettings(Defined):
        max_depth: int = field(default=4, metadata=define(Integer(0, 1024), "Mirror bounces."))

From the definition come the check of the argument in Python, the check of scene files and their
JSON Schema (`raytracer.scene.tables`), the option of the command line
(`raytracer.commands.options`), the documentation of the class and the reference of all keys
(`raytracer.scene.reference`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any, TypeVar

from raytracer.errors import SceneError, UserError, shown, suggestion
from raytracer.field_types import Kind

DEFINITION = "definition"
"""Key of the definition in a field's metadata."""

SETTINGS = "takes"
"""Attribute of a function that takes the fields of dataclasses: the dataclasses."""

DOCUMENT_WIDTH = 100
"""Letters of a line of a generated docstring."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Definition:
    """What a field holds, and how it is called where people read and write it.

    Attributes:
        kind: the kind of value.
        summary: one sentence, for all places.
        details: what the documentation says beyond it.
        default_text: the default in words where the value does not say it: "fitted".
        flag: option of the command line; None has the name of the field.
        variant: the only type of object ("perspective") that has the field in a scene file.
        each, every: the field that has a value for each sphere instead, or one for all of them.
        name: of the field.
        default: its value where nothing is given; `dataclasses.MISSING` where it is required.
    """

    __slots__ = (
        "_checked_default", "default", "default_text", "details", "each", "every", "flag", "kind",
        "name", "summary", "variant",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        summary: str,
        details: str = "",
        *,
        default_text: str = "",
        flag: str | None = None,
        variant: str = "",
        each: str = "",
        every: str = "",
        default: Any = MISSING,
        name: str = "",
    ) -> None:
        self.kind, self.summary, self.details, self.default_text = (
            kind,
            summary,
            details,
            default_text,
        )
        self.flag, self.variant, self.each, self.every = flag, variant, each, every
        self.default, self.name = default, name
        self._checked_default: Any = MISSING

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is MISSING

    def checked_default(self) -> Any:
        """Return the default as its kind gives it; it is checked once."""
        if self._checked_default is MISSING:
            default = self.default
            if default is not None:
                default = self.kind.checked(default, self.name, SceneError)
            self._checked_default = default
        return self._checked_default

    @property
    def option_name(self) -> str:
        """The long option of the command line: "--filter-radius"."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def meaning(self) -> str:
        """Summary, values and details in one paragraph."""
        values = self.kind.values()
        sentence = f"{self.summary.rstrip('.')} ({values})." if values else self.summary
        return f"{sentence} {self.details}".rstrip()

    @property
    def default_words(self) -> str:
        """The default in words, "" where there is none."""
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


def define(kind: Kind, summary: str, details: str = "", **options: Any) -> dict[str, Definition]:
    """Return the metadata of a dataclass field; the arguments are those of `Definition`."""
    return {DEFINITION: Definition(kind, summary, details, **options)}


def definitions(kind: type) -> Mapping[str, Definition]:
    """Return the definitions of the fields of a dataclass, by name, in their order."""
    known = _definitions.get(kind)
    if known is None:
        known = _definitions[kind] = {}
        for field in fields(kind):
            definition: Definition = field.metadata[DEFINITION]
            definition.name, definition.default = field.name, field.default
            known[field.name] = definition
    return known


_definitions: dict[type, dict[str, Definition]] = {}


class Defined:
    """Base of the dataclasses whose fields have definitions: text, comparison and hash of values.

    `dataclass` would generate and compile these methods for each class, which takes as long as all
    else of a class together; it is told not to with `repr=False, eq=False`.
    """

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in definitions(type(self)))

    def __repr__(self) -> str:
        values = (f"{name}={getattr(self, name)!r}" for name in definitions(type(self)))
        return f"{type(self).__qualname__}({', '.join(values)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())


def check_fields(target: Any, place: str = "", error: type[UserError] = SceneError) -> None:
    """Replace the fields of a frozen dataclass that is being made by their checked values.

    None is right where it is the default.

    Args:
        target: the object.
        place: what messages name before the field, "render" for example.
        error: what to raise.

    Raises:
        UserError: a value is of the wrong kind or out of range; the message names the field.
    """
    values = vars(target)  # of a frozen dataclass, which has no other way to set them
    for name, definition in definitions(type(target)).items():
        value = values[name]
        if value is definition.default:
            values[name] = definition.checked_default()
        else:
            where = f"{place}.{name}" if place else name
            values[name] = definition.kind.checked(value, where, error)


def takes(*kinds: type | str) -> Callable[[Function], Function]:
    """Return a decorator of functions that take the fields of dataclasses as keyword arguments.

    Args:
        kinds: the dataclasses, or their full names for those that are imported on demand.
    """

    def decorate(function: Function) -> Function:
        vars(function)[SETTINGS] = kinds
        return function

    return decorate


def taken_by(function: Any) -> tuple[type, ...]:
    """Return the dataclasses whose fields a function takes."""
    return tuple(_imported(kind) for kind in vars(function)[SETTINGS])


def _imported(kind: type | str) -> type:
    """Return a dataclass, imported where it is given by its full name."""
    if not isinstance(kind, str):
        return kind
    module, _, name = kind.rpartition(".")
    found: type = getattr(import_module(module), name)
    return found


def check_names(function: Any, given: Iterable[str]) -> None:
    """Refuse keyword arguments that are no fields, as Python does, with the nearest name.

    Args:
        function: one that `takes` fields.
        given: names of the arguments.

    Raises:
        TypeError: there is no such field.
    """
    first, *others = vars(function)[SETTINGS]
    known = list(definitions(_imported(first)))
    for name in given:
        if name not in known:
            known += [each for kind in others for each in definitions(_imported(kind))]
            others = []
        if name not in known:
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument '{shown(name)}'; "
                f"{suggestion(name, [*known, *(function.__kwdefaults__ or ())])}"
            )


def document(public: Any) -> None:
    """Add fields to the documentation of a dataclass, or of a function that takes them.

    The docstring of a class gets a section "Args:" before "Raises:". In the signature and the
    docstring of a function they stand for the last argument, which takes all others.

    What has no definitions stays as it is. `raytracer` calls this for its public names where they
    are first used from outside, because commands need no documentation.
    """
    if isinstance(public, type) and hasattr(public, "__dataclass_fields__"):
        _document_class(public)
    elif SETTINGS in getattr(public, "__dict__", {}):
        _document_function(public, taken_by(public))


def _document_function(function: Any, kinds: tuple[type, ...]) -> None:
    from inspect import Parameter, signature

    described = signature(function)
    *own, _ = described.parameters.values()
    added = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=None,
            annotation=field.type if "None" in str(field.type) else f"{field.type} | None",
        )
        for kind in kinds
        for field in fields(kind)
    ]
    function.__signature__ = described.replace(parameters=[*own, *added])
    if function.__doc__ is not None:
        before, returns, after = function.__doc__.partition("\n    Returns:")
        every = (each for kind in kinds for each in definitions(kind).values())
        lines = [line for each in every for line in _lines(each)]
        function.__doc__ = "\n".join([before.rstrip(), *lines, returns + after])


def _document_class(kind: type) -> None:
    if kind.__doc__ is None or "    Args:" in kind.__doc__:  # None: python -OO
        return
    if not any(DEFINITION in field.metadata for field in fields(kind)):
        return
    lines = [line for each in definitions(kind).values() for line in _lines(each)]
    before, raises, after = kind.__doc__.partition("    Raises:")
    kind.__doc__ = "\n".join([before.rstrip(), "", "    Args:", *lines, "", raises + after])


def _lines(definition: Definition) -> list[str]:
    """Return the lines of a docstring about a field."""
    lines, line = [], f"        {definition.name}: {definition.meaning}"
    while len(line) > DOCUMENT_WIDTH:
        end = line.rfind(" ", 0, DOCUMENT_WIDTH)
        lines.append(line[:end])
        line = " " * 12 + line[end + 1 :]
    return [*lines, line]
