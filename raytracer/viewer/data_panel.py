"""Data panel: what colours, selection, slice and look are, in rows that can be clicked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raytracer.errors import escaped
from raytracer.viewer import data_actions, light_actions
from raytracer.viewer.edits import BACKGROUND_NAMES
from raytracer.viewer.state import ViewerState

LETTERS = 22
"""Most letters of a value."""

HEADS = ("Colours", "Particles", "Picture")
"""Headings of the panel."""

Call = tuple[Any, ...]


@dataclass(frozen=True)
class Row:
    """A row of the panel."""

    label: str  # what it is about; a row without a value is a heading
    value: str = ""  # what holds now
    key: str = ""  # the key that changes it
    # Name and arguments of the action of a click, or of a turn of the wheel.
    forth: Call | None = None
    back: Call | None = None  # of a turn of the wheel the other way; None is that of a click


def rows(viewer: ViewerState) -> list[Row]:
    """Return the rows of the panel."""
    style = viewer.content.style
    scales = viewer.loaded_scene.scene.color_scales
    by = style.get("color_by")
    found = [
        Row(HEADS[0]),
        Row("by", _short(by or "the scene"), "M", ("next-column", 1), ("next-column", -1)),
    ]
    if by:
        found.append(Row("map", _short(style.get("map") or "viridis"), "J", ("next-map", 1),
                         ("next-map", -1)))  # fmt: skip
        if scales and scales[-1].kind != "categorical":
            ends = f"{scales[-1].low:.4g} to {scales[-1].high:.4g}"
            found.append(Row("range", _short(ends), "U", ("next-range",)))
        shown = "shown" if data_actions.has_legend(viewer) else "hidden"
        found.append(Row("legend", shown, "Shift U", ("toggle-legend",)))
    found += [
        Row(""),
        Row(HEADS[1]),
        Row("shown", f"{viewer.loaded_scene.scene.count:,}", "Ctrl D", ("show-all",)),
        Row("hidden", f"{data_actions.hidden(viewer):,}", "D", ("hide-selected",)),
        Row("selected", f"{data_actions.selected(viewer):,}", "/", ("ask-selection",)),
        Row("slice", _slice(viewer), "W", ("next-slice",)),
        Row("style", _short(style.get("style") or "the scene's"), "Shift S", ("next-style", 1),
            ("next-style", -1)),
        Row("bonds", _bonds(viewer), "Ctrl B", ("toggle-bonds",)),
        *_glyphs(viewer),
        Row("box", _box(viewer), "Shift I", ("toggle-box",)),
    ]  # fmt: skip
    scene = viewer.loaded_scene.scene
    background = BACKGROUND_NAMES[viewer.edits.background]
    found += [
        Row(""),
        Row(HEADS[2]),
        Row("look", _short(viewer.edits.look_of(scene)), "N", ("next-look",)),
        Row("background", background, "B", ("next-background",)),
        *_ground(viewer),
        *_glass(viewer),
        Row("camera", viewer.view.pose.kind, "O", ("toggle-projection",)),
    ]
    return found


def _ground(viewer: ViewerState) -> list[Row]:
    """Return the row of the ground, if the scene has one."""
    catches = light_actions.shadow_catcher(viewer)
    if catches is None:
        return []
    value = "its shadows alone" if catches else "whole"
    return [Row("ground", value, "Shift B", ("toggle-shadow-catcher",))]


def _glass(viewer: ViewerState) -> list[Row]:
    """Return the row of the picked sphere's priority, if it is of glass."""
    priority = light_actions.priority(viewer)
    if priority is None:
        return []
    more, less = ("change-priority", 1.0), ("change-priority", -1.0)
    return [Row("priority", f"{priority:g}", "Ctrl K", more, less)]


def _glyphs(viewer: ViewerState) -> list[Row]:
    """Return the rows of what is made of the data, as far as the data have it."""
    return [
        Row(
            name, _short(data_actions.glyph(viewer, name) or "none"), "",
            (f"next-{name}", 1), (f"next-{name}", -1),
        )
        for name in data_actions.GLYPHS
        if len(data_actions.glyph_choices(viewer, name)) > 1 or name == "arrows"
    ]  # fmt: skip


def _bonds(viewer: ViewerState) -> str:
    """Return which bonds are shown."""
    asked = viewer.content.style.get("bonds")
    if asked in (None, "auto", "none"):
        return "shown" if data_actions.has_bonds(viewer) else "none"
    return _short(str(asked))


def _box(viewer: ViewerState) -> str:
    """Return whether the simulation box is shown."""
    if not data_actions.knows_box(viewer):
        return "none in the file"
    return "shown" if data_actions.has_box(viewer) else "hidden"


def text(rows: list[Row]) -> str:
    """Return rows as lines of a monospaced font: label, value, key."""
    wide = max(len(row.label) for row in rows)
    values = max(len(row.value) for row in rows)
    lines = []
    for row in rows:
        if row.value:
            lines.append(f"  {row.label:<{wide}}  {row.value:<{values}}  {row.key:>7}")
        else:
            lines.append(row.label)
    return "\n".join(lines)


def _slice(viewer: ViewerState) -> str:
    now = viewer.content.slice
    if now is None:
        return "none"
    return _short(f"{now.axis} {now.keep} {data_actions.slice_place(viewer):.4g}")


def _short(text: str) -> str:
    line = escaped(" ".join(text.split()))
    return line if len(line) <= LETTERS else line[: LETTERS - 1] + "…"
