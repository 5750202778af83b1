"""`raytracer.serve` and `raytracer.show`: a scene in browsers until Ctrl-C, or in a notebook."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from raytracer.config.arguments import (
    check_function,
    check_items,
    check_text,
    check_truth,
    check_whole,
)
from raytracer.config.errors import UserError, quote
from raytracer.config.warning import warn
from raytracer.system.resources import CLOSING

if TYPE_CHECKING:
    from raytracer.browser.server import Server
    from raytracer.browser.widget import SceneWidget

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HEIGHTS = (100, 4000)  # limits of the height of a view in a notebook, in CSS pixels
END_SECONDS = 3.0  # seconds to wait for the action that runs when the server ends


def serve(
    scene: object,
    *,
    port: int | None = None,
    open_browser: bool = False,
    allow_host: str | Iterable[str] = (),
    say: Callable[[str], None] = print,
    **settings: Any,
) -> None:
    """Show a scene in browsers, on this machine or through an SSH tunnel.

    The server listens only on 127.0.0.1, and its address has a secret token. Returns after Ctrl-C.
    `raytracer.live` follows a simulation that runs, also in browsers (docs/guide/live.md, "Which
    one").

    Args:
        scene: a Scene, the path of a scene or particle file, or an object with particles.
        port: from 1 to 65535; None takes 8765, or a free one if that is in use.
        open_browser: open the address in the browser of this machine.
        allow_host: names of hosts, such as "hub.example.org", whose proxy (JupyterHub, nginx)
            passes requests on to this server.
        say: called with each line to print.
        settings: of `raytracer.preview` for the content: `frame`, `backend`, `threads`, `tone`,
            `annotations`, `watch`, `notice`, `samples`, `look`, `color_by` and others.

    Raises:
        UserError: the scene or a setting is wrong, the port is in use, or the extra `serve` is
            missing.
        TypeError: there is no such setting.
    """
    check_truth(open_browser, "open_browser")
    check_function(say, "say")
    hosts = require_page(port, allow_host)
    from raytracer.browser.host import Host
    from raytracer.browser.server import Server, bind_socket, make_token

    with bind_socket(port) as listening:  # before a large scene is loaded
        with suppress(RuntimeError):  # there is none
            asyncio.get_running_loop()
            raise UserError(
                "serve: this thread already runs an event loop, as notebooks do: call "
                "raytracer.show(scene), or run the command raytracer serve"
            )
        server = Server(Host("serve", scene, settings), make_token(), hosts)
        if (notice := settings.get("notice")) is not None:
            notice("")  # from here on the page shows the progress
        run_server(server, listening, open_browser, say)


def show(scene: object, *, height: int = 480, **settings: Any) -> SceneWidget:
    """Return an interactive view of a scene, which a notebook shows as the result of a cell.

    `LiveView.show` does so for a simulation that runs (docs/guide/live.md, "Which one").

    Args:
        scene: a Scene, the path of a scene or particle file, or an object with particles.
        height: of the view in CSS pixels; it is as wide as the cell.
        settings: of `raytracer.preview` for the content: `frame`, `backend`, `threads`, `tone`,
            `annotations`, `watch`, `samples`, `look`, `color_by` and others.

    Returns:
        The widget; its `do` performs an action from another cell, and `close` ends it.

    Raises:
        UserError: the scene or a setting is wrong, or the extra `notebook` is missing.
        TypeError: there is no such setting.
    """
    check_whole(height, "height", *HEIGHTS)
    _require("anywidget", "show", "notebook")
    from raytracer.browser.widget import SceneWidget

    return SceneWidget(scene, height, settings)


def run_server(
    server: Server, listening: socket.socket, open_browser: bool, say: Callable[[str], None]
) -> None:
    """Serve until a signal, the end of a simulation or a failure, and close the session. An action
    that takes for ever goes on in its thread."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        number = asyncio.run(_run(server, listening, open_browser, say))
    finally:
        if current_thread() is main_thread():
            for each, handler in before.items():  # which the event loop has replaced
                signal.signal(each, handler)
    if server.host.failure is not None:
        raise server.host.failure
    if number not in (None, signal.SIGINT):
        signal.raise_signal(number)  # for the caller's handler


def require_page(port: int | None, allow_host: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of hosts of proxies in lower case. Raises UserError if a page cannot be
    served: the port or a name is wrong, or the extra is missing."""
    if port is not None:
        check_whole(port, "port", 1, 65535)
    names = [allow_host] if isinstance(allow_host, str) else check_items(allow_host, "allow_host")
    hosts = tuple(_normalize_host(check_text(name, "allow_host")) for name in names)
    _require("aiohttp", "serve", "serve")
    return hosts


def _normalize_host(name: str) -> str:
    """Return a name of a host as browsers send it."""
    with suppress(UnicodeError):  # of an empty or a long part
        sent = name.lower().encode("idna").decode()
        if re.fullmatch(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9])?", sent):
            return sent
    raise UserError(
        f"allow_host: '{quote(name)}' is not the name of a host: write for example "
        "hub.example.org, without https:// and without a port"
    )


def _require(library: str, caller: str, extra: str) -> None:
    try:
        __import__(library)
    except ImportError:
        raise UserError(f"{caller}: needs {library}: pip install 'raytracer[{extra}]'") from None


def print_address(name: str, address: str, say: Callable[[str], None]) -> None:
    """Print the address of a page, and the command that forwards its port to another machine."""
    port, user = urlsplit(address).port, os.environ.get("USER", "")
    host = f"{user}@{socket.gethostname()}" if user else socket.gethostname()
    say(f"{name} is shown at {address}")
    say(f"from another machine: ssh -N -L {port}:127.0.0.1:{port} {host}")


async def _run(
    server: Server, listening: socket.socket, open_browser: bool, say: Callable[[str], None]
) -> int | None:
    """Serve until a signal, which is returned, or the end of the view."""
    ended, numbers = asyncio.Event(), list[int]()
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        numbers.append(number)
        ended.set()

    for number in SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            with suppress(RuntimeError, ValueError):  # in another thread
                loop.add_signal_handler(number, stop, number)
    server.host.on_end = lambda: loop.call_soon_threadsafe(ended.set)
    # The usual report has requests, and with them the token.
    loop.set_exception_handler(lambda _, about: warn(f"serve: {_describe_failure(about)}"))
    closing = Thread(target=server.host.close, name=CLOSING, daemon=True)
    try:
        await server.start(listening)
        print_address(server.host.name, server.address, say)
        say("Ctrl-C ends the server")
        if open_browser:  # which may take as long as the browser runs
            Thread(target=_open_browser, args=(server.address,), daemon=True).start()
        if not server.host.has_ended:
            await ended.wait()
    finally:
        await server.stop()
        closing.start()
        await asyncio.to_thread(closing.join, END_SECONDS)  # further signals must not interrupt it
    return numbers[0] if numbers else None


def _open_browser(address: str) -> None:
    with suppress(webbrowser.Error):
        webbrowser.open(address)


def _describe_failure(about: dict[str, Any]) -> str:
    """Return what failed in an event loop, without the values that its message may have."""
    kind = type(about["exception"]).__name__ if about.get("exception") else "no exception"
    return f"a connection failed ({kind})"
