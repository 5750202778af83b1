"""Messages from a page: JSON objects, checked before use."""

import json
import struct
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from raytracer.errors import UserError

MAX_BYTES = 65536  # largest message from a page; the longest real one has a few hundred bytes
MAX_SIDE = 8192  # largest width and height of a view, in pixels
MAX_TEXT = 4000  # longest text in a message, such as the condition of a selection

Number = Annotated[float, Field(allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Value = None | bool | int | Number | Text | Annotated[list[Number], Field(max_length=16)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Act(_Message):
    type: Literal["act"]
    name: Annotated[str, Field(max_length=64)]
    values: (
        Annotated[dict[str, Value], Field(max_length=16)]
        | Annotated[list[Value], Field(max_length=16)]
    ) = {}


class Size(_Message):
    type: Literal["size"]
    width: Annotated[int, Field(ge=1, le=MAX_SIDE)]
    height: Annotated[int, Field(ge=1, le=MAX_SIDE)]


class Ack(_Message):
    """A message with bytes arrived, and with it all of lower numbers; `ms` milliseconds after its
    announcement."""

    type: Literal["ack"]
    serial: int
    ms: Annotated[Number, Field(ge=0.0)] | None = None


class Save(_Message):
    """Render a picture and send it as a file; None takes the size and samples of the view."""

    type: Literal["save"]
    width: Annotated[int, Field(ge=1)] | None = None
    height: Annotated[int, Field(ge=1)] | None = None
    samples: Annotated[int, Field(ge=1)] | None = None


Message = Act | Size | Ack | Save

_ANY: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


def parse(content: str | dict[str, Any]) -> Message:
    """Parse a message of a page. Raises UserError."""
    try:
        if isinstance(content, str):
            return _ANY.validate_json(content)
        return _ANY.validate_python(content)
    except RecursionError:
        raise UserError("message: is nested too deeply") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = [str(part) for part in first["loc"]]
        why = ": ".join([*([".".join(place)] if place else []), first["msg"]])
        raise UserError(f"message: {why}") from None


def packed(message: dict[str, Any], data: bytes | None = None) -> str | bytes:
    """Return a message to a page as one message of a WebSocket. With data it is binary: length of
    the header (uint32, little endian), header, data."""
    header = json.dumps(message, allow_nan=False, separators=(",", ":"))
    if data is None:
        return header
    encoded = header.encode()
    return struct.pack("<I", len(encoded)) + encoded + data
