"""What pages make a server write: files in a private folder, which the browser downloads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest

from raytracer.browser.host import Host
from raytracer.browser.messages import Act, Save, Size
from raytracer.viewer.actions import ACTIONS, Action
from raytracer.viewer.session import Session

pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    pass

ATOMS = "2\nstep {0}\nO 0 0 {0}\nC 3 0 0\n"
SCENE = """[camera]
position = [0, 0, 20]
look_at = [0, 0, 0]
[[spheres]]
file = "data/run.xyz"
"""
PATIENCE = 60.0
NAMES = ["/tmp/of-a-page", "../of-a-page", "run.xyz", "~/of-a-page"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with what is served, which no page may change."""
    folder = tmp_path / "data"
    (folder / "data").mkdir(parents=True)
    text = "".join(ATOMS.format(step) for step in range(2))
    for name in ("run.xyz", "data/run.xyz"):
        (folder / name).write_text(text)
    (folder / "scene.toml").write_text(SCENE)
    (folder / "run-camera-1.toml").write_text("mine")
    return folder


def tree(folder: Path) -> dict[str, Any]:
    """All that is in a folder."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.lstat().st_size)
        for path in folder.rglob("*")
    }


class Client:
    """Keeps what it is sent."""

    deaf = False

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any], data: bytes | None = None) -> None:
        """Take a message."""
        self.sent.append(message)


def kind_of(action: Action, name: str) -> str:
    return str(action.signature.parameters[name].annotation).partition(" | ")[0]


def hostile(action: Action) -> Iterator[dict[str, Any]]:
    """Arguments of an action that name files wherever they can."""
    for name in NAMES:
        yield {
            key: {"str": name, "bool": True}.get(kind_of(action, key), 1)
            for key in action.parameters
        }


def test_no_action_of_a_page_writes_beside_the_private_folder(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    before = tree(data), tree(work)
    options: dict[str, Any] = {"backend": "cpu", "threads": 1, "samples": 1, "size": (16, 12)}
    host = Host(lambda wake: Session.open(data / "run.xyz", wake=wake, **options))
    client = Client()
    host.join(client)
    host.receive(client, Size(type="size", width=16, height=12))
    try:
        for name, action in ACTIONS.items():
            host.receive(client, Act(type="act", name="keyframe"))
            for values in hostile(action):
                host.receive(client, Act(type="act", name=name, values=values))
            host.receive(client, Act(type="act", name=name))
            host.receive(client, Save(type="save"))
        end = monotonic() + PATIENCE
        while not any(each["type"] == "file" and each["name"] == "run.png" for each in client.sent):
            assert monotonic() < end
            host.receive(client, Save(type="save"))  # another content ends the one before
            sleep(0.05)
        state = host.call(lambda session: session.state())
    finally:
        host.close()
    assert state["name"] == "run.xyz"
    assert (tree(data), tree(work)) == before
