"""Command groups that import a subcommand when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class UnknownCommandError(click.UsageError):
    def __init__(self, name: str, group: Group, ctx: click.Context) -> None:
        super().__init__(f"no such command {name!r}", ctx)
        self.name, self.group = name, group


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

    def all_commands(self) -> dict[str, click.Command]:
        """Import and return all subcommands by name, in the order of the summaries."""
        for name in self._summaries:
            self.get_command(None, name)
        return {name: self.commands[name] for name in self._summaries or self.commands}

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
            raise UnknownCommandError(name, self, ctx)
        return super().resolve_command(ctx, args)
