"""Libraries that read files: each in a process of its own, which a damaged file cannot outlast."""

import gc
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer.config.errors import UserError
from raytracer.particles import array_source, isolated
from raytracer.particles.read import read
from raytracer.particles.registry import FORMATS, LIBRARIES
from support.particle_files import complaint, write

pytestmark = pytest.mark.slow

SUFFIX = {each.module: each.suffixes[0] for each in reversed(FORMATS) if each.suffixes}
SUFFIX["formats.point_clouds"] = ".las"  # which laspy reads
"""The ending of a file that a module reads."""

HANG = "while True: pass"
CRASH = "import signal; os.kill(os.getpid(), signal.SIGSEGV)"
NOISE = "print('noise'); os.write(2, b'noise'); raise ValueError('unreadable')"
MISSING = "raise ImportError"


def test_a_library_is_not_imported_here() -> None:
    assert not array_source.is_isolated
    with pytest.raises(RuntimeError, match="only for worker processes"):
        array_source.import_library("h5py", "a.h5", "hdf5")


def fake(folder: Path, package: str, code: str) -> dict[str, str]:
    """Make a package that notes its process and runs some code; return the environment with it."""
    path = folder / "fake" / package
    path.mkdir(parents=True, exist_ok=True)
    mark = folder / "process"
    (path / "__init__.py").write_text(
        f"import os\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\n{code}\n"
    )
    return {"PYTHONPATH": str(path.parent), isolated.TIMEOUT_VARIABLE: "1.5"}


@pytest.fixture(scope="module", autouse=True)
def short_collections() -> None:
    """Leave all that other tests have imported out of the collections of `end_workers`."""
    gc.collect()
    gc.freeze()


def end_workers() -> None:
    """End all workers, also those of sources that an exception holds."""
    gc.collect()
    isolated._end_all()


def command(path: Path, *words: str, **settings: Any) -> subprocess.Popen[str]:
    """Start a command with a file."""
    words = (*words, str(path))
    return subprocess.Popen([sys.executable, "-m", "raytracer", *words], text=True, **settings)


