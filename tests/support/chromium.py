"""A headless Chromium, driven by Playwright, and a server for its pages."""

from __future__ import annotations

import asyncio
import shutil
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from support.display import missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from raytracer.browser.server import Server

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = [
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",  # WebGL, no GPU
    "--no-sandbox", "--disable-dev-shm-usage",  # containers, as root
]  # fmt: skip


@contextmanager
def browser() -> Iterator[Browser]:
    """A running browser, of this machine or Playwright's; skips with the reason where none is."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        missing("Playwright is missing: pip install playwright")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        except Error as error:
            missing(f"no Chromium: {str(error).splitlines()[0]}")
        yield running
        running.close()


def canvas(page: Page, view: str = "raytracerView") -> NDArray[np.uint8]:
    """The pixels of the canvas of a view, uint8 (h, w, 3)."""
    url = page.evaluate(f"{view}.picture.canvas.toDataURL('image/png')")
    return decoded(url.partition(",")[2])


def decoded(png: str) -> NDArray[np.uint8]:
    """The pixels of a PNG in base64, uint8 (h, w, 3)."""
    with Image.open(BytesIO(b64decode(png))) as image:
        return np.asarray(image.convert("RGB"))


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
        from raytracer.browser.server import Server, bind_socket

        host = Host("preview", self._scene, self._settings)
        self.server: Server = Server(host, "token-of-a-test")
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        try:
            await self.server.start(bind_socket(0))
            self._started.set()
            await self._ended.wait()
        finally:
            await self.server.stop()
            host.close()
