"""Options of the command line that are made of the definitions of settings, where they are used.

The definitions are in dataclasses, which take a while to import: a command that another one lists
in its help has none of these options yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from raytracer.fields import Definition
    from raytracer.film.tone_settings import ToneSettings

Options = Callable[[], list[click.Option]]


class SettingsCommand(click.Command):
    """A command with options for settings; it makes them when it is run or asked for its help.

    Args:
        settings: functions that make options, each by the name of the parameter before them.
    """

    def __init__(self, *arguments: Any, settings: Mapping[str, Options], **others: Any) -> None:
        self._settings = dict(settings)
        super().__init__(*arguments, **others)

    @property
    def params(self) -> list[click.Parameter]:
        """All parameters, in their order."""
        while self._settings:
            name, make = self._settings.popitem()
            before = [param.name for param in self._params].index(name) + 1
            self._params[before:before] = make()
        return self._params

    @params.setter
    def params(self, params: list[click.Parameter]) -> None:
        self._params = params


def render_options() -> list[click.Option]:
    """Return an option for each setting of a render; without a value the scene's holds."""
    from raytracer.fields import definitions
    from raytracer.settings import RenderSettings

    return [
        _option(each, f"the scene's, or {_typed(each)}")
        if each.default is not None
        else _option(each, each.default_text)
        for each in definitions(RenderSettings).values()
    ]


def tone_options() -> list[click.Option]:
    """Return an option for each setting of exposure and tone curve."""
    from raytracer.fields import definitions
    from raytracer.film.tone_settings import ToneSettings

    return [_option(each, _typed(each)) for each in definitions(ToneSettings).values()]


def preview_options() -> list[click.Option]:
    """Return the options of size, sampling and tone for a window."""
    from raytracer.fields import definitions
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.settings import RenderSettings

    render, tone = definitions(RenderSettings), definitions(ToneSettings)
    return [
        _option(render["width"], "the scene's", "Width of the window in pixels."),
        _option(render["height"], "the scene's", "Height of the window in pixels."),
        _option(render["samples"], "the scene's", "Samples per pixel at rest."),
        _option(
            tone["exposure"], _typed(tone["exposure"]), "Initial exposure, in stops or metered."
        ),
        _option(tone["tone"], _typed(tone["tone"]), "Initial tone curve."),
    ]


def take_render(options: dict[str, Any]) -> dict[str, Any]:
    """Take the settings of a render out of a command's options; None keeps the scene's."""
    from raytracer.fields import definitions
    from raytracer.settings import RenderSettings

    return {name: options.pop(name) for name in definitions(RenderSettings)}


def take_tone(options: dict[str, Any]) -> ToneSettings:
    """Take the settings of exposure and tone curve out of a command's options.

    Raises:
        UserError: a value makes no sense.
    """
    from raytracer.fields import definitions
    from raytracer.film.tone_settings import ToneSettings

    names = definitions(ToneSettings)
    values = {name: options.pop(name) for name in list(options) if name in names}
    return ToneSettings(**{name: value for name, value in values.items() if value is not None})


def _typed(definition: Definition) -> str:
    """Return a default as it is typed."""
    return definition.default_words.strip('`"')


def _option(definition: Definition, default: str, summary: str = "") -> click.Option:
    """Return the option of a setting.

    Args:
        definition: of the setting.
        default: in words.
        summary: the help, if it is not that of the setting.
    """
    flag, kind = definition.option_name, definition.kind
    notes = [kind.limits()] if kind.limits() else []
    notes.append(f"default: {default}")
    text = f"{summary or definition.summary}  [{'; '.join(notes)}]"
    attributes = kind.option()
    if attributes.pop("is_switch", False):
        flag = f"{flag}/--no-{flag[2:]}"
    return click.Option([flag, definition.name], default=None, help=text, **attributes)
