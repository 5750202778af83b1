"""What every key of the list does to a session, for tests of the window, the page and a notebook.

`EFFECTS` names for each control what is done before its key is pressed, and what is true of the
session afterwards: its state as `observed` tells it, before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from raytracer.viewer import data_actions, panel  # noqa: F401 - which adds all actions
from raytracer.viewer.controls import Control
from raytracer.viewer.session import Session

Observed = dict[str, Any]
Actions = tuple[tuple[Any, ...], ...]

FRAMES = 4
ATOM = "{0} {1} {2} 0 {3} 0 {4} 1 0"
SETTINGS: dict[str, Any] = {"bonds": "none", "ground": True, "background": "white"}
OPTIONS = ("--bonds", "none", "--ground=", "--background", "white")
"""Settings of a session with `write_run`, as arguments and on the command line."""


def write_run(folder: Path) -> Path:
    """Write a trajectory of water in a box, with a vector and a column of numbers."""
    head = 'Lattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:velocity:R:3:mass:R:1'
    frames = []
    for step in range(FRAMES):
        rows = [f"O 4 4 {4 + step} 0 1 0 16", f"H 4.8 4.6 {4 + step} 1 0 0 1",
                f"H 3.2 4.6 {4 + step} 0 0 1 1"]  # fmt: skip
        frames.append("\n".join(["3", head, *rows]) + "\n")
    path = folder / "run.xyz"
    path.write_text("".join(frames))
    return path


def observed(session: Session) -> Observed:
    """What a key may change of a session, in built-in types."""
    loaded, edited, pose = session.loaded_scene, session.edited_scene, session.view.pose
    content, chosen = loaded.content, loaded.content.selection
    lights, loader = session.edits.lights, session.loader
    return {
        "busy": loader.is_busy("show") or loader.is_busy("pick") or session.worker.messages.qsize(),
        "eye": np.array(session.camera.position),
        "pivot": np.array(session.view.pivot) * session.space.scale + session.space.center,
        "forward": tuple((np.array(pose.axes.forward).round(6) + 0.0).tolist()),
        "kind": pose.kind, "fov": session.camera.vertical_fov,
        "aperture": getattr(pose, "aperture", 0.0), "turning": session.turning,
        "views": sorted(session.views), "picks": [each.number for each in session.picks],
        "settings": dict(content.settings), "faded": len(content.faded),
        "hidden": data_actions.count_hidden(session), "selects": chosen is not None,
        "selected": data_actions.count_selected(session),
        "slice": content.slice and (content.slice.axis, content.slice.keep, content.slice.position),
        "number": session.frame_number, "shown": content.frame, "playing": session.time.playing,
        "light": None if lights is None else np.array(getattr(lights[0], "direction", None)),
        "look": edited.render.look, "integrator": edited.render.resolved_integrator,
        "denoise": edited.render.denoise, "background": session.edits.background,
        "catcher": edited.ground is not None and edited.ground.shadow_catcher,
        "exposure": session.tone.exposure, "tone": session.tone.tone,
        "keyframes": len(session.keyframes), "notice": session.notice,
        "overlay": session.overlay, "panel": session.panel, "help": session.help,
        "full": session.full_screen, "prompt": session.prompt and session.prompt.label,
    }  # fmt: skip


@dataclass(frozen=True)
class Effect:
    """What is true after a key. before: actions that are done first, each with its arguments."""

    holds: Callable[[Observed, Observed], Any]
    before: Actions = ()


def fresh(session: Session) -> None:
    """Set everything as at the start: the session of `SETTINGS` with its first frame."""
    session.do("reset")
    session.do("play", False)
    session.do("view", "front")  # along y, with x to the right and z up
    session.do("fit-all")
    session.history.before, session.history.after = [], []
    session.views.clear()
    session.keyframes.clear()
    session.prompt, session.help, session.overlay, session.panel = None, 0, 1, False
    session.full_screen, session.reload_error, session.picks = False, "", []
    session.notify("")
    session.show(type(session.content)(0, {"bonds": "none", "legend": False}))


def prepare(session: Session, effect: Effect) -> None:
    """Do what comes before a key."""
    session.picks = []  # the latest was described again with the content of `fresh`
    for name, *values in effect.before:
        if name == "pick-first":
            width, height = session.size
            session.do("pick", width // 2, height // 2, reach=max(width, height))
        else:
            session.do(name, *values)


def ready(effect: Effect) -> Callable[[Observed], bool]:
    """Whether what comes before a key is done."""
    wants_pick = any(name == "pick-first" for name, *_ in effect.before)
    return lambda now: not now["busy"] and bool(now["picks"]) == wants_pick


def name_of(control: Control) -> str:
    return control.keys[0]


def _is(name: str, value: Any) -> Callable[[Observed, Observed], Any]:
    return lambda before, after: before[name] != value and after[name] == value


def _sets(name: str, value: Any) -> Callable[[Observed, Observed], Any]:
    def holds(before: Observed, after: Observed) -> bool:
        return bool(before["settings"].get(name) != value and after["settings"].get(name) == value)

    return holds


def _toggles(name: str) -> Callable[[Observed, Observed], Any]:
    return lambda before, after: before[name] is not after[name]


def _along(*forward: float) -> Effect:
    return Effect(lambda _, after: after["forward"] == forward, (("view", "iso"),))


def _turns(axis: int, sign: int) -> Effect:
    """The camera of a view along z turns about the pivot: the eye moves, the pivot does not."""

    def holds(before: Observed, after: Observed) -> Any:
        moved = after["eye"] - before["eye"]
        still = np.allclose(after["pivot"], before["pivot"], atol=1e-6)
        return still and after["forward"] != before["forward"] and sign * moved[axis] > 1e-9

    return Effect(holds)


def _moves(axis: int, sign: int) -> Effect:
    """Eye and pivot move sideways alike."""

    def holds(before: Observed, after: Observed) -> Any:
        moved, with_it = after["eye"] - before["eye"], after["pivot"] - before["pivot"]
        return np.allclose(moved, with_it, atol=1e-6) and sign * moved[axis] > 1e-9

    return Effect(holds)


def _distance(now: Observed) -> float:
    return float(np.linalg.norm(now["eye"] - now["pivot"]))


def _turns_light(before: Observed, after: Observed) -> Any:
    return after["light"] is not None and after["forward"] == before["forward"]


def _slides(sign: int) -> Effect:
    def holds(before: Observed, after: Observed) -> Any:
        return sign * (after["slice"][2] - before["slice"][2]) > 0

    return Effect(holds, (("slice", "z"),))


COLOURED, SELECTED = ("color-by", "mass"), ("select", "mass > 2")

EFFECTS = {
    "LEFT": _turns(0, -1), "RIGHT": _turns(0, 1), "UP": _turns(2, 1), "DOWN": _turns(2, -1),
    "SHIFT+LEFT": _moves(0, -1), "SHIFT+RIGHT": _moves(0, 1),
    "SHIFT+UP": _moves(2, 1), "SHIFT+DOWN": _moves(2, -1),
    "PLUS": Effect(lambda a, b: _distance(b) < _distance(a)),
    "MINUS": Effect(lambda a, b: _distance(b) > _distance(a)),
    "V": Effect(lambda a, b: b["fov"] > a["fov"]),
    "SHIFT+V": Effect(lambda a, b: b["fov"] < a["fov"]),
    "SPACE": Effect(_is("turning", True)),
    "F": Effect(lambda a, b: _distance(b) < 0.5 * _distance(a), (("dolly", 2.0),)),
    "SHIFT+F": Effect(lambda a, b: _distance(b) < 0.5 * _distance(a), (("dolly", 2.0),)),
    "R": Effect(lambda a, b: b["notice"] == "as in the scene" and b["look"] != a["look"],
                (("next-look",),)),
    "O": Effect(_is("kind", "orthographic")),
    "X": _along(1, 0, 0), "Y": _along(0, 1, 0), "Z": _along(0, 0, 1),
    "SHIFT+X": _along(-1, 0, 0), "SHIFT+Y": _along(0, -1, 0), "SHIFT+Z": _along(0, 0, -1),
    "_0": Effect(lambda a, b: np.allclose(np.abs(b["forward"]), 3**-0.5, atol=1e-5)),
    **{f"_{n}": Effect(_is("forward", (1, 0, 0)), (("along", 1, 0, 0),
       ("keep-view", str(n)), ("view", "front"))) for n in range(1, 10)},
    **{f"CTRL+_{n}": Effect(_is("views", [str(n)])) for n in range(1, 10)},
    "G": Effect(lambda a, b: not np.allclose(a["pivot"], b["pivot"]), (("pick-first",),)),
    "SHIFT+O": Effect(lambda a, b: b["aperture"] > a["aperture"], (("pick-first",),)),
    "SHIFT+G": Effect(_is("selected", 1), (("pick-first",),)),
    "M": Effect(_sets("color_by", "mass")),
    "SHIFT+M": Effect(_sets("color_by", "id")),
    "CTRL+M": Effect(_is("prompt", "color by")),
    "J": Effect(_sets("map", "magma"), (COLOURED,)),
    "SHIFT+J": Effect(_sets("map", None), (COLOURED, ("map", "viridis"))),
    "CTRL+J": Effect(_is("prompt", "map")),
    "K": Effect(_sets("color_scale", "linear"), (COLOURED,)),
    "U": Effect(_sets("range", "p1,p99"), (COLOURED,)),
    "CTRL+U": Effect(_is("prompt", "range")),
    "SHIFT+U": Effect(_sets("legend", True), (COLOURED, ("legend", False))),
    "SHIFT+S": Effect(_sets("style", "ball-and-stick")),
    "CTRL+SHIFT+S": Effect(_sets("style", "wire")),
    "CTRL+B": Effect(_sets("bonds", "auto")),
    "SHIFT+A": Effect(_sets("arrows", "velocity")),
    "SHIFT+I": Effect(lambda a, b: b["settings"].get("box") is not a["settings"].get("box")),
    "SLASH": Effect(_is("prompt", "select")),
    "CTRL+I": Effect(_is("selected", 2), (SELECTED,)),
    "D": Effect(_is("hidden", 1), (SELECTED,)),
    "SHIFT+D": Effect(_is("hidden", 2), (SELECTED,)),
    "CTRL+F": Effect(_is("faded", 1), (SELECTED,)),
    "CTRL+G": Effect(_is("faded", 1), (SELECTED,)),
    "CTRL+D": Effect(_is("hidden", 0), (SELECTED, ("hide-selected",))),
    "W": Effect(lambda a, b: b["slice"] == ("y", "above", 0.5)),
    "SHIFT+W": Effect(lambda a, b: {a["slice"][1], b["slice"][1]} == {"above", "below"},
                      (("slice", "z"),)),
    "BRACKETRIGHT": _slides(1), "BRACKETLEFT": _slides(-1),
    "P": Effect(_is("playing", True)),
    "PERIOD": Effect(_is("shown", 2), (("frame", 1),)),
    "COMMA": Effect(_is("shown", 0), (("frame", 1),)),
    "CTRL+PERIOD": Effect(_is("shown", FRAMES - 1), (("frame", 1),)),
    "CTRL+COMMA": Effect(_is("shown", 0), (("frame", 2),)),
    **{f"CTRL+{each}": Effect(_turns_light) for each in ("LEFT", "RIGHT", "UP", "DOWN")},
    "N": Effect(_is("look", "cloudy")), "SHIFT+N": Effect(_toggles("integrator")),
    "CTRL+N": Effect(lambda a, b: b["denoise"] or "raytracer[denoise]" in b["notice"]),
    "B": Effect(_is("background", "white")),
    "SHIFT+B": Effect(_is("catcher", True)),
    "E": Effect(lambda a, b: abs(b["exposure"] - a["exposure"] - 1 / 3) < 1e-6),
    "SHIFT+E": Effect(lambda a, b: abs(b["exposure"] - a["exposure"] + 1 / 3) < 1e-6),
    "A": Effect(_is("exposure", "auto")),
    "T": Effect(_toggles("tone")),
    "C": Effect(_is("notice", "the camera was printed and copied")),
    "S": Effect(_is("prompt", "size")),
    "SHIFT+C": Effect(_is("keyframes", 1)),
    "CTRL+Z": Effect(_is("look", "soft"), (("next-look",),)),
    "CTRL+Y": Effect(_is("look", "cloudy"), (("next-look",), ("undo",))),
    "I": Effect(_is("overlay", 2)),
    "TAB": Effect(_is("panel", True)),
    "F11": Effect(_is("full", True)),
    "H": Effect(_is("help", 1)),
    "ESCAPE": Effect(_is("selects", False), (SELECTED,)),
}  # fmt: skip

X_NAMES = {
    "PLUS": "plus", "EQUAL": "equal", "NUM_ADD": "KP_Add", "MINUS": "minus",
    "NUM_SUBTRACT": "KP_Subtract", "NUM_DIVIDE": "KP_Divide", "PAGEUP": "Prior",
    "PAGEDOWN": "Next", "SPACE": "space", "LEFT": "Left", "RIGHT": "Right", "UP": "Up",
    "DOWN": "Down", "HOME": "Home", "ESCAPE": "Escape", "TAB": "Tab",
    **{f"F{number}": f"F{number}" for number in (1, 10, 11)},
    **{f"_{number}": str(number) for number in range(10)},
}  # fmt: skip
OF_OTHER_KEYBOARDS = tuple(f"NUM_{n}" for n in range(10))
"""Keys that the keyboard of the test has not, or not without others."""


def x_name(key: str) -> str:
    """A key of `controls` as X calls it."""
    *modifiers, letter = key.split("+")
    return "+".join([*(m.lower() for m in modifiers), X_NAMES.get(letter, letter.lower())])
