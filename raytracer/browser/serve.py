"""`raytracer.serve` and `raytracer.show`: a scene in browsers until Ctrl-C, or in a notebook."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from raytracer.arguments import function, truth, whole
from raytracer.errors import UserError

if TYPE_CHECKING:
    from raytracer.browser.server import Server
    from raytracer.browser.widget import SceneWidget

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HEIGHTS = (100, 4000)  # limits of the height of a view in a notebook, in CSS pixels


def serve(
    scene: object,
    *,
    port: int | None = None,
    open_browser: bool = False,
    say: Callable[[str], None] = print,
    **settings: Any,
) -> None:
    """Show a scene in browsers, on this machine or through an SSH tunnel.

    The server listens only on 127.0.0.1, and its address has a secret token. Returns after Ctrl-C.

    Args:
        scene: a Scene, the path of a scene or particle file, or an object with particles.
        port: from 1 to 65535; None takes 8765, or a free one if that is in use.
        open_browser: open the address in the browser of this machine.
        say: called with each line to print.
        settings: of `raytracer.preview` for the content: `frame`, `backend`, `threads`, `tone`,
            `annotations`, `watch`, `notice`, `samples`, `look`, `color_by` and others.

    Raises:
        UserError: the scene or a setting is wrong, the port is in use, or the extra `serve` is
            missing.
        TypeError: there is no such setting.
    """
    truth(open_browser, "open_browser")
    function(say, "say")
    require_page(port)
    from raytracer.browser.host import Host
    from raytracer.browser.server import Server, bound, new_token

    with bound(port) as listening:  # before a large scene is loaded
        with suppress(RuntimeError):  # there is none
            asyncio.get_running_loop()
            raise UserError(
                "serve: this thread already runs an event loop, as notebooks do: call "
                "raytracer.show(scene), or run the command raytracer serve"
            )
        server = Server(Host("serve", scene, settings), new_token())
        if (notice := settings.get("notice")) is not None:
            notice("")  # from here on the page shows the progress
        run_server(server, listening, open_browser, say)


def show(scene: object, *, height: int = 480, **settings: Any) -> SceneWidget:
    """Return an interactive view of a scene, which a notebook shows as the result of a cell.

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
    whole(height, "height", *HEIGHTS)
    _require("anywidget", "show", "notebook")
    from raytracer.browser.widget import SceneWidget

    return SceneWidget(scene, height, settings)


def run_server(
    server: Server, listening: socket.socket, open_browser: bool, say: Callable[[str], None]
) -> None:
    """Serve until a signal, the end of a simulation or a failure, and close the session."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        number = asyncio.run(_run(server, listening, open_browser, say))
    finally:
        server.host.close()
        if threading.current_thread() is threading.main_thread():
            for each, handler in before.items():  # which the event loop has replaced
                signal.signal(each, handler)
    if server.host.failure is not None:
        raise server.host.failure
    if number not in (None, signal.SIGINT):
        signal.raise_signal(number)  # for the caller's handler


def require_page(port: int | None) -> None:
    """Raise UserError if a page cannot be served: the port is wrong, or the extra is missing."""
    if port is not None:
        whole(port, "port", 1, 65535)
    _require("aiohttp", "serve", "serve")


def _require(library: str, caller: str, extra: str) -> None:
    try:
        __import__(library)
    except ImportError:
        raise UserError(f"{caller}: needs {library}: pip install 'raytracer[{extra}]'") from None


def say_address(name: str, address: str, say: Callable[[str], None]) -> None:
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
    try:
        await server.start(listening)
        say_address(server.host.name, server.address, say)
        say("Ctrl-C ends the server")
        if open_browser:
            with suppress(webbrowser.Error):
                await asyncio.to_thread(webbrowser.open, server.address)
        if not server.host.has_ended:
            await ended.wait()
    finally:
        await server.stop()
        await asyncio.to_thread(server.host.close)  # further signals must not interrupt it
    return numbers[0] if numbers else None
