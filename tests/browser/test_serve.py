"""`raytracer serve` and `raytracer.serve`: from the command to the end of the server."""

import asyncio
import builtins
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer.commands.cli import main
from support.window_scene import write_scene

pytest.importorskip("aiohttp", reason="the extra serve is missing")
from aiohttp import ClientSession

from raytracer.browser.serve import require_page


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that is refused, and return its sentence."""
    with ThreadPoolExecutor(1) as thread:  # a browser's tests have a loop in this one
        assert thread.submit(main, ["serve", *arguments]).result() == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    assert "Traceback" not in error
    return error


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "0"], "port: must be at least 1, not 0"),
        (["--look", "nonsense"], "nonsense"),
        (["--backend", "nonsense"], "nonsense"),
        (["--token", "x" * 40], "--token"),
        (["--allow-host", "https://hub.example.org"], "'https://hub.example.org' is not the name"),
        (["--allow-host", "hub.example.org", "--allow-host", "a b"], "'a b' is not the name"),
        (["--allow-host", "*"], "'*' is not the name"),
        (["--allow-host="], "'' is not the name"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert words in refused([str(write_scene(tmp_path)), *options], capsys)


@pytest.mark.parametrize(
    ("module", "extra", "call"),
    [("aiohttp", "serve", raytracer.serve), ("anywidget", "notebook", raytracer.show)],
)
def test_a_missing_extra_is_named(
    module: str, extra: str, call: Callable[..., Any], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == module:
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(raytracer.UserError, match=rf"pip install 'raytracer\[{extra}\]'"):
        call(write_scene(tmp_path))


def heed_interrupts() -> None:
    """Let a child end by SIGINT, also where a shell in the background started the tests."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 0), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)],
)
def test_a_signal_ends_the_server(number: int, code: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "raytracer", "serve", str(write_scene(tmp_path))]
    command += ["--backend", "cpu", "--threads", "1"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=heed_interrupts,
    ) as process:
        assert process.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
        assert address
        with urllib.request.urlopen(address[0]) as answer:
            assert b"<title>balls.toml - raytracer</title>" in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address[0][:-1])
        assert "ssh -N -L" in process.stdout.readline()
        process.send_signal(number)
        process.send_signal(number)  # as impatient users and `timeout` do
        try:
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == code
    assert "Traceback" not in error
    assert list(tmp_path.glob("raytracer-*")) == []


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("Hub.Example.org", ("hub.example.org",)),
        (["a.example", "b_c.example"], ("a.example", "b_c.example")),
        ("bücher.example", ("xn--bcher-kva.example",)),
        ((), ()),
    ],
)
def test_names_of_hosts(given: Any, names: tuple[str, ...]) -> None:
    assert require_page(None, given) == names


@pytest.mark.parametrize("name", ["a..b", "x" * 64, "10.0.0.1:80", "[::1]", 3, ["a", None]])
@pytest.mark.parametrize("function", [raytracer.serve, partial(raytracer.live, open="page")])
def test_wrong_names_of_hosts_are_refused_in_python(
    function: Callable[..., Any], name: Any, tmp_path: Path
) -> None:
    arguments = [] if isinstance(function, partial) else [write_scene(tmp_path)]
    with pytest.raises(raytracer.UserError, match="allow_host"):
        function(*arguments, allow_host=name)


STUCK = """
import sys
from time import sleep
from raytracer.commands import cli
from raytracer.system import process
from raytracer.viewer.actions import action
from raytracer.viewer.frames import Frames

def for_ever(*_, **__):
    print("stuck", flush=True)
    while True:
        pass

def sleeps(*_, **__):
    print("stuck", flush=True)
    while True:
        sleep(60)

action(name="spin")(lambda session: for_ever())
action(name="sleep")(lambda session: sleeps())

@action()
def load(session):
    Frames.load = for_ever
    session.show(session.content)

sys.exit(process.run(lambda: cli.main(sys.argv[1:]), cli.report_stop))
"""


async def act(address: str, name: str) -> None:
    """Have a server perform an action."""
    base, _, query = address.partition("/?")
    async with ClientSession() as browser:
        socket = f"{base}/socket?{query}"
        async with browser.ws_connect(socket, headers={"Origin": base}) as page:
            await page.send_json({"type": "act", "name": name})
            await page.receive()


@pytest.mark.parametrize(
    ("name", "number", "code"),
    [
        ("spin", signal.SIGINT, 0),
        pytest.param("spin", signal.SIGTERM, 143, marks=pytest.mark.slow),
        pytest.param("sleep", signal.SIGINT, 0, marks=pytest.mark.slow),
        ("load", signal.SIGTERM, 143),
        pytest.param("load", signal.SIGHUP, 129, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_a_server_whose_action_does_not_end(
    name: str, number: int, code: int, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", STUCK, "serve", str(write_scene(tmp_path))]
    with subprocess.Popen(
        [*command, "--backend", "cpu", "--threads", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    ) as process:
        assert process.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
        assert address
        try:
            with ThreadPoolExecutor(1) as thread:  # a browser's tests have a loop in this one
                thread.submit(asyncio.run, act(address[0], name)).result()
            while process.stdout.readline() not in ("stuck\n", ""):
                pass
            process.send_signal(number)
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == code
    assert "Traceback" not in error
    assert address[0] not in error
