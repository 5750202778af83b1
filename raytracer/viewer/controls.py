"""Controls: every key and its action, for the window, its help and docs/guide/preview.md."""

from dataclasses import dataclass
from functools import cache
from textwrap import wrap
from typing import Any

MOVE, GO, PICK = "Turn and move", "Views", "Pick"
DATA, SHOW, TIME = "Colours and bonds", "Select and hide", "Time line"
LOOK, EXPOSE, KEEP, WINDOW = "Light and surface", "Exposure", "Keep", "Window"
GROUPS = (MOVE, GO, PICK, DATA, SHOW, TIME, LOOK, EXPOSE, KEEP, WINDOW)  # headings of the help


@dataclass(frozen=True)
class Control:
    group: str  # heading in the help
    # Pyglet's names of keys, with SHIFT+ or CTRL+ before them; the help shows the first.
    names: str
    action: str  # its name; see `actions`
    help: str  # the action in a few words
    amount: tuple[float | str | None, ...] = ()  # arguments of the method
    held: bool = False  # whether the action repeats while the key is down, with `amount` per second
    shown: str = ""  # name of the key in the help, if it is not the first of `names`

    @property
    def keys(self) -> list[str]:
        return self.names.split()

    @property
    def label(self) -> str:
        return self.shown or self.keys[0].replace("+", " ").title()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return vars(self) | {"keys": self.keys, "label": self.label}


MOUSE = (  # actions of the mouse, which the window implements
    Control(MOVE, "", "", "turn about the pivot", shown="Drag"),
    Control(MOVE, "", "", "move sideways", shown="Right drag, Shift drag"),
    Control(MOVE, "", "", "nearer, farther", shown="Scroll"),
    Control(MOVE, "", "", "field of view", shown="Shift scroll"),
    Control(PICK, "", "", "pick the sphere there, or the nearest within 4 pixels", shown="Click"),
    Control(PICK, "", "", "pick one more: distance, angle, dihedral", shown="Shift click"),
    Control(PICK, "", "", "go to it; on a ground ball, to that point", shown="Double click"),
    Control(SHOW, "", "", "select what is in a box", shown="Ctrl Shift drag"),
    Control(LOOK, "", "", "turn the light", shown="Ctrl drag"),
)

TURN, SIDE, RATE = 1.2, 0.6, 0.9  # radians, heights of the picture, e-foldings per second
SLICE = 0.3  # of the extent, per second

MIN_MEANING = 14  # least letters for the meaning of a key


def _make_arrow_controls(
    group: str, prefix: str, action: str, help_text: str, step: float, shown: str
) -> list[Control]:
    """Return controls of four arrow keys, with one line of help."""
    amounts = {"LEFT": (-step, 0.0), "RIGHT": (step, 0.0), "UP": (0.0, step), "DOWN": (0.0, -step)}
    return [
        Control(group, prefix + name, action, help_text * (name == "LEFT"), amount, True, shown)
        for name, amount in amounts.items()
    ]


