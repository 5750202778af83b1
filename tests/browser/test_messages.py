"""Messages from a page are checked before anything is done with them."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.browser.messages import packed, parse
from raytracer.errors import UserError


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"type":"nope"}',
        '{"type":"act"}',
        '{"type":"act","name":"orbit","values":{"right":NaN}}',
        '{"type":"act","name":"orbit","values":{"right":{"deep":1}}}',
        '{"type":"act","name":"save","values":[["/etc/passwd"]]}',
        '{"type":"act","name":"select","values":{"condition":"' + "x" * 4001 + '"}}',
        '{"type":"act","name":"orbit","values":[' + ",".join(["0"] * 17) + "]}",
        '{"type":"size","width":0,"height":600}',
        '{"type":"size","width":800.5,"height":600}',
        '{"type":"size","width":800,"height":600,"more":1}',
        '{"type":"ack","serial":' + "9" * 5000 + "}",
        "[" * 30_000,
        '{"type":"act","name":"orbit","values":' + "[" * 30_000,
    ],
)
def test_what_is_no_message_gets_a_sentence(text: str) -> None:
    with pytest.raises(UserError, match=r"^message: .+") as error:
        parse(text)
    assert "\n" not in str(error.value)


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_no_text_is_a_defect(text: str) -> None:
    with pytest.raises(UserError, match="message"):
        parse(text)


def test_a_packed_message_carries_its_bytes() -> None:
    whole = packed({"type": "frame", "mime": "image/π"}, b"\x00\xff")
    assert isinstance(whole, bytes)
    (length,) = struct.unpack_from("<I", whole)
    assert json.loads(whole[4 : 4 + length]) == {"type": "frame", "mime": "image/π"}
    assert whole[4 + length :] == b"\x00\xff"
    assert packed({"type": "hello"}) == '{"type":"hello"}'
