"""Strings and keys of TOML 1.0, for the files and tables that the program writes."""

from __future__ import annotations

import json
import re

from raytracer.errors import UserError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def quoted(text: str) -> str:
    """A basic string, in quotes.

    Its escapes are those of JSON, with two differences: TOML has no surrogate pairs, so characters
    stay as they are, and DEL is a control character.
    Raises UserError for bytes of a file name that are no UTF-8, which no string of TOML can hold.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UserError(
            f"{json.dumps(text)}: is not text in UTF-8, which TOML needs: give another name"
        ) from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def key(name: str) -> str:
    """A key: bare where that is allowed, else quoted. Raises UserError as `quoted` does."""
    return name if _BARE.fullmatch(name) else quoted(name)
