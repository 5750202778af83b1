"""The options of what is made of a film, the same for every command that makes pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = (
    click.option("--bits", type=click.Choice(["8", "16"]), default="8", show_default=True,
                 help="Bits per channel of the PNG."),
    click.option("--stats", is_flag=True, help="Print statistics of the film and the picture."),
    click.option("--histogram", metavar="FILE.png",
                 help="Plot the luminance before and after the tone curve."),
)  # fmt: skip


def develop_options(command: Command) -> Command:
    """Add the options to a command, in their order."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command
