"""`raytracer tone`."""

from __future__ import annotations

from typing import Any

import click

from raytracer.commands.develop_options import develop_options
from raytracer.commands.setting_options import SettingsCommand, take_tone, tone_options
from raytracer.resources import require_start


@click.command(
    cls=SettingsCommand,
    settings={"output": tone_options},
    short_help="Make pictures of saved films without rendering.",
)
@click.argument("films", metavar="FILM...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE.png",
    help="The picture, of one film; default: NAME.png in the current folder.",
)
@develop_options
@click.option("--lock", is_flag=True, help="Meter one automatic exposure for all films.")
@click.option("--threads", type=int, default=0, help="CPU threads; default: every core, or "
              "RAYTRACER_THREADS.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def tone(films: tuple[str, ...], **options: Any) -> None:
    """Make pictures of films that `raytracer render --film` saved (.npz or .exr).

    \b
    Examples:
      raytracer tone galaxy.npz --exposure auto --tone agx --stats
      raytracer tone galaxy.exr --exposure 0.5 --bits 16 -o brighter.png
      raytracer tone frame*.npz --exposure auto --lock

    The last gives all frames of an animation the same exposure.
    """
    require_start()
    settings = take_tone(options)
    from raytracer.commands.toning import Task, run

    run(Task(films=films, settings=settings, **options))
