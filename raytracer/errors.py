"""The exceptions of the package: each is built from one finished sentence."""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 0.65
"""Least similarity (`difflib`) of two names of which one may be a slip of the other: at 0.6
"radius" is near "threads", at 0.5 "camera" is near "meter"."""

FEWEST_LETTERS = 3
"""Fewest letters that a name is recognised by when the rest is left out."""


class RaytracerError(Exception):
    """Something went wrong that is not the user's mistake; the command line ends with 1."""

    exit_code = 1


class UserError(RaytracerError):
    """A mistake the user can mend: what, where and what to do; the command line ends with 2."""

    exit_code = 2


class SceneError(UserError):
    """A scene file or a scene object that makes no sense."""


class DataFileError(UserError):
    """A particle file that cannot be read as spheres."""


class BackendError(UserError):
    """A backend was asked for by name and cannot be used."""


class MemoryNeedError(UserError):
    """The job needs more memory than there is."""


class OutputError(UserError):
    """A result cannot be written."""


class WriteError(OutputError):
    """Writing failed under way, on a full disk for example; the command line ends with 1."""

    exit_code = 1


class InstallError(UserError, ImportError):
    """The package is not installed where Python found it."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant by `name`, or None when none is near.

    That is the same name in other letters, what other programs call it (`synonyms`), a name that
    begins like it, or one that differs by a slip of the keyboard.

    Args:
        name: what the user wrote.
        known: every name that would have been right.
    """
    from difflib import get_close_matches  # late: only mistakes pay for it

    from .synonyms import NAMES

    plain = {_plain(k): k for k in known}
    wanted = _plain(name)
    for same in (wanted, *NAMES.get(wanted, ())):
        if same in plain:
            return plain[same]
    begins = [k for k in plain if len(wanted) >= FEWEST_LETTERS and k.startswith(wanted)]
    if len(begins) == 1:
        return plain[begins[0]]
    # A single letter is in half of all short names.
    found = get_close_matches(wanted, plain, 1, ALIKE) if len(wanted) > 1 else []
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    """A name in small letters, without the dashes of an option, with "_" between its parts."""
    return name.lstrip("-").lower().replace("-", "_")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of an error sentence: the nearest known name, or all of them if few.

    Args:
        name: what the user wrote.
        known: every name that would have been right.
    """
    names = list(known)
    near = nearest(name, names)
    if near is not None:
        return f"did you mean '{near}'?"
    if not names:
        return "none is known here"
    if len(names) <= 12:
        return "known are " + ", ".join(names)
    return "known are " + ", ".join(names[:12]) + ", ..."
