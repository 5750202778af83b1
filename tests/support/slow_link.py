"""A slow network between a browser and a server: a proxy with a rate and a delay."""

from __future__ import annotations

import asyncio
import threading
from asyncio import Queue, StreamReader, StreamWriter
from contextlib import suppress

SEGMENT = 1448
"""Bytes that travel together, as on Ethernet."""

QUEUE = 64
"""Segments on the way at a time, as in the memory of a router."""

FAST = float("inf")


class SlowLink:
    """Forwards connections to a port of this machine until the end of the block.

    Args:
        target: port of the server.
        rate: bytes per second from the server to the browser, of all connections together.
        delay: seconds of a round trip.

    Attributes:
        port: to connect to.
    """

    def __init__(self, target: int, rate: float, delay: float) -> None:
        self._target, self._rate, self._delay = target, rate, delay
        self._free = 0.0  # time from which the link can take more
        self._connections: set[asyncio.Task[None]] = set()
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self) -> SlowLink:
        self._thread.start()
        assert self._started.wait(10.0)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(10.0)
        assert not self._thread.is_alive()

    async def _run(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = int(server.sockets[0].getsockname()[1])
        self._started.set()
        await self._ended.wait()
        server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await asyncio.sleep(0.1)  # transports close in the loop

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = self._loop.create_task(self._connect(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _connect(self, reader: StreamReader, writer: StreamWriter) -> None:
        to_server = None
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._target)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._carry(reader, to_server, FAST))
                both.create_task(self._carry(from_server, writer, self._rate))
        except* OSError:
            pass
        finally:
            for each in filter(None, (writer, to_server)):
                each.transport.abort()

    async def _carry(self, reader: StreamReader, writer: StreamWriter, rate: float) -> None:
        """Pass on one direction until its end."""
        way: Queue[tuple[float, bytes]] = Queue(QUEUE)
        async with asyncio.TaskGroup() as both:
            both.create_task(self._arrive(way, writer))
            data = b"more"
            while data:
                data = await reader.read(SEGMENT)
                due = self._loop.time()
                if rate != FAST:
                    due = self._free = max(self._free, due) + len(data) / rate
                await way.put((due + self._delay / 2, data))

    async def _arrive(self, way: Queue[tuple[float, bytes]], writer: StreamWriter) -> None:
        while True:
            due, data = await way.get()
            await asyncio.sleep(due - self._loop.time())
            if not data:
                break
            writer.write(data)
            await writer.drain()
        with suppress(OSError):
            writer.write_eof()
