"""Status text over the picture: scene and progress; optionally device, resolution and rates."""

from collections.abc import Sequence

from raytracer.errors import counted
from raytracer.progress import rate_text
from raytracer.viewer.messages import Frame
from raytracer.viewer.state import TECHNICAL, ViewerState


def status(viewer: ViewerState, rate: float, way: str) -> list[str]:
    """Return the lines of the status text: scene, progress, tone; device and rates if TECHNICAL.

    rate: frames per second. way: how frames reach the window.
    """
    counts = viewer.loaded_scene.scene.counts()
    there = ", ".join(counted(count, noun) for noun, count in counts.items())
    lines = [f"{viewer.loaded_scene.name}   {there}"]
    frame = viewer.frame
    if frame is not None:
        lines.append(_progress(frame))
    tone, words = viewer.tone, list[str]()
    if tone.automatic:
        words.append("automatic exposure")
    elif tone.exposure:
        words.append(f"exposure {float(tone.exposure):+.2f}")
    if tone.tone != "linear":
        words.append(f"tone curve {tone.tone}")
    if words:
        lines.append(", ".join(words))
    lines.append("H for help")
    if viewer.overlay >= TECHNICAL:
        lines += ["", str(viewer.loaded_scene.job.about["backend"]["device"])]
        if frame is not None:
            width, height = frame.size
            speed = f"{rate_text(frame.rate, 'rays')}, " if frame.rate else ""
            lines += [f"{width}x{height} pixels rendered", f"{speed}{rate:.0f} frames/s"]
            lines.append(f"shown by {way}")
    return lines


def _progress(frame: Frame) -> str:
    samples = frame.request.samples
    if frame.finished:
        return counted(samples, "sample", " per pixel, finished")
    if frame.draft or frame.size != frame.request.size:
        return "quick draft, samples follow"
    return f"{frame.samples} of {samples} samples per pixel"


def frame_rate(shown: Sequence[float], now: float) -> float:
    """Return the frame rate over the last second; 0 with fewer than two frames."""
    recent = [when for when in shown if now - when < 1.0]
    spread = recent[-1] - recent[0] if recent else 0.0
    return (len(recent) - 1) / spread if spread else 0.0
