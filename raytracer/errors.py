"""The exceptions of the package: each is built from one finished sentence."""

from __future__ import annotations

from collections.abc import Iterable


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
    """Return the known name that looks most like `name`, or None when none is near.

    Args:
        name: what the user wrote.
        known: every name that would have been right.
    """
    from difflib import get_close_matches  # late: only mistakes pay for it

    by_lower = {k.lower(): k for k in known}
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[found[0]] if found else None


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
