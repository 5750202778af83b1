"""The server: who gets in, what it answers, and what happens when clients misbehave or leave."""

import asyncio
import json
import re
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the extra serve is missing")
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from raytracer.browser.host import Host
from raytracer.browser.link import AHEAD
from raytracer.browser.messages import MAX_BYTES
from raytracer.browser.server import Server, bound
from raytracer.errors import UserError
from raytracer.viewer.panel import state_of
from raytracer.viewer.session import Session
from support.previews import balls

TOKEN = "secret-of-this-test"
SIZE = '{"type":"size","width":16,"height":12}'
PATIENCE = 10.0


class Site:
    """A server of a small scene, and a browser's side of it."""

    def __init__(self, server: Server, browser: ClientSession) -> None:
        self.server, self.browser = server, browser
        self.base = f"http://127.0.0.1:{server.port}"

    def connect(self, token: str = TOKEN, **headers: str) -> Any:
        """Open a socket as the page does."""
        given = {"Origin": self.base} | headers
        address = f"{self.base}/socket?token={token}"
        return self.browser.ws_connect(
            address, headers={name: value for name, value in given.items() if value}
        )


@asynccontextmanager
async def serving() -> AsyncIterator[Site]:
    settings = {"width": 16, "height": 12, "samples": 4, "threads": 1, "backend": "cpu"}
    host = Host("preview", balls(title="balls"), settings)
    server = Server(host, TOKEN)
    await server.start(bound(0))
    try:
        async with ClientSession() as browser:
            yield Site(server, browser)
    finally:
        await server.stop()
        await asyncio.to_thread(host.close)
    assert not host._thread.is_alive()


def run(test: Callable[[Site], Awaitable[None]]) -> None:
    """Run a test with a server."""

    async def whole() -> None:
        async with serving() as site:
            await asyncio.wait_for(test(site), PATIENCE)

    with ThreadPoolExecutor(1) as thread:  # a browser's tests have a loop in this one
        thread.submit(asyncio.run, whole()).result()


async def next_of(socket: ClientWebSocketResponse, kind: str) -> dict[str, Any]:
    """Return the header of the next message of a kind; its bytes are in "data"."""
    while True:
        message = await socket.receive(PATIENCE)
        if message.type is WSMsgType.TEXT:
            header = json.loads(message.data)
        else:
            assert message.type is WSMsgType.BINARY, message
            (length,) = struct.unpack_from("<I", message.data)
            header = json.loads(message.data[4 : 4 + length]) | {"data": message.data[4 + length :]}
        if header["type"] == kind:
            return dict(header)


async def closed(socket: ClientWebSocketResponse) -> int | None:
    """Wait for the end of a socket, and return its code."""
    while not (await socket.receive(PATIENCE)).type & 0x100 and not socket.closed:
        pass
    return socket.close_code


@pytest.mark.parametrize("token", ["", TOKEN.upper(), TOKEN[:-1], TOKEN + "%20", "%ff", "%CF%80"])
def test_without_the_token_nobody_gets_in(token: str) -> None:
    async def test(site: Site) -> None:
        for path in ("/", "/socket", "/elsewhere"):
            answer = await site.browser.get(f"{site.base}{path}?token={token}")
            assert answer.status == 403
            assert TOKEN not in await answer.text()
        assert (await site.browser.get(f"{site.base}/")).status == 403

    run(test)


def test_only_a_page_of_the_server_opens_a_socket() -> None:
    async def test(site: Site) -> None:
        address = f"{site.base}/socket?token={TOKEN}"
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
        foreign = ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost", None,
                   f"{site.base}@evil.example", f"ftp{site.base[4:]}", "http://["]  # fmt: skip
        for origin in foreign:
            headers = upgrade | ({"Origin": origin} if origin else {})
            assert (await site.browser.get(address, headers=headers)).status == 403
        # Names that resolve to 127.0.0.1, whose pages have the right token.
        for host in ("evil.example", "127.0.0.1.evil.example", "0.0.0.0", "127.0.0.1@evil.example"):
            evil = {"Host": f"{host}:{site.server.port}"}
            evil["Origin"] = f"http://{evil['Host']}"
            for path in ("/", "/socket"):
                whole = f"{site.base}{path}?token={TOKEN}"
                assert (await site.browser.get(whole, headers=upgrade | evil)).status == 403
        # The other end of a tunnel has another port, and perhaps another name of this machine.
        far = {"Host": "localhost:9000", "Origin": "http://localhost:9000"}
        async with site.connect(**far) as page:
            assert (await next_of(page, "state"))["state"]["name"] == "balls"

    run(test)


