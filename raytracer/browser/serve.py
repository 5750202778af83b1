"""`raytracer.serve`: shows a scene to browsers until Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from raytracer.arguments import function, truth, whole
from raytracer.browser.security import new_token
from raytracer.errors import UserError

if TYPE_CHECKING:
    from raytracer.browser.server import Server


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 2.0  # seconds after a signal in which others are ignored: some senders repeat it at once


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
    truth(open_browser, "open_browser", UserError)
    function(say, "say")
    check_port(port)
    require_library()
    from raytracer.browser.host import Host, opener
    from raytracer.browser.server import Server, bound

    open_session = opener("serve", scene, settings)
    with bound(port) as listening:  # before a large scene is loaded
        _require_no_loop()
        server = Server(Host(open_session), new_token())
        if (notice := settings.get("notice")) is not None:
            notice("")  # from here on the page shows the progress
        run_server(server, listening, open_browser, say)


def run_server(
    server: Server, listening: socket.socket, open_browser: bool, say: Callable[[str], None]
) -> None:
    """Serve until a signal, the end of a simulation or a failure, and close the session.

    Arguments are those of `serve`.
    """
    stop = _Stop()
    with stop.taken():  # a second signal must not leave threads running
        try:
            asyncio.run(_run(server, listening, open_browser, say, stop))
        finally:
            server.host.close()
    if server.host.failure is not None:
        raise server.host.failure
    if stop.number not in (None, signal.SIGINT):
        signal.raise_signal(stop.number)  # for the caller's handler


def _require_no_loop() -> None:
    """Refuse to serve inside another event loop, such as a notebook's. Raises UserError."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UserError(
        "serve: this thread already runs an event loop, as notebooks do: call "
        "raytracer.show(scene), or run the command raytracer serve"
    )


def check_port(port: int | None) -> None:
    if port is not None and not 1 <= whole(port, "port", error=UserError) <= 65535:
        raise UserError(f"port: must be from 1 to 65535, not {port}")


def require_library() -> None:
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        raise UserError("serve: needs aiohttp: pip install 'raytracer[serve]'") from None


def ssh_line(port: int) -> str:
    """Return the command that forwards a port of this machine to the user's."""
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
    server.host.on_end = stop.act = lambda: loop.call_soon_threadsafe(ended.set)
    await server.start(listening)
    say(f"{server.host.name} is shown at {server.address}")
    say(f"from another machine: {ssh_line(server.port)}")
    say("Ctrl-C ends the server")
    if open_browser:
        await loop.run_in_executor(None, _open, server.address)
    try:
        if stop.number is None and not server.host.has_ended:
            await ended.wait()
    finally:
        await server.stop()


class _Stop:
    """The signal that ends the server. An exception inside the loop would leave sockets open."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.act: Callable[[], object] = lambda: None
        self._since = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Handle signals in this block, except ignored ones; only in the main thread."""
        is_main = threading.current_thread() is threading.main_thread()
        handlers = {number: signal.getsignal(number) for number in SIGNALS if is_main}
        before = {k: v for k, v in handlers.items() if v not in (signal.SIG_IGN, None)}
        for number in before:
            signal.signal(number, self._take)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take(self, number: int, _: object) -> None:
        """Handle a signal; a later one, if the end takes long, ends the process at once."""
        if self.number is None:
            self.number, self._since = number, time.monotonic()
            with suppress(RuntimeError):  # the loop has ended
                self.act()
        elif time.monotonic() - self._since > PATIENCE:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)


def _open(address: str) -> None:
    import webbrowser

    with suppress(webbrowser.Error):
        webbrowser.open(address)
