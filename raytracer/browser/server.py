"""The page and its WebSocket, only on 127.0.0.1, and only for pages that the server sent.

Other users of the machine can connect to a port of 127.0.0.1 as well, and every page in a browser
can send requests there. So the address has a secret token; the host name must be that of this
machine, so that a foreign name which resolves to 127.0.0.1 is useless (DNS rebinding); and a
WebSocket is opened only for a page of this server.
"""

import asyncio
import hmac
import re
import secrets
import socket as sockets
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web

from raytracer.browser import client
from raytracer.browser.host import Host, hello
from raytracer.browser.link import Client
from raytracer.browser.messages import MAX_BYTES, packed
from raytracer.errors import UserError

ADDRESS = "127.0.0.1"
# Hosts of this machine; a tunnel may have another port.
LOCAL = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.ASCII)
TOKEN_BYTES = 24

DEFAULT_PORT = 8765

HEARTBEAT = 20.0  # seconds between checks whether a client is alive

MAX_CLIENTS = 16

MAX_BACKLOG = 64  # waiting messages from which the next is not read from a socket
MAX_UNSENT = 64  # most messages waiting to be sent to a client, before it is dropped
ENDED = 4001  # close code of a socket when the server ends
CLOSE_SECONDS = 1.0  # seconds to wait for clients when the server ends


class Server:
    def __init__(self, host: Host, token: str) -> None:
        self.host = host
        self.token = token
        self.sockets: dict[web.WebSocketResponse, web.Request] = {}  # open, with their requests
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def address(self) -> str:
        return address_of(self.port, self.token)

    async def start(self, listening: sockets.socket) -> None:
        """Start on a socket; see `bound`."""
        self.port = listening.getsockname()[1]
        app = web.Application(middlewares=[self._guard])
        app.router.add_get("/", self._page)
        app.router.add_get("/socket", self._socket)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=CLOSE_SECONDS)
        await self._runner.setup()
        await web.SockSite(self._runner, listening).start()

    async def stop(self) -> None:
        leaving = [each.close(code=ENDED, message=b"the server has ended") for each in self.sockets]
        if leaving:
            with suppress(TimeoutError):
                every = asyncio.gather(*leaving, return_exceptions=True)
                await asyncio.wait_for(every, CLOSE_SECONDS)
        if self._runner is not None:
            await self._runner.cleanup()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Refuse requests that are not from a page of this server."""
        if not LOCAL.fullmatch(request.headers.get("Host", "")):
            raise web.HTTPForbidden(text="use 127.0.0.1 or localhost as the host of this server\n")
        given = request.query.get("token", "").encode(errors="replace")
        if not hmac.compare_digest(given, self.token.encode()):
            raise web.HTTPForbidden(text="the address needs the token that the server printed\n")
        response: web.StreamResponse = await handler(request)
        return response

    async def _page(self, request: web.Request) -> web.Response:
        nonce = secrets.token_urlsafe(16)
        answer = web.Response(
            text=client.page(f"{self.host.name} - raytracer", nonce, hello()),
            content_type="text/html",
            headers=_headers(nonce, request.headers["Host"]),
        )
        answer.enable_compression()
        return answer

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        given = request.headers
        if given.get("Origin") not in [f"{kind}://{given['Host']}" for kind in ("http", "https")]:
            raise web.HTTPForbidden(text="a page of another origin may not use this server\n")
        if len(self.sockets) >= MAX_CLIENTS:
            raise web.HTTPServiceUnavailable(text=f"{MAX_CLIENTS} pages are already connected\n")
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=MAX_BYTES, compress=False)
        await socket.prepare(request)
        self.sockets[socket] = request
        loop, unsent = asyncio.get_running_loop(), asyncio.Queue[str | bytes](MAX_UNSENT)

        def put(message: dict[str, Any], data: bytes | None) -> None:
            try:
                unsent.put_nowait(packed(message, data))
            except asyncio.QueueFull:
                if request.transport is not None:
                    request.transport.abort()

        def send(message: dict[str, Any], data: bytes | None = None) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(put, message, data)

        visitor = Client(send, backlog=unsent.qsize)
        self.host.join(visitor)
        writer = asyncio.create_task(_write(socket, unsent))
        try:
            await self._read(socket, visitor)
        finally:
            self.host.leave(visitor)
            del self.sockets[socket]
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        return socket

    async def _read(self, socket: web.WebSocketResponse, visitor: Client) -> None:
        """Pass the messages of a client to the host until it leaves."""
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                await socket.close(code=1003, message=b"messages are text")
                return
            self.host.receive(visitor, message.data)
            while self.host.calls.qsize() > MAX_BACKLOG:
                await asyncio.sleep(0.005)


async def _write(socket: web.WebSocketResponse, unsent: asyncio.Queue[str | bytes]) -> None:
    """Send queued messages until the client leaves."""
    with suppress(ConnectionError):
        while True:
            content = await unsent.get()
            send: Any = socket.send_str if isinstance(content, str) else socket.send_bytes
            await send(content)


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def _headers(nonce: str, host: str) -> dict[str, str]:
    """Return headers of the page that forbid loading, framing, caching and referrers."""
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        f"img-src data: blob:; connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


def address_of(port: int, token: str) -> str:
    """Return the address for a browser on this machine, or at the other end of a tunnel."""
    return f"http://{ADDRESS}:{port}/?token={token}"


def bound(port: int | None) -> sockets.socket:
    """Return a socket that listens on a port; None: the default one, or a free one. Raises
    UserError if the port cannot be used."""
    stated = DEFAULT_PORT if port is None else port
    for each in (stated, 0) if port is None else (stated,):
        try:
            return sockets.create_server((ADDRESS, each))
        except OSError as error:
            problem = error
    raise UserError(
        f"port {stated}: cannot be used ({problem.strerror}): give another one from 1024 to 65535"
    )
