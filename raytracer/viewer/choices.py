"""Choices: what a user sets by a row of the panel, by keys, or by actions of its name.

Each choice is described once, in `CHOICES`. From this come its row in the panel of window and page,
its prompt in a window, and its actions: NAME sets a value, and next-NAME the following one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from raytracer.settings import INTEGRATORS, LOOKS
from raytracer.viewer.actions import action
from raytracer.viewer.data_actions import columns, sets_of
from raytracer.viewer.edits import BACKGROUNDS, SCENES
from raytracer.viewer.keep import parse_size, save
from raytracer.viewer.state import Prompt, ViewerState
from raytracer.viewer.view_actions import set_tone

Value = str | bool | None

MAPS = (
    "viridis", "magma", "inferno", "plasma", "cividis", "turbo", "coolwarm", "twilight", "gray",
)  # fmt: skip
"""Colour maps that are offered; others can be typed."""

RANGES = (None, "p1,p99", "p5,p95")  # ranges of next-range: all values, or without extremes
MAX_LETTERS = 22  # most letters of a value in a window or a message
MAX_NAMES = 8  # of columns in a prompt

OF_COLORS = {"color_by", "palette", *OF_SCALE}
"""Settings of a style that are about colours."""

LOOK, COLOUR, SOLIDS = "Look", "Colour", "Bonds and arrows"  # sections of the panel


@dataclass(frozen=True)
class Choice:
    section: str
    label: str
    name: str  # of its actions, as in calls of `render`
    get: Callable[[ViewerState, str], Value]  # of a setting
    put: Callable[[ViewerState, str, Any], None]  # sets a setting; may raise UserError
    # The values in order, the current one included; a switch has False and True.
    values: Callable[[ViewerState], Sequence[Value]]
    kind: str = "choice"  # or "switch", or "text" if the panel has it typed
    none: str = ""  # words for the value None
    open: bool = False  # whether other values than those offered may be typed
    example: str = ""  # of what is typed; "" if nothing is
    exists: Callable[[ViewerState], bool] = lambda viewer: True  # whether the data have it
    start: int = 0  # place among the values of one that is not offered

    @property
    def setting(self) -> str:
        return self.name.replace("-", "_")

    def now(self, viewer: ViewerState) -> Value:
        return self.get(viewer, self.setting)

    def set(self, viewer: ViewerState, value: Value) -> None:
        """Set a value; a typed one that is empty is None. Raises UserError."""
        if self.open:
            value = str(value or "").strip() or None
        elif value is not None and self.kind == "choice":
            words = [each for each in self.values(viewer) if isinstance(each, str)]
            one_of(value, self.name, words, self.label.lower())
        self.put(viewer, self.setting, value)
        words_of: dict[Value, str] = {None: self.none, True: "yes", False: "no"}
        said = words_of.get(value) or value or "none"
        viewer.notify(f"{self.name.replace('-', ' ')}: {short(str(said), MAX_LETTERS)}")

    def step(self, viewer: ViewerState, step: int) -> None:
        """Set the following value, or with `step` -1 the one before."""
        if not self.exists(viewer):
            viewer.notify(f"{self.name.replace('-', ' ')}: none in this scene")
            return
        values, now = list(self.values(viewer)), self.now(viewer)
        place = values.index(now) if now is not None and now in values else self.start
        self.set(viewer, values[(place + step) % len(values)])


# Look


def _rendered(viewer: ViewerState, name: str) -> Value:
    value: Value = getattr(viewer.edited.render, name)
    return value


def _render(viewer: ViewerState, name: str, value: Value) -> None:
    viewer.set_edits(viewer.edits.rendered(**{name: value}))


def _set_denoise(viewer: ViewerState, name: str, wanted: bool) -> None:
    """Remove the noise of the picture at rest, or keep it; no new samples are needed."""
    if wanted:
        require_denoiser()
    viewer.edits = viewer.edits.rendered(denoise=wanted)
    viewer.submit(viewer.buffers)


def _catches_shadows(viewer: ViewerState, name: str) -> bool:
    ground = viewer.edited.ground
    return ground is not None and ground.shadow_catcher


def _edit(viewer: ViewerState, name: str, value: Any) -> None:
    viewer.set_edits(replace(viewer.edits, **{name: value}))


def _set_tone(viewer: ViewerState, name: str, value: Value) -> None:
    set_tone(viewer, **{name: value})


# Colours


def _styled(viewer: ViewerState, name: str) -> Value:
    value: Value = viewer.content.style.get(name)
    return value


def _restyle(viewer: ViewerState, name: str, value: Value, **more: Value) -> None:
    """Change settings of the style; None takes one away. Raises UserError."""
    style = dict(viewer.content.style) | more | {name: value}
    style = {name: each for name, each in style.items() if each is not None}
    StyleSettings(**style)  # reports mistakes at once
    viewer.show(replace(viewer.content, style=style))


def _set_columns(viewer: ViewerState, name: str, by: str | None) -> None:
    """Colour by a column or an expression; None: the colours of the scene."""
    others = OF_COLORS if by is None else OF_COLORS - {"map"}
    _restyle(viewer, name, by, **dict.fromkeys(others - {name}))


def _offered_columns(viewer: ViewerState) -> list[Value]:
    return list(dict.fromkeys([None, viewer.content.style.get("color_by"), *columns(viewer)]))


def _scale(viewer: ViewerState, name: str, value: str | None) -> None:
    """Change a setting of the colour scale."""
    if not viewer.content.style.get("color_by"):
        raise UserError("there are no colours by a column: choose a column first")
    # a range may be invalid for another scale
    _restyle(viewer, name, value, **{"range": None} if name == "color_scale" else {})


def _range(viewer: ViewerState, name: str) -> str:
    typed, scales = viewer.content.style.get(name), viewer.loaded_scene.scene.color_scales
    if isinstance(typed, str):
        return typed
    if not scales or scales[-1].kind == "categorical":
        return ""
    return f"{scales[-1].low:.6g},{scales[-1].high:.6g}"


# Solids made of the data, and annotations


def _bonds(viewer: ViewerState, name: str) -> str:
    shows = any(each.are_bonds for each in viewer.loaded_scene.scene.capsules)
    return str(viewer.content.style.get(name) or ("auto" if shows else "none"))


def _shows(viewer: ViewerState, name: str) -> bool:
    """Return whether the picture has the legend or the box."""
    plan = viewer.loaded_scene.job.plan
    by_scene = plan is not None and getattr(plan.annotations, name) is not None
    if name == "legend":
        by_scene |= bool(viewer.content.style.get("color_by"))
    return bool(viewer.content.drawn.get(name, by_scene))


def _draw(viewer: ViewerState, name: str, value: Value) -> None:
    """Change arrows, legend or box; None: as in the scene."""
    drawn = {k: v for k, v in viewer.content.drawn.items() if k != name}
    drawn |= {} if value is None else {name: value}
    viewer.show(replace(viewer.content, drawn=drawn))


def _arrows(viewer: ViewerState, name: str) -> str:
    """Return the vector along which arrows are shown, or ""."""
    asked, stated = viewer.content.drawn.get(name), viewer.loaded_scene.scene.arrows
    if asked is not None or stated is None:
        return str(asked or "")
    return stated.vector if isinstance(stated.vector, str) else ",".join(stated.vector)


def _set_arrows(viewer: ViewerState, name: str, vector: str | None) -> None:
    if vector:
        glyph_fields("arrows", vector, "arrows")
    _draw(viewer, name, vector or "")


def _vectors(viewer: ViewerState) -> list[Value]:
    vectors = [name for each in sets_of(viewer) for name in names_of(each.columns)]
    return list(dict.fromkeys(["", *vectors]))


def _set_box(viewer: ViewerState, name: str, wanted: bool) -> None:
    annotations = viewer.loaded_scene.all_particles.annotations
    stated = annotations is not None and annotations.box is not None
    _draw(viewer, name, None if wanted == stated else wanted)


def _knows_box(viewer: ViewerState) -> bool:
    spheres = viewer.loaded_scene.all_particles.spheres
    return _shows(viewer, "box") or any(box_of_file(each) is not None for each in spheres)


def _among(*values: Value) -> Callable[[ViewerState], Sequence[Value]]:
    return lambda viewer: values


SWITCH = _among(False, True)

CHOICES = (
    Choice(LOOK, "Look", "look", _rendered, _render, _among(*LOOKS)),
    Choice(LOOK, "Integrator", "integrator",
           lambda viewer, _: viewer.edited.render.resolved_integrator, _render,
           _among(*INTEGRATORS)),
    Choice(LOOK, "Denoise", "denoise", _rendered, _set_denoise, SWITCH, "switch"),
    Choice(LOOK, "Background", "background", lambda viewer, _: viewer.edits.background,
           _edit, _among(*BACKGROUNDS)),
    Choice(LOOK, "Only shadows", "shadow-catcher", _catches_shadows, _edit,
           SWITCH, "switch", exists=lambda viewer: viewer.loaded_scene.buffers.has_ground),
    Choice(LOOK, "Tone", "tone", lambda viewer, _: viewer.tone.tone, _set_tone,
           _among(*CURVES)),
    Choice(COLOUR, "By", "color-by", _styled, _set_columns, _offered_columns,
           none=SCENES, open=True, example="sqrt(x**2 + y**2), ...; empty: the scene's colours"),
    Choice(COLOUR, "Map", "map", _styled, _scale, _among(None, *MAPS),
           none="default", open=True, start=1,
           example="viridis, magma, coolwarm, turbo, ...; _r behind a name reverses it"),
    Choice(COLOUR, "Scale", "color-scale", _styled, _scale, _among(None, *SCALES), none="default"),
    Choice(COLOUR, "Range", "range", _range, _scale, _among(*RANGES), "text",
           none="all values", open=True, example="0,5 or p1,p99 for percentiles; empty: all"),
    Choice(COLOUR, "Legend", "legend", _shows, _draw, SWITCH, "switch"),
    Choice(SOLIDS, "Style", "style", _styled, _restyle, _among(None, *STYLES), none=SCENES),
    Choice(SOLIDS, "Bonds", "bonds", _bonds, _restyle, _among("none", "auto"), "text",
           none=SCENES, open=True, start=1, example="auto, none, 2.4 or Si-O=2"),
    Choice(SOLIDS, "Arrows", "arrows", _arrows, _set_arrows, _vectors, open=True,
           example="velocity"),
    Choice(SOLIDS, "Box", "box", _shows, _set_box, SWITCH, "switch", exists=_knows_box),
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


# Prompts


def enter(viewer: ViewerState) -> None:
    """Close the prompt and use the answer."""
    prompt, viewer.prompt = viewer.prompt, None
    try:
        if prompt is not None:
            prompt.answer(prompt.typed)
    except UserError as error:
        viewer.notify(str(error))


@action()
def ask(viewer: ViewerState, what: str) -> None:
    """Have a value typed: the `size` of a PNG, a condition to `select`, or a choice by its name."""
    examples = {choice.name: choice.example for choice in CHOICES if choice.example}
    examples |= {"select": "z > 3 and type == 'O', every 10, ...", "size": "3840x2160 64"}
    one_of(what, "ask: what", sorted(examples), "value")
    hint, default = examples[what], ""
    answer: Callable[[str], None] = partial(viewer.do, what)
    if what == "size":
        if viewer.worker.save_job is not None:
            viewer.notify(f"{viewer.worker.save_job.path} is still being saved; Esc cancels it")
            return
        default = f"{viewer.size[0]}x{viewer.size[1]}"

        def answer(text: str) -> None:
            save(viewer, *parse_size(text, viewer.size, viewer.samples))

    elif what in ("select", "color-by"):
        hint += f"; columns: {', '.join(columns(viewer)[:MAX_NAMES])}"
    hint += "\nEnter confirms, Esc cancels"
    viewer.help, viewer.prompt = 0, Prompt(what.replace("-", " "), hint, answer, default)
