"""`raytracer.serve`: shows a scene to browsers until Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from typing import TYPE_CHECKING, Any

from raytracer.arguments import function, truth, whole
from raytracer.browser import security
from raytracer.errors import UserError

if TYPE_CHECKING:
    from raytracer.browser.server import Server


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end the server."""

PATIENCE = 2.0
"""Seconds after a signal in which others are ignored: some senders repeat it at once."""


def serve(
    scene: object,
    *,
    port: int | None = None,
    open_browser: bool = False,
    token_file: str | PathLike[str] | None = None,
    output_folder: str | PathLike[str] | None = None,
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
        token_file: keeps the token, so that pages find a server that was started again; a missing
            one is made. None takes a new token.
        output_folder: where movies that pages ask for are written, as new files; None: their
            browsers download them.
        say: called with each line to be printed.
        settings: those of `raytracer.preview` for what is shown: `frame`, `backend`, `threads`,
            `tone`, `annotations`, `watch`, `notice`, `samples`, `look`, `color_by` and others.

    Raises:
        UserError: the scene or a setting cannot be shown, the port is in use, a file or folder
            cannot be used, or the extra `serve` is missing.
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
        token = security.new_token() if token_file is None else security.token_of(token_file)
        server = Server(Host(open_session, output_folder), token)
        _serve(server, listening, open_browser, say, settings)


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
    stop = _Stop()
    with stop.taken():  # until the session is closed: a second signal must not leave its threads
        try:
            asyncio.run(_run(server, listening, open_browser, say, stop))
        finally:
            server.host.close()
    if server.host.failure is not None:
        raise server.host.failure
    if stop.number not in (None, signal.SIGINT):
        signal.raise_signal(stop.number)  # for whoever handles it in this process


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
    server: Server,
    listening: socket.socket,
    open_browser: bool,
    say: Callable[[str], None],
    stop: _Stop,
) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    server.host.on_failure = stop.act = lambda: loop.call_soon_threadsafe(ended.set)
    await server.start(listening)
    say(f"{server.host.name} is shown at {server.address}")
    say(f"from another machine: {ssh_line(server.port)}")
    say("Ctrl-C ends the server")
    if open_browser:
        await loop.run_in_executor(None, _open, server.address)
    try:
        if stop.number is None:
            await ended.wait()
    finally:
        await server.stop()


class _Stop:
    """The signal that ends the server. An exception amid the loop would leave sockets open."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.act: Callable[[], object] = _nothing
        self._since = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take signals in this block, except ignored ones. In other threads there are none."""
        before = {}
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if handler not in (signal.SIG_IGN, None):
                    before[number] = handler
                    signal.signal(number, self._take)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take(self, number: int, _: object) -> None:
        """Take a signal; one that comes when the end takes long ends the process at once."""
        if self.number is None:
            self.number, self._since = number, time.monotonic()
            with suppress(RuntimeError):  # the loop has ended by itself
                self.act()
        elif time.monotonic() - self._since > PATIENCE:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)


def _nothing() -> None:
    """Nothing is served yet."""


def _open(address: str) -> None:
    import webbrowser

    with suppress(webbrowser.Error):
        webbrowser.open(address)
