"""A browser that draws by WebGL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from support.chromium import DRAWS, browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """A headless Chromium with WebGL; skips with the reason where there is none."""
    with browser(*DRAWS) as running:
        yield running
