"""Arguments and options that several commands share.

Options of settings are made from the definitions of the settings when a command runs or prints its
help, because importing these takes a while.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial, reduce
from inspect import cleandoc
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import click

from raytracer.arguments import MAX_WHOLE
from raytracer.errors import DataFileError, suggestion
from raytracer.field_types import Integer, Numbers
from raytracer.scene import ANNOTATIONS, GLYPHS
from raytracer.scene.coloring import SETTINGS, STYLE

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from raytracer.field_types import Kind
    from raytracer.fields import Definition

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


threads_option = click.option(
    "--threads", type=int, default=0, help="CPU threads; default: every core, or RAYTRACER_THREADS."
)


json_option = click.option("--json", "as_json", is_flag=True, help="Print only JSON.")

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print only errors.")

progress_option = click.option(
    "--progress/--no-progress", default=None,
    help="Show a progress bar; default: on a terminal, if rendering takes longer than a second.",
)  # fmt: skip

scenes_argument = click.argument(
    "scenes", nargs=-1, required=True, type=FILE, metavar="SCENE|DATA..."
)

watch_option = click.option(
    "--watch", is_flag=True, help="Reload the scene when one of its files changes."
)

adaptive_option = click.option(
    "--adaptive/--full", default=True, show_default=True,
    help="Reduce the resolution while the camera moves, where needed.",
)  # fmt: skip

force_option = click.option("--force", is_flag=True, help="Replace files that exist.")


def _added(options: Sequence[Callable[[Function], Function]]) -> Callable[[Function], Function]:
    return lambda function: reduce(lambda made, add: add(made), reversed(options), function)


picture_options = _added((
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
    """Return the path of a scene or particle file; a bare name may be an example scene.

    Raises:
        DataFileError: there is neither; the message names the nearest example.
    """
    from pathlib import Path

    from raytracer.files.access import STANDARD_INPUT, is_file
    from raytracer.resources import scenes

    path = Path(scene)
    if path == STANDARD_INPUT or str(path).startswith(f"{STANDARD_INPUT}:"):
        return path
    try:
        no_file = not path.exists() or (path.is_dir() and not path.suffix)
    except (OSError, ValueError):
        return path  # the message comes from where it is opened
    if not no_file or path.suffix not in ("", ".toml") or path.parent != Path():
        return path
    folder = Path(str(scenes()))
    example = folder / f"{path.stem}.toml"
    if is_file(example) or path.is_dir():
        return example if is_file(example) else path
    hint = suggestion(path.stem, sorted(each.stem for each in folder.glob("*.toml")))
    raise DataFileError(f"{path}: there is no such file and no example scene of that name; {hint}")


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
        arguments = attached(args)
        words = {word.partition("=")[0] for word in arguments if word.startswith("-")}
        if words.isdisjoint(("-h", "--help", HELP_ALL)):
            self._used = tuple(each for each in self._groups if not words.isdisjoint(each.flags()))
        try:
            rest = super().parse_args(ctx, arguments)
            if len(ctx.params.get("scenes") or ()) > 1 and (hint := _detached(args)):
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

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self.common or ctx.meta.get(HELP_ALL):
            super().format_help(ctx, formatter)
            return
        self.format_usage(ctx, formatter)
        summary, _, rest = cleandoc(self.help or "").partition("\n\n")  # "" of python -OO
        examples = rest.partition("\n\n")[0].split("\n")  # after a backspace and the title
        first = examples[: 2 + EXAMPLES]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n".join([summary, "", *first]))
        panels = self._panels(ctx, self._brief_row)
        width = max(len(flag) for rows in panels.values() for flag, _ in rows)
        room = formatter.width - width - 4
        for title, rows in panels.items():
            with formatter.section(title):
                formatter.write_dl([(flag.ljust(width), _brief(text, room)) for flag, text in rows])
        count = sum(isinstance(param, click.Option) for param in self.get_params(ctx))
        formatter.write_paragraph()
        formatter.write_text(f"`{ctx.command_path} {HELP_ALL}` shows all {count} options.")

    def _brief_row(self, option: click.Option, ctx: click.Context) -> tuple[str, str] | None:
        """Return a common option, with the first of its values if they are many, and its help."""
        record = option.get_help_record(ctx)
        if record is None or option.name not in self.common:
            return None
        long = next(flag for flag in option.opts if flag.startswith("--"))
        flag = ", ".join([*(each for each in option.opts if len(each) == 2), long])
        values = "" if option.is_flag or option.count else str(option.make_metavar(ctx))
        words = values.strip("[]").split("|")
        while len(words) > 1 and len(f"{flag} {values}") > FLAG_CHARS:
            words.pop()
            values = "|".join([*words, "..."])
        return f"{flag} {values}".rstrip(), record[1]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all options by panel, files and devices first."""
        for title, rows in self._panels(ctx, click.Option.get_help_record).items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def _panels(
        self,
        ctx: click.Context,
        row_of: Callable[[click.Option, click.Context], tuple[str, str] | None],
    ) -> dict[str, list[tuple[str, str]]]:
        panels: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (row := row_of(param, ctx)):
                panels.setdefault(getattr(param, "panel", "Options"), []).append(row)
        return panels


