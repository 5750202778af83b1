"""The command as a process: streams that are closed or full, pipes that end, and signals."""

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from raytracer.system.process import Terminated
from support.commands import python

COMMAND = f"{shlex.quote(sys.executable)} -m raytracer"
RENDER = f"{COMMAND} render three_balls --width 64 --height 48 --samples 1 --backend cpu -o a.png"
# Writes to standard output more than a pipe holds.
LONG = (
    "import sys; from raytracer import __main__\n"
    "from raytracer.commands import cli; from raytracer.system import process\n"
    "cli.program.main = lambda *_, **__: print('x' * 10**6)\n"
    "sys.exit(process.run(cli.main, cli.report_stop))"
)
# Takes as long as anybody wants, in Python, with a file half written.
SLOW = (
    "import sys, time; from raytracer.commands import cli; from raytracer.files import output\n"
    "from raytracer.system import process\n"
    "def work(*_, **__):\n"
    "    output.write('done.txt', 'done')\n"
    "    with output.replace_file('half.txt') as file:\n"
    "        file.write(b'half'); file.flush(); print('ready', flush=True)\n"
    "        while True: time.sleep(0.01)\n"
    "cli.program.main = work\n"
    "sys.exit(process.run(cli.main, cli.report_stop))"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run it in a shell; SIGPIPE and SIGINT do what they do in a terminal."""
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )


@pytest.mark.parametrize("closed", ["<&-", "2>/dev/full", "2>&- --progress"])
def test_the_picture_needs_neither_standard_error_nor_input(closed: str) -> None:
    done = shell(f"{RENDER} {closed}")
    assert done.returncode == 0
    assert done.stdout.startswith("wrote a.png")
    assert done.stderr == ""
    assert Path("a.png").exists()


def test_a_result_that_cannot_be_printed_is_one_sentence() -> None:
    done = shell(f"{RENDER} >/dev/full")
    assert done.returncode == 1
    said = "standard output: cannot be written (No space left on device)"
    assert done.stderr == f"raytracer: {said}\n"
    assert Path("a.png").exists()


def test_a_reader_that_leaves_ends_the_command_without_words() -> None:
    done = shell(f"({shlex.join([sys.executable, '-c', LONG])}; echo $? >&2) | head -c 1")
    assert done.stderr == "141\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_half_written_and_says_what_is(number: signal.Signals) -> None:
    Path("half.txt").write_text("old")
    process = started(SLOW)
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert said == f"raytracer: stopped by {Terminated(number).name}\n"
    assert sorted(path.name for path in Path().iterdir()) == ["done.txt", "half.txt"]
    assert Path("half.txt").read_text() == "old"


def test_a_second_signal_ends_a_process_that_hangs() -> None:
    hang = (
        "def hang():\n"
        "    try: time.sleep(100)\n"
        "    finally: print(flush=True), time.sleep(100)\n"
        "def work"
    )
    process = started(SLOW.replace("time.sleep(0.01)", "hang()").replace("def work", hang))
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM
    assert [path.name for path in Path().iterdir()] == ["done.txt"]


def test_signals_that_are_ignored_stay_ignored() -> None:
    process = started(SLOW, ignored=signal.SIGHUP)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGTERM


def test_ctrl_c_while_modules_are_imported_is_one_sentence() -> None:
    """From the first line of our own on; before it, Python itself is starting."""
    code = (
        "import os, signal, sys; module = sys.argv.pop(1)\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == module: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from raytracer.__main__ import main; sys.exit(main())"
    )
    for module in (
        "raytracer.system.process",
        "raytracer.config.errors",
        "click",
        "raytracer.config.synonyms",
    ):
        done = python("-c", code, module, "bnch", code=130)
        assert done.stderr.lstrip("\n") == "raytracer: stopped by Ctrl-C\n"


def started(
    code: str, *arguments: str, ignored: signal.Signals | None = None
) -> subprocess.Popen[str]:
    """A process that has said that it is ready; its signals are those of a terminal."""

    def prepare() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number == ignored else signal.SIG_DFL)

    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


FILES = ["a.png", "film.npz"]


@pytest.mark.kills
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_kills_at_random_times_lose_no_film_and_no_picture(number: signal.Signals) -> None:
    """Each run adds to the film of the one before."""
    from PIL import Image as Pillow

    import raytracer
    from raytracer.film.film import Film
    from raytracer.system.resources import scenes_folder

    @cache
    def sums(samples: int) -> bytes:
        """Of one long run, which those of many are, bit for bit."""
        image = raytracer.render(
            str(scenes_folder() / "three_balls.toml"),
            backend="cpu",
            width=500,
            height=400,
            samples=samples,
        )
        return image.film.sums.tobytes()

    words = [*shlex.split(RENDER), "--width", "500", "--height", "400", "--film", "film.npz"]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0
    start = time.perf_counter()
    again = [*words, "--resume", "film.npz"]
    assert subprocess.run(again, capture_output=True, check=False).returncode == 0
    whole = time.perf_counter() - start
    chance = random.Random(int(number))  # another series for each
    for _ in range(int(os.environ.get("RAYTRACER_KILLS", "25"))):
        before = Film.load("film.npz").samples
        process = subprocess.Popen(again, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # Rather late than early: files are written at the end.
        time.sleep(whole * chance.uniform(0.3, 1.1))
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        film = Film.load("film.npz")
        assert film.samples in (before, before + 1)
        assert film.sums.tobytes() == sums(film.samples)
        with Pillow.open("a.png") as picture:
            picture.load()
        assert b"Traceback" not in said
        if number != signal.SIGKILL:
            assert sorted(path.name for path in Path().iterdir()) == FILES
    assert subprocess.run(again, capture_output=True, check=False).returncode == 0


def test_a_full_pipe_that_does_not_block_is_waited_for() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(1 << 12))
    command = [*shlex.split(COMMAND), "scene", "schema"]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE) as done:
        os.close(writer)
        time.sleep(0.5)
        with os.fdopen(reader, "rb") as stream:
            text = stream.read()
        assert done.stderr is not None
        assert done.stderr.read() == b""
    assert done.returncode == 0
    assert text.endswith(b"}\n")


def test_signals_end_the_process_after_its_command() -> None:
    """The interpreter has nothing to clean up then; a signal that is ignored stays so."""
    code = (
        "import signal\n"
        "from raytracer.system import process, resources\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "process.run(lambda: 0, lambda stop: 1)\n"
        "print([signal.getsignal(each).name for each in resources.SIGNALS])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['SIG_DFL', 'SIG_DFL', 'SIG_IGN']"
