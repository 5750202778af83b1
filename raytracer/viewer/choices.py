"""Choices: what a user sets by a row of the panel, by keys, or by actions of its name.

Each choice is described once, in `CHOICES`. From this come its row in the panel of window and page,
its prompt in a window, and its actions: NAME sets a value, and next-NAME the following one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from raytracer.appearance.coloring import OF_SCALE
from raytracer.appearance.coloring.style import SCALES, StyleSettings
from raytracer.appearance.glyphs.vectors import list_vectors
from raytracer.config.arguments import check_word
from raytracer.config.errors import UserError, quote
from raytracer.config.tone_settings import CURVES
from raytracer.film.denoise import require_denoiser
from raytracer.model.bond_settings import STYLES
from raytracer.model.settings import INTEGRATORS, LOOKS
from raytracer.model.simulation_box import find_file_box
from raytracer.rendering.view_settings import ViewSettings
from raytracer.viewer.actions import action
from raytracer.viewer.content import BACKGROUNDS, SCENES
from raytracer.viewer.data_actions import list_columns, list_sets
from raytracer.viewer.messages import format_error
from raytracer.viewer.save_view import parse_size, require_no_save, save
from raytracer.viewer.session import Prompt, Session
from raytracer.viewer.view_actions import set_tone

Value = str | bool | None

MAPS = (
    "viridis", "magma", "inferno", "plasma", "cividis", "turbo", "coolwarm", "twilight", "gray",
)  # fmt: skip
"""Colour maps that are offered; others can be typed."""

RANGES = (None, "p1,p99", "p5,p95")  # ranges of next-range: all values, or without extremes
MAX_LETTERS = 22  # most letters of a value in a window or a message
MAX_NAMES = 8  # of columns in a prompt

GRIDS = (".cube", ".cub")  # endings of files of which isosurfaces are made
ANIONS = (
    "O",
    "F",
    "N",
    "Cl",
    "S",
    "Br",
    "Se",
    "I",
)  # usual corners of polyhedra, likely ones first
NO_POLYHEDRA = "none"

OF_COLORS = {"palette", *OF_SCALE}
"""Settings that are about colours by a column."""

LOOK, COLOUR, SOLIDS = "Look", "Colour", "Bonds and shapes"  # sections of the panel


def _get_setting(session: Session, name: str) -> Value:
    """Return the value of a setting, wherever it is kept."""
    render, content = session.edited_scene.render, session.content.settings
    return (content | vars(session.tone) | vars(render) | vars(session.edits)).get(name)


def _change_setting(session: Session, name: str, value: Any, **more: Any) -> None:
    """Change settings that are kept in one place; None: as in the scene. Raises UserError."""
    edits, changes = session.edits, {name: value, **more}
    if name in vars(session.tone):
        set_tone(session, **changes)
    elif name in vars(edits):
        session.set_edits(replace(edits, **changes))
    elif name in vars(session.edited_scene.render):
        session.set_edits(edits.with_render_settings(**changes))
    else:
        settings = {k: v for k, v in (session.content.settings | changes).items() if v is not None}
        changed = replace(session.content, settings=settings)
        StyleSettings(**changed.style)  # reports mistakes at once
        session.show(changed)


@dataclass(frozen=True)
class Choice:
    section: str
    label: str
    name: str  # of its actions, as in calls of `render`
    # The values in order, the current one included; a switch has False and True.
    values: Callable[[Session], Sequence[Value]]
    get: Callable[[Session, str], Value] = _get_setting
    put: Callable[[Session, str, Any], None] = (
        _change_setting  # sets a setting; may raise UserError
    )
    kind: str = "choice"  # or "switch", or "text" if the panel has it typed
    none: str = ""  # words for the value None
    open: bool = False  # whether other values than those offered may be typed
    example: str = ""  # of what is typed; "" if nothing is
    exists: Callable[[Session], bool] = lambda session: True  # whether the data have it
    start: int = 0  # place among the values of one that is not offered

    @property
    def setting(self) -> str:
        return self.name.replace("-", "_")

    def find_current(self, session: Session) -> Value:
        return self.get(session, self.setting)

    def set(self, session: Session, value: Value) -> None:
        """Set a value; a typed one that is empty is None. Raises UserError."""
        if self.open:
            value = str(value or "").strip() or None
        elif value is not None and self.kind == "choice":
            words = [each for each in self.values(session) if isinstance(each, str)]
            check_word(value, self.name, words, self.label.lower())
        self.put(session, self.setting, value)
        words_of: dict[Value, str] = {None: self.none, True: "yes", False: "no"}
        said = words_of.get(value) or value or "none"
        session.notify(f"{self.name.replace('-', ' ')}: {quote(str(said), MAX_LETTERS)}")

    def step(self, session: Session, step: int) -> None:
        """Set the following value, or with `step` -1 the one before."""
        if not self.exists(session):
            raise UserError(f"{self.name.replace('-', ' ')}: none in this scene")
        values, now = list(self.values(session)), self.find_current(session)
        place = values.index(now) if now is not None and now in values else self.start
        self.set(session, values[(place + step) % len(values)])


def _set_denoise(session: Session, name: str, wanted: bool) -> None:
    """Remove the noise of the picture at rest, or keep it; no new samples are needed."""
    if wanted:
        require_denoiser()
    session.edits = session.edits.with_render_settings(denoise=wanted)
    session.submit(session.requested)


def _catches_shadows(session: Session, name: str) -> bool:
    ground = session.edited_scene.ground
    return ground is not None and ground.shadow_catcher


def _set_columns(session: Session, name: str, by: str | None) -> None:
    """Colour by a column or an expression; None: the colours of the scene."""
    _change_setting(
        session, name, by, **dict.fromkeys(OF_COLORS if by is None else OF_COLORS - {"map"})
    )


def _list_columns(session: Session) -> list[Value]:
    return list(
        dict.fromkeys([None, session.content.settings.get("color_by"), *list_columns(session)])
    )


def _set_scale(session: Session, name: str, value: str | None) -> None:
    """Change a setting of the colour scale."""
    if not session.content.settings.get("color_by"):
        raise UserError("there are no colours by a column: choose a column first")
    # a range may be invalid for another scale
    _change_setting(session, name, value, **{"range": None} if name == "color_scale" else {})


def _format_range(session: Session, name: str) -> str:
    typed, scales = session.content.settings.get(name), session.loaded_scene.scene.color_scales
    if isinstance(typed, str):
        return typed
    if not scales or scales[-1].kind == "categorical":
        return ""
    return f"{scales[-1].low:.6g},{scales[-1].high:.6g}"


def _format_bonds(session: Session, name: str) -> str:
    shows = any(each.are_bonds for each in session.loaded_scene.scene.capsules)
    return str(session.content.settings.get(name) or ("auto" if shows else "none"))


def _is_drawn(session: Session, name: str) -> bool:
    """Return whether the picture has the legend or the box."""
    plan, settings = session.loaded_scene.job.plan, session.content.settings
    by_scene = plan is not None and getattr(plan.annotations, name) is not None
    if name == "legend":
        by_scene |= bool(settings.get("color_by"))
    return bool(settings.get(name, by_scene))


def _find_arrows(session: Session, name: str) -> str:
    """Return the vector along which arrows are shown, or ""."""
    asked, stated = session.content.settings.get(name), session.loaded_scene.scene.arrows
    if asked is not None or stated is None:
        return str(asked or "")
    return stated.vector if isinstance(stated.vector, str) else ",".join(stated.vector)


def _set_arrows(session: Session, name: str, vector: str | None) -> None:
    if vector:
        ViewSettings(arrows=vector)  # refuses what is wrong
    _change_setting(session, name, vector or "")


def _list_vectors(session: Session) -> list[Value]:
    vectors = [name for each in list_sets(session) for name in list_vectors(each.columns)]
    return list(dict.fromkeys(["", *vectors]))


def _has_stated_glyph(session: Session, name: str) -> bool:
    """Return whether the scene, or an option of the command, has glyphs of a kind."""
    return getattr(session.loaded_scene.all_particles, name) is not None


def _has_glyph(session: Session, name: str) -> bool:
    return bool(session.content.settings.get(name, _has_stated_glyph(session, name)))


def _set_glyph(session: Session, name: str, wanted: bool) -> None:
    _change_setting(session, name, None if wanted == _has_stated_glyph(session, name) else wanted)


def _may_have_ribbons(session: Session) -> bool:
    needed = {"name", "residue", "residue_id"}
    may = any(needed <= each.columns.about.keys() for each in list_sets(session))
    return may or _has_stated_glyph(session, "ribbons")


def _may_have_surface(session: Session) -> bool:
    files = [each.file.path for each in list_sets(session) if each.file is not None]
    endings = [end.lower() for path in files for end in path.suffixes[-2:]]
    return any(end in GRIDS for end in endings) or _has_stated_glyph(session, "isosurface")


def _list_types(session: Session) -> list[str]:
    labels = [each.labels for each in list_sets(session) if each.labels is not None]
    return list(dict.fromkeys(str(name) for each in labels for name in each.names))


def _find_polyhedra(session: Session, name: str) -> Value:
    nothing = None if _has_stated_glyph(session, name) else NO_POLYHEDRA
    return session.content.settings.get(name, nothing)


def _set_polyhedra(session: Session, name: str, pairs: str | None) -> None:
    if pairs:
        ViewSettings(polyhedra=pairs)  # refuses what is wrong
    is_none = pairs == NO_POLYHEDRA and not _has_stated_glyph(session, name)
    _change_setting(session, name, None if is_none else pairs)


def _list_pairs(session: Session) -> list[Value]:
    """Return the pairs that are offered: each type around which the usual anion may be."""
    types = _list_types(session)
    anion = next((each for each in ANIONS if each in types), None)
    centers = [each for each in types if each not in (anion, "H", "C")] if anion else []
    stated: list[Value] = [None] if _has_stated_glyph(session, "polyhedra") else []
    return [NO_POLYHEDRA, *stated, *(f"{each}-{anion}" for each in centers)]


def _set_box(session: Session, name: str, wanted: bool) -> None:
    annotations = session.loaded_scene.all_particles.annotations
    stated = annotations is not None and annotations.box is not None
    _change_setting(session, name, None if wanted == stated else wanted)


def _has_box(session: Session) -> bool:
    spheres = session.loaded_scene.all_particles.spheres
    return _is_drawn(session, "box") or any(find_file_box(each) is not None for each in spheres)


def _offer(*values: Value) -> Callable[[Session], Sequence[Value]]:
    return lambda session: values


SWITCH = _offer(False, True)

CHOICES = (
    Choice(LOOK, "Look", "look", _offer(*LOOKS)),
    Choice(LOOK, "Integrator", "integrator", _offer(*INTEGRATORS),
           lambda session, _: session.edited_scene.render.resolved_integrator),
    Choice(LOOK, "Denoise", "denoise", SWITCH, put=_set_denoise, kind="switch"),
    Choice(LOOK, "Background", "background", _offer(*BACKGROUNDS)),
    Choice(LOOK, "Only shadows", "shadow-catcher", SWITCH, _catches_shadows, kind="switch",
           exists=lambda session: session.loaded_scene.buffers.has_ground),
    Choice(LOOK, "Tone", "tone", _offer(*CURVES)),
    Choice(COLOUR, "By", "color-by", _list_columns, put=_set_columns, none=SCENES, open=True,
           example="sqrt(x**2 + y**2), ...; empty: the scene's colours"),
    Choice(COLOUR, "Map", "map", _offer(None, *MAPS), put=_set_scale, none="default", open=True,
           start=1, example="viridis, magma, coolwarm, turbo, ...; _r behind a name reverses it"),
    Choice(COLOUR, "Scale", "color-scale", _offer(None, *SCALES), put=_set_scale, none="default"),
    Choice(COLOUR, "Range", "range", _offer(*RANGES), _format_range, _set_scale, "text",
           none="all values", open=True, example="0,5 or p1,p99 for percentiles; empty: all"),
    Choice(COLOUR, "Legend", "legend", SWITCH, _is_drawn, kind="switch"),
    Choice(SOLIDS, "Style", "style", _offer(None, *STYLES), none=SCENES),
    Choice(SOLIDS, "Bonds", "bonds", _offer("none", "auto"), _format_bonds, kind="text",
           none=SCENES, open=True, start=1, example="auto, none, 2.4 or Si-O=2"),
    Choice(SOLIDS, "Arrows", "arrows", _list_vectors, _find_arrows, _set_arrows, open=True,
           example="velocity"),
    Choice(SOLIDS, "Ribbons", "ribbons", SWITCH, _has_glyph, _set_glyph, "switch",
           exists=_may_have_ribbons),
    Choice(SOLIDS, "Polyhedra", "polyhedra", _list_pairs, _find_polyhedra, _set_polyhedra,
           none=SCENES, open=True, example="Ti-O or Ti-O=2.4, none",
           exists=lambda session: len(_list_types(session)) > 1),
    Choice(SOLIDS, "Isosurface", "isosurface", SWITCH, _has_glyph, _set_glyph, "switch",
           exists=_may_have_surface),
    Choice(SOLIDS, "Box", "box", SWITCH, _is_drawn, _set_box, "switch", exists=_has_box),
)  # fmt: skip
"""In the order of the panel."""


def _define_actions(choice: Choice) -> None:
    def set_text(session: Session, value: str | None) -> None:
        choice.set(session, value)

    def set_switch(session: Session, value: bool) -> None:
        choice.set(session, value)

    def following(session: Session, step: int = 1) -> None:
        choice.step(session, step)

    put = set_switch if choice.kind == "switch" else set_text
    action(undo=True, name=choice.name, about=f"Set {choice.name}.")(put)
    action(undo=True, name=f"next-{choice.name}", about=f"Next {choice.name}.")(following)


for each in CHOICES:
    _define_actions(each)


# Prompts


def submit_prompt(session: Session) -> None:
    """Close the prompt and use the answer; one that is refused stays, to be corrected."""
    prompt, session.prompt = session.prompt, None
    if prompt is None:
        return
    before = session.content
    try:
        prompt.answer(prompt.typed)
    except Exception as error:
        session.prompt = prompt
        session.notify(format_error(error, f"{prompt.label}: failed"))
    # expressions are evaluated while a content is loaded
    session.answered = None if session.content is before else (prompt, session.content)


@action()
def ask(session: Session, what: str) -> None:
    """Have a value typed: the `size` of a PNG, a condition to `select`, or a choice by its name."""
    examples = {choice.name: choice.example for choice in CHOICES if choice.example}
    examples |= {"select": "z > 3 and type == 'O', every 10, ...", "size": "3840x2160 64"}
    check_word(what, "ask: what", sorted(examples), "value")
    hint, default = examples[what], ""
    answer: Callable[[str], None] = partial(session.do, what)
    if what == "size":
        require_no_save(session)
        default = f"{session.size[0]}x{session.size[1]}"

        def answer(text: str) -> None:
            save(session, *parse_size(text, session.size, session.samples))

    elif what in ("select", "color-by"):
        hint += f"; columns: {', '.join(list_columns(session)[:MAX_NAMES])}"
    hint += "\nEnter confirms, Esc cancels"
    session.help, session.prompt = 0, Prompt(what.replace("-", " "), hint, answer, default)
