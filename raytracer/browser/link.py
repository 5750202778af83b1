"""Link: limits what a client gets to the rate of its connection.

A page reports for each message with bytes how long they took to arrive. A short text announces
them, so that the time between the two is independent of latency. This rate limits the bytes of the
first picture of a view, and those of finer ones less, so that nothing delays the picture of a new
view by more than `FINE_SECONDS`: what has more bytes is sent as a smaller picture or a JPEG.
"""

from collections import deque
from dataclasses import dataclass, field
from math import inf
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from raytracer.browser.encoding import Encoded, reduced
from raytracer.browser.messages import Ack
from raytracer.viewer.session import Picture

AHEAD = 2  # most unacknowledged messages with bytes: one is drawn while one is in transit
MIN_BYTES = 6_000  # that a picture may always have: with fewer, little is visible
FIRST_SECONDS = 0.2  # seconds for the first picture of a view to arrive
FINE_SECONDS = 1.0  # seconds for a later one
GROWTH = 1.5  # factor of bytes from which the same picture is sent again
RATES = 5  # number of measured rates for the median: a busy page measures wrongly
MIN_SECONDS = 5e-4  # least measured time: clocks of browsers are no finer

DEAF_SECONDS = 0.2
"""Fewest seconds between two messages with bytes of a client whose acknowledgements do not
arrive."""

ABSENT = 10.0
"""Seconds after which a client that has not drawn its pictures counts as absent: the page of a
notebook may end silently."""


class _Sent(NamedTuple):
    serial: int
    size: int


class Send(Protocol):
    """Sends a message for one client, with the bytes of a picture or file; must not block."""

    def __call__(self, message: dict[str, Any], data: bytes | None = None) -> None: ...


@dataclass(eq=False)
class Client:
    """A client: what it has, what it gets next, and how fast."""

    send: Send
    deaf: bool = False  # whether its messages may not arrive, as while a cell of a notebook runs
    size: tuple[int, int] | None = None
    heard: float = field(default_factory=perf_counter)  # time of its last message
    state: dict[str, Any] = field(default_factory=dict)  # as sent
    _waiting: list[_Sent] = field(default_factory=list)
    _serial: int = 0  # of the latest message with bytes
    _rates: deque[float] = field(default_factory=lambda: deque(maxlen=RATES))
    _latest: int = -1  # number of the last picture
    _whole: bool = True  # whether that was sent unchanged
    _stamp: float = float("nan")  # of its view
    _limit: float = 0.0  # of its bytes
    _sent: float = 0.0  # time of the latest message with bytes

    @property
    def ready(self) -> bool:
        """Whether it accepts bytes."""
        if self.size is None:
            return False
        if len(self._waiting) < AHEAD:
            return True
        arrival = sum(each.size for each in self._waiting) / (self._rate or inf)
        due = self._sent + max(DEAF_SECONDS, arrival)
        return self.deaf and perf_counter() >= due

    @property
    def _rate(self) -> float:
        """Bytes per second; 0 before any are known."""
        return median(self._rates) if self._rates else 0.0

    @property
    def has_picture(self) -> bool:
        return self._latest >= 0

    def looks(self, now: float) -> bool:
        """Whether the page still acknowledges pictures; `now` is a time of `perf_counter`."""
        return len(self._waiting) < AHEAD or now - self.heard < ABSENT

    def take(self, ack: Ack) -> None:
        """Note that a message with bytes, and all before it, arrived."""
        for sent in self._waiting:
            if sent.serial == ack.serial and ack.ms is not None:
                self._rates.append(sent.size / max(1e-3 * ack.ms, MIN_SECONDS))
        self._waiting = [each for each in self._waiting if each.serial > ack.serial]

    def wants(self, picture: Picture) -> bool:
        """Whether a picture is newer than the last one, or can be sent with more of its bytes."""
        if picture.number > self._latest:
            return True
        is_reduced = not (self._whole or self._waiting)
        return is_reduced and self._limit_of(picture) >= GROWTH * self._limit

    def show(self, picture: Picture, header: dict[str, Any], file: Encoded) -> None:
        """Send a picture, with fewer pixels or exactness if the connection is slow."""
        self._limit = limit = self._limit_of(picture)
        self._whole = len(file.data) <= limit
        if not self._whole:
            file = reduced(picture, limit)
            header = header | {"finished": False, "reduced": True}
        self._latest, self._stamp = picture.number, picture.stamp
        self._send(header | {"mime": file.mime, "size": list(file.size)}, file.data)

    def _limit_of(self, picture: Picture) -> float:
        is_first = picture.stamp != self._stamp
        return max(self._rate * (FIRST_SECONDS if is_first else FINE_SECONDS), MIN_BYTES)

    def _send(self, message: dict[str, Any], data: bytes) -> None:
        self._serial, self._sent = self._serial + 1, perf_counter()
        self._waiting = [*self._waiting[1 - AHEAD :], _Sent(self._serial, len(data))]
        self.send({"type": "coming"})
        self.send(message | {"serial": self._serial}, data)
