"""Actions: what a user can do, by name and with checked arguments.

Window, browser and notebook run the same actions. An action is a function with `@action`: it takes
the session, its name is written with hyphens, and its signature gives arguments and
types.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Signature, signature
from typing import Any, TypeVar, get_args

from raytracer.config.arguments import check_real, check_text, check_truth, check_whole
from raytracer.config.errors import UserError, quote, suggest

Function = TypeVar("Function", bound=Callable[..., Any])

MAX_NUMBER = 1e6  # that an action takes: enough for any drag or wheel, with a finite square


def _check_number(value: Any, name: str) -> float:
    return check_real(check_real(value, name), name, -MAX_NUMBER, MAX_NUMBER)


CHECKS: dict[type, Callable[..., Any]] = {
    float: _check_number,
    int: check_whole,
    bool: check_truth,
    str: check_text,
}
"""Checks of arguments by their annotation, which may also allow None."""


@dataclass(frozen=True)
class Action:
    name: str  # with hyphens
    function: Callable[..., Any]
    signature: Signature  # with the session first
    undo: bool  # whether it can be undone

    @property
    def parameters(self) -> list[str]:
        """The names of its arguments, in order."""
        return list(self.signature.parameters)[1:]

    def bind_arguments(self, values: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name, in built-in types. Raises UserError."""
        try:
            given = self.signature.bind(None, *values, **named).arguments
        except TypeError as error:
            known = ", ".join(self.parameters) or "none"
            why = quote(str(error), 100)
            raise UserError(f"{self.name}: {why}; its arguments: {known}") from None
        for name in self.parameters:
            stated = self.signature.parameters[name].annotation
            kind, *none = get_args(stated) or (stated,)
            if name in given and not (none and given[name] is None):
                given[name] = CHECKS[kind](given[name], f"{self.name}: {name}")
        return {name: given[name] for name in self.parameters if name in given}


ACTIONS: dict[str, Action] = {}  # modules add theirs when imported; `panel` imports all


def action(undo: bool = False, name: str = "", about: str = "") -> Callable[[Function], Function]:
    """Make a function an action.

    undo: whether it can be undone. name, about: instead of the name and docstring of the function.
    """

    def mark(function: Function) -> Function:
        stated = name or function.__name__.removesuffix("_").replace("_", "-")
        function.__doc__ = about or function.__doc__
        ACTIONS[stated] = Action(stated, function, signature(function), undo)
        return function

    return mark


def find_action(name: str) -> Action:
    """Return the action of a name, with hyphens or underscores. Raises UserError."""
    if (known := ACTIONS.get(name.replace("_", "-"))) is not None:
        return known
    raise UserError(f"there is no action '{quote(name)}'; {suggest(name, ACTIONS)}")
