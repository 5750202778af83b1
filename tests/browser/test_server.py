"""The server: who gets in, what it answers, and what happens when clients misbehave or leave."""

import asyncio
import json
import re
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the extra serve is missing")
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from raytracer.browser.connection import AHEAD
from raytracer.browser.host import Host
from raytracer.browser.messages import MAX_BYTES
from raytracer.browser.server import ENDED, Server, bind_socket
from raytracer.config.warning import RaytracerWarning
from raytracer.viewer.actions import ACTIONS
from raytracer.viewer.panel import describe_state
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
    await server.start(bind_socket(0))
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


@pytest.mark.parametrize("error", [ZeroDivisionError("a defect"), RecursionError(), MemoryError()])
def test_a_failing_action_is_a_message(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object) -> None:
        raise error

    def fail_halfway(session: Session, **_: int) -> None:
        session.do("next-look")
        session.content = replace(session.content, frame=-7)
        fail()

    async def test(site: Site) -> None:
        before = await asyncio.to_thread(site.server.host.call, describe_state)
        async with site.connect() as page:
            for name in ("next-map", "frame"):
                monkeypatch.setitem(ACTIONS, name, replace(ACTIONS[name], function=fail_halfway))
                await page.send_str(json.dumps({"type": "act", "name": name, "values": [1]}))
                said = (await next_of(page, "error"))["sentence"]
                assert said.startswith(f"{name}: failed (")
                kind = type(error).__name__
                assert ("not enough memory" if kind == "MemoryError" else kind) in said
            monkeypatch.setattr("raytracer.browser.host.save", fail)
            await page.send_str('{"type":"save"}')
            assert (await next_of(page, "error"))["sentence"].startswith("message: failed (")
            monkeypatch.setattr("raytracer.viewer.picking.PickReport.of", fail)
            await page.send_str('{"type":"act","name":"pick","values":{"x":8,"y":6,"reach":99}}')
            notice = ""
            while "a request failed" not in notice:
                notice = (await next_of(page, "state"))["state"].get("notice", "")
            await page.send_str('{"type":"act","name":"print-camera"}')
            await next_of(page, "text")
        after = await asyncio.to_thread(site.server.host.call, describe_state)
        assert site.server.host.failure is None
        assert (after["look"], after["frame"]) == (before["look"], before["frame"])

    run(test)


HUB = "hub.example.org"
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
           "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        (HUB, f"https://{HUB}", 101),
        (f"{HUB.upper()}:8443", f"https://{HUB}:8443", 101),
        ("127.0.0.1:8765", f"https://{HUB}", 101),  # nginx sends its own name of the server
        (HUB, "https://other.example.org", 403),
        (HUB, "null", 403),
        (f"{HUB}.evil.example", f"https://{HUB}.evil.example", 403),
        (HUB, f"https://{HUB}@evil.example", 403),
        (HUB, f"https://{HUB}.evil.example", 403),
        (HUB, f"ftp://{HUB}", 403),
        (HUB, None, 403),
    ],
)
@pytest.mark.parametrize("folder", ["/", "/user/ada/proxy/8765/"])  # of proxies that leave it
def test_a_named_proxy_gets_in(host: str, origin: str | None, status: int, folder: str) -> None:
    async def test(site: Site) -> None:
        site.server.hosts = (HUB,)
        headers = {"Host": host} | ({"Origin": origin} if origin else {})
        page = await site.browser.get(f"{site.base}{folder}?token={TOKEN}", headers=headers)
        assert page.status == (200 if "evil" not in host else 403)
        if page.status == 200:
            assert f"wss://{HUB}:*" in page.headers["Content-Security-Policy"]
        address = f"{site.base}{folder}socket?token={TOKEN}"
        answer = await site.browser.get(address, headers=UPGRADE | headers)
        assert answer.status == status
        answer.close()
        without = await site.browser.get(f"{site.base}{folder}", headers=headers)
        assert without.status == 403

    run(test)