@pytest.mark.parametrize(
    ("word", "file", "package"), [("render", "a.h5", "h5py"), ("render", "a.traj", "ase")]
)
def test_a_library_that_hangs_ends_with_a_sentence(
    word: str, file: str, package: str, tmp_path: Path
) -> None:
    """By the command: the library is imported in another process, which the kernel ends."""
    pytest.importorskip(package)
    path = write(tmp_path / file, "?")
    process = command(path, word, env=os.environ | fake(tmp_path, package, HANG),
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    out, said = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert said.count("\n") == 1
    assert f"{file}: took longer than 2 s to read as " in said
    assert not (tmp_path / "a.png").exists()
    worker = int((tmp_path / "process").read_text())
    assert worker != process.pid
    assert not Path(f"/proc/{worker}").exists()


@pytest.mark.parametrize("module", sorted(LIBRARIES))
def test_a_library_that_crashes_or_fails_ends_with_a_sentence(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / f"a{SUFFIX[module]}", "?")
    end_workers()  # whose environment is another
    for code, sentence in (
        (CRASH, "is damaged, or not a valid "),  # the next ones share a process
        (NOISE, "(unreadable)"),
        (MISSING, "reading it needs "),
    ):
        for name, value in fake(tmp_path, LIBRARIES[module], code).items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv(isolated.TIMEOUT_VARIABLE)
        said = complaint(path)
        assert sentence in said
        assert f"a{SUFFIX[module]}: " in said
    assert capfd.readouterr() == ("", "")
    end_workers()


@pytest.mark.parametrize(
    ("signal_name", "sentence"),
    [
        ("SIGKILL", "was killed (SIGKILL), as the system does when memory runs out"),
        ("SIGABRT", "its library crashed (SIGABRT)"),
    ],
)
def test_the_cause_of_an_end_is_named(
    signal_name: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"import os, signal; os.kill(os.getpid(), signal.{signal_name})"
    end_workers()
    for name, value in fake(tmp_path, "h5py", code).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(isolated.TIMEOUT_VARIABLE)
    assert sentence in complaint(write(tmp_path / "a.h5", b"\x89HDF\r\n\x1a\n"))
    end_workers()


def test_a_crash_after_other_files_is_tried_in_a_new_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library may have been damaged by a file before."""
    code = (
        "import signal\ndef File(*_, **__):\n    global known\n"
        "    if 'known' in globals(): os.kill(os.getpid(), signal.SIGABRT)\n"
        "    known = True\n    raise ValueError('unreadable')\n"
    )
    end_workers()
    for name, value in fake(tmp_path, "h5py", code).items():
        monkeypatch.setenv(name, value)
    path, mark = write(tmp_path / "a.h5", b"\x89HDF\r\n\x1a\n"), tmp_path / "process"
    processes = set()
    for _ in range(3):
        assert "(unreadable)" in complaint(path)
        processes.add(mark.read_text())
    assert len(processes) == 3
    end_workers()


@pytest.mark.parametrize(
    ("program", "sentence"),
    [("", "Permission denied"), ("/none/python", "No such file or directory"), (
        "/bin/false", "ended with exit code 1")],
)  # fmt: skip
def test_a_worker_that_cannot_start(
    program: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_workers()
    monkeypatch.setattr(sys, "executable", program)
    said = complaint(write(tmp_path / "a.h5", b"\x89HDF\r\n\x1a\n"))
    assert "a.h5: the process in which libraries read files cannot start (" in said
    assert sentence in said
    assert "damaged" not in said


def test_why_a_worker_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end_workers()
    write(tmp_path / "numpy.py", "raise ImportError('no BLAS here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    said = complaint(write(tmp_path / "a.h5", b"\x89HDF\r\n\x1a\n"))
    assert "cannot start (ended with exit code 1: " in said
    assert "ImportError: no BLAS here" in said


def test_a_package_of_the_module_path_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that a program adds to `sys.path`, but none in the current folder, where data are."""
    end_workers()
    fake(tmp_path, "h5py", "raise ValueError('that of the path')")
    monkeypatch.syspath_prepend(tmp_path / "fake")
    path = write(tmp_path / "a.h5", b"\x89HDF\r\n\x1a\n")
    assert "that of the path" in complaint(path)
    end_workers()
    monkeypatch.chdir(tmp_path / "fake")
    assert "that of the path" not in complaint(path)
    end_workers()


def children() -> list[str]:
    """The processes that this one has started, of other tests too."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def test_files_elsewhere_get_another_worker(tmp_path: Path) -> None:
    """In the same folder and below, the same one goes on; few wait, however many fail to read."""
    h5py = pytest.importorskip("h5py")
    end_workers()
    before = {*children()}
    for name in ("a", "a/b", "c", "d", "e"):
        (tmp_path / name).mkdir()
        with h5py.File(tmp_path / name / "a.h5", "w") as file:
            file["PartType0/Coordinates"] = np.eye(3)
    used = []
    for name in ("a", "a/b", "a", "c"):
        read(tmp_path / name / "a.h5")
        used.append(isolated._idle[-1])
    assert used[0] is used[1] is used[2] is not used[3]
    read(tmp_path / "d" / "a.h5")
    assert len(isolated._idle) == isolated.MAX_IDLE
    kept = []
    for place in range(6):
        path = write(tmp_path / "e" / f"{place}.h5", b"\x89HDF\r\n\x1a\n")
        with pytest.raises(UserError) as error:
            read(path)
        kept.append(error.value)  # its traceback holds the source
    assert len(isolated._idle) <= isolated.MAX_IDLE
    assert len({*children()} - before) <= isolated.MAX_IDLE


def test_a_folder_that_is_made_anew(tmp_path: Path) -> None:
    """The kernel lets a process read in the folder it started with, not in one of the same name."""
    h5py = pytest.importorskip("h5py")
    folder = tmp_path / "run"
    for number in range(3):
        folder.mkdir()
        with h5py.File(folder / "a.h5", "w") as file:
            file["Coordinates"] = np.full((2, 3), float(number))
        assert read(folder / "a.h5").centers[0].tolist() == [number] * 3
        folder.rename(tmp_path / f"old{number}")


def test_a_link_to_a_file_elsewhere_is_read(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    for name in ("there", "here"):
        (tmp_path / name).mkdir()
    with h5py.File(tmp_path / "there" / "a.h5", "w") as file:
        file["PartType0/Coordinates"] = np.eye(3)
    (tmp_path / "here" / "a.h5").symlink_to(tmp_path / "there" / "a.h5")
    assert len(read(tmp_path / "here" / "a.h5").centers) == 3


def test_memory_of_a_library_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far more than the size of the file is refused, though it is free."""
    end_workers()
    code = "class File:\n    def __init__(self, *_, **__):\n        bytearray(3 << 30)"
    for name, value in fake(tmp_path, "h5py", code).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(isolated.TIMEOUT_VARIABLE)
    said = complaint(write(tmp_path / "a.h5", b"\x89HDF\r\n\x1a\n"))
    assert "a.h5: reading its 8 bytes as HDF5 takes more than" in said
    end_workers()


def test_a_library_that_loops_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the processor time that it takes, long before the limit for a busy machine."""
    end_workers()
    monkeypatch.setattr(isolated, "MIN_PROCESSOR", 1.0)
    for name, value in fake(tmp_path, "rdkit", HANG).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(isolated.TIMEOUT_VARIABLE)
    said = complaint(write(tmp_path / "a.mae", "{ s_m_m2io_version"))
    assert "a.mae: took longer than 1 s of processor time to read as M" in said
    end_workers()


def test_a_library_that_hangs_does_not_outlive_the_command(tmp_path: Path) -> None:
    path = write(tmp_path / "a.h5", "?")
    around = os.environ | fake(tmp_path, "h5py", HANG)
    process = command(path, "render", "--format", "h5", env=around, stderr=subprocess.DEVNULL)
    mark = tmp_path / "process"
    while not (mark.exists() and mark.read_text()):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    worker = Path("/proc", mark.read_text())
    for _ in range(500):
        if not worker.exists() or "Z" in (worker / "stat").read_text().split():
            return
        time.sleep(0.02)
    raise AssertionError("the worker goes on")


def las(version: int, few: int, many: int) -> bytes:
    """The header of a LAS file without points, as long as another one of 450 bytes."""
    head = bytearray(450)
    size = 375 if version == 4 else 227
    struct.pack_into("<4s20xBB", head, 0, b"LASF", 1, version)
    struct.pack_into("<HIIBH", head, 94, size, 450, few, 0, 20)
    struct.pack_into("<3d", head, 131, 1.0, 1.0, 1.0)
    if version == 4:
        struct.pack_into("<QI", head, 235, 450, many)
    return bytes(head)


@pytest.mark.parametrize(
    ("version", "few", "many"), [(2, 0xFFFFFFFF, 0), (2, 9, 0), (4, 0, 0xFFFFFFFF), (4, 4, 4)]
)
def test_records_that_a_las_file_does_not_have(
    version: int, few: int, many: int, tmp_path: Path
) -> None:
    said = complaint(write(tmp_path / "a.las", las(version, few, many)))
    assert f"a.las: is damaged: its header states {few + many:,} records" in said


def test_a_worker_is_used_again_and_replaced(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    end_workers()
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["PartType0/Coordinates"] = np.eye(3)
    read(path)
    (worker,) = isolated._idle
    read(path)
    assert isolated._idle == [worker]
    worker._process.kill()
    worker._process.wait()
    read(path)
    assert worker not in isolated._idle


@pytest.mark.parametrize(
    ("text", "size", "seconds"),
    [("", 0, 120.0), (" ", 10**8, 1120.0), ("0", 10**8, None), (" 2.5 ", 10**8, 2.5)],
)
def test_time_limits(
    monkeypatch: pytest.MonkeyPatch, text: str, size: int, seconds: float | None
) -> None:
    monkeypatch.setenv(isolated.TIMEOUT_VARIABLE, text)
    assert isolated.choose_time_limit(size) == seconds


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf"])
def test_odd_time_limits(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(isolated.TIMEOUT_VARIABLE, text)
    with pytest.raises(UserError, match=f"'{text}' is not a number of seconds"):
        isolated.choose_time_limit(0)
