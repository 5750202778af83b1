"""Colours of bonds, arrows and other solids, constant or by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raytracer.arguments import as_text
from raytracer.errors import UserError
from raytracer.fields import check_fields
from raytracer.scene.coloring.style import COLOR_BY, KEYS, StyleSettings
from raytracer.scene.field_types import ColorValue, Either
from raytracer.scene.option_text import fields_of


class ColorRule(Either):
    """One colour, or a table of colours by value: {by = "length", map = "magma"}."""

    def __init__(self) -> None:
        super().__init__(ColorValue(), COLOR_BY)

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        given = as_text(value) if isinstance(value, str) else value
        if isinstance(given, StyleSettings):
            return given
        if isinstance(given, str) and given.startswith("by="):
            given = fields_of(given, COLOR_BY.keys, name)
        if not isinstance(given, Mapping):
            return ColorValue().checked(value, name, error)
        check_fields(given, KEYS, name, error)
        if "by" not in given:
            raise error(f"{name}.by: missing; name the value that the colours show")
        try:
            return StyleSettings(**{KEYS[key]: each for key, each in given.items()})
        except UserError as mistake:
            raise error(f"{name}: {mistake}") from None


COLOR_RULE = ColorRule()  # the type of `bond_color`, and of `color` of arrows, trails and contacts
