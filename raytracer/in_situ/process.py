"""The program of a process that shows a simulation: `python -m raytracer.in_situ.process NUMBER`.

It reads what to show from the socket of this number, which it inherits. It ends when the other side
has ended, in whatever way. The simulation goes first wherever both want the same core.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

from raytracer.errors import RaytracerError
from raytracer.in_situ.feed import Feed
from raytracer.in_situ.fronts import show
from raytracer.in_situ.gpu_memory import MappedMemory, can_map
from raytracer.in_situ.mailbox import FileLock, Reader, receive_memory

NICENESS = 19
"""The lowest priority: on a core that the simulation wants too, 1.5% of the time on Linux."""


def main(descriptor: int) -> None:
    """Show a simulation until it or the user ends."""
    # Ctrl-C goes to all processes of a terminal; the simulation ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # removes its files
    os.nice(NICENESS)
    connection = Connection(descriptor)
    kind, settings, size, gpu_memory = connection.recv()
    control = receive_memory(connection, size)
    reader = Reader(control, FileLock(control.descriptor))
    feed = Feed(reader)
    Thread(target=_listen, args=(connection, reader, feed), name="listen", daemon=True).start()

    def tell(*message: Any) -> None:
        with suppress(OSError):
            connection.send(message)

    if gpu_memory is not None:
        connection.send(can_map(gpu_memory))
    try:
        show(kind, feed, settings, lambda address: tell("ready", address))
    except RaytracerError as error:
        tell("error", *error.sentences)


def _listen(connection: Connection, reader: Reader, feed: Feed) -> None:
    """Take what the simulation sends until it ends."""
    try:
        while True:
            message = connection.recv()
            if message[0] == "memory":
                _, index, generation, size = message
                reader.add(index, generation, receive_memory(connection, size))
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


if __name__ == "__main__":
    main(int(sys.argv[1]))