HELP_ALL = "--help-all"

EXAMPLES, FLAG_CHARS = 3, 25  # maxima of the short help: examples, width of option and values


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


def _brief(text: str, room: int) -> str:
    """Return as many whole clauses of a help text as fit on a line; at least the first."""
    text = re.split(r"  \[|; default: ", text)[0].rstrip(".") + "."
    ends = [match.start() for match in re.finditer(r"[;:.](?= |$)", text)]
    end = max([each for each in ends if each < room], default=ends[0])
    last = text.rfind(",", end, room - len(" ..."))
    if text[end] == ":" and last > 0:
        return f"{text[:last].rstrip(',. ')}, ..."  # the first of several examples
    return f"{text[:end]}."


class SettingType(click.ParamType[Any]):
    """The type of an option of a setting, whose name begins the message about a wrong value."""

    def __init__(self, kind: Kind, flag: str) -> None:
        self.kind, self.name = kind, flag

    def convert(self, value: Any, *_: Any) -> Any:
        return self.kind.of_text(value, self.name) if isinstance(value, str) else value


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

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete what the metavar states: the words in [auto|STOPS], or a file."""
        from click.shell_completion import CompletionItem

        values = self.make_metavar(ctx)
        if values.startswith("FILE"):
            return FILE.shell_complete(ctx, self, incomplete)
        words = values.strip("[]=").split("|")
        known = [word for word in words if re.fullmatch(r"[a-z0-9-]+", word)]
        return [CompletionItem(word) for word in known if word.startswith(incomplete)]


backend_option = click.option(
    "--backend",
    cls=SettingOption,
    panel="Options",
    metavar="[auto|cpu|cuda]",
    default="auto",
    show_default=True,
    help="Where to render; cuda:1 is the GPU with number 1, cuda:0,1 are two, cuda:all are all.",
)


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


DRAWN = [name for name in ANNOTATIONS if name != "texts"]
SWITCHES = {flag(name) for name in (*DRAWN, "ribbons")}  # options that need no value


class OptionGroup:
    """Options that are made when one of them is used or the help is printed.

    Args:
        owner: "module:Class" of the settings.
        names: the fields that are options; all by default.
        panel: title of their part of the help; `panels` has exceptions by field.
        extra: further options, which stand first.
        part: the argument of the command that gets the values.
        finish: makes these values of those that are given.
    """

    def __init__(
        self,
        owner: str,
        names: Sequence[str] = (),
        panel: str = "",
        panels: Mapping[str, str] | None = None,
        extra: Sequence[click.Option] = (),
        part: str = "settings",
        finish: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    ) -> None:
        self.owner, self.panel, self.panels, self.part = owner, panel, panels or {}, part
        self._names, self._extra, self._finish = names, extra, finish

    @cached_property
    def _known(self) -> Mapping[str, Definition]:
        from raytracer.field_types import loaded
        from raytracer.fields import definitions

        return definitions(loaded(self.owner))

    @property
    def names(self) -> Sequence[str]:
        """Names of the fields that are options."""
        return self._names or list(self._known)

    def flags(self) -> set[str]:
        """Return the options as they are typed."""
        known = () if self._names else self._known.values()
        words = {flag(name) for name in self._names} | {each.option_name for each in known}
        words |= {word for name in self.names for word in FLAGS.get(name, ())}
        words |= {word for option in self._extra for word in option.opts}
        return words | {f"--no-{word[2:]}" for word in words}

    @cached_property
    def options(self) -> list[click.Option]:
        made = [_option(self._known[n], self.panels.get(n, self.panel)) for n in self.names]
        return [*self._extra, *made]

    def take(self, options: dict[str, Any]) -> dict[str, Any]:
        """Remove the settings from a command's options; return those that are given."""
        names = [*self.names, *(str(option.name) for option in self._extra)]
        values = {name: options.pop(name, None) for name in names}
        given = {name: value for name, value in values.items() if value is not None}
        return self._finish(given) if given else given


