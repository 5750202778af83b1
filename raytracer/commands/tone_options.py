"""The options of exposure and tone curve, the same for every command that makes pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from raytracer.tone_names import CURVES, METERS

if TYPE_CHECKING:
    from raytracer.tone_settings import ToneSettings

Command = TypeVar("Command", bound=Callable[..., Any])
NAMES = ("exposure", "tone", "white", "dither", "meter", "meter_range")


def percentiles(
    context: click.Context, parameter: click.Parameter, value: str
) -> tuple[float, float]:
    """Two numbers with a comma between."""
    try:
        low, high = (float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not of the form LOW,HIGH in numbers") from None
    return low, high


OPTIONS = (
    click.option("--exposure", metavar="STOPS|auto", default="0", show_default=True,
                 help="Exposure in stops, or auto: metered where camera rays hit a sphere."),
    click.option("--tone", type=click.Choice(CURVES), default="linear", show_default=True,
                 help="Tone curve."),
    click.option("--white", type=float, default=4.0, show_default=True,
                 help="Luminance that the reinhard curve maps to white."),
    click.option("--dither/--no-dither", default=None,
                 help="Dither gradients, against banding.  [default: with 8 bits]"),
    click.option("--meter", type=click.Choice(METERS), default="covered", show_default=True,
                 help="Pixels to meter: those in which a sphere was hit, or all."),
    click.option("--meter-range", metavar="LOW,HIGH", default="10,95", show_default=True,
                 callback=percentiles, help="Percentiles of luminance that are metered."),
    click.option("--bits", type=click.Choice(["8", "16"]), default="8", show_default=True,
                 help="Bits per channel of the PNG."),
    click.option("--stats", is_flag=True, help="Print statistics of the film and the picture."),
    click.option("--histogram", metavar="FILE.png",
                 help="Plot the luminance before and after the tone curve."),
)  # fmt: skip


def tone_options(command: Command) -> Command:
    """Add the options to a command, in their order."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def take_settings(options: dict[str, Any]) -> ToneSettings:
    """The settings among a command's options, which are taken out. Raises UserError."""
    from raytracer.tone_settings import ToneSettings

    values = {name: options.pop(name) for name in NAMES}
    if values["dither"] is None:
        values["dither"] = "auto"
    return ToneSettings(**values)
