"""What a client gets over connections of different rates, and its messages."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.browser import connection
from raytracer.browser.connection import (
    AHEAD,
    DEAF_SECONDS,
    FINE_SECONDS,
    FIRST_SECONDS,
    MIN_BYTES,
    Client,
    encode_draft,
    encode_picture,
)
from raytracer.browser.messages import Ack, parse
from raytracer.config.errors import UserError
from raytracer.viewer.session import HostFrame

pytest.importorskip("PIL")

SIDES = (400, 300)
SLOW = 50e3
"""Bytes per second."""


def picture(number: int, stamp: float, finished: bool = False, opaque: bool = True) -> HostFrame:
    """Noise, which needs the most bytes: half a megabyte as a PNG."""
    random = np.random.default_rng(number)
    pixels = random.integers(0, 256, (SIDES[1], SIDES[0], 4), np.uint8)
    frame: Any = SimpleNamespace(
        draft=False, finished=finished, transparent=not opaque, request=SimpleNamespace(stamp=stamp)
    )
    return HostFrame(frame, pixels, number)


class Page:
    """The other end of a connection, which takes `rate` bytes per second."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.sent: list[tuple[dict[str, Any], bytes]] = []  # messages with bytes
        self.client = Client(self.send, size=SIDES)
        self.taken = 0

    def send(self, message: dict[str, Any], data: bytes | None = None) -> None:
        """Take a message."""
        if data is None:
            assert message == {"type": "coming"}
        else:
            self.sent.append((message, data))

    def acknowledge(self) -> None:
        """Tell of all that has arrived."""
        for message, data in self.sent[self.taken :]:
            ms = 1e3 * len(data) / self.rate
            self.client.acknowledge(Ack(serial=message["serial"], ms=ms))
        self.taken = len(self.sent)

    def show(self, shown: HostFrame) -> None:
        """Offer a picture, as the host does in each round."""
        if self.client.needs(shown):
            self.client.show(
                shown, {"type": "frame", "number": shown.number}, encode_picture(shown)
            )

    def until_rest(self, shown: HostFrame) -> list[tuple[dict[str, Any], bytes]]:
        """Offer a picture until nothing more of it comes; returns what came."""
        start = len(self.sent)
        for _ in range(9):
            self.show(shown)
            self.acknowledge()
        return self.sent[start:]


@pytest.mark.parametrize("rate", [2e3, SLOW, 1e6, 1e9])
def test_the_first_picture_is_small_and_the_last_as_large_as_the_rate_allows(rate: float) -> None:
    page, shown = Page(rate), picture(1, 0.0, finished=True)
    sizes = [len(data) for _, data in page.until_rest(shown)]
    assert sizes[0] <= 1.1 * MIN_BYTES
    assert sizes == sorted(sizes)
    assert len(sizes) == (1 if rate * FINE_SECONDS < MIN_BYTES else 2)
    if rate >= 1e6:
        assert page.sent[-1][1] == encode_picture(shown).data
        assert "reduced" not in page.sent[-1][0]
    else:
        assert sizes[-1] <= 1.1 * max(rate * FINE_SECONDS, MIN_BYTES)
        assert page.sent[-1][0]["reduced"]


@pytest.mark.parametrize("rate", [SLOW, 4 * SLOW, 1e9])
def test_drafts_follow_the_rate(rate: float) -> None:
    page = Page(rate)
    page.until_rest(picture(1, 0.0))
    for number in range(2, 6):
        page.acknowledge()
        start = len(page.sent)
        page.show(picture(number, float(number)))
        (message, data), *more = page.sent[start:]
        assert not more
        assert message["number"] == number
        whole = len(encode_picture(picture(number, 0.0)).data)
        limit = max(rate * FIRST_SECONDS, MIN_BYTES)
        assert len(data) == whole if limit > whole else 0.4 * limit < len(data) <= 1.1 * limit


@pytest.mark.parametrize("opaque", [True, False])
@pytest.mark.parametrize("limit", [1000, 6000, 30_000, 10_000_000])
def test_a_reduced_picture_fits(limit: int, opaque: bool) -> None:
    shown = picture(1, 0.0, opaque=opaque)
    file = encode_draft(shown, limit)
    assert len(file.data) <= 1.1 * limit
    assert file.size == SIDES if limit > 1e6 else file.size < SIDES
    assert file.size[0] / file.size[1] == pytest.approx(4 / 3, rel=0.1)