def test_the_page_loads_nothing_else() -> None:
    async def test(site: Site) -> None:
        answer = await site.browser.get(f"{site.base}/?token={TOKEN}")
        text, policy = await answer.text(), answer.headers["Content-Security-Policy"]
        assert answer.status == 200
        nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)
        assert nonce
        assert text.count(f'nonce="{nonce[1]}"') == 2
        assert "default-src 'none'" in policy
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert TOKEN not in text
        assert not re.search(r"""(?:src|href)=["'](?!data:)|@import|url\(|import\s*\(""", text)
        assert "<title>balls - raytracer</title>" in text
        again = await (await site.browser.get(f"{site.base}/?token={TOKEN}")).text()
        assert nonce[1] not in again
        assert (await site.browser.get(f"{site.base}/x?token={TOKEN}")).status == 404

    run(test)


def test_who_sends_nonsense_is_given_up_and_others_stay() -> None:
    async def test(site: Site) -> None:
        async with site.connect() as good:
            async with site.connect() as large:
                await large.send_str('{"type":"act","name":"' + "x" * MAX_BYTES)
                assert await closed(large) == 1009
            async with site.connect() as binary:
                await binary.send_bytes(b"\0\1")
                assert await closed(binary) == 1003
            await good.send_str('{"type":"act","name":"print-camera"}')
            await next_of(good, "text")

    run(test)


async def finished(socket: ClientWebSocketResponse, after: int = 0) -> dict[str, Any]:
    """Return the finished picture after one of a number, and acknowledge all before it."""
    while True:
        frame = await next_of(socket, "frame")
        await socket.send_str(json.dumps({"type": "ack", "serial": frame["serial"]}))
        if frame["finished"] and frame["number"] > after:
            return frame


def test_who_draws_slowly_gets_the_latest_picture_and_no_queue() -> None:
    async def test(site: Site) -> None:
        async with site.connect() as slow, site.connect() as fast:
            for page in (slow, fast):
                await page.send_str(SIZE)
            number = 0
            for _ in range(5):
                await fast.send_str('{"type":"act","name":"orbit","values":[0.3,0.1]}')
                frame = await finished(fast, number)
                number = frame["number"]
                assert (frame["full"], frame["size"], frame["mime"]) == (
                    [16, 12], [16, 12], "image/png",
                )  # fmt: skip
                assert frame["data"].startswith(b"\x89PNG")
            got = [await next_of(slow, "frame") for _ in range(AHEAD)]
            assert got[-1]["number"] < number
            await slow.send_str(json.dumps({"type": "ack", "serial": got[-1]["serial"]}))
            assert (await next_of(slow, "frame"))["number"] == number

    run(test)


def test_two_pages_see_one_state_and_a_lost_one_finds_it_again() -> None:
    async def test(site: Site) -> None:
        async with site.connect() as second:
            first = await site.connect()
            await next_of(second, "state")
            await first.send_str('{"type":"act","name":"look","values":{"value":"soft"}}')
            changes = (await next_of(second, "state"))["state"]
            assert changes["look"] == "soft"
            assert "spheres" not in changes, "what changed alone"
            first._response.connection.transport.abort()
            await second.send_str(SIZE)
            number = (await finished(second))["number"]
        async with site.connect() as again:
            assert (await next_of(again, "state"))["state"]["look"] == "soft"
            await again.send_str(SIZE)
            assert (await finished(again))["number"] == number

    run(test)


def test_a_defect_ends_the_host_and_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a defect")

    async def test(site: Site) -> None:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        site.server.host.on_end = lambda: loop.call_soon_threadsafe(ended.set)
        async with site.connect() as page:
            monkeypatch.setattr(Session, "do", fail)
            await page.send_str('{"type":"act","name":"next-map"}')
            await ended.wait()
        assert isinstance(site.server.host.failure, ZeroDivisionError)
        with pytest.raises(UserError, match="closed"):
            site.server.host.call(lambda session: state_of(session))

    run(test)
