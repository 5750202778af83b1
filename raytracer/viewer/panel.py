"""The panel of settings: rows that a window draws as text and a page as fields.

Each row has an action that sets its value. Actions that select the next value use the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from raytracer.errors import escaped
from raytracer.scene.bond_settings import STYLES
from raytracer.scene.coloring.style import SCALES
from raytracer.viewer import data_actions, light_actions
from raytracer.viewer.actions import action, named
from raytracer.viewer.data_actions import GLYPHS, MAPS
from raytracer.viewer.edits import BACKGROUNDS, SCENES
from raytracer.viewer.state import ViewerState

MAX_LETTERS = 22  # most letters of a value in a window

SOLIDS = "Bonds and arrows"
TITLES = ("Look", "Colour", SOLIDS, "Select", "View", "Motion")

AXES = ("x", "-x", "y", "-y", "z", "-z", "iso")  # standard views with buttons
DIGITS = "123456789"  # names of saved views with buttons and keys


@dataclass(frozen=True)
class Button:
    text: str
    help: str
    action: str
    values: Mapping[str, Any] = field(default_factory=dict)  # arguments of the action by name
    active: bool = True


@dataclass(frozen=True)
class Row:
    """A row of the panel."""

    label: str
    # "choice", "text", "switch", "share" (a number in 0..1), "buttons", or "step": two buttons
    # that lower and raise the value, and others.
    kind: str = "buttons"
    value: Any = None  # current value; in words if only buttons change it
    action: str = ""  # that sets the value
    argument: str = ""  # of the action, for the value; a switch has none
    choices: Sequence[str | None] = ()
    hint: str = ""  # examples of a text, the name of a switch or of the choice None
    buttons: Sequence[Button] = ()
    step: str = ""  # window action that selects the next value, or asks
    fixed: Mapping[str, Any] = field(default_factory=dict)  # other arguments of the action

    def words(self) -> str:
        """Return the value as a window shows it."""
        if self.kind == "switch":
            return "yes" if self.value else "no"
        if self.value is None:
            return self.hint if self.kind == "choice" else self.buttons[0].text
        return short(str(self.value) or "none", MAX_LETTERS)

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the calls of a click or a turn of the wheel, and of a turn the other way."""
        if self.kind == "choice" and self.step != "next-slice":
            return [(self.step, {"step": step}) for step in (1, -1)]
        buttons = self.buttons[1::-1] if self.kind == "step" else self.buttons[:1]
        if buttons:
            return [(each.action, dict(each.values)) for each in buttons]
        name = self.action if self.kind == "switch" else self.step
        return [(name, {})] if name else []


def sections(viewer: ViewerState) -> dict[str, list[Row]]:
    makers = _look, _color, _solids, _selection, _view, _motion
    return {title: make(viewer) for title, make in zip(TITLES, makers, strict=True)}


def about(viewer: ViewerState) -> dict[str, list[dict[str, Any]]]:
    """Return the sections as JSON types, for a page."""
    return {title: [_filled(row) for row in rows] for title, rows in sections(viewer).items()}


def _filled(row: Row) -> dict[str, Any]:
    fields = {name: each for name, each in vars(row).items() if each or name in ("label", "value")}
    if row.buttons:
        fields["buttons"] = [vars(each) for each in row.buttons]
    return fields


def row_of(viewer: ViewerState, title: str, label: str) -> Row:
    return next(row for row in sections(viewer)[title] if row.label == label)


def _next_action(name: str, title: str, label: str, help_text: str) -> None:
    """Define an action that selects the next value of a row, or with `step` -1 the previous one."""

    def take(viewer: ViewerState, step: int = 1) -> None:
        row = next((row for row in sections(viewer)[title] if row.label == label), None)
        if row is None:
            viewer.notify(f"{label.lower()}: none in the data")
            return
        place = row.choices.index(row.value) if row.value in row.choices else 0
        value = row.choices[(place + step) % len(row.choices)]
        named(row.action).function(viewer, **{row.argument: value})

    take.__name__, take.__doc__ = name, help_text
    action(undo=True)(take)


