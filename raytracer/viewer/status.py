"""The text over the picture: what is shown and how far it is; for developers, how it is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from raytracer.errors import counted

if TYPE_CHECKING:
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.viewer.messages import Frame
    from raytracer.viewer.window import PreviewWindow

PLAIN, TECHNICAL = 1, 2
"""Levels of the text; 0 is none."""


def status(window: PreviewWindow) -> list[str]:
    """Scene, how far the picture is, and the tone; at the level TECHNICAL also how it is made."""
    viewer = window.viewer
    count = viewer.loaded_scene.buffers.count
    lines = [f"{viewer.loaded_scene.name}   {counted(count, 'sphere')}"]
    frame = viewer.frame
    if frame is not None:
        lines.append(_progress(frame))
    if tone := tone_words(viewer.tone):
        lines.append(tone)
    lines.append("H for help")
    if viewer.overlay >= TECHNICAL:
        lines += ["", *_technical(window)]
    return lines


def _progress(frame: Frame) -> str:
    """How far the picture is."""
    wanted = frame.request.samples
    if frame.finished:
        return counted(wanted, "sample", " per pixel, finished")
    if frame.draft or frame.size != frame.request.size:
        return "quick draft, samples follow"
    return f"{frame.samples} of {wanted} samples per pixel"


def _technical(window: PreviewWindow) -> list[str]:
    """Device, what is rendered how fast, how it comes to the window."""
    lines = [str(window.viewer.loaded_scene.job.about["backend"]["device"])]
    frame = window.viewer.frame
    if frame is None:
        return lines
    width, height = frame.size
    resolution = f"{window.rate:.0f} frames/s"
    speed = f"{rays(frame.rate)}, {resolution}" if frame.rate else resolution
    return [
        *lines,
        f"{width}x{height} pixels rendered",
        speed,
        f"shown by {window.presenter.label}",
    ]


def tone_words(tone: ToneSettings) -> str:
    """Exposure and curve for people; nothing for the defaults."""
    words = []
    if tone.automatic:
        words.append("automatic exposure")
    elif tone.exposure:
        words.append(f"exposure {float(tone.exposure):+.2f}")
    if tone.tone != "linear":
        words.append(f"tone curve {tone.tone}")
    return ", ".join(words)


def frame_rate(shown: Sequence[float], now: float) -> float:
    """Frames per second, of those of the last second; 0 if these are fewer than two.

    shown: when frames were on the screen, in seconds, the latest last.
    """
    recent = [when for when in shown if now - when < 1.0]
    spread = recent[-1] - recent[0] if recent else 0.0
    return (len(recent) - 1) / spread if spread else 0.0


def rays(rate: float) -> str:
    """Camera rays per second for people."""
    for unit in ("", "k", "M", "G"):
        if rate < 999.5:  # what is more would be rounded to 1e+03
            return f"{rate:.3g} {unit}rays/s"
        rate /= 1000.0
    return f"{rate:.3g} Trays/s"
