"""Progress on a terminal, in a log and in a notebook."""

import os
import pty
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer.commands.report import print_warning
from raytracer.system import progress
from raytracer.system.progress import ProgressBar, StageLine, format_duration

SIZE: Any = {"width": 8, "height": 8, "samples": 4, "backend": "cpu"}


class Terminal:
    """Standard error as a terminal."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def text(self) -> str:
        return self._capsys.readouterr().err

    def lines(self) -> list[str]:
        """The contents of its line, one after another."""
        return self.text().split("\r\x1b[K")[1:]


@pytest.fixture
def terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Terminal]:
    monkeypatch.setattr(progress, "is_terminal", lambda: True)
    monkeypatch.setattr(progress, "columns", lambda: 100)
    monkeypatch.setattr(progress._Terminal, "interval", 0.0)
    yield Terminal(capsys)
    assert progress._line == ""


def test_a_terminal_has_one_line_that_is_empty_at_the_end(terminal: Terminal) -> None:
    with ProgressBar(1000, delay=0.0) as bar:
        bar(0.25)
        bar(0.5)
        bar(1.0)
    quarter, half, whole, end = terminal.lines()
    assert [each.count("#") for each in (quarter, half, whole)] == [10, 20, 40]
    assert [each.count("-") for each in (quarter, half, whole)] == [30, 20, 0]
    assert "25%" in quarter
    assert "samples/s" in quarter
    assert quarter.endswith(" left")
    assert end == ""
    assert "\n" not in quarter + half + whole


def test_a_narrow_terminal_has_no_second_line(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "columns", lambda: 30)
    with ProgressBar(1000, delay=0.0) as bar:
        bar.frames(0, 8)
        bar.frames(2, 8)
    lines = terminal.lines()
    assert all(len(line) < 30 for line in lines)
    assert "2/8 frames" in lines[1]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_bar_fits_into_the_line(
    width: int, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "columns", lambda: width)
    with ProgressBar(10**9, delay=0.0) as bar:
        bar(0.5)
    line, _ = terminal.lines()
    assert len(line) < width
    assert 10 <= line.count("#") + line.count("-") <= 40
    assert abs(line.count("#") - line.count("-")) <= 1


def test_nothing_is_shown_of_what_is_fast(terminal: Terminal) -> None:
    with ProgressBar(1000) as bar:
        bar(0.5)
    with ProgressBar(1000, delay=0.0) as bar:
        bar(1.0)
    assert terminal.text() == ""


def test_a_bar_changes_ten_times_a_second_at_most(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress._Terminal, "interval", 0.1)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    with ProgressBar(1000) as bar:
        for step in range(1, 301):  # three seconds, of which nothing is shown in the first
            now[0] = 100.0 + 0.01 * step
            bar(step / 400)
    lines = terminal.lines()
    assert 19 <= len(lines) - 1 <= 21
    assert "0:01 left" in lines[-2]


def test_a_warning_does_not_stand_behind_the_bar(terminal: Terminal) -> None:
    with ProgressBar(1000, delay=0.0) as bar:
        bar(0.5)
        print_warning("beware")
        print_warning("of two")
        bar(0.75)
    half, said, bar_again, end = terminal.lines()
    assert half.endswith("left")
    assert said == "raytracer: warning: beware\nraytracer: warning: of two\n"
    assert (bar_again.count("#"), end) == (30, "")


def test_a_log_has_a_line_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar(1000, show=None, delay=0.0) as bar:
        bar(0.5)
    assert capsys.readouterr().err == ""
    with ProgressBar(1000, show=True, delay=0.0) as bar:
        for step in range(101):
            bar(step / 100)
    lines = capsys.readouterr().err.splitlines()
    assert [re.findall(r"\d+%", line) for line in lines] == [[f"{n}0%"] for n in range(1, 11)]
    assert all(line.isprintable() and "samples/s" in line for line in lines)


@pytest.mark.parametrize("show", [True, None])
def test_stages_of_a_log_are_lines(show: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
    with StageLine(show) as line:
        line("reading")
        line("packing")
    assert capsys.readouterr().err == ("reading …\npacking …\n" if show else "")


@pytest.mark.parametrize(("term", "is_one"), [("xterm", True), ("", True), ("dumb", False)])
def test_terminals_that_cannot_change_a_line_are_logs(
    term: str, is_one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    assert not progress.is_terminal()
    ours, theirs = pty.openpty()
    with os.fdopen(ours), os.fdopen(theirs, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        assert progress.is_terminal() == is_one
        assert progress.columns() == progress.COLUMNS  # the terminal states none


def test_a_program_without_a_console_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with StageLine(True) as line, ProgressBar(1000, show=True, delay=0.0) as bar:
        line("reading")
        bar(0.5)


class Output:
    """An output of a notebook, as `IPython.display.display` returns it."""

    shown: list[dict[str, str]]

    def update(self, data: dict[str, str], raw: bool) -> None:
        assert raw
        self.shown.append(data)


def test_a_notebook_has_a_bar_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    display = pytest.importorskip("IPython.display", reason="the extra notebook is missing")
    output = Output()
    output.shown = []
    monkeypatch.setattr(display, "display", lambda *_, raw, display_id: output)
    shell = type("Shell", (), {"kernel": None})
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", shell)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress._Notebook, "interval", 0.0)
    with ProgressBar(1000, show=True, delay=0.0) as bar:
        bar(0.5)
    middle, end = output.shown
    assert '<progress value="0.5000"' in middle["text/html"]
    assert middle["text/plain"].startswith("render  50%")
    assert set(end.values()) == {""}
    assert capsys.readouterr().err == ""


def test_python_asks_for_a_bar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[Any] = []

    class Bar(ProgressBar):
        def __init__(self, samples: int = 0, show: bool | None = None) -> None:
            super().__init__(samples, show, delay=0.0)
            seen.append((samples, show))

    monkeypatch.setattr(progress, "ProgressBar", Bar)
    monkeypatch.setattr("raytracer.animation.animate.ProgressBar", Bar)
    scene = raytracer.Scene.from_object([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    raytracer.render(scene, progress=True, **SIZE)
    raytracer.render(scene, progress=False, crop=(0, 0, 2, 3), **SIZE)
    assert seen == [(8 * 8 * 4, True), (2 * 3 * 4, False)]
    animation = raytracer.animate(scene, duration=0.1, fps=20, turntable=0.1, **SIZE)
    animation.save(tmp_path / "a.gif", progress=False)
    assert len(seen) == 2
    animation.save(tmp_path / "b.gif", progress=True)
    assert seen[2:] == [(0, True)]
    with pytest.raises(raytracer.UserError, match="progress: 3 is not a function"):
        raytracer.render(scene, progress=3, **SIZE)  # type: ignore[arg-type]


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (61.6, "1:02"), (3723, "1:02:03")])
def test_durations(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
