"""Strings and keys of TOML 1.0."""

from __future__ import annotations

import json
import re

from raytracer.errors import UserError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def quoted(text: str) -> str:
    """Return a basic string, in quotes: escaped as in JSON, but TOML has no surrogate pairs, and
    DEL is a control character. Raises UserError for a name with bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UserError(
            f"{json.dumps(text)}: is not text in UTF-8, which TOML needs: give another name"
        ) from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def key(name: str) -> str:
    """Return a key, bare if allowed and otherwise quoted; errors as for `quoted`."""
    return name if _BARE.fullmatch(name) else quoted(name)
