"""Who may use the server, and a page whose server ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raytracer.browser.security import (
    is_local,
    is_same_origin,
    is_token,
)


@pytest.mark.parametrize("given", ["", "x", "π", "\udc80", "secret ", "SECRET", "secre", "secrett"])
def test_another_token_is_none(given: str) -> None:
    assert is_token("secret", "secret")
    assert not is_token(given, "secret")


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1:8765", True),
        ("localhost:9000", True),
        ("localhost", True),
        ("[::1]:8765", True),
        ("", False),
        ("evil.example", False),
        ("evil.example:8765", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example:80", False),
        ("127.0.0.1:8765@evil.example", False),
        ("127.0.0.1:8765; script-src *", False),
        ("127.0.0.1:8765\n", False),
        ("127.0.0.1:٣", False),
        ("0.0.0.0:8765", False),
    ],
)
def test_names_of_this_machine(host: str, local: bool) -> None:
    assert is_local(host) is local


@pytest.mark.parametrize(
    ("origin", "same"),
    [
        ("http://127.0.0.1:8765", True),
        ("https://127.0.0.1:8765", True),
        ("", False),
        ("null", False),
        ("http://127.0.0.1", False),
        ("http://127.0.0.1:8766", False),
        ("http://localhost:8765", False),
        ("http://evil.example", False),
        ("http://evil.example/127.0.0.1:8765", False),
        ("http://evil.example@127.0.0.1:8765", False),
        ("file://127.0.0.1:8765", False),
        ("http://[", False),
    ],
)
def test_only_a_page_of_the_server_has_its_origin(origin: str, same: bool) -> None:
    assert is_same_origin(origin, "127.0.0.1:8765") is same


pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    pass
