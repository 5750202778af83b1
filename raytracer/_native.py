"""The compiled extension `raytracer._core`, imported on first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module

# Not from `typing`: the command's help does without it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@cache
def core() -> Any:
    """Return the compiled extension.

    Raises:
        InstallError: there is none beside the sources.
    """
    try:
        return import_module("raytracer._core")
    except ModuleNotFoundError as error:
        if error.name != "raytracer._core":
            raise
    from raytracer.config.errors import InstallError

    folder = __file__.rpartition("/")[0]
    raise InstallError(
        f"{folder} has the sources of raytracer without the compiled extension: start Python in "
        "another folder, or install them with `pip install -e .`"
    )
