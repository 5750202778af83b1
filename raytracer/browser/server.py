"""The page and its WebSocket, only on 127.0.0.1, and only for pages that the server sent.

Other users of the machine can connect to a port of 127.0.0.1 as well, and every page in a browser
can send requests there. So the address has a secret token; the host name must be that of this
machine or of a proxy that was named, so that a foreign name which resolves to 127.0.0.1 is useless
(DNS rebinding); and a WebSocket is opened only for a page of this server. What waits for a request
is limited in number and time.
"""

import asyncio
import hmac
import logging
import re
import secrets
import socket as sockets
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError

from raytracer.browser import client
from raytracer.browser.connection import Client
from raytracer.browser.host import Host, make_hello
from raytracer.browser.messages import MAX_BYTES, pack_message
from raytracer.config.errors import UserError
from raytracer.config.warning import warn

ADDRESS = "127.0.0.1"
LOCAL = ("127.0.0.1", "localhost", "[::1]")  # hosts of this machine
HOST = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
"""A host with its port, which may be that of a tunnel or of a proxy."""
TOKEN_BYTES = 24

DEFAULT_PORT = 8765

HEARTBEAT = 20.0  # seconds between checks whether a client is alive

MAX_CLIENTS = 16
MAX_WAITING = 64  # connections without a WebSocket, of which the oldest is closed for a new one
WAITING_SECONDS = 30.0  # most seconds that a connection may be without one

MAX_BACKLOG = 64  # waiting messages from which the next is not read from a socket
MAX_UNSENT = 64  # most messages waiting to be sent to a client, before it is dropped
ENDED = 4001  # close code of a socket when the server ends
CLOSE_SECONDS = 1.0  # seconds to wait for clients when the server ends


