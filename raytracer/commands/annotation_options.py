"""Options for what is drawn over a picture: --legend, --axes, --title and others.

An option is a switch that may have a value behind an equals sign, as in --legend=left or
--outline=width=2,color=navy; without the sign, what follows is another argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from raytracer.errors import SceneError, shown, suggestion

if TYPE_CHECKING:
    from raytracer.fields import Definition

SWITCHES = {
    "legend": "The scale of colours that follow a column",
    "scale_bar": "A bar of a known length",
    "axes": "A tripod of the axes",
    "labels": "A text at each sphere",
    "box": "The simulation box",
    "outline": "Lines around spheres",
    "depth_cue": "Fading into a colour with the distance",
}
"""Annotations that an option switches on, and what its help says."""

FIRST = {
    "legend": "PLACE",
    "scale_bar": "LENGTH",
    "axes": "PLACE",
    "labels": "BY",
    "box": "",
    "outline": "WIDTH",
    "depth_cue": "COLOR",
}
"""What a value alone means: the first field."""


def flag(name: str) -> str:
    """Return the option of an annotation."""
    return f"--{name.replace('_', '-')}"


def annotation_options() -> list[click.Option]:
    """Return the options, after which a scene's own annotations stay unless they are switched off."""
    listed = [
        click.Option(
            [flag(name), name],
            metavar=f"[={FIRST[name]}|off]" if FIRST[name] else "[=off]",
            help=f"{text}; fields of [{name}] as NAME=VALUE,...",
        )
        for name, text in SWITCHES.items()
    ]
    title = click.Option(
        ["--title", "title"], metavar="TEXT", help="A line of text at the top of the picture."
    )
    return [title, *listed]


def attached(arguments: Sequence[str]) -> list[str]:
    """Return arguments of a command in which each switch has a value: --axes is --axes=on."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    switches = {flag(name) for name in SWITCHES}
    return [
        f"{argument}=on" if argument in switches and place < end else argument
        for place, argument in enumerate(arguments)
    ]


def take_annotations(options: dict[str, Any]) -> dict[str, Any] | None:
    """Remove the options from those of a command; returns changes, see `Annotations.changed`.

    Raises:
        SceneError: a field does not exist, or a value is wrong.
    """
    title = options.pop("title")
    said = {name: options.pop(name) for name in SWITCHES}
    changes = {name: _parsed(name, value) for name, value in said.items() if value is not None}
    if title is not None:
        from raytracer.annotations.settings import TextLabel

        changes["texts"] = [TextLabel(title)]
    return changes or None


def _parsed(name: str, value: str) -> Any:
    """Return True, False, or fields by name."""
    words = {"on": True, "": True, "off": False}
    if value in words:
        return words[value]
    from raytracer.annotations.settings import KINDS
    from raytracer.fields import definitions

    known = definitions(KINDS[name])
    if "=" not in value:
        if not FIRST[name]:
            raise SceneError(f"{flag(name)}={shown(value)}: is none of on, off and NAME=VALUE")
        first = next(iter(known))
        return {first: _value(known[first], value, f"{flag(name)}={shown(value)}")}
    fields = {}
    for part in _parts(value):
        key, equals, text = part.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or key not in known:
            problem = f"'{shown(key)}' is no field" if equals else f"'{shown(part)}' has no '='"
            raise SceneError(f"{flag(name)}: {problem}; {suggestion(key, known)}")
        fields[key] = _value(known[key], text.strip(), f"{flag(name)}={key}")
    return fields


def _parts(text: str) -> list[str]:
    """Return the parts of a text between its commas, those in brackets and quotes left out."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _value(definition: Definition, text: str, place: str) -> Any:
    """Return a value: text, or what TOML makes of it where the field is no text.

    Raises:
        SceneError: it is not of the field's kind.
    """
    import tomllib

    from raytracer.field_types import Choice, Text
    from raytracer.scene.kinds import ColorValue

    value: Any = text.strip("\"'") if text[:1] in ("'", '"') else text
    if not isinstance(definition.kind, (Choice, Text)):
        is_word = isinstance(definition.kind, ColorValue) and not text.startswith("[")
        if not is_word:
            try:
                value = tomllib.loads(f"value = {text}")["value"]
            except tomllib.TOMLDecodeError:
                value = text
    from raytracer.field_types import Mistakes

    mistakes = Mistakes()
    definition.kind.find_mistakes(value, place, mistakes)
    if mistakes.sentences:
        raise SceneError(*mistakes.sentences)
    return value