def _sized(given: dict[str, Any]) -> dict[str, Any]:
    size = given.pop("size", None)
    if size is None:
        return given
    if "width" in given or "height" in given:
        raise click.UsageError("give either --size, or --width and --height")
    sides = re.fullmatch(r"([0-9]{1,9})[x×*,]([0-9]{1,9})", size.strip().lower())
    if sides is None:
        raise click.UsageError(f"--size: {size!r} is not WIDTHxHEIGHT, for example 1600x900")
    return given | {"width": int(sides[1]), "height": int(sides[2])}


PANEL, TONE_PANEL = "Size, sampling and light", "Exposure and tone"
STYLE_PANEL = "Colours by data, selection, periodic images, bonds, arrows"
DRAWN_PANEL = "Over the picture"
# Further names of options, and names that are not those of the field.
FLAGS = {"samples": ("--spp",), "fps": ("--frames-per-second",), "arrays": ("--columns",)}

SOURCE = "raytracer.scene.source_settings:SourceSettings"
RENDER = "raytracer.settings:RenderSettings"
TONE = "raytracer.film.tone_settings:ToneSettings"
VIEW = "raytracer.scene.view_settings:ViewSettings"

source_options = OptionGroup(SOURCE, panel="Options")

file_options = OptionGroup(SOURCE, ("format", "topology", "arrays"), "Options")

still_options = OptionGroup(SOURCE, ("frame", "format", "topology", "arrays"), "Options")

measure_options = OptionGroup("raytracer.settings:MeasureSettings", panel="Options")

SIZE = SettingOption(["--size"], metavar="WIDTHxHEIGHT", panel=PANEL,
                     help="Width and height: 1600x900.")  # fmt: skip

render_options = OptionGroup(RENDER, panel=PANEL, extra=[SIZE], finish=_sized)

preview_options = OptionGroup(
    RENDER,
    ("width", "height", "samples", "look", "light", "placement", "integrator", "ao_samples",
     "ao_distance", "denoise"),
    PANEL, extra=[SIZE], finish=_sized,
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
    "raytracer.scene.animation:AnimationSettings",
    ("frames", "smoothing", "unwrap", "fps", "duration", "turntable", "orbit", "dolly", "zoom_to",
     "ease", "follow", "quality", "codec"),
    "Animation",
)  # fmt: skip

annotation_options = OptionGroup(
    "raytracer.scene.annotations:Annotations", DRAWN, DRAWN_PANEL,
    extra=[SettingOption(["--title", "texts"], metavar="TEXT", panel=DRAWN_PANEL,
                         callback=lambda _, __, text: text and [{"text": text}],
                         help="A line of text at the top of the picture.")],
    part="annotations",
)  # fmt: skip

window_options = (
    source_options, view_options, style_options, preview_options, preview_tone_options,
    annotation_options,
)  # fmt: skip


def attached(arguments: Sequence[str]) -> list[str]:
    """Give each switch among the arguments a value: --axes is --axes=on."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    before = [f"{word}=on" if word in SWITCHES else word for word in arguments[:end]]
    return [*before, *arguments[end:]]


def _detached(arguments: Sequence[str]) -> str:
    """Return a hint if a switch is followed by its value without an equals sign, or ""."""
    from raytracer.files.access import is_file

    for word, value in pairwise(arguments):
        if word in SWITCHES and not value.startswith("-") and not is_file(value):
            return f"write the value of {word} after an equals sign: {word}={value}"
    return ""


def _option(definition: Definition, panel: str) -> click.Option:
    long, kind, name = definition.option_name, definition.kind, definition.name
    default = definition.default_words.strip('`"') or "the scene's"
    if definition.default is not None and panel not in (TONE_PANEL, "Options"):
        default = f"the scene's, or {default}"
    notes = "; ".join(filter(None, [kind.limits(), f"default: {default}"]))
    attributes = {"type": SettingType(kind, long), "metavar": kind.choices(), **kind.options}
    if kind.is_switch:
        long, attributes = f"{long}/--no-{long[2:]}", {}
    return SettingOption(
        [*dict.fromkeys([long, *FLAGS.get(name, ())]), name], default=None, panel=panel,
        help=f"{definition.summary}  [{notes}]", **attributes,
    )  # fmt: skip
