"""Actions: what a user can do, by name and with checked arguments.

Window, browser and notebook run the same actions. An action is a function with `@action`: it takes
the state of the viewer, its name is written with hyphens, and its signature gives arguments and
types.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from raytracer.arguments import real, text, truth, whole
from raytracer.errors import UserError, shown, suggestion
from raytracer.files.access import path_of

Function = TypeVar("Function", bound=Callable[..., Any])

MAX_NUMBER = 1e6  # that an action takes: enough for any drag or wheel, with a finite square


def _number(value: Any, name: str, error: type[UserError]) -> float:
    number = real(value, name, error=error)
    return real(number, name, -MAX_NUMBER, MAX_NUMBER, error=error)


def _path(value: Any, name: str, error: type[UserError]) -> Path:
    return path_of(value, name)


CHECKS: dict[str, tuple[str, Callable[..., Any]]] = {
    "float": ("number", _number),
    "int": ("integer", whole),
    "bool": ("boolean", truth),
    "str": ("string", text),
    "Path": ("path", _path),
}
"""Annotations of arguments, with type names and checks."""

NONE = " | None"


@dataclass(frozen=True)
class Parameter:
    """An argument of an action; the annotation is one of `CHECKS`, optionally with " | None"."""

    name: str
    annotation: str
    required: bool

    def checked(self, value: Any, place: str) -> Any:
        """Return a value in a built-in type. Raises UserError for other types."""
        if value is None and self.annotation.endswith(NONE):
            return None
        _, check = CHECKS[self.annotation.removesuffix(NONE)]
        return check(value, f"{place}: {self.name}", error=UserError)

    @property
    def kind(self) -> str:
        return CHECKS[self.annotation.removesuffix(NONE)][0]

    def about(self) -> dict[str, Any]:
        """Return type, and whether it is required, as JSON types."""
        null = self.annotation.endswith(NONE)
        return {"type": self.kind, "null": null, "required": self.required}


@dataclass(frozen=True)
class Action:
    name: str  # with hyphens
    function: Callable[..., Any]
    help: str  # what it does, in a sentence
    parameters: Mapping[str, Parameter]  # its arguments by name
    undo: bool  # whether it can be undone

    def about(self) -> dict[str, Any]:
        """Return name, help and arguments as JSON types."""
        arguments = {name: each.about() for name, each in self.parameters.items()}
        return {"name": self.name, "help": self.help, "arguments": arguments}

    def bound(self, values: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name. Raises UserError."""
        known = list(self.parameters)
        if len(values) > len(known):
            raise UserError(f"{self.name}: takes {len(known)} arguments, got {len(values)}")
        given = dict(zip(known, values, strict=False))
        for name, value in named.items():
            if name not in self.parameters:
                raise UserError(
                    f"{self.name}: there is no argument '{shown(str(name))}'; "
                    f"{suggestion(str(name), known) if known else 'it takes none'}"
                )
            if name in given:
                raise UserError(f"{self.name}: {name} is given twice")
            given[name] = value
        for name, each in self.parameters.items():
            if each.required and name not in given:
                raise UserError(f"{self.name}: {name} is missing")
        return {name: self.parameters[name].checked(value, self.name) for name, value in
                given.items()}  # fmt: skip


ACTIONS: dict[str, Action] = {}  # modules add theirs when imported; `session` imports all


def action(undo: bool = False) -> Callable[[Function], Function]:
    """Make a function an action; `undo`: whether it can be undone."""

    def mark(function: Function) -> Function:
        parameters = {
            each.name: Parameter(
                each.name, each.annotation, each.default is inspect.Parameter.empty
            )
            for each in list(inspect.signature(function).parameters.values())[1:]
        }
        help_text = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
        name = function.__name__.removesuffix("_").replace("_", "-")
        ACTIONS[name] = Action(name, function, help_text, parameters, undo)
        return function

    return mark


def named(name: str) -> Action:
    """Return the action of a name, with hyphens or underscores. Raises UserError."""
    known = ACTIONS.get(name.replace("_", "-"))
    if known is None:
        raise UserError(f"there is no action '{shown(name)}'; {suggestion(name, ACTIONS)}")
    return known
