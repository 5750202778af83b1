"""`raytracer preview`; only the options are imported with the module, so that help is fast."""

from __future__ import annotations

import gc
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from raytracer.commands import options
from raytracer.commands.report import print_json, print_lines
from raytracer.system.progress import StageLine

if TYPE_CHECKING:
    from raytracer.viewer.preview import PreviewResult


NEW_OBJECTS = 700  # for garbage collection, as by default: replaced scenes must be freed


@click.command(
    cls=options.SettingsCommand,
    settings=options.window_groups,
    common=("frame", "backend", "watch", *options.COMMON_OF_VIEWS),
)
@options.scenes_argument
@options.live_options
@click.option("--offscreen", type=click.IntRange(0), metavar="FRAMES",
              help="Without a display (EGL): turn for FRAMES frames, rest, end.")  # fmt: skip
@options.file_option(
    "--screenshot", help="Write a screenshot of the window at the end.", metavar="FILE.png"
)
@click.option("--interop/--no-interop", default=True, show_default=True,
              help="CUDA: pass frames to the window within the GPU.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end.")
def preview(scenes: tuple[str, ...], settings: dict[str, Any], **given: Any) -> None:
    """Show a scene or a particle file in an interactive window; H lists the keys.

    \b
    Examples:
      raytracer preview scenes/galaxy.toml
      raytracer preview atoms.xyz --size 1920x1080 --view top
      raytracer preview scene.toml --watch
      raytracer preview cloud.npz --offscreen 200 --json

    C prints the camera as TOML for a scene file, S saves a PNG of any size.
    """
    from raytracer.viewer.preview import preview as open_window

    gc.set_threshold(NEW_OBJECTS)
    as_json, path = given.pop("as_json"), options.scene_paths(scenes)
    warn = partial(print_lines, file=sys.stderr)
    say = warn if as_json else print_lines
    with StageLine() as line:
        result = open_window(path, notice=line, say=say, **settings, **given)
    if result.unsaved is not None:
        warn(f"raytracer: {result.unsaved} was not saved: the window was closed first")
    if as_json or result.latency:
        print_json(record(Path(scenes[0]) if isinstance(path, list) else path, result))


def record(path: Path, result: PreviewResult) -> dict[str, Any]:
    """Return a result as JSON types; times in seconds."""
    kept = ("size", "presenter", "toml", *(("rest",) if result.latency else ()))
    values: dict[str, Any] = {"scene": str(path), "camera": vars(result.camera)}
    values |= {name: getattr(result, name) for name in kept}
    if result.latency:
        values |= {"frames": len(result.latency), "latency": result.spread()}
        values["traced"] = sorted(set(result.traced))
    return values
