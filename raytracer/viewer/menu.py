"""The context menu, the same in a window, a page and a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from raytracer.scene.describe import SphereInfo
from raytracer.scene.views import VIEWS
from raytracer.viewer import data_actions
from raytracer.viewer.actions import action
from raytracer.viewer.controls import Item
from raytracer.viewer.panel import SOLIDS, row_of, short
from raytracer.viewer.picking import pick
from raytracer.viewer.state import ViewerState

MAX_CHOICES = 14  # most values in a menu; others can be typed
MAX_LETTERS = 36  # longest name in the menu


GAP = Item("")


@action()
def open_menu(
    viewer: ViewerState, x: int | None = None, y: int | None = None, reach: int = 0
) -> None:
    """Open the menu at a pixel, with a pick there, or for the picked sphere."""
    width, height = viewer.size
    if x is None or y is None:
        show_menu(viewer, (width // 2, height // 2), viewer.picked)
    elif 0 <= x < width and 0 <= y < height:
        viewer.menu.place = x, y
        pick(viewer, x, y, reach=reach, menu=True)


@action()
def leave_menu(viewer: ViewerState) -> None:
    """Close the menu."""
    viewer.menu.items = ()


def show_menu(viewer: ViewerState, place: tuple[int, int], sphere: SphereInfo | None) -> None:
    """Open the menu for a sphere, or for none; `place` is in pixels from the upper left."""
    is_particle = sphere is not None and sphere.id < viewer.loaded_scene.scene.count
    items = _of_particle(viewer, sphere) if sphere is not None and is_particle else ()
    menu = viewer.menu
    menu.number, menu.items, menu.place = menu.number + 1, (*items, *_of_all(viewer)), place


def _of_particle(viewer: ViewerState, sphere: SphereInfo) -> tuple[Item, ...]:
    name, alike = _kind(viewer, viewer.loaded_scene.number_of(sphere.id))
    count = data_actions.selected(viewer)
    them = f"the {count:,} selected" if count else "it"
    items = [
        Item(f"{name} {viewer.loaded_scene.number_of(sphere.id):,}"),
        Item("go to it", "fit-picked"),
        Item("turn about it", "turn-about-picked"),
    ]
    if not viewer.view.orthographic:
        items.append(Item("focus on it", "focus-picked"))
    items.append(Item("select it", "select-picked"))
    if alike:
        items.append(Item(f"select all {name}", "select", {"condition": alike}))
    return (
        *items,
        Item(f"hide {them}", "hide-selected"),
        Item("hide the rest", "hide-rest"),
        Item("fade the rest", "fade-rest"),
        GAP,
    )


def _kind(viewer: ViewerState, number: int) -> tuple[str, str]:
    """Return element or type of a particle, and the condition for all such particles, or ""."""
    sets = viewer.loaded_scene.all_particles.spheres
    labels = sets[0].labels if len(sets) == 1 else None
    if labels is None:
        return "sphere", ""
    name = labels.names[int(labels.ids[number])]
    column = sets[0].columns.about.get("type")
    if column is None or "'" in name:
        return short(name, MAX_LETTERS), ""
    condition = f"type == '{name}'" if column.kind == "text" else f"type == {name}"
    return short(name if column.kind == "text" else f"type {name}", MAX_LETTERS), condition


def _of_all(viewer: ViewerState) -> tuple[Item, ...]:
    items = [
        Item("show all spheres", "fit-all"),
        Item("view", items=_values((*VIEWS, *viewer.views), "view", "name")),
        GAP,
        _submenu(viewer, "Colour", "By", "colour by"),
        _submenu(viewer, SOLIDS, "Style", "style"),
        Item("bonds", "toggle-bonds", chosen=data_actions.has_bonds(viewer)),
    ]
    if data_actions.knows_box(viewer):
        items.append(Item("simulation box", "toggle-box", chosen=data_actions.has_box(viewer)))
    items += [
        _submenu(viewer, "Look", "Look", "look"),
        _submenu(viewer, "Look", "Background", "background"),
        GAP,
    ]
    if viewer.content.cuts or viewer.content.faded:
        items.append(Item("show all particles", "show-all"))
    if viewer.history.before:
        items.append(Item("undo", "undo"))
    return (
        *items,
        Item("save a picture", "ask-size"),
        Item("copy camera and edits", "print-camera"),
        Item("panel", "toggle-panel"),
        Item("help", "toggle-help"),
    )


def _submenu(viewer: ViewerState, title: str, label: str, name: str) -> Item:
    """Return the values of a row of the panel as a submenu."""
    row = row_of(viewer, title, label)
    items = _values(row.choices[:MAX_CHOICES], row.action, row.argument, row.hint, row.value)
    if label == "By":
        items = (*items, Item("another ...", "ask-color"))
    return Item(name, items=items)


def _values(
    choices: Iterable[str | None], name: str, argument: str, none: str = "", now: Any = ""
) -> tuple[Item, ...]:
    """Return an item per value of an action; `none` is the label of None."""
    return tuple(
        Item(short(none if each is None else each, MAX_LETTERS), name, {argument: each},
             each == now)
        for each in choices
    )  # fmt: skip
