"""`raytracer preview`."""

from __future__ import annotations

from typing import Any

import click

from raytracer.commands.backend_option import backend_option
from raytracer.commands.setting_options import SettingsCommand, preview_options, take_tone
from raytracer.resources import require_start


@click.command(
    cls=SettingsCommand,
    settings={"backend": preview_options},
    short_help="Open a scene in an interactive window.",
)
@click.argument("scene", metavar="SCENE|DATA")
@backend_option
@click.option("--watch", is_flag=True, help="Reload the scene when one of its files changes.")
@click.option("--threads", type=int, default=0, help="CPU threads; default: every core, or "
              "RAYTRACER_THREADS.")  # fmt: skip
@click.option("--offscreen", type=click.IntRange(0), metavar="FRAMES",
              help="Without a display (EGL): turn for FRAMES frames, rest, end.")  # fmt: skip
@click.option(
    "--screenshot", metavar="FILE.png", help="Write a screenshot of the window at the end."
)
@click.option("--text/--no-text", default=None, help="Draw text over the picture; default: yes, "
              "but not offscreen.")  # fmt: skip
@click.option("--adaptive/--full", default=True, show_default=True,
              help="Reduce the resolution while the camera moves, where needed.")  # fmt: skip
@click.option("--interop/--no-interop", default=True, show_default=True,
              help="CUDA: pass frames to the window within the GPU.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end.")
def preview(scene: str, **options: Any) -> None:
    """Show a scene or a particle file in an interactive window; H lists the keys.

    \b
    Examples:
      raytracer preview scenes/galaxy.toml
      raytracer preview atoms.xyz --width 1920 --height 1080
      raytracer preview scene.toml --watch
      raytracer preview cloud.npz --offscreen 200 --json

    C prints the camera as TOML for a scene file, S saves a PNG of any size.
    """
    require_start()
    from raytracer.commands.previewing import run

    run(scene, take_tone(options), options)
