"""Prompts: questions whose answers are typed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from raytracer.arguments import one_of
from raytracer.errors import UserError
from raytracer.viewer.actions import action
from raytracer.viewer.choices import CHOICES
from raytracer.viewer.data_actions import columns
from raytracer.viewer.keep import save
from raytracer.viewer.save_job import parse_size
from raytracer.viewer.state import Prompt, ViewerState

MAX_LETTERS = 500
MAX_NAMES = 8


def type_text(viewer: ViewerState, text: str) -> None:
    """Add characters to the prompt."""
    if viewer.prompt is not None:
        typed = viewer.prompt.typed + "".join(filter(str.isprintable, text))
        viewer.prompt.typed = typed[:MAX_LETTERS]


def erase(viewer: ViewerState) -> None:
    """Remove the last character of the prompt."""
    if viewer.prompt is not None:
        viewer.prompt.typed = viewer.prompt.typed[:-1]


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
    one_of(what, "ask: what", sorted(examples), "value", UserError)
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
