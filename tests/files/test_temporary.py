"""Temporary files: nobody else's, gone when the process is, and never in the way."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from raytracer.files import temporary
from raytracer.files.temporary import ABANDONED, Temporary, remove_all, remove_stale


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def left_by_a_killed_process(folder: Path) -> Path:
    """A temporary file whose process is gone."""
    code = (
        "import os, sys, pathlib, raytracer.files.temporary as t\n"
        "t.Temporary(pathlib.Path(sys.argv[1]))\n"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, folder], check=False).returncode == -9
    (path,) = folder.iterdir()
    return path


def test_names_are_random_and_short_enough_for_any_target(tmp_path: Path) -> None:
    made = [Temporary(tmp_path) for _ in range(20)]
    assert len(set(names(tmp_path))) == 20
    assert max(map(len, names(tmp_path))) < 50
    remove_all()
    assert names(tmp_path) == []
    assert made[0] not in temporary._live


def test_permissions_are_the_usual_or_those_asked_for(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        assert Temporary(tmp_path).path.stat().st_mode & 0o777 == 0o640
        assert Temporary(tmp_path, 0o604).path.stat().st_mode & 0o777 == 0o604
    finally:
        os.umask(old)
        remove_all()


def test_a_link_in_its_place_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    words = iter([b"taken", b"free"])
    monkeypatch.setattr(os, "urandom", lambda _: next(words))
    (tmp_path / f".raytracer-{temporary._boot()}-{b'taken'.hex()}.tmp").symlink_to(victim)
    made = Temporary(tmp_path)
    assert b"free".hex() in made.path.name
    made.remove()
    assert victim.read_text() == "mine"


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    left_by_a_killed_process(tmp_path)
    remove_stale(tmp_path)
    assert names(tmp_path) == []


def test_what_a_process_still_writes_is_not_removed(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, raytracer.files.temporary as t\n"
        "t.Temporary(pathlib.Path(sys.argv[1]))\n"
        "print(flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        old = time.time() - 2 * ABANDONED
        (path,) = tmp_path.iterdir()
        os.utime(path, (old, old))  # however long it takes
        remove_stale(tmp_path)
        assert names(tmp_path) == [path.name]
        process.kill()
    remove_stale(tmp_path)
    assert names(tmp_path) == []


def test_files_of_another_machine_are_left_alone_for_a_day(tmp_path: Path) -> None:
    path = tmp_path / ".raytracer-00000000-aa.tmp"
    path.touch()
    remove_stale(tmp_path)
    assert names(tmp_path) == [path.name]
    os.utime(path, (0, time.time() - ABANDONED - 60))
    remove_stale(tmp_path)
    assert names(tmp_path) == []


def test_files_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".raytracer-mine").touch()
    (tmp_path / ".other-1.tmp").touch()
    (tmp_path / f".raytracer-{temporary._boot()}-x.tmp").mkdir()
    os.mkfifo(tmp_path / f".raytracer-{temporary._boot()}-y.tmp")
    before = names(tmp_path)
    remove_stale(tmp_path)
    assert names(tmp_path) == before


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock
    calls: list[int] = []

    def late(descriptor: int, how: int) -> None:
        if not calls:
            for path in tmp_path.iterdir():
                path.unlink()
        calls.append(how)
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    made = Temporary(tmp_path)
    assert made.path.exists()
    assert len(calls) == 2
    made.remove()


def test_a_file_system_without_locks_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    made = Temporary(tmp_path)
    remove_stale(tmp_path)
    assert names(tmp_path) == [made.path.name]
    made.remove()


@pytest.mark.parametrize(("module", "call"), [(os, "open"), (fcntl, "flock"), (os, "fchmod")])
def test_a_signal_during_a_system_call_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, call: str
) -> None:
    """Python raises when the call returns, before its result is stored."""
    original = getattr(module, call)

    def interrupted(*args: object) -> None:
        original(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        Temporary(tmp_path, 0o600)
    assert names(tmp_path) == []
    assert not temporary._live
