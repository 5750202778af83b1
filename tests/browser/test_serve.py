"""`raytracer serve` and `raytracer.serve`: from the command to the end of the server."""

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
from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer.cli import main
from support.window_scene import write_scene

pytest.importorskip("aiohttp", reason="the extra serve is missing")


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
