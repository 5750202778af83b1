"""The program of a process that shows a simulation: `python -m raytracer.in_situ.process NUMBER`.

It reads what to show from the socket of this number, which it inherits. It ends when the other side
has ended, in whatever way. The simulation goes first wherever both want the same core.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from pathlib import Path
from threading import Thread
from typing import Any

from raytracer.errors import BackendError, ClosedError, RaytracerError
from raytracer.in_situ.feed import Feed
from raytracer.in_situ.gpu_memory import MappedMemory
from raytracer.in_situ.mailbox import Control, Memory, Reader

NICENESS = 19
"""The lowest priority: on a core that the simulation wants too, 1.5% of the time on Linux."""

Ready = Callable[[str], None]
"""Called with the address of a page, or "", when nothing can go wrong with the arguments any more.
"""


def main(descriptor: int) -> None:
    """Show a simulation until it or the user ends."""
    # Ctrl-C goes to all processes of a terminal; the simulation ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # removes its files
    os.nice(NICENESS)
    connection = Connection(descriptor)
    kind, settings, gpu_memory = connection.recv()
    reader = Reader(Control(recv_handle(connection)))
    feed = Feed(reader)
    Thread(target=_listen, args=(connection, reader, feed), name="listen", daemon=True).start()

    def tell(*message: Any) -> None:
        with suppress(OSError):
            connection.send(message)

    if gpu_memory is not None:
        can_map = False
        with suppress(BackendError):
            MappedMemory(gpu_memory)
            can_map = True
        connection.send(can_map)
    try:
        with suppress(ClosedError):  # before there was anything to show
            FRONTS[kind](feed, settings, lambda address: tell("ready", address))
    except RaytracerError as error:
        tell("error", *error.sentences)


def _listen(connection: Connection, reader: Reader, feed: Feed) -> None:
    """Take what the simulation sends until it ends."""
    try:
        while True:
            message = connection.recv()
            if message[0] == "memory":
                _, index, generation, size = message
                reader.add(index, generation, Memory(size, recv_handle(connection)))
            elif message[0] == "gpu memory":
                _, index, generation, handle = message
                reader.add(index, generation, MappedMemory(handle))
            elif message[0] == "wake":
                reader.on_change()
            else:
                break
    except (EOFError, OSError):
        pass  # the simulation has ended
    except RaytracerError as error:
        with suppress(OSError):
            connection.send(("error", *error.sentences))
    finally:
        feed.close()


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


FRONTS = {"window": _window, "page": _page, "record": _record, "memory": _memory}
"""What shows the states of a feed until the user or the simulation closes it, by kind; "memory":
pictures that nobody sees. Settings are those of `raytracer.preview` for what is shown; of a page
also `port` and `open_browser`, of a movie `path` and `fps`."""


if __name__ == "__main__":
    main(int(sys.argv[1]))
