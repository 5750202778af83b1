"""Bars: sliders at the bottom of a window, for the frames of a trajectory and for a slice.

All lengths are pixels, from the lower left of the window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from raytracer.viewer.data_actions import slice_place
from raytracer.viewer.state import ViewerState

HEIGHT, MARGIN, GAP = 26.0, 10.0, 6.0  # of a bar; from the edges; between bars; at 96 dots per inch
BUTTON, BEFORE, AFTER = 30.0, 150.0, 92.0  # widths of button and texts, at 96 dots per inch
MIN_TRACK = 60.0  # shortest track; a narrower window has no text beside it


@dataclass(frozen=True)
class Bar:
    kind: str  # "time" or "slice"
    left: float
    bottom: float
    width: float
    height: float
    track_left: float
    track_width: float
    share: float  # position of the knob on the track, 0..1
    before: str
    after: str
    playing: bool | None = None  # whether the button shows a pause; None: no button

    def holds(self, x: float, y: float) -> bool:
        inside = self.left <= x <= self.left + self.width
        return inside and self.bottom <= y <= self.bottom + self.height

    def on_button(self, x: float) -> bool:
        """Return whether a point of the bar is on its button."""
        return self.playing is not None and x < self.left + self.height * BUTTON / HEIGHT

    def share_at(self, x: float) -> float:
        """Return the position on the track nearest to a point, 0..1."""
        return min(max((x - self.track_left) / max(self.track_width, 1.0), 0.0), 1.0)


def bars(viewer: ViewerState, size: tuple[int, int], dpi: int) -> list[Bar]:
    """Return the bars of a window, from the bottom."""
    shown = []
    time, now = viewer.time, viewer.content.slice
    if time.count > 1:
        last = time.count - 1
        before, after = f"{viewer.frame_number:,} / {last:,}", f"{time.speed:g}x"
        share = viewer.frame_number / last
        bar = _bar(size, dpi, 0, "time", share, before, after)
        shown.append(replace(bar, playing=time.playing))
    if now is not None:
        sign = "<" if now.keep == "below" else ">"
        before = f"{now.axis} {sign} {slice_place(viewer):.4g}"
        shown.append(_bar(size, dpi, len(shown), "slice", now.position, before, "slice"))
    return shown


def room_for(bars: list[Bar], dpi: int) -> int:
    """Return the height of the bars at the bottom of a window."""
    if not bars:
        return 0
    return round(bars[-1].bottom + bars[-1].height + (GAP - MARGIN) * dpi / 96)


def _bar(
    size: tuple[int, int], dpi: int, place: int, kind: str, share: float, before: str, after: str
) -> Bar:
    """Return a bar; `place` is its number from the bottom."""
    unit = dpi / 96
    left, width = MARGIN * unit, max(size[0] - 2 * MARGIN * unit, 1.0)
    bottom = (MARGIN + place * (HEIGHT + GAP)) * unit
    start, end = BUTTON + BEFORE, AFTER
    if width / unit - start - end < MIN_TRACK:
        start, end, before, after = BUTTON + 6.0, 12.0, "", ""
    track = max(width - (start + end) * unit, 1.0)
    return Bar(
        kind, left, bottom, width, HEIGHT * unit, left + start * unit, track,
        min(max(share, 0.0), 1.0), before, after,
    )  # fmt: skip
