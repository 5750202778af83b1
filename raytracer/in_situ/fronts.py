"""What shows the states of a simulation: a window, a page, or a movie.

Each function runs until the user or the simulation closes it, in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from raytracer.errors import ClosedError
from raytracer.in_situ.feed import Feed

Ready = Callable[[str], None]
"""Called with the address of a page, or "", when nothing can go wrong with the arguments any more.
"""


def show(kind: str, feed: Feed, settings: Mapping[str, Any], ready: Ready) -> None:
    """Show a simulation until the end.

    Args:
        kind: "window", "page", "record", or "memory": pictures that nobody sees.
        feed: its states.
        settings: those of `raytracer.preview` for what is shown; for a page also `port` and
            `open_browser`, for a movie `path` and `fps`.
        ready: see `Ready`.

    Raises:
        UserError: it cannot be shown.
    """
    with suppress(ClosedError):  # before there was anything to show
        _FRONTS[kind](feed, dict(settings), ready)


def _window(feed: Feed, settings: dict[str, Any], ready: Ready) -> None:
    from raytracer.viewer.opening import open_display
    from raytracer.viewer.preview import preview

    open_display(offscreen=False)
    ready("")
    preview(feed, **settings)


def _page(feed: Feed, settings: dict[str, Any], ready: Ready) -> None:
    from raytracer.browser.host import Host, opener
    from raytracer.browser.security import new_token
    from raytracer.browser.serve import run_server
    from raytracer.browser.server import Server, address_of, bound

    open_browser = settings.pop("open_browser")
    with bound(settings.pop("port")) as listening:  # a browser may connect before the first state
        token = new_token()
        ready(address_of(listening.getsockname()[1], token))
        server = Server(Host(opener("live", feed, settings)), token)
        run_server(server, listening, open_browser, say=lambda _: None)


def _record(feed: Feed, settings: dict[str, Any], ready: Ready) -> None:
    from raytracer.in_situ.recording import record

    path, fps = settings.pop("path"), settings.pop("fps")
    ready("")
    record(feed.scenes(), Path(path), settings, fps)


def _memory(feed: Feed, settings: dict[str, Any], ready: Ready) -> None:
    from raytracer.viewer.session import Session

    ready("")
    with Session.open(feed, **settings) as session:
        while not session.viewer.closing:
            session.picture(1.0)


_FRONTS = {"window": _window, "page": _page, "record": _record, "memory": _memory}
