"""Link: limits what a client gets to the rate of its connection.

A page reports for each message with bytes how long they took to arrive. A short text announces
them, so that the time between the two is independent of latency. This rate limits the bytes of the
first picture of a view, and those of finer ones less, so that nothing delays the picture of a new
view by more than `FINE_SECONDS`: what has more bytes is sent as a smaller picture or a JPEG.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from math import inf, sqrt
from statistics import median
from time import perf_counter
from typing import Any, Protocol

from PIL import Image

from raytracer.browser.messages import Ack
from raytracer.viewer.session import HostFrame

DRAFT_QUALITY, FINE_QUALITY = 80, 92  # of JPEG and WebP (0 to 100)
BYTES_PER_PIXEL = 0.25  # first guess for drafts

TRIES = 4

STILL_PIXELS = 1 << 20  # maximum for pictures in notebooks: below about two megabytes


@dataclass(frozen=True)
class EncodedPicture:
    """A picture as a file: its MIME type, its bytes, and its width and height in pixels."""

    mime: str
    data: bytes
    size: tuple[int, int]


def encode_picture(picture: HostFrame) -> EncodedPicture:
    """Encode a picture: PNG if it is finished, WebP if it has alpha, otherwise JPEG."""
    image = _to_image(picture)
    if not picture.frame.finished:
        return _encode_lossy(image, picture.frame.draft)
    return _encode_png(image if picture.frame.transparent else image.convert("RGB"))


def encode_draft(picture: HostFrame, limit: float) -> EncodedPicture:
    """Encode a picture as a draft with about `limit` bytes."""
    image = _to_image(picture)
    scale = min(sqrt(limit / (BYTES_PER_PIXEL * image.width * image.height)), 1.0)
    for _ in range(TRIES):
        width, height = (max(round(scale * side), 1) for side in image.size)
        small = image.resize((width, height), Image.Resampling.BOX)
        file = _encode_lossy(small, draft=True)
        ratio = limit / len(file.data)
        if 1.0 <= ratio < 2.0 or (ratio >= 1.0 and scale == 1.0):
            break
        scale = min(scale * sqrt(0.8 * ratio), 1.0)
    return file


def encode_still(picture: HostFrame) -> bytes:
    """Return a picture as a PNG of at most `STILL_PIXELS`."""
    image = _to_image(picture).convert("RGBA" if picture.frame.transparent else "RGB")
    scale = min(1.0, sqrt(STILL_PIXELS / (image.width * image.height)))
    image.thumbnail((int(scale * image.width), int(scale * image.height)))
    return _encode_png(image).data


def _to_image(picture: HostFrame) -> Image.Image:
    height, width = picture.pixels.shape[:2]
    mode = "RGBA" if picture.frame.transparent else "RGBX"
    return Image.frombuffer(mode, (width, height), picture.pixels, "raw", mode, 0, 1)


def _encode_lossy(image: Image.Image, draft: bool) -> EncodedPicture:
    """Return a JPEG, or a WebP for a picture with alpha."""
    file, quality = BytesIO(), DRAFT_QUALITY if draft else FINE_QUALITY
    if image.mode == "RGBX":
        # Without chroma subsampling the edges of spheres look final.
        image.save(file, "JPEG", quality=quality, subsampling=2 if draft else 0)
        return EncodedPicture("image/jpeg", file.getvalue(), image.size)
    image.save(file, "WEBP", quality=quality, method=0)
    return EncodedPicture("image/webp", file.getvalue(), image.size)


def _encode_png(image: Image.Image) -> EncodedPicture:
    file = BytesIO()
    image.save(file, "PNG", compress_level=1)
    return EncodedPicture("image/png", file.getvalue(), image.size)


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


class Send(Protocol):
    """Sends a message for one client, with the bytes of a picture or file; must not block."""

    def __call__(self, message: dict[str, Any], data: bytes | None = None) -> None: ...


@dataclass(eq=False)
class Client:
    """A client: what it has, what it gets next, and how fast."""

    send: Send
    acks_blocked: bool = (
        False  # whether its messages may not arrive, as while a cell of a notebook runs
    )
    size: tuple[int, int] | None = None
    heard: float = field(default_factory=perf_counter)  # time of its last message
    state: dict[str, Any] = field(default_factory=dict)  # as sent
    _waiting: dict[int, int] = field(default_factory=dict)  # bytes by number of the message
    _serial: int = 0  # of the latest message with bytes
    _rates: deque[float] = field(default_factory=lambda: deque(maxlen=RATES))
    _latest: int = -1  # number of the last picture
    _whole: bool = True  # whether that was sent unchanged
    _stamp: float = float("nan")  # of its view
    _limit: float = 0.0  # of its bytes
    _sent: float = 0.0  # time of the latest message with bytes
    backlog: Callable[[], int] = lambda: 0  # how many messages wait to be sent

    @property
    def is_ready(self) -> bool:
        """Whether it accepts bytes."""
        if self.size is None:
            return False
        if len(self._waiting) < AHEAD:
            return True
        # With blocked acknowledgements, what was sent is taken to arrive at its rate.
        arrival = sum(self._waiting.values()) / (self._rate or inf)
        due = self._sent + max(DEAF_SECONDS, arrival)
        return self.acks_blocked and perf_counter() >= due

    @property
    def _rate(self) -> float:
        """Bytes per second; 0 before any are known."""
        return median(self._rates) if self._rates else 0.0

    def is_active(self, now: float) -> bool:
        """Whether the page still acknowledges pictures; `now` is a time of `perf_counter`."""
        return len(self._waiting) < AHEAD or now - self.heard < ABSENT

    def send_state(self, state: dict[str, Any]) -> None:
        """Send the keys of the state whose values it does not have; later if more wait than
        pictures with their announcements, as behind a file."""
        if self.backlog() > 2 * AHEAD:
            return
        known, self.state = self.state, state
        changes = {k: each for k, each in state.items() if k not in known or known[k] != each}
        if changes.keys() - {"rings"}:  # rings of a moving camera come with the pictures
            self.send({"type": "state", "state": changes})

    def acknowledge(self, ack: Ack) -> None:
        """Note that a message with bytes, and all before it, arrived."""
        if ack.ms is not None and ack.serial in self._waiting:
            self._rates.append(self._waiting[ack.serial] / max(1e-3 * ack.ms, MIN_SECONDS))
        self._waiting = {n: size for n, size in self._waiting.items() if n > ack.serial}

    def needs(self, picture: HostFrame) -> bool:
        """Whether a picture is newer than the last one, or can be sent with more of its bytes."""
        if picture.number > self._latest:
            return True
        is_reduced = not (self._whole or self._waiting)
        return is_reduced and self._find_limit(picture) >= GROWTH * self._limit

    def show(self, picture: HostFrame, header: dict[str, Any], file: EncodedPicture) -> None:
        """Send a picture, with fewer pixels or exactness if the connection is slow."""
        self._limit = limit = self._find_limit(picture)
        self._whole = len(file.data) <= limit
        if not self._whole:
            file = encode_draft(picture, limit)
            header = header | {"finished": False, "reduced": True}
        self._latest, self._stamp = picture.number, picture.frame.request.stamp
        self._send(header | {"mime": file.mime, "size": list(file.size)}, file.data)

    def _find_limit(self, picture: HostFrame) -> float:
        is_first = picture.frame.request.stamp != self._stamp
        return max(self._rate * (FIRST_SECONDS if is_first else FINE_SECONDS), MIN_BYTES)

    def _send(self, message: dict[str, Any], data: bytes) -> None:
        self._serial, self._sent = self._serial + 1, perf_counter()
        self._waiting = dict([*self._waiting.items()][1 - AHEAD :]) | {self._serial: len(data)}
        self.send({"type": "coming"})
        self.send(message | {"serial": self._serial}, data)