CONTROLS = (
    *_make_arrow_controls(MOVE, "", "orbit", "turn about the pivot", TURN, "Arrows"),
    *_make_arrow_controls(MOVE, "SHIFT+", "pan", "move sideways", SIDE, "Shift arrows"),
    Control(MOVE, "PLUS EQUAL NUM_ADD SHIFT+PLUS SHIFT+EQUAL", "dolly", "nearer",
            (-RATE,), True, "+"),
    Control(MOVE, "MINUS NUM_SUBTRACT", "dolly", "farther", (RATE,), True, "-"),
    Control(MOVE, "V", "zoom", "wider field of view", (RATE,), True),
    Control(MOVE, "SHIFT+V", "zoom", "narrower field of view", (-RATE,), True),
    Control(MOVE, "SPACE", "toggle-turntable", "turntable", shown="Space"),
    Control(GO, "F HOME", "fit-all", "show all spheres except a ground ball"),
    Control(GO, "SHIFT+F SHIFT+HOME", "fit-giants", "show all spheres"),
    Control(GO, "R", "reset", "reset to the scene"),
    Control(GO, "O", "toggle-projection", "perspective or orthographic"),
    Control(GO, "X", "along", "look along +x; with Shift along -x", (1, 0, 0)),
    Control(GO, "Y", "along", "look along +y; with Shift along -y", (0, 1, 0)),
    Control(GO, "Z", "along", "look along +z; with Shift along -z", (0, 0, 1)),
    Control(GO, "SHIFT+X", "along", "", (-1, 0, 0)),
    Control(GO, "SHIFT+Y", "along", "", (0, -1, 0)),
    Control(GO, "SHIFT+Z", "along", "", (0, 0, -1)),
    Control(GO, "_0 NUM_0", "view", "isometric view", ("iso",), shown="0"),
    *(Control(GO, f"_{n} NUM_{n}", "view", "go to a saved view" * (n == 1), (str(n),),
              shown="1 to 9") for n in range(1, 10)),
    *(Control(GO, f"CTRL+_{n}", "keep-view", "save the view" * (n == 1), (str(n),),
              shown="Ctrl 1 to 9") for n in range(1, 10)),
    Control(PICK, "G", "fit-picked", "go to the picked sphere"),
    Control(PICK, "SHIFT+O", "focus-picked", "focus through a lens; no pick: all is sharp"),
    Control(PICK, "SHIFT+G", "select-picked", "select the picked spheres"),
    Control(DATA, "M", "next-color-by", "colour by the next column", (1,)),
    Control(DATA, "SHIFT+M", "next-color-by", "colour by the previous column", (-1,)),
    Control(DATA, "CTRL+M", "ask", "type a column or an expression", ("color-by",)),
    Control(DATA, "J", "next-map", "next colour map; with Shift back", (1,)),
    Control(DATA, "SHIFT+J", "next-map", "", (-1,)),
    Control(DATA, "CTRL+J", "ask", "type a colour map", ("map",)),
    Control(DATA, "K", "next-color-scale", "next colour scale: linear, log, ..."),
    Control(DATA, "U", "next-range", "range: all values, 98 %, 90 %"),
    Control(DATA, "CTRL+U", "ask", "type a range", ("range",)),
    Control(DATA, "SHIFT+U", "next-legend", "legend"),
    Control(DATA, "SHIFT+S", "next-style", "style of atoms and bonds; Ctrl: back", (1,)),
    Control(DATA, "CTRL+SHIFT+S", "next-style", "", (-1,), shown="Shift S"),
    Control(DATA, "CTRL+B", "next-bonds", "bonds"),
    Control(DATA, "SHIFT+A", "next-arrows", "arrows along the next vector"),
    Control(DATA, "SHIFT+I", "next-box", "simulation box"),
    Control(SHOW, "SLASH NUM_DIVIDE", "ask", "type a condition", ("select",), shown="/"),
    Control(SHOW, "CTRL+I", "invert-selection", "invert the selection"),
    Control(SHOW, "D", "hide-selected", "hide the selected"),
    Control(SHOW, "SHIFT+D", "hide-rest", "hide the rest"),
    Control(SHOW, "CTRL+F", "fade-selected", "fade the selected"),
    Control(SHOW, "CTRL+G", "fade-rest", "fade the rest"),
    Control(SHOW, "CTRL+D", "show-all", "show all"),
    Control(SHOW, "W", "next-slice", "slice off the front; again: other axes, none"),
    Control(SHOW, "SHIFT+W", "flip-slice", "show the other side of the slice"),
    Control(SHOW, "BRACKETRIGHT", "move-slice", "move the slice", (SLICE,), True, "[ ]"),
    Control(SHOW, "BRACKETLEFT", "move-slice", "", (-SLICE,), True, "[ ]"),
    Control(TIME, "P", "play", "play, pause"),
    Control(TIME, "PERIOD", "step", "next and previous frame", (1,), shown=". ,"),
    Control(TIME, "COMMA", "step", "", (-1,), shown=". ,"),
    Control(TIME, "CTRL+PERIOD", "frame", "last frame", (2**31,), shown="Ctrl ."),
    Control(TIME, "CTRL+COMMA", "frame", "first frame", (0,), shown="Ctrl ,"),
    *_make_arrow_controls(LOOK, "CTRL+", "turn-light", "turn the light", TURN, "Ctrl arrows"),
    Control(LOOK, "N", "next-look", "next look: ambient occlusion and light", (1,)),
    Control(LOOK, "SHIFT+N", "next-integrator", "next integrator: direct, ao, path"),
    Control(LOOK, "CTRL+N", "next-denoise", "remove noise at rest"),
    Control(LOOK, "B", "next-background", "next background", (1,)),
    Control(LOOK, "SHIFT+B", "next-shadow-catcher", "ground: only its shadows, or all of it"),
    Control(EXPOSE, "E", "expose", "brighter by 1/3 stop", (1 / 3,)),
    Control(EXPOSE, "SHIFT+E", "expose", "darker by 1/3 stop", (-1 / 3,)),
    Control(EXPOSE, "A", "toggle-automatic", "automatic exposure"),
    Control(EXPOSE, "T", "next-tone", "next tone curve"),
    Control(KEEP, "C", "print-camera", "print camera, edits, keyframes as TOML; copy"),
    Control(KEEP, "S", "ask", "save a PNG of any size", ("size",)),
    Control(KEEP, "SHIFT+C", "keyframe", "keyframe of the camera"),
    Control(KEEP, "CTRL+Z", "undo", "undo"),
    Control(KEEP, "CTRL+Y CTRL+SHIFT+Z", "redo", "redo"),
    Control(WINDOW, "I", "toggle-overlay", "text: scene, technical details, none"),
    Control(WINDOW, "TAB", "toggle-panel", "panel of colours and selection"),
    Control(WINDOW, "F11", "toggle-full-screen", "full screen"),
    Control(WINDOW, "H F1", "toggle-help", "this help"),
    Control(WINDOW, "ESCAPE", "cancel", "cancel, or clear the selection", shown="Esc"),
    Control(WINDOW, "Q CTRL+W", "close", "close"),
)  # fmt: skip


