"""Access to the server: only by pages that it sent, whose address has the token.

Other users of the machine can connect to a port of 127.0.0.1 as well, and every page in a browser
can send requests there. So the address has a secret token; the host name must be that of this
machine, so that a foreign name which resolves to 127.0.0.1 is useless (DNS rebinding); and a
WebSocket is opened only for a page of this server.
"""

import re
import secrets
from urllib.parse import urlsplit

TOKEN_BYTES = 24

_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.ASCII)


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


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
