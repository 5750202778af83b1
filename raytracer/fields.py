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
from typing import Any

from raytracer.errors import SceneError, UserError
from raytracer.kinds import Kind

DEFINITION = "definition"
"""Key of the definition in a field's metadata."""

DOCUMENT_WIDTH = 100
"""Letters of a line of a generated docstring."""


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
        "default", "default_text", "details", "each", "every", "flag", "kind", "name",
        "summary", "variant",
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

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is MISSING

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


def document(kind: type) -> None:
    """Add the fields of a dataclass to its docstring, as a section "Args:" before "Raises:".

    Classes without definitions stay as they are. `raytracer` calls it for its public classes where
    they are first used from outside, because commands need no documentation.
    """
    if kind.__doc__ is None or "    Args:" in kind.__doc__:  # None: python -OO
        return
    if not any(DEFINITION in field.metadata for field in fields(kind)):
        return
    lines = ["    Args:"]
    for name, definition in definitions(kind).items():
        lines += _wrapped(f"        {name}: {definition.meaning}")
    before, raises, after = kind.__doc__.partition("    Raises:")
    kind.__doc__ = "\n".join([before.rstrip(), "", *lines, "", raises + after])


def _wrapped(line: str) -> list[str]:
    """Return the lines of a paragraph; `textwrap` takes longer to import than all classes here."""
    lines = []
    while len(line) > DOCUMENT_WIDTH:
        end = line.rfind(" ", 0, DOCUMENT_WIDTH)
        lines.append(line[:end])
        line = " " * 12 + line[end + 1 :]
    return [*lines, line]