BY_KEY = {key: control for control in CONTROLS for key in control.keys}
"""Controls by keys with their modifiers, as in `Control.keys`."""


def make_help_groups() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the headings of the help, each with rows of key or mouse and meaning."""
    rows = [(each.group, (each.label, each.help)) for each in (*MOUSE, *CONTROLS) if each.help]
    return [(group, [row for of, row in rows if of == group]) for group in GROUPS]


def make_help_pages(columns: int, rows: int) -> list[list[str]]:
    """Return the lines of the help by page, at most `rows` of `columns` letters each."""
    lines = [
        line for group in make_help_groups() for line in ("", *_format_group(*group, columns))
    ][1:]
    height = max(rows - 2, 1)
    pages = [lines[first : first + height] for first in range(0, len(lines), height)]
    count = len(pages)
    ends = (f"{n} of {count}; H: {'next' if n < count else 'close'}" for n in range(1, count + 1))
    return [[*page, "", end] for page, end in zip(pages, ends, strict=True)]


def _format_group(heading: str, rows: list[tuple[str, str]], columns: int) -> list[str]:
    """Return the lines of a group, its keys at the left."""
    keys_wide = max(len(keys) for keys, _ in rows)
    lines = [heading]
    for keys, meaning in rows:
        first, *more = wrap(meaning, max(columns - keys_wide - 4, MIN_MEANING))
        lines += [f"  {keys:<{keys_wide}}  {first}", *(" " * (keys_wide + 4) + m for m in more)]
    return lines


@cache
def find_key_label(action: str, *amount: float | str | None) -> str:
    """Return the label of the key of an action with arguments, or ""."""
    labels = {each.amount: each.label for each in reversed(CONTROLS) if each.action == action}
    return labels.get(amount) or labels.get((), "")
