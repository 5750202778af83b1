"""Prompts: questions whose answers are typed."""

from __future__ import annotations

from raytracer.errors import UserError
from raytracer.viewer.actions import action
from raytracer.viewer.data_actions import columns
from raytracer.viewer.keep import save
from raytracer.viewer.save_job import parse_size
from raytracer.viewer.state import Question, ViewerState

MAX_LETTERS = 500
MAX_NAMES = 8
SIZE_LETTERS = "0123456789xX× "


def type_text(viewer: ViewerState, text: str) -> None:
    """Add characters to the prompt; characters invalid in the answer are ignored."""
    if viewer.prompt is not None and viewer.question is not None:
        viewer.prompt = (viewer.prompt + viewer.question.kept(text))[:MAX_LETTERS]


def erase(viewer: ViewerState) -> None:
    """Remove the last character of the prompt."""
    if viewer.prompt is not None:
        viewer.prompt = viewer.prompt[:-1]


def enter(viewer: ViewerState) -> None:
    """Close the prompt and use the answer."""
    text, viewer.prompt = viewer.prompt or "", None
    try:
        if viewer.question is not None:
            viewer.question.answer(text)
    except UserError as error:
        viewer.notify(str(error))


@action()
def ask_size(viewer: ViewerState) -> None:
    """Open the prompt for the size of a PNG; it closes the help."""
    viewer.help = 0
    if viewer.worker.save_job is not None:
        viewer.notify(f"{viewer.worker.save_job.path} is still being saved; Esc cancels it")
        return

    def take(text: str) -> None:
        save(viewer, *parse_size(text, viewer.size, viewer.samples))

    hint = "for example 3840x2160 64; Enter saves, Esc cancels"
    default = f"{viewer.size[0]}x{viewer.size[1]}"
    viewer.ask(Question("size of the PNG, and samples", hint, take, default, SIZE_LETTERS))


@action()
def ask_color(viewer: ViewerState) -> None:
    """Type a column or expression to colour by."""
    hint = f"{_columns(viewer)}, sqrt(x**2 + y**2), ...; empty: the scene's colours"
    _ask(viewer, "colour by", hint, "color-by")


@action()
def ask_map(viewer: ViewerState) -> None:
    """Type the name of a colour map."""
    hint = "viridis, magma, coolwarm, turbo, ...; _r behind a name reverses it"
    _ask(viewer, "colour map", hint, "set-map", "viridis")


@action()
def ask_range(viewer: ViewerState) -> None:
    """Type the values at the ends of the colours."""
    hint = "0,5 or p1,p99 for percentiles; empty: all values"
    _ask(viewer, "range of colours", hint, "set-range")


@action()
def ask_selection(viewer: ViewerState) -> None:
    """Type a condition for the selection."""
    examples = "z > 3 and type == 'O', every 10, ...; columns are "
    _ask(viewer, "select", examples + _columns(viewer), "select")


def _columns(viewer: ViewerState) -> str:
    names = columns(viewer)
    more = ", ..." if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


def _ask(viewer: ViewerState, label: str, hint: str, name: str, default: str = "") -> None:
    def answer(typed: str) -> None:
        viewer.do(name, typed or None)

    viewer.ask(Question(label, f"{hint}\nEnter confirms, Esc cancels", answer, default))
