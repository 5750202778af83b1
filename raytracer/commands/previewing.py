"""What `raytracer preview` does with its options."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.commands.rendering import scene_path
from raytracer.commands.report import print_json, print_lines
from raytracer.film.tone_settings import ToneSettings
from raytracer.progress import StageLine
from raytracer.scene.load import check_there

if TYPE_CHECKING:
    from raytracer.viewer.preview import PreviewResult


NEW_OBJECTS = 700
"""How many more objects there must be before Python looks for garbage, as it has it by default: a
window stays open, and scenes and films that were replaced have to make room."""


def run(scene: str, tone: ToneSettings, options: dict[str, Any]) -> None:
    """Open the window; say how it went where nobody sat before it."""
    from raytracer.viewer.preview import preview

    gc.set_threshold(NEW_OBJECTS)
    path = scene_path(scene)
    check_there(path)
    as_json = options.pop("as_json")
    with StageLine() as line:
        result = preview(
            path, tone=tone, notice=line, say=_aside if as_json else print_lines, **options
        )
    if result.unsaved is not None:
        _aside(f"raytracer: {result.unsaved} was not saved: the window was closed first")
    if as_json:
        print_json(record(path, result))
    elif result.latency:
        print_lines(summary(result))


def record(path: Path, result: PreviewResult) -> dict[str, Any]:
    """The result as JSON types; times in seconds."""
    found: dict[str, Any] = {
        "scene": str(path),
        "size": list(result.size),
        "presenter": result.presenter,
        "camera": vars(result.camera),
        "toml": result.toml,
    }
    if result.latency:
        found |= {
            "frames": len(result.latency),
            "latency": result.spread(),
            "traced": [list(size) for size in sorted(set(result.traced))],
            "rest": result.rest,
        }
    return found


def summary(result: PreviewResult) -> str:
    """Frames and times for people."""
    times, (width, height) = result.spread(), min(result.traced)
    return (
        f"{len(result.latency)} frames, traced at {width}x{height} or more in a window of "
        f"{result.size[0]}x{result.size[1]}: {1.0 / times['median']:.1f} frames/s, "
        f"event to fence {1e3 * times['median']:.1f} ms (95% {1e3 * times['q95']:.1f}, "
        f"most {1e3 * times['max']:.1f}), full size {1e3 * result.rest:.0f} ms after the last "
        f"event; {result.presenter}"
    )


def _aside(text: str) -> None:
    """Standard output has nothing but the JSON object."""
    print_lines(text, sys.stderr)
