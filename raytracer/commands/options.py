"""Arguments and options that several commands share.

Options of settings are made from the definitions of the settings when a command runs or prints its
help, because importing these takes a while.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from inspect import cleandoc
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import click

from raytracer.appearance.coloring import SETTINGS, STYLE
from raytracer.config.arguments import MAX_WHOLE
from raytracer.config.field_types import Integer, Numbers
from raytracer.model.parts import ANNOTATIONS, GLYPHS

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from raytracer.config.field_types import FieldType
    from raytracer.config.fields import Definition

Function = TypeVar("Function", bound=Callable[..., Any])
FILE = click.Path(readable=False)  # which shells complete; checked when it is opened


def file_option(
    *names: str, help: str, metavar: str = "FILE",  # noqa: A002
) -> Callable[[Function], Function]:  # fmt: skip
    return click.option(*names, type=FILE, metavar=metavar, help=help)


output_option = partial(file_option, "-o", "--output")

COMMON_OF_VIEWS = (
    "view", "up", "ortho", "background", "radius", "color_by", "map", "select", "style", "size",
    "samples", "look", "legend",
)  # fmt: skip
"""Options that most users need, shown in the short help."""

backend_option = click.option(
    "--backend", metavar="[auto|cpu|cuda]", default="auto", show_default=True,
    shell_complete=lambda *_: ["auto", "cpu", "cuda"],
    help="Where to render; cuda:1 is the GPU with number 1, cuda:0,1 are two, cuda:all are all.",
)  # fmt: skip

threads_option = click.option(
    "--threads", type=int, default=0, help="CPU threads; default: every core, or RAYTRACER_THREADS."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print only JSON.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print only errors.")

scenes_argument = click.argument(
    "scenes", nargs=-1, required=True, type=FILE, metavar="SCENE|DATA..."
)

force_option = click.option("--force", is_flag=True, help="Replace files that exist.")


def _combine_options(
    options: Sequence[Callable[[Function], Function]],
) -> Callable[[Function], Function]:
    return lambda function: reduce(lambda made, add: add(made), reversed(options), function)


run_options = _combine_options((
    backend_option, threads_option, json_option, quiet_option,
    click.option(
        "--progress/--no-progress", default=None,
        help="Show a progress bar, or lines where there is no terminal; default: on a terminal, if "
        "rendering takes longer than a second.",
    ),
))  # fmt: skip

live_options = _combine_options((
    backend_option,
    click.option("--watch", is_flag=True, help="Reload the scene when one of its files changes."),
    threads_option,
    click.option(
        "--adaptive/--full", default=True, show_default=True,
        help="Reduce the resolution while the camera moves, where needed.",
    ),
))  # fmt: skip

picture_options = _combine_options((
    click.option("--bits", type=click.Choice([8, 16]), default=8, show_default=True,
                 help="Bits per channel, of a PNG."),
    click.option("--quality", type=int, metavar="1-100",
                 help="Of JPEG (default 95), WebP (90) and AVIF (85)."),
    click.option("--stats", is_flag=True, help="Print statistics of the film and the picture."),
))  # fmt: skip


def scene_paths(names: Sequence[str]) -> Path | list[Path]:
    """Return the path of a scene or particle file, or those of several; see `scene_path`."""
    paths = [scene_path(name) for name in names]
    return paths[0] if len(paths) == 1 else paths


def scene_path(scene: str) -> Path:
    """Return the path of a scene or particle file; a bare name may be an example scene."""
    from pathlib import Path

    from raytracer.files.access import is_file
    from raytracer.system.resources import scenes_folder

    path = Path(scene)
    if is_file(path) or path.suffix not in ("", ".toml") or path.parent != Path():
        return path
    example = Path(str(scenes_folder())) / f"{path.stem}.toml"
    return example if is_file(example) else path


class SettingsCommand(click.Command):
    """A command with groups of options for settings, made when they are needed.

    With `common`, `--help` shows only these options, a line each, and `--help-all` shows all.
    """

    def __init__(
        self,
        *arguments: Any,
        settings: Iterable[OptionGroup] = (),
        common: Sequence[str] = (),
        **others: Any,
    ) -> None:
        self._groups = tuple(settings)
        self._used = self._groups
        self._lists: dict[tuple[OptionGroup, ...], list[click.Parameter]] = {}
        self.common = common
        super().__init__(*arguments, **others)
        if common:
            self._params.append(_help_all_option())

    @property
    def params(self) -> list[click.Parameter]:
        """All parameters; while arguments are parsed, only those that are needed."""
        if self._used not in self._lists:  # click adds to the list and takes away again
            options = (option for group in self._used for option in group.options)
            self._lists[self._used] = [*self._params, *options]
        return self._lists[self._used]

    @params.setter
    def params(self, params: list[click.Parameter]) -> None:
        self._params = params

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; switches for annotations may have a value."""
        arguments = attach_switch_values(args)
        words = {word.partition("=")[0] for word in arguments if word.startswith("-")}
        if words.isdisjoint(("-h", "--help", HELP_ALL)):
            self._used = tuple(each for each in self._groups if not words.isdisjoint(each.flags()))
        try:
            rest = super().parse_args(ctx, arguments)
            if len(ctx.params.get("scenes") or ()) > 1 and (hint := _find_detached_value(args)):
                raise click.UsageError(hint, ctx)
            return rest
        finally:
            self._used = self._groups

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with the settings of its groups as `settings`, `tone`, `annotations`."""
        parts: dict[str, dict[str, Any]] = {}
        for group in self._groups:
            parts.setdefault(group.part, {}).update(group.take(ctx.params))
        ctx.params |= parts
        return super().invoke(ctx)

    def is_brief(self, ctx: click.Context) -> bool:
        """Whether the help is of common options alone."""
        return bool(self.common) and not ctx.meta.get(HELP_ALL)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        text = cleandoc(self.help or "")  # "" of python -OO
        if self.is_brief(ctx):
            summary, _, rest = text.partition("\n\n")
            # Examples follow a backspace and their title.
            text = "\n".join([summary, "", *rest.partition("\n\n")[0].split("\n")[: 2 + EXAMPLES]])
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write options by panel, files and devices first; in the brief help a sentence of each."""
        panels: dict[str, list[tuple[str, str]]] = {"Options": []}
        is_brief, options = self.is_brief(ctx), self.get_params(ctx)
        for param in options:
            record = param.get_help_record(ctx)
            if isinstance(param, click.Option) and record:
                flags, text = record
                if is_brief:
                    text = re.split(r"  \[|; default: |(?<=[.;:]) ", text)[0].rstrip(".;:") + "."
                if not is_brief or param.name in self.common:
                    panels.setdefault(getattr(param, "panel", "Options"), []).append((flags, text))
        for title, rows in panels.items():
            with formatter.section(title):
                formatter.write_dl(rows)
        if is_brief:
            count = sum(isinstance(param, click.Option) for param in options)
            formatter.write_paragraph()
            formatter.write_text(f"`{ctx.command_path} {HELP_ALL}` shows all {count} options.")


