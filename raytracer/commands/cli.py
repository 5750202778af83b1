"""The `raytracer` command."""

import os
import sys
from collections.abc import Sequence
from signal import SIGPIPE

import click

from raytracer._version import __version__
from raytracer.commands.group import Group, suggest_option
from raytracer.config.errors import MemoryNeedError, RaytracerError, UserError, quote, truncate
from raytracer.config.warning import redirect_warnings
from raytracer.files import inputs
from raytracer.system.process import Terminated
from raytracer.system.resources import NO_THREADS, is_lack_of_memory, is_lack_of_threads

SUMMARIES = {
    "render": "Render a scene or a particle file to a PNG.",
    "animate": "Render a trajectory or a moving camera to a movie.",
    "preview": "Open a scene in an interactive window.",
    "serve": "Show a scene in a web browser, here or through SSH.",
    "export": "Write a scene as one HTML page, or as points for Blender.",
    "tone": "Make pictures of saved films without rendering.",
    "measure": "Measure how far particles are exposed.",
    "scene": "Check scene files, make large scenes.",
    "devices": "List the devices that can render here, and what is missing.",
    "info": "Print the contents of a data file, or how a picture was made.",
    "bench": "Check and time kernels.",
}
"""Lines of the help about subcommands, whose modules are imported when they run."""

NO_ROOM = "there is not enough memory: use fewer spheres, a smaller picture, or a larger machine"


@click.group(
    cls=Group, summaries=SUMMARIES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="raytracer %(version)s")
def program() -> None:
    """Render spheres, from three to hundreds of millions.

    \b
    A first picture, and your own particles:
      raytracer render scenes/three_balls.toml
      raytracer render atoms.xyz -o atoms.png
      raytracer preview atoms.xyz          an interactive window
      raytracer serve atoms.xyz            the same in a web browser, also through SSH
      raytracer animate run.gsd -o run.mp4 a movie of a trajectory
      raytracer export atoms.xyz           a page to send, which turns without a server

    \b
    Other commands:
      raytracer devices                    the devices that can render here
      raytracer scene check FILE           the contents of a scene file, or its mistakes
      raytracer scene generate --list      generators of large scenes
      raytracer info FILE                  the contents of a data file, or how a picture was made
      raytracer measure FILE               occlusion and exposed area of each particle
      raytracer tone FILM                  another exposure of a saved film, without rendering
    """


def main(arguments: Sequence[str] | None = None) -> int:
    if arguments is None:
        # NumPy's linear algebra would start a thread per core, which takes longer than it saves.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    args = list(sys.argv[1:] if arguments is None else arguments)
    # A group in standard input, "-:PartType0", is no option.
    args = [f"./{word}" if word.startswith("-:") else word for word in args]
    inputs.forget_files()
    try:
        if "" in args:
            raise UserError(
                f"word {args.index('') + 1} of the command is empty, perhaps a shell variable that "
                "is not set: give a value or leave it out"
            )
        with redirect_warnings(_print_warning):
            code = program.main(args, prog_name="raytracer", standalone_mode=False)
    except RaytracerError as error:
        return _say(str(error), error.exit_code)
    except click.UsageError as error:
        return _report_misuse(error, args)
    except click.ClickException as error:
        return _say(_format_sentence(error.format_message()), error.exit_code)
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, click.Abort) or _interrupt_behind(error):
            return report_stop(error)
        if is_lack_of_threads(error):
            return _say(NO_THREADS, 1)
        if is_lack_of_memory(error):
            return _say(NO_ROOM, MemoryNeedError.exit_code)
        raise
    finally:
        if output := sys.modules.get("raytracer.files.output"):
            output.remove_temporary_files()
    return code if isinstance(code, int) else 0


def _print_warning(sentence: str) -> None:
    from raytracer.commands.report import print_warning

    print_warning(sentence)


def _report_misuse(error: click.UsageError, args: list[str]) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":  # click 8.2 and later: a group without command
        error.show()
        return error.exit_code
    # The parser of options has no context.
    called = f"raytracer {args[0]}" if args[:1] and args[0] in SUMMARIES else "raytracer"
    command = error.ctx.command_path if error.ctx else called
    return _say(f"{truncate(_describe_misuse(error))} (see `{command} --help`)", error.exit_code)


def _describe_misuse(error: click.UsageError) -> str:
    """Return what is wrong, with one suggestion: click would list all options spelt alike."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        hint = suggest_option(error.option_name, error.ctx.command)
        text = f"no such option '{quote(error.option_name)}'"
        return f"{text}; {hint}" if hint else text
    return _format_sentence(error.format_message())


def _format_sentence(text: str) -> str:
    """Return a message of click as one line that starts in lower case, without a full stop."""
    line = " ".join(text.split()).replace(". Did you mean", "; did you mean").rstrip(".")
    return line[:1].lower() + line[1:]


def _interrupt_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return the interrupt that caused an exception of a library, such as NumPy's import."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def report_stop(error: BaseException) -> int:
    """Print the signal; return the exit code."""
    stop = _interrupt_behind(error)
    if not isinstance(stop, Terminated):
        stop = Terminated()
    if stop.number == SIGPIPE:
        return stop.exit_code
    return _say(f"stopped by {stop.name}", stop.exit_code)


def _say(text: str, code: int) -> int:
    """Print each line with the name of the program on standard error; return the code."""
    for sentence in text.split("\n"):
        print(f"raytracer: {truncate(sentence)}", file=sys.stderr)
    return code
