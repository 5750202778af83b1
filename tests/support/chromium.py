"""A headless Chromium, driven by Playwright, and a server for its pages."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

    from raytracer.browser.server import Server

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SANDBOX = ["--no-sandbox", "--disable-dev-shm-usage"]  # containers, as root
OPTIONS = ["--disable-gpu"]
DRAWS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
"""Options for WebGL without a GPU."""

REQUIRED = "RAYTRACER_REQUIRE_WINDOW"
"""Environment variable that makes a missing browser a failure, as for windows."""


def executable() -> str | None:
    """The path of a Chromium of this machine; None where Playwright has to have its own."""
    return next(filter(None, map(shutil.which, NAMES)), None)


_playwright: list[Playwright] = []
"""That of this process, which may run once, for all browsers."""


@contextmanager
def browser(*options: str) -> Iterator[Browser]:
    """A running browser; skips with the reason where there is none."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        _missing("Playwright is missing: pip install playwright")
    with ExitStack() as stack:
        if not _playwright:
            _playwright.append(stack.enter_context(sync_playwright()))
            stack.callback(_playwright.clear)
        try:
            running = _playwright[0].chromium.launch(
                executable_path=executable(), args=[*(options or OPTIONS), *SANDBOX]
            )
        except Error as error:
            _missing(f"no Chromium: {str(error).splitlines()[0]}")
        yield running
        running.close()


def _missing(reason: str) -> None:
    if os.environ.get(REQUIRED):
        pytest.fail(reason)
    pytest.skip(reason)


class Site:
    """A server of a scene, which runs in a thread until the end of the block.

    Args:
        scene: its file.
        settings: of `Session.open`.
    """

    def __init__(self, scene: Path, **settings: Any) -> None:
        self._scene, self._settings = scene, settings
        self._started = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="site", daemon=True)

    def __enter__(self) -> Site:
        self._thread.start()
        assert self._started.wait(60.0)
        if self._error is not None:
            raise self._error
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(30.0)
        assert not self._thread.is_alive()

    @property
    def address(self) -> str:
        return self.server.address

    def call(self, function: Any) -> Any:
        """Call a function with the session, in its thread."""
        return self.server.host.call(function)

    def drop(self) -> None:
        """End all connections at once, as a lost network does."""

        def abort() -> None:
            for request in self.server.sockets.values():
                if request.transport is not None:
                    request.transport.abort()

        self._loop.call_soon_threadsafe(abort)

    def _serve(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseException as error:
            self._error = error
            self._started.set()

    async def _run(self) -> None:
        from raytracer.browser.host import Host
        from raytracer.browser.server import Server, bound

        host = Host("preview", self._scene, self._settings)
        self.server: Server = Server(host, "token-of-a-test")
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        try:
            await self.server.start(bound(0))
            self._started.set()
            await self._ended.wait()
        finally:
            await self.server.stop()
            host.close()
