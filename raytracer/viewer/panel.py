"""The panel: rows that a window shows as lines of text, and a page as fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raytracer.config.errors import quote as quoted
from raytracer.viewer import data_actions, picking
from raytracer.viewer.choices import CHOICES, COLOUR, LOOK, MAX_LETTERS, SOLIDS, Choice
from raytracer.viewer.controls import find_key_label
from raytracer.viewer.session import Session
from raytracer.viewer.view_actions import DIGITS

AXES = ("x", "-x", "y", "-y", "z", "-z", "iso")  # standard views with buttons


@dataclass(frozen=True)
class Button:
    text: str
    help: str
    action: str
    values: Mapping[str, Any] = field(default_factory=dict)  # arguments of the action by name
    active: bool = True


@dataclass(frozen=True)
class PanelRow:
    """A row of the panel."""

    label: str
    # "choice", "text", "switch", "share" (a number in 0..1), "buttons", or "step": buttons of which
    # the first two lower and raise the value.
    kind: str = "buttons"
    value: Any = None  # current value; in words if only buttons change it
    action: str = ""  # that sets the value
    argument: str = ""  # of the action, for the value; a switch has none
    choices: Sequence[Any] = ()
    hint: str = ""  # examples of a text, the name of a switch or of the choice None
    buttons: Sequence[Button] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)  # other arguments of the action
    example: str = ""  # of values that may be typed instead of a choice

    @property
    def value_text(self) -> str:
        """The value in words, for a window."""
        if isinstance(self.value, bool):
            return "yes" if self.value else "no"
        if self.value is None:
            return self.hint if self.kind == "choice" else self.buttons[0].text
        return quoted(str(self.value) or "none", MAX_LETTERS)

    def make_call(self, back: bool = False) -> tuple[str, dict[str, Any]]:
        """Return action and arguments of a click in a window, or of a turn of the wheel back."""
        if self.argument == "value":  # one of `CHOICES`
            return f"next-{self.action}", {"step": -1 if back else 1}
        if self.kind == "text":
            return "ask", {"what": self.action}
        if self.kind == "choice":
            return f"next-{self.action}", {}
        button = self.buttons[self.kind == "step" and not back]
        return button.action, dict(button.values)


def make_sections(session: Session) -> dict[str, list[PanelRow]]:
    return {
        LOOK: _make_look_rows(session), COLOUR: _make_choice_rows(session, COLOUR),
        SOLIDS: _make_choice_rows(session, SOLIDS),
        "Select": _make_selection_rows(session), "View": _make_view_rows(session),
        "Motion": [PanelRow("Camera", value=len(session.keyframes), buttons=(
            Button("keyframe", "set a keyframe with this camera at this time", "keyframe"),
            Button("clear", "delete all keyframes", "clear-keyframes",
                   active=bool(session.keyframes)),
        ))],
    }  # fmt: skip


def make_lines(session: Session) -> list[tuple[str, PanelRow | None]]:
    """Return the lines of a window, of label, value and key, with their rows; a title has none."""
    found: list[tuple[tuple[str, str, str], PanelRow | None]] = []
    for title, rows in list(make_sections(session).items())[:4]:  # keys do the rest
        found.append(((title, "", ""), None))
        for row in rows:
            if row.label and row.kind != "share":  # keys move a slice
                name, values = row.make_call()
                key = find_key_label(name, *values.values())
                found.append(((f"  {row.label}", row.value_text, key), row))
    columns = zip(*(parts for parts, _ in found), strict=True)
    wide, values_wide, keys_wide = (max(map(len, column)) for column in columns)
    return [
        (f"{label:<{wide}}  {value:<{values_wide}}  {key:>{keys_wide}}".rstrip(), row)
        for (label, value, key), row in found
    ]


def describe_state(session: Session) -> dict[str, Any]:
    """Return the state as JSON types, for display; the names are those of actions."""
    loaded, time, content = session.loaded_scene, session.time, session.content
    scales, save_job = loaded.scene.color_scales, session.worker.save_job
    return {
        "name": loaded.name,
        "spheres": loaded.scene.count,
        "size": list(session.size),
        "samples": session.samples,
        "look": session.edited_scene.render.look,
        "background": session.edits.background,
        **session.camera.about,
        "notice": session.notice,
        "error": session.reload_error,
        "refused": session.refused,
        "loading": session.loader.is_busy("show"),
        "frame": {
            "number": session.frame_number, "count": time.count, "playing": time.playing,
            "speed": time.speed,
        },
        "color": {
            "by": content.settings.get("color_by"),
            "low": scales[-1].low if scales else None,
            "high": scales[-1].high if scales else None,
            "columns": data_actions.list_columns(session),
        },
        "selection": {
            "count": data_actions.count_selected(session),
            "condition": content.selection.condition if content.selection else "",
        },
        "hidden": data_actions.count_hidden(session),
        "slice": None if content.slice is None else vars(content.slice),
        "picks": [
            {"id": each.number, "position": picking.find_center(session, each).tolist(),
             "lines": each.lines}
            for each in picking.list_picked_spheres(session)
        ],
        "measure": ", ".join(picking.format_measures(session)),
        "keyframes": len(session.keyframes),
        "saving": save_job.fraction if save_job is not None else None,
    }  # fmt: skip


def describe_panel(session: Session) -> dict[str, list[dict[str, Any]]]:
    """Return the sections as JSON types, for a page."""
    return {
        title: [_row_to_json(row) for row in rows] for title, rows in make_sections(session).items()
    }


def _row_to_json(row: PanelRow) -> dict[str, Any]:
    kept = ("label", "value")
    fields = {name: each for name, each in vars(row).items() if each or name in kept}
    if row.buttons:
        fields["buttons"] = [vars(each) for each in row.buttons]
    return fields


def _make_choice_rows(session: Session, section: str) -> list[PanelRow]:
    return [
        _make_choice_row(session, each)
        for each in CHOICES
        if each.section == section and each.exists(session)
    ]


def _make_choice_row(session: Session, choice: Choice) -> PanelRow:
    value, values = choice.find_current(session), list(choice.values(session))
    if choice.kind == "choice" and value not in values:
        values = [value, *values]
    offered = values if choice.kind == "choice" else ()
    hint = choice.example if choice.kind == "text" else choice.none
    typed = choice.example if choice.kind == "choice" and choice.open else ""
    return PanelRow(
        choice.label, choice.kind, value, choice.name, "value", offered, hint, example=typed
    )


def _make_look_rows(session: Session) -> list[PanelRow]:
    tone = session.tone
    exposure = "auto" if tone.automatic else f"{float(tone.exposure):+.2f}"
    kind = session.view.pose.kind
    projection = Button(kind, "perspective or orthographic", "toggle-projection")
    return [
        *_make_choice_rows(session, LOOK),
        PanelRow("Exposure", "step", exposure, buttons=(
            Button("−", "darker by 1/3 stop", "expose", {"stops": -1 / 3}),
            Button("+", "brighter by 1/3 stop", "expose", {"stops": 1 / 3}),
            Button("auto", "automatic exposure", "toggle-automatic"),
        )),
        PanelRow("Camera", buttons=(projection,)),
    ]  # fmt: skip


def _make_selection_rows(session: Session) -> list[PanelRow]:
    chosen, slice_ = session.content.selection, session.content.slice
    condition = chosen.condition if chosen else ""
    place = PanelRow("Place", "share", slice_ and slice_.position, "slice", "position",
                fixed={"axis": slice_ and slice_.axis})  # fmt: skip
    return [
        *_make_picked_rows(session),
        PanelRow("Where", "text", condition, "select", "condition", hint="type == 'O' and z > 3"),
        PanelRow("Selected", value=f"{data_actions.count_selected(session):,}", buttons=(
            Button("hide", "hide what is selected", "hide-selected"),
            Button("isolate", "hide the rest", "hide-rest"),
            Button("fade rest", "fade the rest", "fade-rest"),
        )),
        PanelRow("Hidden", value=f"{data_actions.count_hidden(session):,}", buttons=(
            Button("show all", "show all particles", "show-all"),
        )),
        PanelRow("Slice", "choice", slice_.axis if slice_ else None, "slice", "axis",
            [None, *"xyz"], "none"),
        *([place] if slice_ else []),
    ]  # fmt: skip


def _make_picked_rows(session: Session) -> list[PanelRow]:
    """Return the rows of the picked particle; none for a ground or without a pick."""
    pick = session.picked
    if pick is None or pick not in picking.list_picked_spheres(session):
        return []
    name, alike = _find_kind(session, pick.number)
    buttons = [Button("select", "select what is picked", "select-picked")]
    if alike:
        every = {"condition": alike}
        buttons.append(Button(f"all {name}", f"select all {name}", "select", every))
    return [PanelRow("Picked", buttons=buttons)]


def _find_kind(session: Session, number: int) -> tuple[str, str]:
    """Return element or type of a particle, and the condition for all such particles, or ""."""
    sets = session.loaded_scene.all_particles.spheres
    labels = sets[0].labels if len(sets) == 1 else None
    column = None if labels is None else sets[0].columns.about.get("type")
    if labels is None or column is None:
        return "", ""
    name = labels.names[int(labels.ids[number])]
    condition = f"type == '{name}'" if column.kind == "text" else f"type == {name}"
    return quoted(name, MAX_LETTERS), "" if "'" in name else condition


def _make_view_rows(session: Session) -> list[PanelRow]:
    kept = list(session.views)
    free = next((digit for digit in DIGITS if digit not in kept), "")
    keep = Button("keep", "save this view", "keep-view", {"name": free}, bool(free))
    history = session.history
    return [
        PanelRow("", buttons=(
            Button("fit", "show all spheres except a ground ball", "fit-all"),
            Button("reset", "reset to the scene", "reset"),
        )),
        PanelRow("Picked", buttons=(
            Button("go to", "go to the picked sphere", "fit-picked"),
            Button("focus", "focus on it through a lens", "focus-picked"),
        )),
        PanelRow("", buttons=[
            Button(each, f"view {each}", "view", {"name": each}) for each in AXES
        ]),
        PanelRow("Saved", buttons=(
            keep, *(Button(each, f"saved view {each}", "view", {"name": each}) for each in kept)
        )),
        PanelRow("Turntable", "switch", session.turning, "toggle-turntable", hint="turn"),
        PanelRow("", buttons=(
            Button("undo", "undo", "undo", active=bool(history.before)),
            Button("redo", "redo", "redo", active=bool(history.after)),
        )),
    ]  # fmt: skip
