"""The numbers over the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from raytracer.viewer.as_toml import tone_options

if TYPE_CHECKING:
    from raytracer.viewer.window import PreviewWindow


def status(window: PreviewWindow) -> list[str]:
    """Scene and device, what is rendered and how fast, how it comes to the window, the tone."""
    viewer = window.viewer
    stage = viewer.stage
    device = stage.job.about["backend"]
    lines = [f"{stage.name}   {stage.buffers.count:,} spheres", f"{device['device']}"]
    frame = viewer.frame
    if frame is None:
        return lines
    width, height = frame.size
    lines.append(f"{width}x{height}   {frame.samples} of {frame.order.samples} samples")
    pace = "finished" if frame.finished else f"{window.rate:.0f} frames/s"
    lines.append(f"{rays(frame.rate)}   {pace}" if frame.rate else pace)
    lines.append(window.presenter.label)
    if tone := tone_options(viewer.tone):
        lines.append(tone)
    return [*lines, "H for help"]


def frame_rate(shown: Sequence[float], now: float) -> float:
    """Frames a second, of those of the last second; 0 if these are fewer than two.

    shown: when frames were on the screen, in seconds, the latest last.
    """
    recent = [when for when in shown if now - when < 1.0]
    spread = recent[-1] - recent[0] if recent else 0.0
    return (len(recent) - 1) / spread if spread else 0.0


def rays(rate: float) -> str:
    """Camera rays a second for people."""
    for unit in ("", "k", "M", "G"):
        if rate < 999.5:  # what is more would be rounded to 1e+03
            return f"{rate:.3g} {unit}rays/s"
        rate /= 1000.0
    return f"{rate:.3g} Trays/s"
