"""The `raytracer` command."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from signal import SIGPIPE
from typing import Any

import click

from raytracer._version import __version__
from raytracer.commands import hints
from raytracer.commands.bench import bench
from raytracer.commands.devices import devices
from raytracer.commands.info import info
from raytracer.commands.preview import preview
from raytracer.commands.render import render
from raytracer.commands.report import print_warning
from raytracer.commands.scene import scene
from raytracer.commands.tone import tone
from raytracer.errors import MemoryNeedError, RaytracerError, UserError, fitted, shown
from raytracer.files import output
from raytracer.process import Terminated
from raytracer.resources import NO_THREADS, is_lack_of_memory, is_lack_of_threads
from raytracer.warning import passed_to

# What a shell expects of a program that was stopped by Ctrl-C.
INTERRUPTED = 130


class _StoppedError(Exception):
    """An interrupt on its way through click, which would print an empty line for it."""


class _Program(hints.Group):
    """The command without its subcommands."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt as stop:
            raise _StoppedError from stop
        except Exception as error:
            if cause := _interrupt_behind(error):
                raise _StoppedError from cause
            raise


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="raytracer %(version)s")
def program() -> None:
    """Render spheres, from three to hundreds of millions.

    \b
    A first picture, and your own particles:
      raytracer render scenes/three_balls.toml
      raytracer render atoms.xyz -o atoms.png
      raytracer preview atoms.xyz          an interactive window

    \b
    What else there is:
      raytracer devices                    what can render here
      raytracer scene check FILE           what a scene file says, or what is wrong with it
      raytracer scene generate --list      large scenes made on the spot
      raytracer info atoms.png             what made a picture
      raytracer tone FILM                  other exposures of a saved film, without rendering
    """


for command in (render, preview, tone, scene, devices, info, bench):
    program.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    arguments: without the program's name; None takes those of the process.
    A user's mistake is one sentence and code 2; Ctrl-C is 130; any other exception is a defect
    and keeps its traceback.
    """
    if arguments is None:
        # NumPy's linear algebra would start a thread a core, which costs more than it ever brings.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    args = None if arguments is None else list(arguments)
    try:
        _require_words(sys.argv[1:] if args is None else args)
        with passed_to(print_warning):
            code = program.main(args, prog_name="raytracer", standalone_mode=False)
    except RaytracerError as error:
        return _say(str(error), error.exit_code)
    except click.UsageError as error:
        return _misuse(error)
    except click.ClickException as error:
        return _say(_sentence(error.format_message()), error.exit_code)
    except (MemoryError, ImportError, OSError, RuntimeError, SystemError) as error:
        if is_lack_of_threads(error):
            return _say(NO_THREADS, 1)
        if is_lack_of_memory(error):
            return _say(_no_memory(error), MemoryNeedError.exit_code)
        raise
    except (_StoppedError, click.Abort, KeyboardInterrupt) as error:
        return stopped(error)
    finally:
        output.tidy()
    return code if isinstance(code, int) else 0


def _require_words(words: list[str]) -> None:
    """Refuse an empty word, which no option means. Raises UserError."""
    if "" in words:
        place = words.index("")
        after = f" after '{shown(words[place - 1])}'" if place else ""
        raise UserError(
            f"word {place + 1} of the command{after} is empty, as a variable of the shell is that "
            "is not set: leave it out, or give a value"
        )


def _no_memory(error: BaseException) -> str:
    """Say that memory ran out, and how much was asked for where that is known."""
    asked = re.search(r"llocate ([\d.]+ [KMGT]iB)", str(error))  # NumPy says so
    return (
        f"there is not enough memory{f', {asked[1]} more were needed' if asked else ''}: use fewer "
        "spheres, a smaller picture, or a machine with more memory"
    )


def _misuse(error: click.UsageError) -> int:
    """Say what was wrong with the words of the command, and where they are explained."""
    context = error.ctx
    if type(error).__name__ == "NoArgsIsHelpError":  # click 8.2 and later: a group without command
        error.show()
        return error.exit_code
    command = context.command_path if context else "raytracer"
    sentence = fitted(_sentence(error.format_message()))
    if isinstance(error, click.NoSuchOption):  # click lists all that look like it, in brackets
        sentence = f"no such option '{shown(error.option_name)}'"
        if hint := hints.of_option(error.option_name, context.command if context else None):
            sentence += f"; {hint}"
    return _say(f"{sentence} (see `{command} --help`)", error.exit_code)


def _sentence(text: str) -> str:
    """A text of click in the style of our own: one line, a small letter first, no full stop."""
    line = " ".join(text.split()).replace(". Did you mean", "; did you mean").rstrip(".")
    return line[:1].lower() + line[1:]


def _interrupt_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interrupt that a library turned into an exception of its own, NumPy's import say."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def stopped(error: BaseException) -> int:
    """Say which signal it was, and which files had been written; returns the exit code."""
    stop = _interrupt_behind(error)
    if not isinstance(stop, Terminated):
        stop = Terminated()
    if stop.number == SIGPIPE:
        return stop.exit_code
    return _say(f"stopped by {stop.name}; {_written()}", stop.exit_code)


def _written() -> str:
    """Which files are there now, to end a sentence."""
    names = ", ".join(map(str, output.written()))
    return f"written before that: {names}" if names else "nothing was written"


def _say(text: str, code: int) -> int:
    """Print one sentence a line, each with the program's name."""
    for sentence in text.split("\n"):
        print(f"raytracer: {fitted(sentence)}", file=sys.stderr)
    return code
