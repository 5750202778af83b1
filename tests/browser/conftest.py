"""A browser for the tests of pages and cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from support.chromium import browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """A headless Chromium; skips with the reason where there is none."""
    with browser() as running:
        yield running
