"""Access to the server: only by pages that it sent, whose address has the token.

Other users of the machine can connect to a port of 127.0.0.1 as well, and every page in a browser
can send requests there. So the address has a secret token; the host name must be that of this
machine, so that a foreign name which resolves to 127.0.0.1 is useless (DNS rebinding); and a
WebSocket is opened only for a page of this server.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from contextlib import suppress
from os import PathLike
from urllib.parse import urlsplit

from raytracer.errors import UserError
from raytracer.files.access import path_of

TOKEN_BYTES = 24

MIN_TOKEN, MAX_TOKEN = 32, 256  # lengths of a token in a file; a new one has 32 letters

_TOKEN = re.compile(rb"([A-Za-z0-9_-]{%d,%d})\r?\n?" % (MIN_TOKEN, MAX_TOKEN))

_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.ASCII)


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_of(token_file: str | PathLike[str]) -> str:
    """Return the token in a file; a missing file is created with a new one."""
    path = path_of(token_file, "token_file")
    try:
        with suppress(FileExistsError), open(path, "x", opener=_for_the_owner) as made:
            made.write(f"{new_token()}\n")
        with open(path, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            text = file.read(MAX_TOKEN + 3) if stat.S_ISREG(status.st_mode) else b""
    except OSError as error:
        raise UserError(f"{path}: cannot be used as token file ({error.strerror})") from None
    if not stat.S_ISREG(status.st_mode):
        raise UserError(f"{path}: is not a regular file: name one for the token")
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise UserError(f"{path}: others may read or change this token: run chmod 600 {path}")
    if not (match := _TOKEN.fullmatch(text)):
        raise UserError(
            f"{path}: has no token: remove the file to create a new one, or write "
            f"{MIN_TOKEN} to {MAX_TOKEN} random letters, digits, - and _ into it"
        )
    return match[1].decode()


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # as a pipe would


def is_token(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), token.encode())


def is_local(host: str) -> bool:
    """Return whether the header `Host` names this machine; a tunnel may have another port."""
    return _HOST.fullmatch(host) is not None


def is_same_origin(origin: str, host: str) -> bool:
    """Return whether the header `Origin` is that of a page of this server."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc == host


def headers(nonce: str, host: str) -> dict[str, str]:
    """Return headers of the page that forbid loading, framing, caching and referrers."""
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        f"img-src data: blob:; connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