HELP_ALL = "--help-all"

EXAMPLES = 3  # most examples of the brief help


def _help_all_option() -> click.Option:
    def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            ctx.meta[HELP_ALL] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    return click.Option(
        [HELP_ALL], is_flag=True, is_eager=True, expose_value=False, callback=show,
        help="Show all options and exit.",
    )  # fmt: skip


class SettingType(click.ParamType[Any]):
    """The type of an option of a setting, whose name begins the message about a wrong value."""

    def __init__(self, kind: FieldType, flag: str) -> None:
        self.kind, self.name = kind, flag

    def convert(self, value: Any, *_: Any) -> Any:
        return self.kind.parse_option(value, self.name) if isinstance(value, str) else value

    def shell_complete(self, _: Any, __: Any, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self.kind.words if word.startswith(incomplete)]


def numbers_option(flag: str, form: str, **others: Any) -> Callable[[Function], Function]:
    """Return an option of whole numbers separated by commas, as in `form`."""
    noun = f"of the form {form} in whole numbers"
    kind = Numbers(form.count(",") + 1, noun, form, item=Integer(-MAX_WHOLE))
    return click.option(flag, type=SettingType(kind, flag), metavar=form, **others)


class SettingOption(click.Option):
    """The option of a setting, shown in the part `panel` of the help."""

    def __init__(self, *arguments: Any, panel: str, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self.panel = panel


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


DRAWN = [name for name in ANNOTATIONS if name != "texts"]
SWITCHES = {flag(name) for name in (*DRAWN, "ribbons")}  # options that need no value


@dataclass(eq=False)
class OptionGroup:
    """Options that are made when one of them is used or the help is printed."""

    owner: str  # "module:Class" of the settings
    chosen: Sequence[str] = ()  # the fields that are options; all by default
    panel: str = ""  # title of their part of the help
    panels: Mapping[str, str] = field(default_factory=dict)  # exceptions by field
    extra: Sequence[click.Option] = ()  # further options, which stand first
    part: str = "settings"  # the argument of the command that gets the values
    finish: Callable[[dict[str, Any]], dict[str, Any]] = dict  # of those that are given

    @cached_property
    def _known(self) -> Mapping[str, Definition]:
        from raytracer.config.field_types import import_name
        from raytracer.config.fields import find_definitions

        return find_definitions(import_name(self.owner))

    @property
    def names(self) -> Sequence[str]:
        """Names of the fields that are options."""
        return self.chosen or list(self._known)

    def flags(self) -> set[str]:
        """Return the options as they are typed."""
        known = () if self.chosen else self._known.values()
        words = {flag(name) for name in self.chosen} | {each.option_name for each in known}
        words |= {word for name in self.names for word in FLAGS.get(name, ())}
        words |= {word for option in self.extra for word in option.opts}
        return words | {f"--no-{word[2:]}" for word in words}

    @cached_property
    def options(self) -> list[click.Option]:
        made = [_make_option(self._known[n], self.panels.get(n, self.panel)) for n in self.names]
        return [*self.extra, *made]

    def take(self, options: dict[str, Any]) -> dict[str, Any]:
        """Remove the settings from a command's options; return those that are given."""
        names = [*self.names, *(str(option.name) for option in self.extra)]
        values = {name: options.pop(name, None) for name in names}
        given = {name: value for name, value in values.items() if value is not None}
        return self.finish(given) if given else given


def _split_size(given: dict[str, Any]) -> dict[str, Any]:
    if (size := given.pop("size", None)) is None:
        return given
    if "width" in given or "height" in given:
        raise click.UsageError("give either --size, or --width and --height")
    return given | {"width": size[0], "height": size[1]}


PANEL, TONE_PANEL = "Size, sampling and light", "Exposure and tone"
STYLE_PANEL = "Colours by data, selection, periodic images, bonds, arrows"
DRAWN_PANEL = "Over the picture"
# Further names of options, and names that are not those of the field.
FLAGS = {"samples": ("--spp",), "fps": ("--frames-per-second",), "arrays": ("--columns",)}

SOURCE = "raytracer.model.source_settings:SourceSettings"
RENDER = "raytracer.model.settings:RenderSettings"
TONE = "raytracer.config.tone_settings:ToneSettings"
VIEW = "raytracer.rendering.view_settings:ViewSettings"

source_options = OptionGroup(SOURCE, panel="Options")
file_options = OptionGroup(SOURCE, ("format", "topology", "arrays"), "Options")
still_options = OptionGroup(SOURCE, ("frame", "format", "topology", "arrays"), "Options")
measure_options = OptionGroup("raytracer.model.settings:MeasureSettings", panel="Options")

PIXELS = Numbers(2, "WIDTHxHEIGHT, like 1600x900", "", item=Integer(1), between="[,x×*]")
SIZE = SettingOption(["--size"], panel=PANEL, metavar="WIDTHxHEIGHT",
                     type=SettingType(PIXELS, "--size"),
                     help="Width and height: 1600x900.")  # fmt: skip

render_options = OptionGroup(RENDER, panel=PANEL, extra=[SIZE], finish=_split_size)

preview_options = OptionGroup(
    RENDER,
    ("width", "height", "samples", "look", "light", "placement", "integrator", "ao_samples",
     "ao_distance", "denoise"),
    PANEL, extra=[SIZE], finish=_split_size,
)  # fmt: skip

tone_options = OptionGroup(TONE, panel=TONE_PANEL, part="tone")
preview_tone_options = OptionGroup(TONE, ("exposure", "tone", "bloom"), TONE_PANEL, part="tone")

view_options = OptionGroup(
    VIEW,
    ("camera", "view", "up", "ortho", "zoom", "look_at", "fit", "background", "transparent",
     "ground", "shadow_catcher", "radius", "color", "opacity", "clip", "cut", "environment",
     "material", "aperture", "focus", *GLYPHS, "mesh"),
    "View", dict.fromkeys(GLYPHS, STYLE_PANEL),
)  # fmt: skip

motion_options = OptionGroup(VIEW, ("shutter", "velocity"), "View")
"""Those of commands whose pictures are blurred by motion."""

style_options = OptionGroup(STYLE, SETTINGS, STYLE_PANEL)

animation_options = OptionGroup(
    "raytracer.model.animation:AnimationSettings",
    ("frames", "smoothing", "unwrap", "fps", "duration", "turntable", "orbit", "dolly", "zoom_to",
     "ease", "follow", "quality", "codec"),
    "Animation",
)  # fmt: skip

annotation_options = OptionGroup(
    "raytracer.model.annotations:Annotations", DRAWN, DRAWN_PANEL,
    extra=[SettingOption(["--title", "texts"], metavar="TEXT", panel=DRAWN_PANEL,
                         callback=lambda _, __, text: text and [{"text": text}],
                         help="A line of text at the top of the picture.")],
    part="annotations",
)  # fmt: skip

picture_groups = (view_options, style_options, render_options, annotation_options, tone_options)

window_groups = (
    source_options, view_options, style_options, preview_options, preview_tone_options,
    annotation_options,
)  # fmt: skip


def attach_switch_values(arguments: Sequence[str]) -> list[str]:
    """Give each switch among the arguments a value: --axes is --axes=on."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    before = [f"{word}=on" if word in SWITCHES else word for word in arguments[:end]]
    return [*before, *arguments[end:]]


def _find_detached_value(arguments: Sequence[str]) -> str:
    """Return a hint if a switch is followed by its value without an equals sign, or ""."""
    from raytracer.files.access import is_file

    for word, value in pairwise(arguments):
        if word in SWITCHES and not value.startswith("-") and not is_file(value):
            return f"write the value of {word} after an equals sign: {word}={value}"
    return ""


def _make_option(definition: Definition, panel: str) -> click.Option:
    long, kind, name = definition.option_name, definition.kind, definition.name
    default = definition.default_words.strip('`"') or "the scene's"
    if definition.default is not None and panel not in (TONE_PANEL, "Options"):
        default = f"the scene's, or {default}"
        if of_particles := getattr(definition.owner, "of_particles", None):
            value = getattr(of_particles(), definition.name)
            default += f", or {value} for particles" if value != definition.default else ""
    notes = "; ".join(filter(None, [kind.limits(), f"default: {default}"]))
    given = FILE if kind.metavar.startswith("FILE") else SettingType(kind, long)
    attributes = {"type": given, "metavar": kind.choices(), **kind.options}
    if kind.is_switch:
        long, attributes = f"{long}/--no-{long[2:]}", {}
    return SettingOption(
        [*dict.fromkeys([long, *FLAGS.get(name, ())]), name], default=None, panel=panel,
        help=f"{definition.summary}  [{notes}]", **attributes,
    )  # fmt: skip