_next_action("next-look", "Look", "Look", "Use the next look: integrator and lights.")
_next_action("next-background", "Look", "Background", "Use the next background.")
_next_action("next-column", "Colour", "By", "Colour by the next column of the data.")
_next_action("next-scale", "Colour", "Scale", "Use the next colour scale.")
_next_action("next-style", SOLIDS, "Style", "Use the next style of atoms and bonds.")
_next_action("next-arrows", SOLIDS, "Arrows", "Show arrows along the next vector of the data.")
_next_action("next-trails", SOLIDS, "Trails", "Use the next length of trails.")
_next_action("next-contacts", SOLIDS, "Contacts", "Use the next kind of contacts.")
_next_action("next-shape", SOLIDS, "Shape", "Show particles as ellipsoids or as spheres.")


def _look(viewer: ViewerState) -> list[Row]:
    rows = [
        Row("Look", "choice", viewer.edits.look_of(viewer.loaded_scene.scene), "set-look", "name",
            light_actions.looks(viewer), step="next-look"),
        Row("Background", "choice", viewer.edits.background, "set-background", "name",
            list(BACKGROUNDS), step="next-background"),
    ]  # fmt: skip
    catches = light_actions.shadow_catcher(viewer)
    if catches is not None:
        rows.append(
            Row("Ground", "switch", catches, "toggle-shadow-catcher", hint="only its shadows")
        )
    tone = viewer.tone
    exposure = "auto" if tone.automatic else f"{float(tone.exposure):+.2f}"
    kind = viewer.view.pose.kind
    projection = Button(kind, "perspective or orthographic", "toggle-projection")
    viewers = Button("light here", "light from the viewer's upper left", "light-from-viewer")
    return [
        *rows,
        Row(
            "Exposure",
            "step",
            exposure,
            buttons=(
                Button("−", "darker by 1/3 stop", "expose", {"stops": -1 / 3}),
                Button("+", "brighter by 1/3 stop", "expose", {"stops": 1 / 3}),
                Button("auto", "automatic exposure", "toggle-automatic"),
            ),
        ),
        Row("Tone", buttons=(Button(tone.tone, "next tone curve", "next-curve"), viewers)),
        Row("Camera", buttons=(projection,)),
    ]


def _color(viewer: ViewerState) -> list[Row]:
    style = viewer.content.style
    by, columns = style.get("color_by"), data_actions.columns(viewer)
    unlisted = [by] if by and by not in columns else []
    return [
        Row("By", "choice", by, "color-by", "by", [None, *unlisted, *columns], SCENES,
            step="next-column"),
        Row("Map", "choice", style.get("map"), "set-map", "name", [None, *MAPS], "default",
            step="next-map"),
        Row("Scale", "choice", style.get("color_scale"), "set-scale", "name", [None, *SCALES],
            "default", step="next-scale"),
        Row("Range", "text", _range(viewer), "set-range", "ends", hint="low,high or p1,p99",
            step="next-range"),
        Row("Legend", "switch", data_actions.has_legend(viewer), "toggle-legend",
            hint="draw a legend"),
    ]  # fmt: skip


def _range(viewer: ViewerState) -> str:
    """Return the range of colours as typed, or its ends."""
    typed, scales = viewer.content.style.get("range"), viewer.loaded_scene.scene.color_scales
    if isinstance(typed, str):
        return typed
    if not scales or scales[-1].kind == "categorical":
        return ""
    return f"{scales[-1].low:.6g},{scales[-1].high:.6g}"


def _solids(viewer: ViewerState) -> list[Row]:
    style = viewer.content.style
    rows = [
        Row("Style", "choice", style.get("style"), "set-style", "name", [None, *STYLES], SCENES,
            step="next-style"),
        Row("Bonds", "switch", data_actions.has_bonds(viewer), "toggle-bonds", hint="show bonds"),
        Row("Which", "text", str(style.get("bonds") or ""), "set-bonds", "which",
            hint="auto, none, 2.4 or Si-O=2"),
    ]  # fmt: skip
    for name, argument in GLYPHS.items():
        value = data_actions.glyph(viewer, name)
        choices = data_actions.glyph_choices(viewer, name)
        if value not in choices:
            choices = [value, *choices]
        if len(choices) > 1 or name == "arrows":
            rows.append(
                Row(name.title(), "choice", value, f"set-{name}", argument, choices,
                    step=f"next-{name}")
            )  # fmt: skip
    if data_actions.knows_box(viewer):
        box = data_actions.has_box(viewer)
        rows.append(Row("Box", "switch", box, "toggle-box", hint="show the box"))
    return rows


