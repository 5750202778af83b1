"""The kinds of value in a scene file: numbers, vectors, colours, and what a schema says of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic import WithJsonSchema as Shown

from ..errors import SceneError
from .colors import parse_color


def _color(value: Any) -> Any:
    """Check a colour and leave it as it was written."""
    try:
        parse_color(value)
    except SceneError as error:
        raise ValueError(str(error)) from None
    return value


_NUMBER = {"type": "number"}
_POINT = {"type": "array", "items": _NUMBER, "minItems": 3, "maxItems": 3}
_UNIT = {"type": "number", "minimum": 0, "maximum": 1}
_COLOR = {
    "description": "sRGB: '#rrggbb', a name of CSS or matplotlib, or three numbers from 0 to 1",
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": _UNIT, "minItems": 3, "maxItems": 4},
    ],
}

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0)]
Factor = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0)]
Part = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]
Whole = Annotated[int, Field(strict=True)]
Truth = Annotated[bool, Field(strict=True)]
Text = Annotated[str, Field(strict=True)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Color = Annotated[Any, BeforeValidator(_color), Shown(_COLOR)]
Points = Annotated[list[Any], Shown({"type": "array", "items": _POINT})]
Lengths = Annotated[list[Any], Shown({"type": "array", "items": _NUMBER})]
Colors = Annotated[list[Any], Shown({"type": "array", "items": _COLOR})]