class Server:
    def __init__(self, host: Host, token: str, hosts: tuple[str, ...] = ()) -> None:
        """Serve a host; `hosts` are names, in lower case, by which proxies are reached."""
        self.host = host
        self.token = token
        self.hosts = hosts
        self.sockets: dict[web.WebSocketResponse, web.Request] = {}  # open, with their requests
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None
        self.port = 0

    @property
    def address(self) -> str:
        return format_address(self.port, self.token)

    async def start(self, listening: sockets.socket) -> None:
        """Start on a socket; see `bind_socket`."""
        self.port = listening.getsockname()[1]
        app = web.Application(middlewares=[self._guard])
        # Some proxies leave their part of the path.
        app.router.add_get("/{proxy:(.*/)?}", self._serve_page)
        app.router.add_get("/{proxy:(.*/)?}socket", self._serve_socket)
        self._runner = web.AppRunner(
            app, access_log=None, logger=_make_logger(), shutdown_timeout=CLOSE_SECONDS
        )
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(self._accept, sock=listening)

    def _accept(self) -> asyncio.Protocol:
        """Return the protocol of a new connection, for which old ones that wait are closed."""
        assert self._runner is not None
        assert self._runner.server is not None
        waiting = [each for each in self._runner.server.connections if self._is_waiting(each)]
        for each in waiting[: max(len(waiting) + 1 - MAX_WAITING, 0)]:
            _abort(each)
        protocol = self._runner.server()

        def end() -> None:
            if self._is_waiting(protocol):
                _abort(protocol)

        asyncio.get_running_loop().call_later(WAITING_SECONDS, end)
        return protocol

    def _is_waiting(self, protocol: asyncio.Protocol) -> bool:
        """Whether a connection is without a WebSocket."""
        return all(each.protocol is not protocol for each in self.sockets.values())

    async def stop(self) -> None:
        if self._listener is not None:
            self._listener.close()
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
        if not (name := _normalize_name(request.headers.get("Host", ""))) or not self._is_known(
            name
        ):
            raise web.HTTPForbidden(
                text="use 127.0.0.1 or localhost as the host of this server, or start it with "
                f"--allow-host {name or 'NAME'}\n"
            )
        given = request.query.get("token", "").encode(errors="replace")
        if not hmac.compare_digest(given, self.token.encode()):
            raise web.HTTPForbidden(
                text="the address needs the token that the server printed: open its latest "
                "address\n"
            )
        response: web.StreamResponse = await handler(request)
        return response

    def _is_known(self, name: str) -> bool:
        return name in LOCAL or name in self.hosts

    async def _serve_page(self, request: web.Request) -> web.Response:
        nonce = secrets.token_urlsafe(16)
        answer = web.Response(
            text=client.make_page(f"{self.host.name} - raytracer", nonce, make_hello()),
            content_type="text/html",
            headers=_make_headers(
                nonce, [request.headers["Host"], *(f"{e}:*" for e in self.hosts)]
            ),
        )
        answer.enable_compression()
        return answer

    async def _serve_socket(self, request: web.Request) -> web.StreamResponse:
        self._check_socket(request)
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=MAX_BYTES, compress=False)
        await socket.prepare(request)
        self.sockets[socket] = request
        loop, unsent = asyncio.get_running_loop(), asyncio.Queue[str | bytes](MAX_UNSENT)

        def put(message: dict[str, Any], data: bytes | None) -> None:
            try:
                unsent.put_nowait(pack_message(message, data))
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

    def _check_socket(self, request: web.Request) -> None:
        """Refuse sockets of other pages, and those for which there is no room.

        A browser does not tell a page why a socket was refused. The page asks by a usual request,
        which has no origin: it states its own.
        """
        given = request.headers
        upgrades = given.get("Upgrade", "").lower() == "websocket"
        origin = given.get("Origin", "") if upgrades else request.query.get("origin", "")
        kind, _, place = origin.partition("://")
        is_same = kind in ("http", "https") and place == given["Host"]
        is_known = kind in ("http", "https") and _normalize_name(place) in self.hosts
        if not (is_same or is_known):
            raise web.HTTPForbidden(
                text="a page of another origin may not use this server: start it with "
                f"--allow-host {_normalize_name(place) or 'NAME'}\n"
            )
        if len(self.sockets) >= MAX_CLIENTS:
            raise web.HTTPServiceUnavailable(
                text=f"{MAX_CLIENTS} pages are already connected: close one of them\n"
            )
        if not upgrades:
            raise web.HTTPUpgradeRequired(
                text="no WebSocket arrives: a proxy between browser and server does not pass it on "
                "(nginx needs proxy_http_version 1.1 and the headers Upgrade and Connection)\n"
            )

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


def make_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def _normalize_name(host: str) -> str:
    """Return the name of a host with or without port, in lower case; "" if it is none."""
    match = HOST.fullmatch(host.lower())
    return match[1] if match else ""


def _abort(protocol: web.RequestHandler) -> None:
    if protocol.transport is not None:
        protocol.transport.abort()


class _DefectHandler(logging.Handler):
    """Reports requests that failed by a defect. Those that are malformed are the client's matter;
    tracebacks would have their addresses with the token."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, HttpProcessingError):
            warn(f"serve: a request failed ({type(error).__name__})")


def _make_logger() -> logging.Logger:
    logger = logging.Logger("raytracer.serve", logging.WARNING)  # without parents
    logger.addHandler(_DefectHandler())
    return logger


def _make_headers(nonce: str, hosts: list[str]) -> dict[str, str]:
    """Return headers of the page that forbid loading, framing, caching and referrers."""
    sockets = " ".join(f"ws://{host} wss://{host}" for host in hosts)
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        f"img-src data: blob:; connect-src 'self' {sockets}; base-uri 'none'; "
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


def format_address(port: int, token: str) -> str:
    """Return the address for a browser on this machine, or at the other end of a tunnel."""
    return f"http://{ADDRESS}:{port}/?token={token}"


def bind_socket(port: int | None) -> sockets.socket:
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
