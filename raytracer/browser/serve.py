"""`raytracer.serve`: shows a scene to browsers until Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from raytracer.arguments import function, truth, whole
from raytracer.browser import security
from raytracer.errors import UserError

if TYPE_CHECKING:
    from raytracer.browser.server import Server


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end the server."""


def serve(
    scene: object,
    *,
    port: int | None = None,
    open_browser: bool = False,
    say: Callable[[str], None] = print,
    **settings: Any,
) -> None:
    """Show a scene in browsers, on this machine or at the other end of an SSH tunnel.

    The server listens on 127.0.0.1 alone, and its address has a secret token. It returns after
    Ctrl-C.

    Args:
        scene: a Scene, the path of a scene or particle file, or an object that holds particles.
        port: from 1 to 65535; None takes 8765, or a free one if that is in use.
        open_browser: open the address in the browser of this machine.
        say: called with each line to be printed.
        settings: those of `raytracer.preview` for what is shown: `frame`, `backend`, `threads`,
            `tone`, `annotations`, `watch`, `notice`, `samples`, `look`, `color_by` and others.

    Raises:
        UserError: the scene or a setting cannot be shown, the port is in use, or the extra `serve`
            is missing.
        TypeError: there is no such setting.
    """
    truth(open_browser, "open_browser", UserError)
    function(say, "say")
    check_port(port)
    require_library()
    from raytracer.browser.host import Host
    from raytracer.browser.opening import opener
    from raytracer.browser.server import Server, bound

    open_session = opener("serve", scene, settings)
    with bound(port) as listening:  # before a large scene is loaded
        _require_no_loop()
        host = Host(open_session)
        _serve(Server(host, security.new_token()), listening, open_browser, say, settings)


def _serve(
    server: Server,
    listening: socket.socket,
    open_browser: bool,
    say: Callable[[str], None],
    settings: Mapping[str, Any],
) -> None:
    """Serve until a signal or a failure, and close the session; arguments as for `serve`."""
    if (notice := settings.get("notice")) is not None:
        notice("")  # from here on the page shows the progress
    try:
        stop = asyncio.run(_run(server, listening, open_browser, say))
    finally:
        server.host.close()
    if server.host.failure is not None:
        raise server.host.failure
    if stop not in (None, signal.SIGINT):
        signal.raise_signal(stop)  # for whoever handles it in this process


def _require_no_loop() -> None:
    """Refuse to serve amid another event loop, as that of a notebook. Raises UserError."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UserError(
        "serve: this thread runs an event loop, as in a notebook: call raytracer.show(scene) "
        "there, or run the command raytracer serve"
    )


def check_port(port: int | None) -> None:
    """Refuse what is no port. Raises UserError."""
    if port is not None and not 1 <= whole(port, "port", error=UserError) <= 65535:
        raise UserError(f"port {port}: give one from 1 to 65535")


def require_library() -> None:
    """Refuse to serve without the server's library. Raises UserError."""
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        raise UserError("serve: needs aiohttp: pip install 'raytracer[serve]'") from None


def ssh_line(port: int) -> str:
    """Return the command that makes a port of this machine one of the user's own machine."""
    import getpass

    try:
        user = f"{getpass.getuser()}@"
    except (KeyError, OSError):  # a user without a name
        user = ""
    return f"ssh -N -L {port}:127.0.0.1:{port} {user}{socket.gethostname()}"


async def _run(
    server: Server, listening: socket.socket, open_browser: bool, say: Callable[[str], None]
) -> int | None:
    """Serve until a signal or a failure; returns the number of the signal."""
    ended = asyncio.Event()
    numbers: list[int] = []
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        numbers.append(number)
        ended.set()

    server.host.on_failure = lambda: loop.call_soon_threadsafe(ended.set)
    with _signals(loop, end):
        await server.start(listening)
        say(f"{server.host.name} is shown at {server.address}")
        say(f"from another machine: {ssh_line(server.port)}")
        say("Ctrl-C ends the server")
        if open_browser:
            await loop.run_in_executor(None, _open, server.address)
        try:
            await ended.wait()
        finally:
            await server.stop()
    return numbers[0] if numbers else None


@contextmanager
def _signals(loop: asyncio.AbstractEventLoop, end: Callable[[int], None]) -> Iterator[None]:
    """Call a function instead of raising, for signals that end the process; not if ignored.

    An exception amid the loop would leave sockets open. In other threads there are no signals.
    """
    taken = {}
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            before = signal.getsignal(number)
            if before not in (signal.SIG_IGN, None):
                loop.add_signal_handler(number, end, number)
                taken[number] = before
    try:
        yield
    finally:
        for number, before in taken.items():
            loop.remove_signal_handler(number)
            signal.signal(number, before)


def _open(address: str) -> None:
    """Open an address in the user's browser, if there is one."""
    import webbrowser

    with suppress(webbrowser.Error):
        webbrowser.open(address)
