"""Command groups that import a subcommand when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from raytracer.config.errors import find_nearest_name, quote, suggest


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
            hint = suggest_command(name, self.list_commands(), ctx.command_path)
            raise click.UsageError(f"no such command '{quote(name)}'; {hint}", ctx)
        return super().resolve_command(ctx, args)


def suggest_option(name: str, command: click.Command) -> str:
    """Return what to use instead of an unknown option of a command, or ""."""
    from raytracer.config.synonyms import ANYWHERE, ELSEWHERE

    word = name.lstrip("-").lower().replace("-", "_")
    if word in ANYWHERE:
        return ANYWHERE[word]
    if any(param.name == "scenes" for param in command.params):
        for words, sentence in ELSEWHERE.items():
            if word in words.split():
                return sentence
    options = [param for param in command.params if isinstance(param, click.Option)]
    flags = [flag for option in options for flag in (*option.opts, *option.secondary_opts)]
    near = find_nearest_name(name, [flag for flag in flags if flag.startswith("--")])
    return f"did you mean '{near}'?" if near else ""


def suggest_command(name: str, known: list[str], path: str) -> str:
    """Return what to use instead of an unknown command of a group, called as `path`."""
    from raytracer.config.synonyms import ANYWHERE
    from raytracer.files.access import is_file
    from raytracer.particles.registry import PICTURES, SUFFIXES
    from raytracer.scene_files.source import SCENE_SUFFIXES
    from raytracer.system.resources import scenes_folder

    suffix = Path(name).suffix.lower()
    is_example = bool(name) and is_file(Path(str(scenes_folder())) / f"{name}.toml")
    if is_example or suffix in (*SCENE_SUFFIXES, *SUFFIXES, *PICTURES) or is_file(Path(name)):
        use = "info" if suffix in PICTURES else "render" if "render" in known else "scene check"
        return f"did you mean `raytracer {use} {quote(name)}`?"
    near = find_nearest_name(name, known)
    return ANYWHERE.get(name) or (
        f"did you mean `{path} {near}`?" if near else suggest(name, known)
    )
