"""Command groups that import a subcommand when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from raytracer.errors import shown


class Group(click.Group):
    """A command with subcommands; it imports only the one that runs.

    `summaries` has each subcommand's line of help by name, so that help imports nothing. Subcommand
    NAME is `NAME` in the module `raytracer.commands.NAME`.
    """

    def __init__(
        self, *arguments: Any, summaries: Mapping[str, str] | None = None, **others: Any
    ) -> None:
        super().__init__(*arguments, **others)
        self._summaries = summaries or {}

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        return sorted({*self.commands, *self._summaries})

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        if cmd_name in self._summaries and cmd_name not in self.commands:
            command = getattr(import_module(f"raytracer.commands.{cmd_name}"), cmd_name)
            command.short_help = self._summaries[cmd_name]  # of a completion
            self.add_command(command)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [
            (name, self._summaries.get(name) or self.commands[name].get_short_help_str())
            for name in self.list_commands()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        known = ctx.resilient_parsing or name in self.list_commands()  # for a completion, no error
        if not known and not name.startswith("-"):
            from raytracer.commands.hints import of_command

            hint = of_command(name, self.list_commands(), ctx.command_path)
            raise click.UsageError(f"no such command '{shown(name)}'; {hint}", ctx)
        return super().resolve_command(ctx, args)
