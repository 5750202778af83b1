"""`raytracer render`."""

from __future__ import annotations

from typing import Any

import click

from raytracer.commands.backend_option import backend_option
from raytracer.commands.develop_options import develop_options
from raytracer.commands.setting_options import (
    SettingsCommand,
    render_options,
    take_render,
    take_tone,
    tone_options,
)
from raytracer.resources import require_start


def numbers(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[int, ...] | None:
    """Whole numbers with commas between, as many as the option's metavar names."""
    if value is None:
        return None
    form = str(parameter.metavar)
    parts = [part.strip() for part in value.split(",")]
    try:
        found = tuple(int(part) for part in parts)
    except ValueError:
        found = ()
    if len(found) != form.count(",") + 1:
        raise click.BadParameter(f"{value!r} is not of the form {form} in whole numbers")
    return found


@click.command(
    cls=SettingsCommand,
    settings={"output": render_options, "threads": tone_options},
    short_help="Render a scene or a particle file to a PNG.",
)
@click.argument("scene", metavar="SCENE|DATA")
@click.option(
    "-o",
    "--output",
    metavar="FILE.png",
    help="The picture; default: NAME.png in the current folder.",
)
@click.option("--transparent", is_flag=True, help="Leave the background out.")
@backend_option
@click.option("--threads", type=int, default=0, help="CPU threads; default: every core, or "
              "RAYTRACER_THREADS.")  # fmt: skip
@develop_options
@click.option("--film", metavar="FILE", help="Also save the film, as .npz or .exr.")
@click.option(
    "--half", is_flag=True, help="Save the film as 16-bit floats (.exr); it cannot be resumed."
)
@click.option(
    "--aov",
    metavar="LIST",
    help="Output variables to save on the film: depth,normal,albedo,id,position,samples.",
)
@click.option("--resume", metavar="FILM", help="Add --samples more samples to a saved film.")
@click.option(
    "--crop",
    metavar="x0,y0,x1,y1",
    callback=numbers,
    help="Render only these pixels; x1 and y1 are excluded.",
)
@click.option(
    "--only",
    metavar="x,y,sample",
    callback=numbers,
    help="Replay one sample and print its radiance.",
)
@click.option("--repeat", type=click.IntRange(1), default=1, metavar="N",
              help="Render the frame N times and print statistics of the time.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--progress/--no-progress", default=None, help="Show a progress bar; default: on "
              "a terminal, if rendering takes longer than a second.")  # fmt: skip
def render(scene: str, **options: Any) -> None:
    """Render a scene file (TOML or JSON) or a particle file (npz, npy, csv, xyz) to a PNG.

    \b
    Examples:
      raytracer render scenes/three_balls.toml
      raytracer render atoms.xyz -o atoms.png --width 1920 --height 1080 --samples 64
      raytracer render cloud.npz --backend cuda --json --repeat 5
      raytracer render scenes/three_balls.toml --crop 600,300,700,400
      raytracer render scenes/three_balls.toml --only 640,360,3
      raytracer render scenes/galaxy.toml --exposure auto --tone agx --stats
      raytracer render scenes/galaxy.toml --film galaxy.npz --aov depth,id
      raytracer render scenes/galaxy.toml --resume galaxy.npz --film galaxy.npz

    Settings that are not given come from the scene file. The name of an example scene without a
    folder is enough: raytracer render three_balls.
    """
    require_start()
    tone = take_tone(options)
    from raytracer.commands.rendering import Task, run, run_only

    task = Task(
        scene=scene,
        tone=tone,
        overrides=take_render(options),
        **options,
    )
    if task.only is None:
        run(task)
    else:
        run_only(task)
