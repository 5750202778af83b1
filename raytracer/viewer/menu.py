"""Menu: what one can do at a place of the picture, the same in a window, a page and a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raytracer.errors import escaped
from raytracer.scene.views import VIEWS
from raytracer.viewer.actions import action
from raytracer.viewer.controls import CONTROLS
from raytracer.viewer.edits import BACKGROUND_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from raytracer.scene.describe import SphereInfo
    from raytracer.viewer.viewer import Viewer

MOST_COLUMNS = 12
"""Most columns of the menu of colours; others are typed."""

MOST_LETTERS = 36
"""Most letters of a name in the menu."""


@dataclass(frozen=True)
class Item:
    """A row of the menu: an action, a menu of its own, or, with neither, a heading or a gap.

    Args:
        label: in a few words; "" is a gap.
        action: name of the action, or "".
        values: its arguments by name.
        chosen: whether it holds now.
        items: of its own menu.
    """

    label: str
    action: str = ""
    values: Mapping[str, Any] | None = None
    chosen: bool = False
    items: tuple[Item, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether it can be taken."""
        return bool(self.action or self.items)

    @property
    def key(self) -> str:
        """The key of the same action, or ""."""
        return _KEYS.get((self.action, tuple((self.values or {}).values())), "")

    def about(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {
            "label": self.label, "action": self.action, "values": dict(self.values or {}),
            "key": self.key, "chosen": self.chosen, "items": [each.about() for each in self.items],
        }  # fmt: skip


_KEYS = {
    (each.action.replace("_", "-"), tuple(a for a in each.amount if a is not None)): each.label
    for each in reversed(CONTROLS)
}
"""Labels of keys by their actions and arguments."""

GAP = Item("")


class Menu:
    """The menu of a viewer.

    Args:
        viewer: whose menu it is.

    Attributes:
        number: counts the menus that were opened.
        items: of the open one; () if none is.
        place: where it was asked for, pixels from the upper left of the picture.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self.number = 0
        self.items: tuple[Item, ...] = ()
        self.place = (0, 0)

    @action()
    def open_menu(self, x: int | None = None, y: int | None = None, reach: int = 0) -> None:
        """Open the menu of what can be done at a pixel, or with the picked sphere; picks there."""
        viewer = self._viewer
        width, height = viewer.size
        if x is None or y is None:
            self.show((width // 2, height // 2), viewer.picked)
        elif 0 <= x < width and 0 <= y < height:
            self.place = x, y
            viewer.pick(x, y, reach=reach, menu=True)

    @action()
    def leave_menu(self) -> None:
        """Close the menu."""
        self.items = ()

    def show(self, place: tuple[int, int], sphere: SphereInfo | None) -> None:
        """Open it for a sphere, or for what is beside all; place: pixels from the upper left."""
        viewer = self._viewer
        scene = viewer.loaded_scene.scene
        is_particle = sphere is not None and sphere.id < scene.count
        own = _of_particle(viewer, sphere) if sphere is not None and is_particle else ()
        self.number, self.place = self.number + 1, place
        self.items = (*own, *_of_all(viewer))


def _of_particle(viewer: Viewer, sphere: SphereInfo) -> tuple[Item, ...]:
    """Return what can be done with the picked sphere."""
    name, alike = _kind(viewer, viewer.loaded_scene.number_of(sphere.id))
    selected = viewer.data.selected
    them = f"the {selected:,} selected" if selected else "it"
    found = [
        Item(f"{name} {viewer.loaded_scene.number_of(sphere.id):,}"),
        Item("go to it", "fit-picked"),
        Item("turn about it", "turn-about-picked"),
    ]
    if not viewer.view.orthographic:
        found.append(Item("focus on it", "focus-picked"))
    found.append(Item("select it", "select-picked"))
    if alike:
        found.append(Item(f"select all {name}", "select", {"condition": alike}))
    return (
        *found,
        Item(f"hide {them}", "hide-selected"),
        Item("hide the rest", "hide-rest"),
        Item("fade the rest", "fade-rest"),
        GAP,
    )


def _kind(viewer: Viewer, number: int) -> tuple[str, str]:
    """Return element or type of a particle, and the condition of all such; "" if it has none."""
    sets = viewer.loaded_scene.all_particles.spheres
    labels = sets[0].labels if len(sets) == 1 else None
    if labels is None:
        return "sphere", ""
    name = labels.names[int(labels.ids[number])]
    column = sets[0].columns.about.get("type")
    if column is None or "'" in name:
        return _short(name), ""
    condition = f"type == '{name}'" if column.kind == "text" else f"type == {name}"
    return _short(name if column.kind == "text" else f"type {name}"), condition


def _of_all(viewer: Viewer) -> tuple[Item, ...]:
    """Return what can be done anywhere."""
    data, history = viewer.data, viewer.history
    found = [
        Item("show all spheres", "fit-all"),
        Item("view", items=_views(viewer)),
        GAP,
        Item("colour by", items=_colors(viewer)),
        Item("style", items=_styles(viewer)),
        Item("bonds", "toggle-bonds", chosen=data.has_bonds),
    ]
    if data.knows_box:
        found.append(Item("simulation box", "toggle-box", chosen=data.has_box))
    found += [
        Item("look", items=_choices(viewer.looks, "set-look", viewer.edits.look_of(
            viewer.loaded_scene.scene))),
        Item("background", items=_choices(BACKGROUND_NAMES, "set-background", BACKGROUND_NAMES[
            viewer.edits.background])),
        GAP,
    ]  # fmt: skip
    if data.content.cuts or data.content.faded:
        found.append(Item("show all particles", "show-all"))
    if history.can_undo:
        found.append(Item("undo", "undo"))
    return (
        *found,
        Item("save a picture", "ask-size"),
        Item("copy camera and edits", "print-camera"),
        Item("panel", "toggle-panel"),
        Item("help", "toggle-help"),
    )


def _views(viewer: Viewer) -> tuple[Item, ...]:
    """Return the standard views and those that were kept."""
    return tuple(Item(name, "view", {"name": name}) for name in (*VIEWS, *viewer.views.names))


def _colors(viewer: Viewer) -> tuple[Item, ...]:
    """Return what colours can follow."""
    data = viewer.data
    now = data.style.get("color_by")
    columns = data.columns[:MOST_COLUMNS]
    names = [None, *([now] if now and now not in columns else []), *columns]
    found = [
        Item(_short(name or "the scene's"), "color-by", {"by": name}, name == now) for name in names
    ]
    return (*found, Item("another ...", "ask-color"))


def _styles(viewer: Viewer) -> tuple[Item, ...]:
    """Return the styles of atoms and bonds."""
    from raytracer.scene.bond_settings import STYLES

    now = viewer.data.style.get("style")
    names = (None, *STYLES)
    return tuple(
        Item(name or "the scene's", "set-style", {"name": name}, name == now) for name in names
    )


def _choices(names: Sequence[str], name: str, now: str) -> tuple[Item, ...]:
    """Return the values of an action that takes a name."""
    return tuple(Item(each, name, {"name": each}, each == now) for each in names)


def _short(name: str) -> str:
    line = escaped(" ".join(name.split()))
    return line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 1] + "…"