def test_who_cannot_tell_what_it_took_gets_a_picture_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr(connection, "perf_counter", lambda: now[0])
    page = Page(rate=1e6)
    for _ in range(AHEAD):
        page.client._send({"type": "frame"}, b"")
    assert not page.client.is_ready
    page.client.acks_blocked = True
    assert not page.client.is_ready
    for _ in range(50):
        now[0] += 1.01 * DEAF_SECONDS
        assert page.client.is_ready
        page.client._send({"type": "frame"}, b"")
        assert not page.client.is_ready
    assert len(page.client._waiting) == AHEAD
    page.client.acks_blocked = False
    assert not page.client.is_ready
    page.client.acknowledge(Ack(serial=page.client._serial))
    assert page.client.is_ready


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_no_text_is_a_defect(text: str) -> None:
    with pytest.raises(UserError, match="message"):
        parse(text)


ACT = {"type": "act", "name": "orbit"}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("{", "is not JSON"),
        ("[" * 60_000, "is not JSON"),
        ("[]", "content: [] is not a dictionary"),
        ("{}", "type: None is not text; known are act, size, ack, save"),
        ({"type": "acts"}, "type: there is no type of message 'acts'; did you mean 'act'?"),
        ('{"type":"ack","type":"ack","serial":1}', "an object has the key 'type' twice"),
        ({"type": "size", "width": 8}, "height: is missing"),
        ({"type": "size", "width": 8, "height": 0}, "height: must be at least 1, not 0"),
        ({"type": "size", "width": 8, "height": 8193}, "height: must be at most 8192, not 8193"),
        ({"type": "size", "width": 8.0, "height": 8}, "width: 8.0 is not a whole number"),
        ({"type": "size", "width": True, "height": 8}, "width: True is not a whole number"),
        ({"type": "size", "width": 8, "hight": 8}, "no field 'hight'; did you mean 'height'?"),
        ({"type": "ack", "serial": "1"}, "serial: '1' is not a whole number"),
        ({"type": "ack", "serial": 1, "ms": -0.5}, "ms: must be at least 0, not -0.5"),
        ('{"type":"ack","serial":1,"ms":1e999}', "ms: must be a finite number, not inf"),
        ({"type": "save", "samples": 0}, "samples: must be at least 1, not 0"),
        ({"type": "act"}, "name: is missing"),
        ({"type": "act", "name": "x" * 65}, "name: has 65 characters, not at most 64"),
        (ACT | {"values": "x"}, "values: 'x' is not a list"),
        (ACT | {"values": [0] * 17}, "values: has 17 values, not at most 16"),
        (ACT | {"values": {str(n): n for n in range(17)}}, "values: has 17 values, not at most"),
        (ACT | {"values": {"x": [0] * 17}}, "values.x: has 17 values, not at most 16"),
        (ACT | {"values": {"x": ["y"]}}, "values.x[0]: 'y' is not a number"),
        (ACT | {"values": ["y" * 4001]}, "values[0]: has 4,001 characters, not at most 4,000"),
        (json.dumps(ACT | {"values": ["\ud800"]}), r"values[0]: '\ud800' is not Unicode"),
        ('{"type":"act","name":"x","values":[NaN]}', "values[0]: must be a finite number"),
        (ACT | {"values": [{}]}, "values[0]: {} is not a number"),
    ],
)
def test_messages_that_are_refused(message: Any, words: str) -> None:
    """In one sentence that names the field, from a page as JSON and from a notebook."""
    contents = [message] if isinstance(message, str) else [message, json.dumps(message)]
    for content in contents:
        with pytest.raises(UserError) as caught:
            parse(content)
        (sentence,) = caught.value.sentences
        assert sentence.startswith("message: ")
        assert words in sentence


def test_states_do_not_pile_up_behind_a_file() -> None:
    sent: list[dict[str, Any]] = []
    waiting = 2 * AHEAD + 1
    client = Client(lambda message, _=None: sent.append(message), backlog=lambda: waiting)
    client.send_state({"frame": 1})
    assert not sent
    waiting = 0
    client.send_state({"frame": 2})
    assert sent == [{"type": "state", "state": {"frame": 2}}]


@pytest.mark.parametrize("value", [1, -1, 2**31, 0, 0.5, 1.5, True, None, "x"])
def test_values_keep_their_type(value: Any) -> None:
    """Whole numbers stay whole, in order and by name, from a page and from a notebook."""
    for values in ([value], {"step": value}):
        message = {"type": "act", "name": "next-look", "values": values}
        for content in (message, json.dumps(message)):
            found: Any = parse(content)
            (kept,) = found.values.values() if isinstance(found.values, dict) else found.values
            assert (kept, type(kept)) == (value, type(value))
