"""The `raytracer` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from raytracer._version import __version__
from raytracer.commands.devices import devices
from raytracer.commands.info import info
from raytracer.commands.render import render
from raytracer.commands.scene import scene
from raytracer.errors import RaytracerError

# What a shell expects of a program that was stopped by Ctrl-C.
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="raytracer %(version)s")
def program() -> None:
    """Render spheres, from three to hundreds of millions.

    \b
    A first picture, and your own particles:
      raytracer render scenes/three_balls.toml
      raytracer render atoms.xyz -o atoms.png

    \b
    What else there is:
      raytracer devices                    what can render here
      raytracer scene check FILE           what a scene file says, or what is wrong with it
      raytracer scene generate --list      large scenes made on the spot
      raytracer info renders/atoms.png     what made a picture
    """


for command in (render, scene, devices, info):
    program.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    arguments: without the program's name; None takes those of the process.
    A user's mistake is one sentence and code 2; Ctrl-C is 130; any other exception is a defect
    and keeps its traceback.
    """
    args = None if arguments is None else list(arguments)
    try:
        code = program.main(args, prog_name="raytracer", standalone_mode=False)
    except RaytracerError as error:
        return _say(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _say("stopped by Ctrl-C; nothing was written", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _say(sentence: str, code: int) -> int:
    print(f"raytracer: {sentence}", file=sys.stderr)
    return code
