"""Choices: what a user sets by a row of the panel, by keys, or by actions of its name.

Each choice is described once, in `CHOICES`. From this come its row in the panel of window and page,
its prompt in a window, and its actions: NAME sets a value, and next-NAME the following one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from raytracer.arguments import one_of
from raytracer.errors import UserError, escaped
from raytracer.film.denoise import require_denoiser
from raytracer.film.tone_settings import CURVES
from raytracer.scene.bond_settings import STYLES
from raytracer.scene.coloring import OF_SCALE
from raytracer.scene.coloring.style import SCALES, StyleSettings
from raytracer.scene.glyphs.settings import glyph_fields
from raytracer.scene.glyphs.vectors import names_of
from raytracer.scene.simulation_box import box_of_file
from raytracer.settings import INTEGRATORS
from raytracer.viewer.actions import action
from raytracer.viewer.data_actions import columns, sets_of
from raytracer.viewer.edits import BACKGROUNDS, SCENES
from raytracer.viewer.state import ViewerState
from raytracer.viewer.view_actions import set_tone

Value = str | bool | None

MAPS = (
    "viridis", "magma", "inferno", "plasma", "cividis", "turbo", "coolwarm", "twilight", "gray",
)  # fmt: skip
"""Colour maps that are offered; others can be typed."""

RANGES = (None, "p1,p99", "p5,p95")  # ranges of next-range: all values, or without extremes
MAX_LETTERS = 22  # most letters of a value in a window or a message

OF_COLORS = {"color_by", "palette", *OF_SCALE}
"""Settings of a style that are about colours."""

LOOK, COLOUR, SOLIDS = "Look", "Colour", "Bonds and arrows"  # sections of the panel


@dataclass(frozen=True)
class Choice:
    section: str
    label: str
    name: str  # of its actions, as in calls of `render`
    get: Callable[[ViewerState], Value]
    put: Callable[[ViewerState, Any], None]  # may raise UserError
    # The values in order, the current one included; a switch has False and True.
    values: Callable[[ViewerState], Sequence[Value]]
    kind: str = "choice"  # or "switch", or "text" if the panel has it typed
    none: str = ""  # words for the value None
    open: bool = False  # whether other values than those offered may be typed
    example: str = ""  # of what is typed; "" if nothing is
    exists: Callable[[ViewerState], bool] = lambda viewer: True  # whether the data have it
    start: int = 0  # place among the values of one that is not offered

    def set(self, viewer: ViewerState, value: Value) -> None:
        """Set a value; a typed one that is empty is None. Raises UserError."""
        if self.open:
            value = str(value or "").strip() or None
        elif value is not None and self.kind == "choice":
            words = [each for each in self.values(viewer) if isinstance(each, str)]
            one_of(value, self.name, words, self.label.lower(), UserError)
        self.put(viewer, value)
        if value is None or isinstance(value, bool):
            said = self.none if value is None else "yes" if value else "no"
        else:
            said = short(str(value) or "none", MAX_LETTERS)
        viewer.notify(f"{self.name.replace('-', ' ')}: {said}")

    def step(self, viewer: ViewerState, step: int) -> None:
        """Set the following value, or with `step` -1 the one before."""
        if not self.exists(viewer):
            viewer.notify(f"{self.name.replace('-', ' ')}: none in this scene")
            return
        values, now = list(self.values(viewer)), self.get(viewer)
        place = values.index(now) if now is not None and now in values else self.start
        self.set(viewer, values[(place + step) % len(values)])


# Look


def _render(name: str) -> Callable[[ViewerState, Any], None]:
    return lambda viewer, value: viewer.set_edits(viewer.edits.rendered(**{name: value}))


def _set_denoise(viewer: ViewerState, wanted: bool) -> None:
    """Remove the noise of the picture at rest, or keep it; no new samples are needed."""
    if wanted:
        require_denoiser()
    viewer.edits = viewer.edits.rendered(denoise=wanted)
    viewer.submit(viewer.buffers)


def _catches_shadows(viewer: ViewerState) -> bool:
    ground = viewer.edited.ground
    return ground is not None and ground.shadow_catcher


def _edit(name: str) -> Callable[[ViewerState, Any], None]:
    return lambda viewer, value: viewer.set_edits(replace(viewer.edits, **{name: value}))


# Colours


def _styling(name: str) -> Callable[[ViewerState, Any], None]:
    return lambda viewer, value: _restyle(viewer, **{name: value})


def _styled(name: str) -> Callable[[ViewerState], Value]:
    return lambda viewer: viewer.content.style.get(name)


def _restyle(viewer: ViewerState, **changes: Value) -> None:
    """Change settings of the style; None takes one away. Raises UserError."""
    style = dict(viewer.content.style) | changes
    style = {name: value for name, value in style.items() if value is not None}
    StyleSettings(**style)  # reports mistakes at once
    viewer.show(replace(viewer.content, style=style))


def _set_columns(viewer: ViewerState, by: str | None) -> None:
    """Colour by a column or an expression; None: the colours of the scene."""
    others = OF_COLORS if by is None else OF_COLORS - {"map"}
    _restyle(viewer, **dict.fromkeys(others) | {"color_by": by})


def _offered_columns(viewer: ViewerState) -> list[Value]:
    by, names = viewer.content.style.get("color_by"), columns(viewer)
    return [None, *([by] if by and by not in names else []), *names]


def _scaled(name: str) -> Callable[[ViewerState, Any], None]:
    """Return a function that changes a setting of the colour scale."""

    def put(viewer: ViewerState, value: str | None) -> None:
        if not viewer.content.style.get("color_by"):
            raise UserError("there are no colours by a column: choose a column first")
        # a range may be invalid for another scale
        _restyle(viewer, **{name: value}, **{"range": None} if name == "color_scale" else {})

    return put


def _range(viewer: ViewerState) -> str:
    typed, scales = viewer.content.style.get("range"), viewer.loaded_scene.scene.color_scales
    if isinstance(typed, str):
        return typed
    if not scales or scales[-1].kind == "categorical":
        return ""
    return f"{scales[-1].low:.6g},{scales[-1].high:.6g}"


def has_legend(viewer: ViewerState) -> bool:
    stated = viewer.content.drawn.get("legend")
    plan = viewer.loaded_scene.job.plan
    by_scene = plan is not None and plan.annotations.legend is not None
    return bool(viewer.content.style.get("color_by")) or by_scene if stated is None else stated


# Solids made of the data


def _bonds(viewer: ViewerState) -> str:
    stated = viewer.content.style.get("bonds")
    shows = any(each.are_bonds for each in viewer.loaded_scene.scene.capsules)
    return str(stated or ("auto" if shows else "none"))


def _drawn(name: str) -> Callable[[ViewerState, Any], None]:
    """Return a function that changes arrows, legend or box; None: as in the scene."""

    def put(viewer: ViewerState, value: Value) -> None:
        drawn = dict(viewer.content.drawn) | {name: value}
        kept = {key: each for key, each in drawn.items() if each is not None}
        viewer.show(replace(viewer.content, drawn=kept))

    return put


def arrows(viewer: ViewerState) -> str:
    """Return the vector along which arrows are shown, or ""."""
    asked, stated = viewer.content.drawn.get("arrows"), viewer.loaded_scene.scene.arrows
    if asked is not None or stated is None:
        return str(asked or "")
    return stated.vector if isinstance(stated.vector, str) else ",".join(stated.vector)


def _set_arrows(viewer: ViewerState, vector: str | None) -> None:
    if vector:
        glyph_fields("arrows", vector, "arrows", UserError)
    _drawn("arrows")(viewer, vector or "")


def _vectors(viewer: ViewerState) -> list[Value]:
    vectors = [name for each in sets_of(viewer) for name in names_of(each.columns)]
    return list(dict.fromkeys(["", *vectors]))


def has_box(viewer: ViewerState) -> bool:
    stated, plan = viewer.content.drawn.get("box"), viewer.loaded_scene.job.plan
    return plan is not None and plan.annotations.box is not None if stated is None else stated


def _set_box(viewer: ViewerState, wanted: bool) -> None:
    annotations = viewer.loaded_scene.all_particles.annotations
    stated = annotations is not None and annotations.box is not None
    _drawn("box")(viewer, None if wanted == stated else wanted)


def _knows_box(viewer: ViewerState) -> bool:
    spheres = viewer.loaded_scene.all_particles.spheres
    return has_box(viewer) or any(box_of_file(each) is not None for each in spheres)


def _among(*values: Value) -> Callable[[ViewerState], Sequence[Value]]:
    return lambda viewer: values


SWITCH = _among(False, True)

CHOICES = (
    Choice(LOOK, "Look", "look", lambda viewer: viewer.edits.look_of(viewer.loaded_scene.scene),
           _render("look"), lambda viewer: viewer.edits.looks(viewer.loaded_scene.scene)),
    Choice(LOOK, "Integrator", "integrator",
           lambda viewer: viewer.edited.render.resolved_integrator, _render("integrator"),
           _among(*INTEGRATORS)),
    Choice(LOOK, "Denoise", "denoise", lambda viewer: viewer.edited.render.denoise, _set_denoise,
           SWITCH, "switch"),
    Choice(LOOK, "Background", "background", lambda viewer: viewer.edits.background,
           _edit("background"), _among(*BACKGROUNDS)),
    Choice(LOOK, "Only shadows", "shadow-catcher", _catches_shadows, _edit("shadow_catcher"),
           SWITCH, "switch", exists=lambda viewer: viewer.loaded_scene.buffers.has_ground),
    Choice(LOOK, "Tone", "tone", lambda viewer: viewer.tone.tone,
           lambda viewer, curve: set_tone(viewer, tone=curve), _among(*CURVES)),
    Choice(COLOUR, "By", "color-by", _styled("color_by"), _set_columns, _offered_columns,
           none=SCENES, open=True, example="sqrt(x**2 + y**2), ...; empty: the scene's colours"),
    Choice(COLOUR, "Map", "map", _styled("map"), _scaled("map"), _among(None, *MAPS),
           none="default", open=True, start=1,
           example="viridis, magma, coolwarm, turbo, ...; _r behind a name reverses it"),
    Choice(COLOUR, "Scale", "color-scale", _styled("color_scale"), _scaled("color_scale"),
           _among(None, *SCALES), none="default"),
    Choice(COLOUR, "Range", "range", _range, _scaled("range"), _among(*RANGES), "text",
           none="all values", open=True, example="0,5 or p1,p99 for percentiles; empty: all"),
    Choice(COLOUR, "Legend", "legend", has_legend, _drawn("legend"), SWITCH, "switch"),
    Choice(SOLIDS, "Style", "style", _styled("style"), _styling("style"), _among(None, *STYLES),
           none=SCENES),
    Choice(SOLIDS, "Bonds", "bonds", _bonds, _styling("bonds"), _among("none", "auto"), "text",
           none=SCENES, open=True, start=1, example="auto, none, 2.4 or Si-O=2"),
    Choice(SOLIDS, "Arrows", "arrows", arrows, _set_arrows, _vectors, open=True,
           example="velocity"),
    Choice(SOLIDS, "Box", "box", has_box, _set_box, SWITCH, "switch", exists=_knows_box),
)  # fmt: skip
"""In the order of the panel."""


def short(text: str, letters: int) -> str:
    """Return a text on one line, cut to a number of letters."""
    line = escaped(" ".join(text.split()))
    return line if len(line) <= letters else line[: letters - 1] + "…"


def _define(choice: Choice) -> None:
    def set_text(viewer: ViewerState, value: str | None) -> None:
        choice.set(viewer, value)

    def set_switch(viewer: ViewerState, value: bool) -> None:
        choice.set(viewer, value)

    def following(viewer: ViewerState, step: int = 1) -> None:
        choice.step(viewer, step)

    put = set_switch if choice.kind == "switch" else set_text
    action(undo=True, name=choice.name, about=f"Set {choice.name}.")(put)
    action(undo=True, name=f"next-{choice.name}", about=f"Next {choice.name}.")(following)


for each in CHOICES:
    _define(each)