def _selection(viewer: ViewerState) -> list[Row]:
    chosen, slice_ = viewer.content.selection, viewer.content.slice
    condition = chosen.condition if chosen else ""
    rows = [
        *_of_picked(viewer),
        Row("Where", "text", condition, "select", "condition", hint="type == 'O' and z > 3",
            step="ask-selection"),
        Row("Selected", value=f"{data_actions.selected(viewer):,}", buttons=(
            Button("hide", "hide what is selected", "hide-selected"),
            Button("isolate", "hide the rest", "hide-rest"),
            Button("fade rest", "fade the rest", "fade-rest"),
        )),
        Row("Hidden", value=f"{data_actions.hidden(viewer):,}", buttons=(
            Button("show all", "show all particles", "show-all"),
        )),
        Row("Slice", "choice", slice_.axis if slice_ else None, "slice", "axis",
            [None, *"xyz"], "none", step="next-slice"),
    ]  # fmt: skip
    if slice_ is not None:
        at = Row("Place", "share", slice_.position, "slice", "position")
        rows.append(replace(at, fixed={"axis": slice_.axis}))
    return rows


def _of_picked(viewer: ViewerState) -> list[Row]:
    """Return the rows of the picked particle; none for a ground or without a pick."""
    sphere, loaded = viewer.picked, viewer.loaded_scene
    if sphere is None or sphere.id >= loaded.scene.count:
        return []
    name, alike = _kind(viewer, loaded.number_of(sphere.id))
    buttons = [Button("it", "select what is picked", "select-picked")]
    if alike:
        every = {"condition": alike}
        buttons.append(Button(f"all {name}", f"select all {name}", "select", every))
    return [Row("Pick", buttons=buttons)]


def _kind(viewer: ViewerState, number: int) -> tuple[str, str]:
    """Return element or type of a particle, and the condition for all such particles, or ""."""
    sets = viewer.loaded_scene.all_particles.spheres
    labels = sets[0].labels if len(sets) == 1 else None
    column = None if labels is None else sets[0].columns.about.get("type")
    if labels is None or column is None:
        return "", ""
    name = labels.names[int(labels.ids[number])]
    condition = f"type == '{name}'" if column.kind == "text" else f"type == {name}"
    return short(name, MAX_LETTERS), "" if "'" in name else condition


def _view(viewer: ViewerState) -> list[Row]:
    kept = [name for name in viewer.views if name in DIGITS]
    free = next((digit for digit in DIGITS if digit not in kept), "")
    keep = Button("keep", "save this view", "keep-view", {"name": free}, bool(free))
    history = viewer.history
    return [
        Row("", buttons=(
            Button("fit", "show all spheres except a ground ball", "fit-all"),
            Button("reset", "reset to the scene", "reset"),
        )),
        Row("Picked", buttons=(
            Button("go to", "go to the picked sphere", "fit-picked"),
            Button("turn about", "turn about it from now on", "turn-about-picked"),
            Button("focus", "focus on it through a lens", "focus-picked"),
        )),
        Row("", buttons=[Button(each, f"view {each}", "view", {"name": each}) for each in AXES]),
        Row("Saved", buttons=(
            keep, *(Button(each, f"saved view {each}", "view", {"name": each}) for each in kept)
        )),
        Row("Turntable", "switch", viewer.turning, "toggle-turntable", hint="turn"),
        Row("", buttons=(
            Button("undo", "undo", "undo", active=bool(history.before)),
            Button("redo", "redo", "redo", active=bool(history.after)),
        )),
    ]  # fmt: skip


def _motion(viewer: ViewerState) -> list[Row]:
    some = bool(viewer.keyframes)
    return [
        Row("Camera", value=len(viewer.keyframes), buttons=(
            Button("keyframe", "set a keyframe with this camera at this time", "keyframe"),
            Button("clear", "delete all keyframes", "clear-keyframes", active=some),
            Button("export", "write a scene file with the keyframes", "export-keyframes",
                   active=some),
        )),
    ]  # fmt: skip


def short(text: str, letters: int) -> str:
    """Return a text on one line, cut to a number of letters."""
    line = escaped(" ".join(text.split()))
    return line if len(line) <= letters else line[: letters - 1] + "…"
