"""The program of a process that shows a simulation: `python -m raytracer.in_situ.process NUMBER`.

It reads what to show from the socket of this number, which it inherits, then the messages of a
`StateWriter` and "close". It sends those of the `StateReader`; "ready" with the address of a page,
or "", when nothing can go wrong with the arguments any more; and "error" with its sentences. It
ends when the other side has ended, in whatever way. The simulation goes first wherever both want a
core.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from raytracer.config.errors import ClosedError, RaytracerError
from raytracer.in_situ.feed import Feed
from raytracer.in_situ.memory import HostMemory, MappedMemory
from raytracer.in_situ.state_channel import StateReader

NICENESS = 19
"""The lowest priority: on a core that the simulation wants too, 1.5% of the time on Linux."""

Ready = Callable[[str], None]


def main(descriptor: int) -> None:
    """Show a simulation until it or the user ends."""
    # Ctrl-C goes to all processes of a terminal; the simulation ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # removes its files
    os.nice(NICENESS)
    connection = Connection(descriptor)
    kind, settings = connection.recv()
    messages: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()  # a garbage collection may send

    def tell(*message: Any) -> None:
        messages.put(message)

    def send() -> None:
        with suppress(OSError):
            while (message := messages.get()) is not None:
                connection.send(message)

    feed = Feed(reader := StateReader(tell))
    sender = Thread(target=send, name="send", daemon=True)
    sender.start()
    Thread(
        target=_listen, args=(connection, reader, feed, tell), name="listen", daemon=True
    ).start()
    try:
        with suppress(ClosedError):  # before there was anything to show
            FRONTS[kind](feed, settings, lambda address: tell("ready", address))
    except RaytracerError as error:
        tell("error", *error.sentences)
    messages.put(None)
    sender.join()


def _listen(
    connection: Connection, reader: StateReader, feed: Feed, tell: Callable[..., None]
) -> None:
    """Take what the simulation sends until it ends."""
    try:
        while (message := connection.recv())[0] != "close":
            kind, number, *content = message
            if kind != "memory":
                reader.receive(kind, number, *content)
            elif isinstance(content[0], int):
                memory = HostMemory(content[0], recv_handle(connection))
                memory.close_descriptor()
                reader.receive(kind, number, memory)
            else:
                reader.receive(kind, number, MappedMemory(content[0]))
    except (EOFError, OSError):
        pass  # the simulation has ended
    except RuntimeError:  # of `recv_handle`
        tell("error", "live: the view cannot open more files: log fewer sets, or raise `ulimit -n`")
    except RaytracerError as error:
        tell("error", *error.sentences)
    finally:
        feed.close()


def _show_window(feed: Feed, settings: dict[str, Any], ready: Ready) -> None:
    from raytracer.viewer.preview import open_display, preview

    open_display(offscreen=False)
    ready("")
    preview(feed, **settings)


def _serve_page(feed: Feed, settings: dict[str, Any], ready: Ready) -> None:
    from raytracer.browser.host import Host
    from raytracer.browser.serve import run_server
    from raytracer.browser.server import Server, bind_socket, format_address, make_token

    open_browser, hosts = settings.pop("open_browser"), settings.pop("hosts")
    with bind_socket(
        settings.pop("port")
    ) as listening:  # a browser may connect before the first state
        token = make_token()
        ready(format_address(listening.getsockname()[1], token))
        server = Server(Host("live", feed, settings), token, hosts)
        run_server(server, listening, open_browser, say=lambda _: None)


def _record(feed: Feed, settings: dict[str, Any], ready: Ready) -> None:
    from raytracer.in_situ.recording import record

    path, fps = settings.pop("path"), settings.pop("fps")
    ready("")
    record(feed.iterate_scenes(), Path(path), settings, fps)


FRONTS = {"window": _show_window, "page": _serve_page, "record": _record}
"""What shows the states of a feed until the user or the simulation closes it, by kind. Settings are
those of `raytracer.preview` for what is shown; of a page also `port`, `open_browser` and `hosts`,
of a movie `path` and `fps`."""


if __name__ == "__main__":
    main(int(sys.argv[1]))
