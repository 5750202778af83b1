"""The option that says what renders."""

from __future__ import annotations

import re
from typing import Any

import click


class BackendName(click.Choice[str]):
    """A backend by name, or a GPU by its number: cuda:1."""

    def __init__(self) -> None:
        super().__init__(["auto", "cpu", "cuda"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Let numbered GPUs through; whether there is one is seen when it is asked for."""
        if isinstance(value, str) and re.fullmatch(r"cuda:[0-9]{1,4}", value):
            return value
        return super().convert(value, param, ctx)


backend_option = click.option(
    "--backend",
    type=BackendName(),
    default="auto",
    show_default=True,
    help="Where to render; cuda:1 is the GPU with number 1.",
)
