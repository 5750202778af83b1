"""Libraries of the bench that are missing, or lack a type."""

from __future__ import annotations

from typing import Any

import pytest

from raytracer.benchmark import peers
from raytracer.benchmark.operations.base import Peer


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    session: Any = None
    with pytest.raises(ImportError, match="torch is not installed"):
        peers.prepare(Peer("PyTorch"), session, session, session, {})
