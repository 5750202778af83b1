"""Every key and what it does: the window, its help and the README read it here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Control:
    """One thing a user can do.

    keys: names of pyglet's keys, with SHIFT+ or CTRL+ before them; the first is shown.
    action: method of `Viewer`. help: what it does, in a few words.
    amount: given to the method, if any. held: repeated while the key is down, `amount` a second.
    shown: how the key is written for people, if otherwise than its name.
    """

    keys: tuple[str, ...]
    action: str
    help: str
    amount: tuple[float, ...] = ()
    held: bool = False
    shown: str = ""

    @property
    def label(self) -> str:
        """How the key is written."""
        return self.shown or self.keys[0].replace("+", " ").title()


@dataclass(frozen=True)
class Drag:
    """What a mouse does; the window has the code."""

    label: str
    help: str


MOUSE = (
    Drag("Drag", "turn about the pivot"),
    Drag("Right drag, Shift drag", "move sideways"),
    Drag("Ctrl drag", "turn the light"),
    Drag("Scroll", "nearer, farther"),
    Drag("Shift scroll", "field of view"),
    Drag("Click", "pick a sphere"),
    Drag("Double click", "go to a sphere"),
)

TURN, SIDE, RATE = 1.2, 0.6, 0.9  # radians, heights of the picture, e-foldings a second


def _arrows(prefix: str, action: str, help_text: str, step: float, shown: str) -> list[Control]:
    """Four arrow keys; one line of help for all of them."""
    ways = {"LEFT": (-step, 0.0), "RIGHT": (step, 0.0), "UP": (0.0, step), "DOWN": (0.0, -step)}
    return [
        Control((prefix + name,), action, help_text if name == "LEFT" else "", way, True, shown)
        for name, way in ways.items()
    ]


CONTROLS = (
    *_arrows("", "orbit", "turn about the pivot", TURN, "Arrows"),
    *_arrows("SHIFT+", "pan", "move sideways", SIDE, "Shift arrows"),
    *_arrows("CTRL+", "turn_light", "turn the light", TURN, "Ctrl arrows"),
    Control(("PLUS", "EQUAL", "NUM_ADD", "SHIFT+PLUS", "SHIFT+EQUAL"), "dolly", "nearer", (-RATE,),
            True, "+"),
    Control(("MINUS", "NUM_SUBTRACT"), "dolly", "farther", (RATE,), True, "-"),
    Control(("PAGEUP",), "fly", "fly forward", (SIDE,), True, "Page up"),
    Control(("PAGEDOWN",), "fly", "fly back", (-SIDE,), True, "Page down"),
    Control(("V",), "zoom", "wider field of view", (RATE,), True),
    Control(("SHIFT+V",), "zoom", "narrower field of view", (-RATE,), True),
    Control(("O",), "toggle_projection", "perspective or orthographic"),
    Control(("X",), "along", "look along +x; with Shift along -x", (1, 0, 0)),
    Control(("Y",), "along", "look along +y; with Shift along -y", (0, 1, 0)),
    Control(("Z",), "along", "look along +z; with Shift along -z", (0, 0, 1)),
    Control(("SHIFT+X",), "along", "", (-1, 0, 0)),
    Control(("SHIFT+Y",), "along", "", (0, -1, 0)),
    Control(("SHIFT+Z",), "along", "", (0, 0, -1)),
    Control(("F", "HOME"), "fit_all", "show all spheres but a ground ball"),
    Control(("SHIFT+F", "SHIFT+HOME"), "fit_giants", "show that too"),
    Control(("G",), "fit_picked", "go to the picked sphere"),
    Control(("R",), "reset", "everything as in the scene"),
    Control(("SPACE",), "toggle_turntable", "turntable", shown="Space"),
    Control(("L",), "light_from_viewer", "light from the viewer's upper left"),
    Control(("E",), "expose", "brighter by a third of a stop", (1 / 3,)),
    Control(("SHIFT+E",), "expose", "darker by a third of a stop", (-1 / 3,)),
    Control(("A",), "toggle_automatic", "automatic exposure"),
    Control(("T",), "next_curve", "next tone curve"),
    Control(("B",), "next_background", "next background"),
    Control(("K",), "polish", "shinier: the picked sphere's material, or all", (2**0.5,)),
    Control(("SHIFT+K",), "polish", "duller", (0.5**0.5,)),
    Control(("C",), "print_camera", "print the camera as TOML, and copy it"),
    Control(("S",), "ask_size", "save a PNG of any size"),
    Control(("I",), "toggle_overlay", "this text"),
    Control(("H", "F1"), "toggle_help", "this help"),
    Control(("ESCAPE",), "cancel", "cancel, pick nothing", shown="Esc"),
    Control(("Q", "CTRL+W"), "close", "close"),
)  # fmt: skip


def find(name: str) -> Control | None:
    """The control of a key with its modifiers, as in `Control.keys`."""
    return _BY_KEY.get(name)


def help_rows() -> list[tuple[str, str]]:
    """Keys and mouse with their meanings, for people."""
    rows = [(drag.label, drag.help) for drag in MOUSE]
    return rows + [(control.label, control.help) for control in CONTROLS if control.help]


_BY_KEY = {key: control for control in CONTROLS for key in control.keys}