def test_a_page_asks_why_it_has_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(site: Site) -> None:
        async def reason(origin: str, token: str = TOKEN) -> tuple[int, str]:
            given = {"token": token, "origin": origin}
            answer = await site.browser.get(f"{site.base}/socket", params=given)
            assert answer.content_type == "text/plain"
            return answer.status, await answer.text()

        status, text = await reason("https://hub.example.org")
        assert (status, "--allow-host hub.example.org" in text) == (403, True)
        status, text = await reason(site.base)
        assert (status, "does not pass it on" in text) == (426, True)
        status, text = await reason(site.base, "of-another-server")
        assert (status, "open its latest address" in text) == (403, True)
        monkeypatch.setattr("raytracer.browser.server.MAX_CLIENTS", 1)
        async with site.connect() as first:
            await next_of(first, "state")
            status, text = await reason(site.base)
            assert (status, text) == (503, "1 pages are already connected: close one of them\n")

    run(test)


MALFORMED = [
    "GET /?token={token} HTTP/9.9\r\n\r\n",
    "GET http://[::1/?token={token} HTTP/1.1\r\n\r\n",
    "GET /?token={token}&a=\xe9 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /?token={token}" + "&a=b" * 3000 + " HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nX: {token}\r\nHost: localhost\r\n\r\n",
    "GET /?token={token} HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "\x00\xff{token}\r\n\r\n",
]


def test_nothing_is_logged_of_malformed_requests(capfd: pytest.CaptureFixture[str]) -> None:
    async def test(site: Site) -> None:
        for text in MALFORMED:
            reader, writer = await asyncio.open_connection("127.0.0.1", site.server.port)
            writer.write(text.format(token=TOKEN).encode("latin-1"))
            assert b" 400 " in await reader.readline()
            writer.close()

    run(test)
    assert capfd.readouterr() == ("", "")


def test_a_failing_request_is_told_without_its_address(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise ZeroDivisionError(TOKEN)

    async def test(site: Site) -> None:
        monkeypatch.setattr("raytracer.browser.server.client.make_page", fail)
        with pytest.warns(RaytracerWarning, match=r"a request failed \(ZeroDivisionError\)$"):
            assert (await site.browser.get(f"{site.base}/?token={TOKEN}")).status == 500

    run(test)
    assert TOKEN not in "".join(capfd.readouterr())


def test_connections_that_wait_are_limited_in_number_and_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("raytracer.browser.server.MAX_WAITING", 4)

    async def test(site: Site) -> None:
        async with site.connect() as page:
            await next_of(page, "state")
            idle = [await asyncio.open_connection("127.0.0.1", site.server.port) for _ in range(12)]
            for _, writer in idle[::2]:
                writer.write(b"GET / HTTP/1.1\r\nHost: ")  # and no more of it
            async with asyncio.timeout(PATIENCE):
                ends = [await reader.read() for reader, _ in idle[:8]]
            assert ends == [b""] * 8, "the oldest are closed"
            runner = site.server._runner
            assert runner is not None
            assert runner.server is not None
            assert len(runner.server.connections) <= 1 + 4
            answer = await site.browser.get(f"{site.base}/?token={TOKEN}")
            assert answer.status == 200
            await page.send_str('{"type":"act","name":"print-camera"}')
            await next_of(page, "text")
            for _, writer in idle:
                writer.close()

    run(test)
    monkeypatch.setattr("raytracer.browser.server.WAITING_SECONDS", 0.05)

    async def late(site: Site) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", site.server.port)
        async with site.connect() as page:
            assert await reader.read() == b""
            writer.close()
            await page.send_str('{"type":"act","name":"print-camera"}')
            await next_of(page, "text")  # a WebSocket stays

    run(late)


def test_who_is_connected_is_told_that_the_server_has_ended() -> None:
    """The page then says so, and does not look for the server again."""

    async def test(site: Site) -> None:
        async with site.connect() as socket:
            await next_of(socket, "state")
            ending = asyncio.create_task(site.server.stop())
            assert await closed(socket) == ENDED
            await ending

    run(test)
