"""Who may use the server; see also `test_server`."""

from __future__ import annotations

import pytest

from raytracer.browser.security import is_local, is_same_origin, is_token

OWN = "127.0.0.1:8765"


@pytest.mark.parametrize("given", ["", "π", "\udc80", "secret ", "SECRET", "secre", "secrett"])
def test_another_token_is_none(given: str) -> None:
    assert is_token("secret", "secret")
    assert not is_token(given, "secret")


@pytest.mark.parametrize("host", [OWN, "localhost:9000", "localhost", "[::1]:8765"])
def test_names_of_this_machine(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1.evil.example", f"{OWN}@evil.example", f"{OWN}; script-src *",
     f"{OWN}\n", "127.0.0.1:٣", "0.0.0.0:8765"],
)  # fmt: skip
def test_names_of_others(host: str) -> None:
    assert not is_local(host)


@pytest.mark.parametrize(
    "origin",
    ["", "null", "http://127.0.0.1", "http://127.0.0.1:8766", "http://localhost:8765",
     f"http://evil.example/{OWN}", f"http://evil.example@{OWN}", f"file://{OWN}", "http://["],
)  # fmt: skip
def test_only_a_page_of_the_server_has_its_origin(origin: str) -> None:
    assert is_same_origin(f"http://{OWN}", OWN)
    assert not is_same_origin(origin, OWN)
