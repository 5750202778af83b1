"""A page that follows a running simulation, in a headless Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import raytracer
from support.live import SETTINGS, grid
from support.previews import wait_for

pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
FINISHED = '.rt-view[data-finished="true"]'


def test_a_page_follows_until_the_simulation_closes(chromium: Browser) -> None:
    with raytracer.live(open="page", say=lambda _: None, **SETTINGS) as view:
        view.log_points("points", grid(3), radii=0.5)
        page = chromium.new_page(viewport={"width": 600, "height": 200})
        page.set_default_timeout(60_000)
        page.goto(view.address)
        page.wait_for_selector(FINISHED)
        before = page.screenshot()
        step = 0

        def is_another() -> Any:
            nonlocal step
            step += 1
            view.log_points("points", grid(3 + step % 5, shift=0.1), radii=0.5)
            return page.screenshot() != before

        wait_for(is_another, "another picture")
        view.log_points("points", np.zeros((1, 3)), radii=0.5, colors="red")
        view.flush()
        page.wait_for_selector(FINISHED)
        page.wait_for_function("document.body.innerText.includes('1 sphere')")
        view.close()
        page.wait_for_function("document.body.innerText.includes('server has ended')")
        page.close()
