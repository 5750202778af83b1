"""Link: limits what a client gets to the rate of its connection.

A page reports for each message with bytes how long they took to arrive. A short text announces
them, so that the time between the two is independent of latency. This rate determines the size of
the first picture of a view, and the pieces in which finer ones are sent. A piece is sent when the
last but one has arrived, and no more of them once the view has changed: nothing large ever delays a
picture of a new view.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from raytracer.browser.encoding import Encoded, reduced
from raytracer.browser.messages import Ack
from raytracer.viewer.session import Picture

AHEAD = 2  # most unacknowledged messages with bytes: one is drawn while one is in transit
MIN_BYTES = 6_000  # that a picture may always have: with fewer, little is visible
FIRST_SECONDS = 0.2  # seconds for the first picture of a view to arrive
FINE_SECONDS = 1.0  # seconds that a later picture of the view may always take
GROWTH = 4.0  # factor of bytes from a picture to the next finer one of the same view
PIECE_SECONDS = 0.25  # for a piece to arrive; two saturate a connection with 0.5 s latency
RATES = 5  # number of measured rates for the median: a busy page measures wrongly
MIN_SECONDS = 5e-4  # least measured time: clocks of browsers are no finer

DEAF_SECONDS = 0.2
"""Seconds between two messages with bytes of a client whose acknowledgements do not arrive: a
picture that takes `FIRST_SECONDS` has arrived by then."""

ABSENT = 10.0
"""Seconds after which a client that has not drawn its pictures counts as absent: the page of a
notebook may end silently."""


class Outlet(Protocol):
    """Sends the messages for one client. Called in the thread of the host; must not block."""

    deaf: bool
    """Whether no messages of the client arrive, as while a cell of a notebook runs."""

    def send(self, message: dict[str, Any], data: bytes | None = None) -> None:
        """Send a message, with the bytes of a picture or file."""


class _Sent(NamedTuple):
    serial: int
    size: int


@dataclass
class _Rest:
    header: dict[str, Any]
    data: bytes
    stamp: float
    first: bool  # whether it is the first of its view, always sent completely
    at: int = 0
    parts: int = 0


@dataclass(eq=False)
class Client:
    """A client: what it has, what it gets next, and how fast."""

    outlet: Outlet
    size: tuple[int, int] | None = None
    heard: float = field(default_factory=perf_counter)  # time of its last message
    state: dict[str, Any] = field(default_factory=dict)  # as sent
    _waiting: list[_Sent] = field(default_factory=list)
    _serial: int = 0  # of the latest message with bytes
    _rates: deque[float] = field(default_factory=lambda: deque(maxlen=RATES))
    _rest: _Rest | None = None
    _latest: int = -1  # number of the last picture
    _whole: bool = True  # whether that was sent unchanged
    _all_pixels: bool = True  # whether it was sent with all of its pixels
    _stamp: float = float("nan")  # of its view
    _next: float = 0.0  # byte limit of the next picture of this view
    _sent: float = 0.0  # time of the latest message with bytes

    @property
    def ready(self) -> bool:
        """Whether it accepts bytes."""
        if self.size is None:
            return False
        is_due = self.outlet.deaf and perf_counter() - self._sent >= DEAF_SECONDS
        return is_due or len(self._waiting) < AHEAD

    @property
    def has_picture(self) -> bool:
        return self._latest >= 0 and not (self._rest is not None and self._rest.first)

    def looks(self, now: float) -> bool:
        """Whether somebody seems to watch; `now` is a time of `perf_counter`."""
        return len(self._waiting) < AHEAD or now - self.heard < ABSENT

    def take(self, ack: Ack) -> None:
        """Note that a message with bytes, and all before it, arrived."""
        for sent in self._waiting:
            if sent.serial == ack.serial and ack.ms is not None:
                self._rates.append(sent.size / max(1e-3 * ack.ms, MIN_SECONDS))
        self._waiting = [each for each in self._waiting if each.serial > ack.serial]

    def wants(self, picture: Picture) -> bool:
        """Whether a picture is finer than the last one, or of another view than that in transit."""
        if self._rest is not None and (self._rest.first or self._rest.stamp == picture.stamp):
            return False
        return picture.number > self._latest or not (self._whole or self._waiting)

    def show(self, picture: Picture, header: dict[str, Any], file: Encoded) -> None:
        """Begin to send a picture, with fewer pixels if the connection is slow."""
        first = picture.stamp != self._stamp
        limit = self._limit(first)
        again = picture.number == self._latest and self._all_pixels
        self._whole, pixels = again or len(file.data) <= limit, file.size
        if not self._whole:
            file = reduced(picture, limit)
            header = header | {"finished": False, "reduced": True}
        self._latest, self._stamp, self._next = picture.number, picture.stamp, GROWTH * limit
        self._all_pixels = file.size == pixels
        header = header | {"mime": file.mime, "size": list(file.size)}
        self._rest = _Rest(header, file.data, picture.stamp, first)
        self.send_rest()

    def send_rest(self) -> None:
        """Send as much of a picture as the client accepts now."""
        while self.ready and (rest := self._rest) is not None:
            left = len(rest.data) - rest.at
            size = left if left < 1.5 * self._piece else int(self._piece)
            data = rest.data[rest.at : rest.at + size]
            rest.at += size
            if size == left:
                self._rest = None
                self._send(rest.header | {"parts": rest.parts}, data)
            else:
                rest.parts += 1
                self._send({"type": "part"}, data)

    @property
    def _rate(self) -> float | None:
        return median(self._rates) if self._rates else None

    @property
    def _piece(self) -> float:
        return max((self._rate or 0.0) * PIECE_SECONDS, MIN_BYTES)

    def _limit(self, first: bool) -> float:
        """Return the byte limit of the next picture; `first`: of its view."""
        rate = self._rate
        if rate is None:
            return MIN_BYTES
        if first:
            return max(rate * FIRST_SECONDS, MIN_BYTES)
        return max(rate * FINE_SECONDS, self._next)

    def _send(self, message: dict[str, Any], data: bytes) -> None:
        self._serial, self._sent = self._serial + 1, perf_counter()
        self._waiting = [*self._waiting[1 - AHEAD :], _Sent(self._serial, len(data))]
        self.outlet.send({"type": "coming"})
        self.outlet.send(message | {"serial": self._serial}, data)
