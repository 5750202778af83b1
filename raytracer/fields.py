"""Definitions of fields: what a setting or a key of a scene may hold, stated once.

A dataclass describes each of its fields in the field's metadata::

    max_depth: int = field(default=4, metadata=define(Integer(0, 1024), "Mirror bounces."))

From the definition come the check of the argument in Python, the check of scene files and their
JSON Schema (`raytracer.scene.tables`), the option of the command line
(`raytracer.commands.setting_options`), the documentation of the class and the reference of all keys
(`raytracer.scene.reference`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, TypeVar

from raytracer.errors import SceneError, UserError
from raytracer.kinds import Kind

DEFINITION = "definition"
"""Key of the definition in a field's metadata."""

DOCUMENT_WIDTH = 100
"""Letters of a line of a generated docstring."""

Class = TypeVar("Class", bound=type)


class Definition:
    """What a field holds, and how it is called where people read and write it.

    Attributes:
        kind: the kind of value.
        help: one sentence, for all places.
        details: what the documentation says beyond it.
        default_text: the default in words where the value does not say it: "fitted".
        flag: option of the command line; None has the name of the field.
        variant: the only type of object ("perspective") that has the field in a scene file.
        each, every: the field that has a value for each sphere instead, or one for all of them.
        name: of the field.
        default: its value where nothing is given; `dataclasses.MISSING` where it is required.
    """

    __slots__ = (
        "default", "default_text", "details", "each", "every", "flag", "help", "kind", "name",
        "variant",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        help: str,  # noqa: A002 - the word of command lines
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
        self.kind, self.help, self.details, self.default_text = kind, help, details, default_text
        self.flag, self.variant, self.each, self.every = flag, variant, each, every
        self.default, self.name = default, name

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is MISSING

    @property
    def meaning(self) -> str:
        """Help, values and details in one paragraph."""
        values = self.kind.values()
        sentence = f"{self.help.rstrip('.')} ({values})." if values else self.help
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
        return f'"{value}"' if isinstance(value, str) else f"{value:,}"


def define(kind: Kind, help: str, details: str = "", **options: Any) -> dict[str, Definition]:  # noqa: A002
    """Return the metadata of a dataclass field; the arguments are those of `Definition`."""
    return {DEFINITION: Definition(kind, help, details, **options)}


@cache
def definitions(kind: type) -> Mapping[str, Definition]:
    """Return the definitions of the fields of a dataclass, by name, in their order."""
    found = {}
    for field in fields(kind):
        definition: Definition = field.metadata[DEFINITION]
        definition.name, definition.default = field.name, field.default
        found[field.name] = definition
    return found


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
    for name, definition in definitions(type(target)).items():
        value = getattr(target, name)
        if value is not None or definition.default is not None:
            where = f"{place}.{name}" if place else name
            object.__setattr__(target, name, definition.kind.checked(value, where, error))


def documented(kind: Class) -> Class:
    """Add the fields of a dataclass to its docstring, as a section "Args:" before "Raises:"."""
    if kind.__doc__ is None:  # python -OO
        return kind
    lines = ["    Args:"]
    for name, definition in definitions(kind).items():
        lines += _wrapped(f"{name}: {definition.meaning}", " " * 8, " " * 12)
    before, raises, after = kind.__doc__.partition("    Raises:")
    kind.__doc__ = "\n".join([before.rstrip(), "", *lines, "", raises + after])
    return kind


def _wrapped(text: str, first: str, others: str) -> list[str]:
    """Return the lines of a paragraph; `textwrap` takes longer to import than all classes here."""
    lines = [first]
    start = first
    for word in text.split():
        if len(start) + len(word) > DOCUMENT_WIDTH:
            lines.append("")
            start = others
        lines[-1] = f"{start}{word}"
        start = f"{lines[-1]} "
    return lines
