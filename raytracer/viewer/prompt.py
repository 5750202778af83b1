"""Prompts: questions whose answers are typed."""

from __future__ import annotations

from functools import partial

from raytracer.errors import UserError
from raytracer.viewer.actions import action
from raytracer.viewer.data_actions import columns
from raytracer.viewer.keep import save
from raytracer.viewer.save_job import parse_size
from raytracer.viewer.state import Question, ViewerState

MAX_LETTERS = 500
MAX_NAMES = 8


def type_text(viewer: ViewerState, text: str) -> None:
    """Add characters to the prompt."""
    if viewer.prompt is not None and viewer.question is not None:
        viewer.prompt = (viewer.prompt + "".join(filter(str.isprintable, text)))[:MAX_LETTERS]


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
    viewer.ask(Question("size of the PNG, and samples", hint, take, default))


@action()
def ask_selection(viewer: ViewerState) -> None:
    """Type a condition for the selection."""
    names = ", ".join(columns(viewer)[:MAX_NAMES])
    hint = f"z > 3 and type == 'O', every 10, ...; columns: {names}"
    hint += "\nEnter confirms, Esc cancels"
    viewer.ask(Question("select", hint, partial(viewer.do, "select")))
